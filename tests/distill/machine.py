"""A bare 6502 (py65) for programs of our own assembler."""

from __future__ import annotations

from collections.abc import Mapping

from mario_rl.distill.listing import Assembled
from tests.exact_mpu import ExactMPU

RETURN = 0x0100  # where a called routine returns to: nothing runs there


class Machine:
    """RAM, a program, and calls of its labels."""

    def __init__(self, made: Assembled):
        self.mpu = ExactMPU()
        self.memory = self.mpu.memory
        self.memory[made.origin : made.origin + len(made.code)] = list(made.code)
        self.labels: Mapping[str, int] = made.labels

    def call(self, label: str, a: int = 0, x: int = 0, y: int = 0) -> int:
        """Call a routine; the cycles it took, its RTS included."""
        mpu = self.mpu
        mpu.a, mpu.x, mpu.y, mpu.sp, mpu.pc, mpu.processorCycles = a, x, y, 0xFD, self.labels[label], 0
        self.memory[0x1FE:0x200] = [(RETURN - 1) & 0xFF, (RETURN - 1) >> 8]
        while mpu.pc != RETURN:
            mpu.step()
        return int(mpu.processorCycles)
