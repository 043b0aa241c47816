"""Where a player inside the cartridge keeps its bytes, and those of the game that it reads (docs/cartridge.md)."""

from __future__ import annotations

from dataclasses import dataclass, fields

from mario_rl.distill.assembler import Address, Program

ANTIDOTE_ORIGIN = 0xE000
ANTIDOTE_SIZE = 0x1C00

GONE = 0xF0  # this and above: nothing is there
VIRUS = 0xD0
EMPTY = 0xFF

_ZERO_PAGE, _MORE = 0xC0, 0x0742


@dataclass(frozen=True)
class Layout:
    """Named bytes. The game's are of seat 1; seat 2's are 0x80 behind them."""

    # zero page: $C0-$CF is the player's
    cells: Address
    column: Address
    target_x: Address
    target_rotation: Address
    best: Address
    low_cell: Address
    high_cell: Address
    colour: Address
    cell: Address
    step: Address
    bound: Address
    viruses: Address
    turned: Address
    rotation: Address
    half: Address
    # $0742-$077F
    features: Address
    tops: Address  # eight, and one more
    first_column: Address
    low_colour: Address
    high_colour: Address
    beside: Address
    shared: Address
    columns_left: Address
    column_viruses: Address
    # the game's
    player_pad: Address
    first_colour: Address
    second_colour: Address
    capsule_x: Address
    action: Address
    capsule_rotation: Address


_PLACES = {
    "cells": _ZERO_PAGE, "column": _ZERO_PAGE + 2, "target_x": _ZERO_PAGE + 3, "target_rotation": _ZERO_PAGE + 4,
    "best": _ZERO_PAGE + 5, "low_cell": _ZERO_PAGE + 6, "high_cell": _ZERO_PAGE + 7, "colour": _ZERO_PAGE + 8,
    "cell": _ZERO_PAGE + 9, "step": _ZERO_PAGE + 10, "bound": _ZERO_PAGE + 11, "viruses": _ZERO_PAGE + 12,
    "turned": _ZERO_PAGE + 13, "rotation": _ZERO_PAGE + 14, "half": _ZERO_PAGE + 15,
    "features": _MORE, "tops": _MORE + 16, "first_column": _MORE + 25, "low_colour": _MORE + 26,
    "high_colour": _MORE + 27, "beside": _MORE + 28, "shared": _MORE + 29, "columns_left": _MORE + 30,
    "column_viruses": _MORE + 31,
    "player_pad": 0x05, "first_colour": 0x0301, "second_colour": 0x0302, "capsule_x": 0x0305, "action": 0x0317,
    "capsule_rotation": 0x0325,
}  # fmt: skip


def antidote(program: Program) -> Layout:
    """The bytes by their names in a program for Antidote."""
    return Layout(**{field.name: program.name(field.name, _PLACES[field.name]) for field in fields(Layout)})
