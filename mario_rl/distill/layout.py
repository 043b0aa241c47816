"""Where a player inside a cartridge keeps its bytes, and those of the game that it reads (docs/cartridge.md)."""

from __future__ import annotations

from dataclasses import dataclass, fields

from mario_rl.distill.assembler import Program
from mario_rl.distill.operands import Address

GONE = 0xF0  # this and above: nothing is there
VIRUS = 0xD0
EMPTY = 0xFF


@dataclass(frozen=True)
class Layout:
    """Named bytes. The game's are of seat 1; seat 2's are 0x80 behind them, which is in X when the player is asked."""

    # the player's own
    tops: Address  # nine
    column: Address
    target_x: Address
    target_rotation: Address
    best: Address
    low_cell: Address
    high_cell: Address
    low_colour: Address
    high_colour: Address
    rotation: Address
    colour: Address
    cell: Address
    step: Address
    bound: Address
    half: Address
    score: Address
    viruses: Address
    shared: Address
    capsule: Address
    kept: Address  # five
    highest_virus: Address  # eight
    column_viruses: Address  # eight, and one more
    features: Address
    # the game's
    field: Address  # a word
    frame_counter: Address
    player_pad: Address
    first_colour: Address
    second_colour: Address
    capsule_x: Address
    capsules: Address
    action: Address
    capsule_rotation: Address


_SCALARS = (
    "column", "target_x", "target_rotation", "best", "low_cell", "high_cell", "low_colour", "high_colour", "rotation",
    "colour", "cell", "step", "bound", "half", "score", "viruses", "shared", "capsule", "kept",
)  # fmt: skip
_GAME = {
    "field": 0x57, "frame_counter": 0x43, "first_colour": 0x0301, "second_colour": 0x0302, "capsule_x": 0x0305,
    "capsules": 0x0310, "action": 0x0317, "capsule_rotation": 0x0325,
}  # fmt: skip


@dataclass(frozen=True)
class Memory:
    """The bytes that a cartridge leaves to its player."""

    small: int
    """Where the tops and single bytes go; 32 bytes, in the zero page if the cartridge has so many to spare."""
    large: int
    """Where the rest goes, 36 bytes."""
    player_pad: int

    def layout(self, program: Program) -> Layout:
        """All bytes by their names, in a program."""
        places = _GAME | {"tops": self.small, "player_pad": self.player_pad}
        places |= {name: self.small + 9 + number for number, name in enumerate(_SCALARS)}
        places |= {"highest_virus": self.large, "column_viruses": self.large + 8, "features": self.large + 17}
        return Layout(**{field.name: program.name(field.name, places[field.name]) for field in fields(Layout)})


ANTIDOTE = Memory(small=0xB0, large=0x03B0, player_pad=0x05)
