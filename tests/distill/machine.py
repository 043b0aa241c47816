"""A bare 6502 (py65) for programs of our own assembler."""

from __future__ import annotations

from mario_rl.distill.machine import RETURN as RETURN
from mario_rl.distill.machine import Machine as Machine
