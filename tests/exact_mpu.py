"""py65's 6502, with the cycles of the real one."""

from __future__ import annotations

from mario_rl.distill.machine import ExactMPU as ExactMPU
