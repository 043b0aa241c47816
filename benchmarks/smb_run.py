"""The workload every console runs: boot Super Mario Bros., start 1-1, run right with pseudo-random jumps.

Only the standard library: this is imported by the peers' workers, too.
"""

from __future__ import annotations

import random
from typing import Any, Protocol

# Pad bits, as in mario_rl.emulators.base (which the peers' environment does not have).
RIGHT, START, B, A = 1 << 0, 1 << 4, 1 << 6, 1 << 7

# RAM addresses and values, as in mario_rl/environment/smb/memory.py.
GAME_MODE, PLAYER_STATE = 0x0770, 0x000E
PLAYING, CONTROLLABLE = 1, 8

FRAMES_PER_PAD = 4  # the pad changes every 4 frames, as it does for an agent with frame skip 4
RUN_PADS = 150  # 600 frames, 10 seconds of play; then the run begins again from the saved start
RUN_FRAMES = RUN_PADS * FRAMES_PER_PAD
RUN_SEED = 9  # with this one Mario is alive after the 600 frames, at x = 1490


class Console(Protocol):
    """What a worker provides of the emulator it wraps, in the emulator's quickest way."""

    def run(self, pad: int, frames: int) -> None:
        """Hold the pad of player 1 for some frames; the RAM is readable afterwards, nothing need be drawn."""

    def run_and_draw(self, pad: int) -> Any:
        """Run one frame and hand over its picture as an RGB array."""

    def peek(self, address: int) -> int:
        """One byte of the console's RAM."""

    def save(self) -> Any:
        """The console's state, to be loaded again."""

    def load(self, state: Any) -> None:
        """Return to a saved state."""


def pads_of_the_run() -> list[int]:
    """Run right for 600 frames; jump at random for 4 to 28 frames. The same list on every system."""
    dice = random.Random(RUN_SEED)
    pads: list[int] = []
    while len(pads) < RUN_PADS:
        pads += [RIGHT | B] * dice.randint(1, 5)
        pads += [RIGHT | B | A] * dice.randint(1, 7)
    return pads[:RUN_PADS]


def start_level_1_1(console: Console) -> None:
    """From power-on, press Start on the title screen and wait until Mario can be moved."""
    console.run(0, 60)
    console.run(START, 4)
    for _ in range(600):
        console.run(0, 1)
        if console.peek(GAME_MODE) == PLAYING and console.peek(PLAYER_STATE) == CONTROLLABLE:
            return
    raise RuntimeError("Super Mario Bros. did not start: is this its ROM?")
