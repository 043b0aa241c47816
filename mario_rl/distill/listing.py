"""A finished 6502 program: its bytes, and texts of it for people and for ca65."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Assembled:
    """All of it."""

    origin: int
    code: bytes
    labels: dict[str, int]
    names: dict[str, int]
    """Of bytes outside of it."""
    lines: list[Placed]

    def source(self, title: str = "") -> str:
        """Source for ca65, which gives the same bytes when it is linked to its origin."""
        head = [f"; {line}".rstrip() for line in title.splitlines()]
        names = [f"{name:<16}= ${place:0{2 if place < 0x100 else 4}X}" for name, place in self.names.items()]
        return "\n".join([*head, '.setcpu "6502"', *names, "", *(line.source() for line in self.lines)]) + "\n"

    def listing(self) -> str:
        """Addresses, bytes and cycles beside the source."""
        rows = []
        for line in self.lines:
            place = f"{line.address:04X}" if line.code or line.label else ""
            dots = " .." if len(line.code) > SHOWN_BYTES else ""
            shown = line.code[:SHOWN_BYTES].hex(" ").upper() + dots
            rows.append(f"{place:<5} {shown:<11} {line.cycles:>3}  {line.source()}".rstrip())
        return "\n".join(rows) + "\n"
