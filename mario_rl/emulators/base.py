"""The two contracts every console implementation keeps: `Emulator` (one console) and `EmulatorBatch` (many lanes).

`tests/contracts/test_emulator.py` runs one suite over every implementation.
"""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DOWN",
    "LEFT",
    "RAM_SIZE",
    "RIGHT",
    "SCREEN_HEIGHT",
    "SCREEN_WIDTH",
    "SELECT",
    "START",
    "UP",
    "A",
    "B",
    "Emulator",
    "EmulatorBatch",
    "EmulatorReset",
    "Screen",
]

# Pad bits, the same everywhere in the project (Dr. Mario and cynes have them in this order, too).
A = 0x80
B = 0x40
SELECT = 0x20
START = 0x10
UP = 0x08
DOWN = 0x04
LEFT = 0x02
RIGHT = 0x01

RAM_SIZE = 2048
SCREEN_HEIGHT = 240
SCREEN_WIDTH = 256

Screen = Literal["off", "draw", "push", "replace", "fill"]


class EmulatorReset(RuntimeError):
    """The console was lost and is there again, at the last state that was kept: whoever plays begins a new episode.

    Consoles that live in a process of their own can raise it, from any call, once after each loss.
    """

    def __init__(self, restarts: int):
        super().__init__(f"the console was lost and started again (restart {restarts}): begin a new episode")
        self.restarts = restarts


@runtime_checkable
class Emulator(Protocol):
    """One console. The same inputs from the same state give the same states, always."""

    @property
    def ram(self) -> NDArray[np.uint8]:
        """The console's 2048 bytes of RAM; writing the array pokes the console."""

    def step(self, pads: tuple[int, int] = (0, 0), frames: int = 1, render: bool = False) -> None:
        """Run `frames` frames with both pads held; draw the last one if `render`."""

    def frame(self) -> NDArray[np.uint8]:
        """The last drawn frame, uint8[240, 256, 3] RGB."""

    def peek(self, address: int, length: int = 1) -> bytes:
        """The CPU bus ($0000-$FFFF, cartridge included) without side effects; registers read as 0."""

    def save(self) -> bytes:
        """The whole state: loads in another process and on another machine."""

    def load(self, state: bytes) -> None:
        """Restore a saved state; raises StateError on anything that is not one, and then changes nothing."""

    def power(self) -> None:
        """Switch off and on again."""

    def close(self) -> None:
        """Release the console. Idempotent."""


@runtime_checkable
class EmulatorBatch(Protocol):
    """`lanes` consoles of one cartridge, stepped together."""

    @property
    def lanes(self) -> int:
        """How many consoles."""

    @property
    def ram(self) -> NDArray[np.uint8]:
        """uint8[lanes, 2048]: the RAM of every lane itself, not a copy."""

    def step(
        self,
        pads: NDArray[np.uint8],
        frames: int | NDArray[np.int32],
        mask: NDArray[np.bool_] | None = None,
        screen: Screen = "off",
    ) -> None:
        """Run every lane (or those in `mask`) for `frames` frames with pads[lane] = (pad 1, pad 2) held.

        `screen`: "off" draws nothing; "draw" draws the last frame for `frame()`; "push", "replace" and "fill" put the
        last frame, processed as `configure_screen` said, into the lane's stack: as its newest, over its newest, or
        everywhere. A lane with 0 frames is left alone.
        """

    def configure_screen(
        self,
        colour: Literal["grey", "rgb"] = "grey",
        crop: tuple[int, int, int, int] = (0, 0, 0, 0),
        size: tuple[int, int] | None = None,
        stack: int = 1,
        max_pool: bool = False,
    ) -> NDArray[np.uint8]:
        """Say what "push" makes of a picture; returns the buffer it fills.

        `crop` cuts (top, bottom, left, right) pixels off, `size` (height, width) area-averages, `max_pool` takes the
        brighter of the last two frames. The buffer is uint8[lanes, stack, height, width] (RGB: and 3), newest last.
        Call it once, before the first such step.
        """

    def frame(self, lane: int) -> NDArray[np.uint8]:
        """The lane's last drawn frame, uint8[240, 256, 3] RGB."""

    def peek(self, lane: int, address: int, length: int = 1) -> bytes:
        """The lane's CPU bus without side effects."""

    def save(self, lane: int) -> bytes:
        """The lane's state; interchangeable with every other lane and console of the same cartridge."""

    def load(self, lane: int, state: bytes) -> None:
        """Restore a state into the lane; raises StateError and changes nothing if it is not one."""

    def load_lanes(self, mask: NDArray[np.bool_], states: list[bytes]) -> None:
        """Restore one state into each lane of `mask`, in order."""

    def copy(self, source: int, target: int) -> None:
        """Make lane `target` equal lane `source`."""

    def power(self, lane: int) -> None:
        """Switch the lane off and on again."""

    def close(self) -> None:
        """Release the consoles. Idempotent."""
