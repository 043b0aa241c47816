"""A player in the original, without the original: a made-up dump, its RAM from the rules engine, py65 for the hook.

The rules engine plays as the original does, byte for byte. So in every frame its RAM is laid before the patched
routine, which is called twice, as the NMI calls it, and what it puts into $F6 both times is the engine's second pad.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from mario_rl.distill.burn import Burned, BurnError, burn
from mario_rl.distill.drops import FEATURES
from mario_rl.distill.form import Form, ScoringForm
from mario_rl.distill.machine import ExactMPU
from mario_rl.distill.mirror import CartridgeMirror
from mario_rl.distill.original import CHECKSUMMED, REVISIONS, STORE_PAD_2, compile_for_original, find_hook, free_ranges
from mario_rl.distill.player_file import DistilledPlayer
from mario_rl.distill.ranges import Range
from mario_rl.distill.tables import Tables
from mario_rl.distill.tiny import Tiny
from mario_rl.emulators.base import LEFT, RIGHT, START, A
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import RulesBatch
from tests.distill.boards import Board, boards_of_games, random_board
from tests.distill.dumps import REVISION_0, REVISION_A, made_up_dump, register
from tests.environment.drmario.boards import Hand

TABLES = Tables(
    {
        ("ground",): (0, 4, 8, 11, 22, 25, 29), ("run_viruses",): (0, 3, 5, 6), ("beside",): (0, 1, 3, 10),
        ("whim",): tuple(range(8)),
    },
    3,
)  # fmt: skip
FORMS = (Tiny(), TABLES)
HOOK_OF_A = 0xB7D1  # in the made-up dump
OWN_RAM = range(0x100, 0x150)
STACK = range(0x1C0, 0x200)
PAD_1, PAD_2, FIELD_POINTER = 0xF5, 0xF6, (0x57, 0x58)
RETURN = 0x7000  # where the routine returns to: nothing is there
CYCLES = {"tiny": 9_000, "table": 5_500}
"""Of a frame, at most."""


@pytest.fixture(params=[REVISION_0, REVISION_A])
def revision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=FORMS, ids=lambda form: form.kind)
def form(request: pytest.FixtureRequest) -> Form:
    return request.param


def dump_of(revision: str) -> bytes:
    return made_up_dump(revision, HOOK_OF_A if revision == REVISION_A else None)


def burned_into(form: Form, rom: bytes, revision: str, monkeypatch: pytest.MonkeyPatch) -> Burned:
    register(rom, revision, monkeypatch)
    return burn(DistilledPlayer(form), rom)


class Console:
    """The patched routine, and RAM."""

    def __init__(self, burned: Burned):
        assert burned.hook is not None
        self.mpu = ExactMPU()
        self.memory = self.mpu.memory
        self.rom = list(burned.rom[16 : 16 + 0x8000])
        self.memory[0x8000:] = self.rom
        self.hook = burned.hook.address
        rng = random.Random(4)
        self.memory[0x100:0x200] = [rng.randrange(256) for _ in range(256)]  # nobody clears it

    def show(self, ram: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> None:
        """The game's RAM as it is when the NMI reads the pads: the stack is left alone, the frame has been counted."""
        self.memory[0x000:0x100] = ram[0x000:0x100].tolist()
        self.memory[0x200:0x800] = ram[0x200:].tolist()
        self.memory[0x43] = (self.memory[0x43] + 1) & 0xFF
        self.memory[FIELD_POINTER[0]], self.memory[FIELD_POINTER[1]] = 0, 5  # as the NMI leaves it with two players

    def read_pad(self, pad_2: int) -> int:
        """The game reads the pads once, up to the hook: pad 2's byte in A. The cycles it takes from there."""
        mpu, before = self.mpu, self.memory[:0x800]
        mpu.a, mpu.x, mpu.y, mpu.sp, mpu.pc, mpu.processorCycles = pad_2, 0x12, 0x34, 0xEF, self.hook, 0
        self.memory[0x1F0:0x1F2] = [(RETURN - 1) & 0xFF, (RETURN - 1) >> 8]
        while mpu.pc != RETURN:
            mpu.step()
        assert (mpu.a, mpu.x, mpu.y, mpu.sp) == (self.memory[PAD_2], 0x12, 0x34, 0xF1)
        changed = {address for address in range(0x800) if before[address] != self.memory[address]}
        assert changed <= {*OWN_RAM, *STACK, PAD_2}
        return int(mpu.processorCycles)

    def frame(self, pad_2: int = 0) -> tuple[int, int]:
        """Both reads of a frame: the buttons that were down both times, and the cycles."""
        cycles = self.read_pad(pad_2)
        first = self.memory[PAD_2]
        cycles += self.read_pad(pad_2)
        return first & self.memory[PAD_2], cycles


