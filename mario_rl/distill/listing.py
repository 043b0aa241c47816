"""A finished 6502 program: its bytes, and texts of it for people and for ca65."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mario_rl.distill.assembler import Program

SHOWN_BYTES = 3  # of a line in a listing
COMMENTS_AT = 32


@dataclass(frozen=True)
class Placed:
    """A line of it."""

    address: int
    code: bytes
    label: str
    text: str
    """As ca65 writes it, without label and comment."""
    cycles: str
    """At least; with a "+" there may be more (another page, a branch that is taken)."""
    comment: str

    def source(self) -> str:
        """The whole line, as ca65 writes it."""
        comment = f"; {self.comment}" if self.comment else ""
        if self.label:
            return f"{self.label}: {comment}".rstrip()
        text = f"        {self.text}" if self.text else ""
        return f"{text:<{COMMENTS_AT}}{comment}" if text and comment else text or comment


class Part(NamedTuple):
    """Bytes that lie one behind the other."""

    origin: int
    code: bytes

    @property
    def end(self) -> int:
        """The address behind it."""
        return self.origin + len(self.code)


@dataclass(frozen=True)
class Assembled:
    """All of it."""

    parts: tuple[Part, ...]
    """By their addresses; one, unless it was spread over several places."""
    labels: dict[str, int]
    names: dict[str, int]
    """Of bytes outside of it."""
    lines: list[Placed]
    program: Program = field(repr=False, compare=False)
    """What it was made from."""

    @property
    def origin(self) -> int:
        """Where it begins."""
        return self.parts[0].origin

    @property
    def code(self) -> bytes:
        """The bytes of all parts."""
        return b"".join(part.code for part in self.parts)

    def source(self, title: str = "") -> str:
        """Source for ca65, which gives the same bytes, wherever it is linked to; part behind part."""
        head = [f"; {line}".rstrip() for line in title.splitlines()]
        names = [f"{name:<16}= ${place:0{2 if place < 0x100 else 4}X}" for name, place in self.names.items()]
        body = []
        here = -1
        for line in self.lines:
            if line.address != here:
                body += ["", f".org ${line.address:04X}"]
            body.append(line.source())
            here = line.address + len(line.code)
        return "\n".join([*head, '.setcpu "6502"', *names, *body]) + "\n"

    def listing(self) -> str:
        """Addresses, bytes and cycles beside the source."""
        rows = []
        for line in self.lines:
            place = f"{line.address:04X}" if line.code or line.label else ""
            dots = " .." if len(line.code) > SHOWN_BYTES else ""
            shown = line.code[:SHOWN_BYTES].hex(" ").upper() + dots
            rows.append(f"{place:<5} {shown:<11} {line.cycles:>3}  {line.source()}".rstrip())
        return "\n".join(rows) + "\n"
