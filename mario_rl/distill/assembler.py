"""A small 6502 assembler: programs are made by calls, and come out as bytes and as ca65 source that a person can read.

    program = Program(0xE000)
    best = program.name("best", 0xC5)
    program.label("take")
    program("cmp", best)
    program("bcc", "leave")            # a label; beyond 127 bytes it becomes a branch around a jump
    program("sta", best)
    program.label("leave")
    program("rts")
    made = program.assemble()          # made.code, made.labels, made.source(), made.listing()

What may stand behind an instruction is in operands.py. Where there is no room for all of it in one place,
`assemble(ranges)` spreads it over several.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from mario_rl.distill.listing import Assembled, Part, Placed
from mario_rl.distill.opcodes import OPERATIONS, OPPOSITES, Mode
from mario_rl.distill.operands import ZERO_PAGE, Address, AssemblyError, Operand, Place, address
from mario_rl.distill.ranges import Range, first_fit

ADDRESSES = 0x10000
INDEXED = (Mode.ZERO_PAGE_X, Mode.ZERO_PAGE_Y)
ENDINGS = ("jmp", "rts", "rti")
"""Behind these the processor does not go on."""


@dataclass(frozen=True)
class _Line:
    """A label, an instruction, data, or a comment alone."""

    comment: str = ""
    label: str = ""
    mnemonic: str = ""
    mode: Mode = Mode.IMPLIED
    operand: Operand | None = None
    data: tuple[int | Operand, ...] = ()
    far: bool = False
    """A branch that is written as one around a jump."""

    @property
    def size(self) -> int:
        """In bytes."""
        if not self.mnemonic:
            return len(self.data)
        return Mode.RELATIVE.size + Mode.ABSOLUTE.size if self.far else self.mode.size


@dataclass
class Program:
    """A program in the making, for an address."""

    origin: int
    _lines: list[_Line] = field(default_factory=list)
    _names: dict[str, int] = field(default_factory=dict)
    _labels: set[str] = field(default_factory=set)

    def name(self, name: str, place: int) -> Address:
        """Give a byte outside of the program a name; before it is used, so that the zero page is known."""
        if self._names.setdefault(name, place) != place or name in self._labels:
            raise AssemblyError(f"{name} is the name of two things")
        return Address(name)

    def label(self, name: str, comment: str = "") -> Address:
        """Name the place that comes next."""
        if name in self._labels or name in self._names:
            raise AssemblyError(f"{name} is the name of two things")
        self._labels.add(name)
        self._lines.append(_Line(comment, label=name))
        return Address(name)

    def __call__(self, mnemonic: str, operand: Operand | Place | None = None, comment: str = "") -> None:
        """An instruction."""
        if mnemonic not in OPERATIONS:
            raise AssemblyError(f"the 6502 has no {mnemonic!r}")
        if operand is not None and not isinstance(operand, Operand):
            modes = (Mode.RELATIVE,) if mnemonic in OPPOSITES else (Mode.ZERO_PAGE, Mode.ABSOLUTE)
            operand = Operand(address(operand), modes)
        self._lines.append(_Line(comment, "", mnemonic, self._mode(mnemonic, operand), operand))

    def run_into(self, routine: str) -> None:
        """Begin a routine here: a call of it that came last is not needed, since what follows it is its `rts`."""
        if self.has_just_called(routine):
            self._lines.pop()
        else:
            self("rts")
        self.label(routine)

    def has_just_called(self, routine: str) -> bool:
        """Whether the last thing is a call of this routine."""
        last = self._lines[-1]
        return last.mnemonic == "jsr" and last.operand is not None and last.operand.place == Address(routine)

    def move_to_y(self) -> None:
        """What is in A to Y, and A is lost: what it has just been loaded with goes to Y straight away."""
        last = self._lines[-1]
        if last.mnemonic == "lda" and last.mode in OPERATIONS["ldy"]:
            self._lines[-1] = replace(last, mnemonic="ldy")
        else:
            self("tay")

    def data(self, numbers: Iterable[int | Operand], comment: str = "") -> None:
        """A line of bytes, among them `low` and `high` of places."""
        self._lines.append(_Line(comment, data=tuple(numbers)))

    def comment(self, text: str = "") -> None:
        """A line for the reader."""
        self._lines.append(_Line(text))

    def include(self, other: Program, since: str) -> None:
        """Go on with another program, from one of its labels on."""
        for name, place in other._names.items():
            self.name(name, place)
        begin = next((number for number, line in enumerate(other._lines) if line.label == since), None)
        if begin is None:
            raise AssemblyError(f"nothing is called {since}")
        for line in other._lines[begin:]:
            if line.label:
                self.label(line.label, line.comment)
            else:
                self._lines.append(line)

    def _mode(self, mnemonic: str, operand: Operand | None) -> Mode:
        """The shortest way in which this instruction takes its operand."""
        possible = OPERATIONS[mnemonic]
        if operand is None:
            modes: tuple[Mode, ...] = (Mode.IMPLIED, Mode.ACCUMULATOR)
        elif self.is_in_zero_page(operand.place):
            modes = operand.modes
            if self._names.get(operand.place.name, 0) >= ZERO_PAGE and not {*modes}.isdisjoint(INDEXED):
                raise AssemblyError(
                    f"{operand} is in the zero page, which an index cannot leave for {operand.place.name}"
                )
        else:
            short = (Mode.ZERO_PAGE, Mode.ZERO_PAGE_X, Mode.ZERO_PAGE_Y, Mode.INDIRECT_Y)
            modes = tuple(mode for mode in operand.modes if mode not in short)
        for mode in modes:
            if mode in possible:
                return mode
        raise AssemblyError(f"{mnemonic} does not take {operand or 'nothing'} that way")

    def is_in_zero_page(self, place: Address) -> bool:
        """Nothing that is part of the program is."""
        known = not place.name or place.name in self._names
        return known and 0 <= self._names.get(place.name, 0) + place.offset < ZERO_PAGE

    def assemble(self, ranges: Sequence[Range] = ()) -> Assembled:
        """The finished program, at its origin or spread over ranges. Branches that do not reach become longer until all
        do."""
        lines = list(self._lines)
        while True:
            starts = _spread(lines, ranges) if ranges else _in_one(lines, self.origin)
            places = _Places(lines, starts, self._names)
            stretched = [replace(line, far=line.far or places.is_far(line, start)) for line, start in places.lines()]
            if stretched == lines:
                break
            lines = stretched
        placed = [part for line, start in places.lines() for part in _placed(line, start, places)]
        placed.sort(key=lambda line: line.address)
        return Assembled(_parts(placed), places.labels, dict(self._names), placed, self)


def _in_one(lines: list[_Line], origin: int) -> list[int]:
    """Where the lines begin, one behind the other."""
    starts, here = [], origin
    for line in lines:
        starts.append(here)
        here += line.size
    if here > ADDRESSES:
        raise AssemblyError(f"the program ends beyond $FFFF, at ${here:X}")
    return starts


def _spread(lines: list[_Line], ranges: Sequence[Range]) -> list[int]:
    """Where the lines begin, piece by piece in the ranges."""
    pieces = _pieces(lines)
    begins = first_fit([sum(line.size for line in piece) for piece in pieces], ranges)
    return [start for piece, begin in zip(pieces, begins, strict=True) for start in _in_one(piece, begin)]


def _pieces(lines: list[_Line]) -> list[list[_Line]]:
    """The lines in pieces that can lie anywhere: nothing runs on from one into the next.

    A piece begins with a label, and the comments above it, behind a jump, a return or data. (Data that are run into are
    taken for instructions.)
    """
    pieces: list[list[_Line]] = [[]]
    between: list[_Line] = []  # comments, of which it is not known yet where they belong
    ended, empty = True, True
    for line in lines:
        if line.label and ended and not empty:
            pieces.append([])
            empty = True
        elif not (line.label or line.size):
            between.append(line)
            continue
        pieces[-1] += [*between, line]
        between = []
        empty = empty and not line.size
        if line.mnemonic:
            ended = line.mnemonic in ENDINGS
    pieces[-1] += between
    return pieces


def _parts(placed: list[Placed]) -> tuple[Part, ...]:
    """The bytes of lines that are in order, where they lie one behind the other."""
    parts: list[Part] = []
    for line in placed:
        if parts and parts[-1].end == line.address:
            parts[-1] = Part(parts[-1].origin, parts[-1].code + line.code)
        elif line.code or not parts:
            parts.append(Part(line.address, line.code))
    return tuple(parts)


class _Places:
    """Where everything is, if the lines have the lengths that they have now."""

    def __init__(self, lines: list[_Line], starts: list[int], names: dict[str, int]):
        self._lines, self._starts, self._names = lines, starts, names
        self.labels = {line.label: start for line, start in zip(lines, starts, strict=True) if line.label}

    def lines(self) -> Iterable[tuple[_Line, int]]:
        return zip(self._lines, self._starts, strict=True)

    def number(self, operand: Operand) -> int:
        place = operand.place
        base = 0
        if place.name:
            known = self.labels.get(place.name, self._names.get(place.name))
            if known is None:
                raise AssemblyError(f"nothing is called {place.name}")
            base = known
        found = base + place.offset
        if not 0 <= found < ADDRESSES:
            raise AssemblyError(f"{place} is no address: {found}")
        return {"": found, "<": found & 0xFF, ">": found >> 8}[operand.part]

    def is_far(self, line: _Line, start: int) -> bool:
        """Whether a branch from there does not reach."""
        if line.mnemonic not in OPPOSITES or line.operand is None:
            return False
        return not -128 <= self.number(line.operand) - (start + Mode.RELATIVE.size) <= 127


def _placed(line: _Line, start: int, places: _Places) -> list[Placed]:
    """A line of the finished program, or the two that a far branch is written as."""
    if line.far:
        around = start + Mode.RELATIVE.size + Mode.ABSOLUTE.size
        assert line.operand is not None
        branch = Operand(Address("", around), (Mode.RELATIVE,))
        jump = Operand(line.operand.place, (Mode.ABSOLUTE,))
        return [
            _instruction(_Line("", "", OPPOSITES[line.mnemonic], Mode.RELATIVE, branch), start, places, "*+5"),
            _instruction(_Line(line.comment, "", "jmp", Mode.ABSOLUTE, jump), start + Mode.RELATIVE.size, places),
        ]
    if line.mnemonic:
        return [_instruction(line, start, places)]
    numbers = [places.number(part) if isinstance(part, Operand) else part for part in line.data]
    if not all(0 <= number <= 0xFF for number in numbers):
        raise AssemblyError(f"data are bytes, not {numbers}")
    shown = [str(part) if isinstance(part, Operand) else f"${part:02X}" for part in line.data]
    text = f".byte {', '.join(shown)}" if shown else ""
    return [Placed(start, bytes(numbers), line.label, text, "", line.comment)]


def _instruction(line: _Line, start: int, places: _Places, written: str | None = None) -> Placed:
    operation = OPERATIONS[line.mnemonic][line.mode]
    operand = b""
    if line.operand is not None:
        number = places.number(line.operand)
        if line.mode is Mode.RELATIVE:
            number = (number - start - line.mode.size) & 0xFF
        operand = number.to_bytes(line.mode.size - 1, "little")
        written = line.mode.written(written or str(line.operand))
    text = f"{line.mnemonic} {written or line.mode.written('')}".rstrip()
    more = "+" if operation.page_crossing or line.mode is Mode.RELATIVE else ""
    code = bytes([operation.opcode]) + operand
    return Placed(start, code, "", text, f"{operation.cycles}{more}", line.comment)
