"""The assembler against ca65 and ld65, which Antidote is built with, and py65's table of instructions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.distill.assembler import Program
from mario_rl.distill.listing import Assembled
from mario_rl.distill.machine import ExactMPU
from mario_rl.distill.opcodes import OPERATIONS, OPPOSITES, Mode
from mario_rl.distill.operands import Address, AssemblyError, Operand, at, high, jump_through, low, through, value
from mario_rl.distill.ranges import NoRoom, Range
from tests.distill.machine import Machine

PY65_MODES = {
    "imp": Mode.IMPLIED, "acc": Mode.ACCUMULATOR, "imm": Mode.IMMEDIATE, "zpg": Mode.ZERO_PAGE, "zpx": Mode.ZERO_PAGE_X,
    "zpy": Mode.ZERO_PAGE_Y, "inx": Mode.INDIRECT_X, "iny": Mode.INDIRECT_Y, "rel": Mode.RELATIVE, "abs": Mode.ABSOLUTE,
    "abx": Mode.ABSOLUTE_X, "aby": Mode.ABSOLUTE_Y, "ind": Mode.INDIRECT,
}  # fmt: skip
ORIGIN = 0xE000


def by_ca65(made: Assembled, folder: Path) -> bytes:
    """The program's own source, assembled and linked by cc65's tools."""
    source, config = folder / "program.s", folder / "program.cfg"
    source.write_text(made.source("A program.\nFor a test."))
    config.write_text(
        f"MEMORY {{ PRG: start = ${made.origin:04X}, size = ${0x10000 - made.origin:04X}, file = %O; }}\n"
        "SEGMENTS { CODE: load = PRG, type = ro; }\n"
    )
    subprocess.run(["ca65", source, "-o", folder / "program.o"], check=True)
    subprocess.run(["ld65", "-C", config, folder / "program.o", "-o", folder / "program.bin"], check=True)
    return (folder / "program.bin").read_bytes()


def test_all_instructions_are_those_of_the_processor() -> None:
    mpu = ExactMPU()
    known = {}
    for opcode, (name, mode) in enumerate(mpu.disassemble):
        if name != "???":
            crossing = mpu.extracycles[opcode] == 1
            known[name.lower(), PY65_MODES[mode]] = opcode, mpu.cycletime[opcode], crossing
    ours = {(name, mode): tuple(found) for name, ways in OPERATIONS.items() for mode, found in ways.items()}
    assert len(ours) == 151
    assert ours == known
    assert set(OPPOSITES) == {name for name, ways in OPERATIONS.items() if Mode.RELATIVE in ways}


def every_instruction() -> Program:
    program = Program(ORIGIN)
    near, wide = program.name("near", 0xC5), program.name("wide", 0x0385)
    program.label("start", "where it begins")
    operands = {
        Mode.IMPLIED: None, Mode.ACCUMULATOR: None, Mode.IMMEDIATE: value(-3), Mode.ZERO_PAGE: near + 1,
        Mode.ZERO_PAGE_X: at(near, "x"), Mode.ZERO_PAGE_Y: at(near, "y"), Mode.INDIRECT_Y: through(near),
        Mode.INDIRECT_X: Operand(near, (Mode.INDIRECT_X,)), Mode.RELATIVE: "start", Mode.ABSOLUTE: wide - 1,
        Mode.ABSOLUTE_X: at(wide, "x"), Mode.ABSOLUTE_Y: at(wide + 7, "y"), Mode.INDIRECT: jump_through(wide),
    }  # fmt: skip
    for name, ways in OPERATIONS.items():
        for mode in ways:
            program(name, operands[mode], f"{name}, {mode.name.lower()}")
    return program


def test_every_instruction_as_ca65_has_it(tmp_path: Path) -> None:
    made = every_instruction().assemble()
    assert made.code == by_ca65(made, tmp_path)
    assert len(made.code) > 300  # so that the branches to the start became longer, too


def test_labels_data_and_addresses_as_ca65_has_them(tmp_path: Path) -> None:
    program = Program(0xFC00)
    cells = program.name("cells", 0xC0)
    program("lda", low("table"), "a table behind the code")
    program("sta", cells)
    program("lda", high(Address("table", 0x105)))
    program("sta", cells + 1)
    program("ldy", value(2))
    program("lda", through(cells))
    program("jsr", "routine")
    program("jmp", "routine")
    program.comment()
    program.comment("only rts")
    program.label("routine")
    program("lsr")
    program("lda", at("table", "y"))
    program("ldx", at(cells, "y"))
    program("sta", at(0x0400, "x"))
    program("rts")
    program.label("table")
    program.data([1, 255, low("routine"), high("routine")], "numbers")
    made = program.assemble()
    assert made.code == by_ca65(made, tmp_path)
    assert made.labels["table"] == 0xFC00 + len(made.code) - 4
    assert made.code[-2:] == made.labels["routine"].to_bytes(2, "little")


@given(
    gaps=st.lists(st.integers(0, 140), min_size=3, max_size=8),
    jumps=st.lists(st.tuples(st.sampled_from(sorted(OPPOSITES)), st.integers(0, 7)), min_size=3, max_size=8),
)
@settings(max_examples=60, deadline=None)
def test_branches_arrive_however_far_it_is(gaps: list[int], jumps: list[tuple[str, int]]) -> None:
    """A chain of stations: at each the branch under test is taken, or not, and what was passed is counted."""
    stations = min(len(gaps), len(jumps))
    program = Program(0x8000)
    here = program.name("here", 0x10)
    for number in range(stations):
        branch, target = jumps[number]
        program.label(f"station{number}")
        program("lda", value(number))
        program("sta", here)
        program("clc")
        program("clv")
        program("lda", value(1))
        program(branch, f"end{target % stations}")
        program("rts")
        for _ in range(gaps[number]):
            program("nop")
        program.label(f"end{number}")
        program("lda", value(100 + number))
        program("sta", here)
        program("rts")
    made = program.assemble()
    machine = Machine(made)
    taken = {"bcc", "bne", "bpl", "bvc"}
    for number in range(stations):
        branch, target = jumps[number]
        machine.call(f"station{number}")
        assert machine.memory[0x10] == (100 + target % stations if branch in taken else number)
    for line in made.lines:
        if line.text.startswith("b") and "*+5" not in line.text:
            assert -128 <= int.from_bytes(line.code[1:], signed=True) <= 127


def test_only_branches_that_do_not_reach_are_long() -> None:
    for distance, size in ((127, 2), (128, 5)):
        program = Program(0x8000)
        program("beq", "end")
        for _ in range(distance):
            program("nop")
        program.label("end")
        assert len(program.assemble().code) == distance + size


def test_the_listing_has_addresses_bytes_and_cycles() -> None:
    program = Program(0xE000)
    program.label("begin", "here")
    program("lda", at(0x0500, "x"), "a cell")
    program("bne", "begin")
    program.data(range(5))
    lines = program.assemble().listing().splitlines()
    assert lines[0] == "E000                   begin: ; here"
    assert lines[1].split() == ["E000", "BD", "00", "05", "4+", "lda", "$0500,x", ";", "a", "cell"]
    assert lines[2].split() == ["E003", "D0", "FB", "2+", "bne", "begin"]
    assert "00 01 02 .." in lines[3]


def in_pieces() -> Program:
    """Routines that branch to each other, tables, and the ways in which code runs on into what has a label."""
    program = Program(ORIGIN)
    count = program.name("count", 0x0310)
    program.comment("The first.")
    program.label("first")
    program.label("also_first")
    program("inc", count)
    program("lda", count)
    program("cmp", value(40))
    program("bcc", "second")
    program.label("run_into")
    program("rts")
    program.comment()
    program.comment("The second.")
    program.label("second")
    for _ in range(20):
        program("nop")
    program("ldy", value(3))
    program("lda", at("table", "y"))
    program("cmp", value(4))
    program("bne", "run_into")
    program("beq", "third")
    program.data([0x2C], "skips an instruction")
    program.label("skipped")
    program("lda", value(0))
    program("jmp", "third")
    program.label("table")
    program.data([1, 2])
    program.comment("of which this is a part")
    program.data([3, 4])
    program.label("third")
    program("lda", count)
    program("lsr")
    program("bcs", "fourth")
    program("jsr", "first")
    program("jmp", "fourth")
    program.label("fourth")
    program("jsr", "run_into")
    program("jmp", "first")
    program.comment("the end")
    return program


RANGES = (Range(0xE000, 14), Range(0xFF00, 40), Range(0xC000, 60))


def test_a_program_in_several_ranges_does_the_same(tmp_path: Path) -> None:
    program = in_pieces()
    whole, spread = program.assemble(), program.assemble(RANGES)
    assert [part.origin for part in whole.parts] == [ORIGIN]
    assert len(spread.parts) == 3
    assert sum(len(part.code) for part in spread.parts) == len(spread.code) > len(whole.code)
    used = [set(range(part.origin, part.end)) for part in spread.parts]
    for own in used:
        assert any(own <= set(range(start, start + size)) for start, size in RANGES)
    counts = []
    for made in (whole, spread):
        machine = Machine(made)
        for part in made.parts:
            machine.memory[part.origin : part.end] = list(part.code)
        machine.call("first")
        counts.append(machine.memory[0x0310])
    assert counts[0] == counts[1] >= 40
    assert spread.code == by_ca65(spread, tmp_path)
    assert spread.source().count(".org") == 3
    assert spread.labels["also_first"] == spread.labels["first"]
    table = spread.labels["table"]
    assert any(part.code[table - part.origin :][:4] == bytes([1, 2, 3, 4]) for part in spread.parts)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.lists(st.integers(0, 130), min_size=1, max_size=5))
@settings(max_examples=80, deadline=None)
def test_pieces_lie_in_the_ranges_and_nowhere_twice(sizes: list[int], rooms: list[int]) -> None:
    program = Program(ORIGIN)
    for number, size in enumerate(sizes):
        program.label(f"piece{number}")
        program.data([number] * size)
    ranges = [Range(0x8000 + 0x200 * number, room) for number, room in enumerate(rooms)]
    try:
        made = program.assemble(ranges)
    except NoRoom as problem:
        assert "\n" not in str(problem) and str(sum(rooms)) in str(problem)
        assert sum(sizes) > sum(rooms) or len(rooms) > 1
        return
    memory: dict[int, int] = {}
    for part in made.parts:
        assert any(start <= part.origin and part.end <= start + size for start, size in ranges)
        for place, byte in enumerate(part.code, part.origin):
            assert memory.setdefault(place, byte) == byte
    assert len(memory) == sum(sizes)
    for number, size in enumerate(sizes):
        start = made.labels[f"piece{number}"]
        assert [memory[place] for place in range(start, start + size)] == [number] * size


def test_the_largest_pieces_come_first_if_that_helps() -> None:
    program = Program(ORIGIN)
    for number, size in enumerate((2, 10, 8)):
        program.label(f"piece{number}")
        program.data(range(size))
    made = program.assemble([Range(0x9000, 10), Range(0xA000, 10)])
    assert [(part.origin, len(part.code)) for part in made.parts] == [(0x9000, 10), (0xA000, 10)]
    with pytest.raises(
        NoRoom, match=r"^it has 20 bytes, and there is room for 20 \(8 \+ 8 \+ 4\) in pieces .* up to 10 b"
    ):
        program.assemble([Range(0x9000, 8), Range(0xA000, 8), Range(0xB000, 4)])
    with pytest.raises(NoRoom, match=r"^it has 20 bytes, and there is room for 19 \(10 \+ 9\)$"):
        program.assemble([Range(0x9000, 10), Range(0xA000, 9)])


def test_a_program_goes_on_with_another_one() -> None:
    other = Program(0x8000)
    shared = other.name("shared", 0x10)
    other.data([1, 2, 3], "left out")
    other.label("begin", "from here")
    other("lda", shared)
    other("rts")
    program = Program(ORIGIN)
    program.name("shared", 0x10)
    program("nop")
    program.include(other.assemble().program, since="begin")
    assert program.assemble().code == bytes([0xEA, 0xA5, 0x10, 0x60])
    for since in ("begin", "nowhere"):
        with pytest.raises(AssemblyError):
            program.include(other, since)
    clash = Program(ORIGIN)
    clash.name("shared", 0x11)
    with pytest.raises(AssemblyError, match="two things"):
        clash.include(other, since="begin")


def test_mistakes_are_one_line() -> None:
    program = Program(0xE000)
    program.label("here")
    program.name("there", 0x10)
    beyond = program.name("beyond", 0x0100)
    mistakes = (
        lambda: program("sta", at(beyond - 1, "x")),
        lambda: program("xyz"),
        lambda: program("lda"),
        lambda: program("rts", 0x10),
        lambda: program("stx", at(0x0300, "y")),
        lambda: program("lda", through(0x0300)),
        lambda: program("lda", through("here")),
        lambda: value(256),
        lambda: program.label("here"),
        lambda: program.label("there"),
        lambda: program.name("there", 0x11),
        lambda: program.name("here", 0x11),
    )
    for mistake in mistakes:
        with pytest.raises(AssemblyError) as problem:
            mistake()
        assert "\n" not in str(problem.value)
    for wrong in ("nowhere", Address("there", -0x20)):
        program = Program(0xE000)
        program.name("there", 0x10)
        program("lda", wrong)
        with pytest.raises(AssemblyError):
            program.assemble()
    program = Program(0xFFFF)
    program("lda", 0x0300)
    with pytest.raises(AssemblyError, match="beyond"):
        program.assemble()
    program = Program(0xE000)
    program.data([256])
    with pytest.raises(AssemblyError, match="bytes"):
        program.assemble()
