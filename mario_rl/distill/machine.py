"""A bare 6502 (py65) on which compiled players run: what they choose, and how many cycles they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np
from py65.devices.mpu6502 import MPU

from mario_rl.distill.drops import Drops
from mario_rl.distill.form import Form
from mario_rl.distill.listing import Assembled
from mario_rl.environment.drmario.memory import (
    ACTION_SPAWNED,
    BLOCK,
    BLOCK_SIZE,
    CAPSULES,
    CELLS,
    COLOURS,
    FIELD,
    FIELD_PAGE,
)

RETURN = 0x0150  # where a called routine returns to: nothing runs there
FIELD_POINTER = 0x57
CYCLES_A_CALL = 12_000
"""What a call may take in Antidote (docs/cartridge.md)."""
DEC_ABSOLUTE = 0xCE


class ExactMPU(MPU):  # type: ignore[misc]
    """py65 1.2.0 counts 3 cycles for DEC with an absolute address; the processor takes 6."""

    cycletime: ClassVar[list[int]] = [
        6 if opcode == DEC_ABSOLUTE else cycles for opcode, cycles in enumerate(MPU.cycletime)
    ]


class Machine:
    """RAM, a program, and calls of its labels."""

    def __init__(self, made: Assembled):
        self.mpu = ExactMPU()
        self.memory = self.mpu.memory
        for origin, code in made.parts:
            self.memory[origin : origin + len(code)] = list(code)
        self.labels: Mapping[str, int] = made.labels
        self.names: Mapping[str, int] = made.names

    def call(self, label: str, a: int = 0, x: int = 0, y: int = 0) -> int:
        """Call a routine; the cycles it took, its RTS included."""
        mpu = self.mpu
        mpu.a, mpu.x, mpu.y, mpu.sp, mpu.pc, mpu.processorCycles = a, x, y, 0xFD, self.labels[label], 0
        self.memory[0x1FE:0x200] = [(RETURN - 1) & 0xFF, (RETURN - 1) >> 8]
        while mpu.pc != RETURN:
            mpu.step()
        return int(mpu.processorCycles)


class Thought(NamedTuple):
    """What a player made of a capsule."""

    column: int
    rotation: int
    cycles: list[int]
    """Of each call until it began to steer."""


class ThinkingMachine(Machine):
    """A compiled form that is asked about bottles, as the cartridge asks it."""

    def __init__(self, form: Form):
        super().__init__(form.compile())
        self._thinks = form.thinks

    def think(self, drops: Drops, game: int, seat: int = 1) -> Thought:
        """About the capsule of one of some games."""
        memory = self.memory
        memory[FIELD : FIELD + 2 * FIELD_PAGE] = [0xFF] * (2 * FIELD_PAGE)
        start = FIELD + FIELD_PAGE * seat
        memory[start : start + CELLS] = drops.fields[game].ravel().tolist()
        memory[FIELD_POINTER], memory[FIELD_POINTER + 1] = start & 0xFF, start >> 8
        block = BLOCK + BLOCK_SIZE * seat
        memory[block + COLOURS.start : block + COLOURS.stop] = drops.colours[game].tolist()
        memory[block + CAPSULES] = int(drops.capsules[game])
        cycles = [self.call("think", a=ACTION_SPAWNED, x=BLOCK_SIZE * seat)]
        cycles += [self.call("steer", x=BLOCK_SIZE * seat) for _ in range(self._thinks)]
        names = self.names
        return Thought(memory[names["target_x"]], memory[names["target_rotation"]], cycles)


def worst_call(form: Form, drops: Drops, games: int = 60) -> int:
    """The most cycles that a call took, over some of these bottles, the fullest ones among them."""
    machine = ThinkingMachine(form)
    filled = (drops.fields != 0xFF).sum(axis=(1, 2))
    chosen = np.unique([*np.argsort(filled)[-games // 2 :], *np.linspace(0, len(filled) - 1, games // 2).astype(int)])
    return max(max(machine.think(drops, game).cycles) for game in chosen.tolist())
