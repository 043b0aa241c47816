"""What a 6502 instruction works on.

An operand is a label or an address (zero page where there is such an instruction), `at(address, "x")` or "y" for an
indexed one, `through(address)` for the one that is kept at an address of the zero page, plus Y, and `value(5)`,
`low(label)` or `high(label)` for a number itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mario_rl.distill.opcodes import Mode

ZERO_PAGE = 0x100


class AssemblyError(ValueError):
    """A program that cannot be; one line."""


@dataclass(frozen=True)
class Address:
    """A place by name (a label, or a byte that `Program.name` has named), and so many bytes behind it."""

    name: str
    """"" for a plain number."""
    offset: int = 0

    def __add__(self, more: int) -> Address:
        return Address(self.name, self.offset + more)

    def __sub__(self, less: int) -> Address:
        return self + -less

    def __str__(self) -> str:
        if not self.name:
            return f"${self.offset:02X}" if self.offset < ZERO_PAGE else f"${self.offset:04X}"
        sign = "+" if self.offset > 0 else "-"
        return f"{self.name} {sign} {abs(self.offset)}" if self.offset else self.name


Place = Address | int | str


@dataclass(frozen=True)
class Operand:
    """What an instruction works on: a place, and the modes that can take it, the shorter ones first."""

    place: Address
    modes: tuple[Mode, ...]
    part: Literal["", "<", ">"] = ""
    """Its low or its high byte only."""

    def __str__(self) -> str:
        return f"{self.part}({self.place})" if self.part and self.place.offset else f"{self.part}{self.place}"


def address(place: Place) -> Address:
    """A place, however it is given."""
    if isinstance(place, Address):
        return place
    return Address("", place) if isinstance(place, int) else Address(place)


def value(number: int) -> Operand:
    """A byte itself; negative ones as two's complement."""
    if not -128 <= number <= 255:
        raise AssemblyError(f"a byte is a number from -128 to 255, not {number}")
    return Operand(Address("", number & 0xFF), (Mode.IMMEDIATE,))


def low(place: Place) -> Operand:
    """The low byte of an address."""
    return Operand(address(place), (Mode.IMMEDIATE,), "<")


def high(place: Place) -> Operand:
    """The high byte of an address."""
    return Operand(address(place), (Mode.IMMEDIATE,), ">")


def at(place: Place, index: Literal["x", "y"]) -> Operand:
    """The byte X or Y behind an address."""
    modes = (Mode.ZERO_PAGE_X, Mode.ABSOLUTE_X) if index == "x" else (Mode.ZERO_PAGE_Y, Mode.ABSOLUTE_Y)
    return Operand(address(place), modes)


def through(place: Place) -> Operand:
    """The byte Y behind the address that is kept in the zero page."""
    return Operand(address(place), (Mode.INDIRECT_Y,))


def jump_through(place: Place) -> Operand:
    """For `jmp`: the address that is kept there."""
    return Operand(address(place), (Mode.INDIRECT,))
