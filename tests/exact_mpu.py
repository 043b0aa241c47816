"""py65's 6502, with the cycles of the real one."""

from __future__ import annotations

from typing import ClassVar

from py65.devices.mpu6502 import MPU

DEC_ABSOLUTE = 0xCE


class ExactMPU(MPU):  # type: ignore[misc]
    """py65 1.2.0 counts 3 cycles for DEC with an absolute address; the processor takes 6."""

    cycletime: ClassVar[list[int]] = [
        6 if opcode == DEC_ABSOLUTE else cycles for opcode, cycles in enumerate(MPU.cycletime)
    ]