def two_players(seed: int, level: int = 0, speed: int = 1) -> RulesBatch:
    games = RulesBatch(1)
    games.reset(seed, level, speed, 2)
    games.skip_intro()
    return games


def test_it_plays(form: Form, revision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole round against somebody who presses anything: it clears its bottle, and plays as its mirror does."""
    console = Console(burned_into(form, dump_of(revision), revision, monkeypatch))
    games, hand = two_players(4242), Hand(random.Random(3), may_pause=False)
    memory, mirror = GameMemory(games.ram), CartridgeMirror(form, "mirror")
    frames = 0
    while not memory.round_over()[0]:
        console.show(games.ram[0])
        pad, _ = console.frame(pad_2=A | LEFT | START)  # what somebody holds on the second pad does not matter
        if memory.action[0, 1] == 0:
            assert pad == mirror.hold(memory, 1)[0]
        games.step(np.array([[hand.pad(False), pad]], np.uint8))
        frames += 1
    assert memory.cleared()[0].tolist() == [False, True]
    assert memory.capsules()[0, 1] > 5 and frames > 500
    assert console.memory[0x8000:] == console.rom


def test_a_pause_changes_nothing(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever the game pauses, even right when a capsule has come in: it keeps its hands off, and then plays on."""
    console = Console(burned_into(form, dump_of(REVISION_0), REVISION_0, monkeypatch))
    games = two_players(77, level=3)
    memory, mirror = GameMemory(games.ram), CartridgeMirror(form, "mirror")
    paused_in = set()
    for frame in range(3000):
        console.show(games.ram[0])
        pad, _ = console.frame(pad_2=RIGHT)
        if memory.paused[0]:
            paused_in.add(int(memory.action[0, 1]))
            assert pad == RIGHT
        elif memory.action[0, 1] == 0:
            assert pad == mirror.hold(memory, 1)[0]
        games.step(np.array([[START if frame % 7 == 0 else 0, pad]], np.uint8))
        if memory.mode[0] != 4:
            break
    assert {0, 1, 3} <= paused_in


@pytest.mark.parametrize("mode", [0, 1, 2, 3, 5, 7, 8])
def test_in_the_menus_pad_1_chooses_for_both(mode: int, monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(burned_into(TABLES, dump_of(REVISION_0), REVISION_0, monkeypatch))
    for action in range(7):
        console.show(two_players(5).ram[0])
        console.memory[0x46], console.memory[0x397], console.memory[PAD_1] = mode, action, LEFT | A
        own = console.memory[OWN_RAM.start : OWN_RAM.stop]
        assert console.frame(pad_2=RIGHT)[0] == LEFT | A
        assert console.memory[OWN_RAM.start : OWN_RAM.stop] == own


def test_a_game_of_one_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(burned_into(TABLES, dump_of(REVISION_0), REVISION_0, monkeypatch))
    games = RulesBatch(1)
    games.reset(99, 0, 1, 1)
    games.skip_intro()
    for _ in range(300):
        console.show(games.ram[0])
        own = console.memory[OWN_RAM.start : OWN_RAM.stop]
        assert console.frame(pad_2=RIGHT)[0] == RIGHT
        assert console.memory[OWN_RAM.start : OWN_RAM.stop] == own
        games.step(np.zeros((1, 2), np.uint8))


def test_it_thinks_once_in_a_frame_and_not_too_long(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a frame takes of the NMI, on any bottle."""
    console = Console(burned_into(form, dump_of(REVISION_0), REVISION_0, monkeypatch))
    rng = random.Random(1)
    bottles: list[tuple[Board, tuple[int, int]]] = [(np.full((16, 8), 0xFF, np.uint8), (0, 0)), *boards_of_games(40)]
    bottles += [(random_board(rng), (rng.randrange(3), rng.randrange(3))) for _ in range(80)]
    games = two_players(8)
    memory = GameMemory(games.ram)
    for board, colours in bottles:
        memory.fields[0, 1], memory.colours[0, 1], memory.action[0, 1] = board, colours, 3
        for _ in range(10):
            console.show(games.ram[0])
            assert console.read_pad(0) < CYCLES[form.kind]
            assert console.read_pad(0) < 60
            games.ram[0, 0x43] = (int(games.ram[0, 0x43]) + 1) % 256
            memory.action[0, 1] = 0


# --- where it goes ------------------------------------------------------------------------------------------------


def test_only_free_bytes_and_the_hook_change(form: Form, revision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rom = dump_of(revision)
    burned = burned_into(form, rom, revision, monkeypatch)
    free = {address for span in REVISIONS[revision].free for address in range(span.first, span.last + 1)}
    hook = burned.hook
    assert hook is not None and hook.address == (HOOK_OF_A if revision == REVISION_A else 0xB7BF)
    changed = {0x8000 + number - 16 for number, byte in enumerate(burned.rom) if byte != rom[number]}
    assert changed <= free | set(range(hook.address, hook.address + 3))
    assert changed.isdisjoint(CHECKSUMMED)
    assert len(burned.rom) == len(rom)
    assert burned.used == sum(len(part.code) for part in burned.made.parts)
    assert burned.used + burned.free == len(free) == sum(size for _, size in burned.room)
    for part in burned.made.parts:
        assert burned.rom[16 + part.origin - 0x8000 :][: len(part.code)] == part.code
        assert set(range(part.origin, part.end)) <= free
    start = 16 + hook.address - 0x8000
    assert burned.rom[start : start + 3] == hook.after == b"\x4c" + burned.made.labels["hook"].to_bytes(2, "little")


def test_no_byte_of_its_memory_is_used_twice(form: Form) -> None:
    names = compile_for_original(form, [Range(0x8000, 0x1000)]).names
    sizes = {"tops": 9, "highest_virus": 8, "column_viruses": 9, "features": len(FEATURES)}
    own = [
        place + more for name, place in names.items() if 0x100 <= place < 0x200 for more in range(sizes.get(name, 1))
    ]
    assert len(set(own)) == len(own) > 50
    assert set(own) <= set(OWN_RAM)


def test_it_thinks_about_one_column_in_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    rom = dump_of(REVISION_0)
    slow, fast = (burned_into(replace(TABLES, columns_a_frame=n), rom, REVISION_0, monkeypatch) for n in (1, 4))
    assert isinstance(TABLES, ScoringForm) and slow.rom == fast.rom


def test_whatever_is_in_a_free_range_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    rom = bytearray(dump_of(REVISION_0))
    taken = 16 + 0xFB00 - 0x8000
    rom[taken] = 0x42
    burned = burned_into(Tiny(), bytes(rom), REVISION_0, monkeypatch)
    assert burned.rom[taken] == 0x42
    assert burned.room == (Range(0xFB01, 0x1FF), Range(0xFF30, 160), Range(0xD2CC, 52))
    full = bytes([0x42]) * 0x8000
    assert [size for _, size in free_ranges(full, REVISIONS[REVISION_0])] == [0, 0, 0]


def test_the_hook_must_be_where_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    prg = bytearray(dump_of(REVISION_A)[16 : 16 + 0x8000])
    revision = REVISIONS[REVISION_A]
    assert find_hook(bytes(prg), revision) == HOOK_OF_A
    prg[0xB900 - 0x8000 : 0xB903 - 0x8000] = STORE_PAD_2  # not there
    prg[0xBDFF - 0x8000 : 0xBE02 - 0x8000] = STORE_PAD_2
    prg[0xB8FE - 0x8000 : 0xB901 - 0x8000] = STORE_PAD_2
    assert find_hook(bytes(prg), revision) == HOOK_OF_A
    prg[0x9000 - 0x8000 : 0x9003 - 0x8000] = STORE_PAD_2
    with pytest.raises(ValueError, match=r"not clear: found \$9000, \$B7D1"):
        find_hook(bytes(prg), revision)
    for rom, name, why in (
        (made_up_dump(REVISION_A, None), REVISION_A, "found nowhere"),
        (made_up_dump(REVISION_0, 0xB7C0), REVISION_0, r"at \$B7BF"),
    ):
        with pytest.raises(BurnError, match=why):
            burned_into(Tiny(), rom, name, monkeypatch)


def test_the_largest_say_by_how_much_they_are_too_large(revision: str) -> None:
    large = Tables(
        TABLES.tables
        | {("column_viruses",): (0,) * 8, ("viruses_gone",): (0,) * 8, ("gap",): (0,) * 16, ("top_row",): (0,) * 17},
        3,
    )
    ranges = [Range(first, last - first + 1) for first, last in REVISIONS[revision].free]
    with pytest.raises(ValueError, match=r"^it has \d+ bytes, and there is room for (728|684) \(\d+ \+ \d+ \+ \d+\)$"):
        compile_for_original(large, ranges)
    with pytest.raises(ValueError, match="do not fit into"):
        compile_for_original(TABLES, [Range(0xE000, 60)] * 12)
