"""Recorded games: small text files of what to press, step by step, from a level's start.

A file holds `level 1-1` and then `count*action` words; actions are those of the "complex" set, a step is four frames,
the episode starts without a random wait. The game is deterministic, so a recording always ends the same way. They were
found by random search from saved states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mario_rl.environment.actions import action_names
from mario_rl.environment.smb.env import SmbEnv

RECORDINGS = Path(__file__).parent / "recordings"


@dataclass(frozen=True)
class Step:
    """What one step of a recording led to."""

    observation: np.ndarray
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


@dataclass(frozen=True)
class Recording:
    """A recorded game."""

    level: str
    actions: tuple[int, ...]

    def environment(self, **settings: Any) -> SmbEnv:
        """The environment it was recorded in, ready to be reset."""
        return SmbEnv(**{"level": self.level, "actions": "complex", "noop_max": 0, "stuck_steps": None} | settings)

    def play(self, env: SmbEnv | None = None) -> Iterator[Step]:
        """Play it step by step until it or the episode ends."""
        env = env or self.environment()
        env.reset()
        for action in self.actions:
            step = Step(*env.step(np.int64(action)))
            yield step
            if step.terminated or step.truncated:
                return


def read_recording(name: str) -> Recording:
    """The recording in `recordings/<name>.txt`."""
    numbers = {word: number for number, word in enumerate(action_names("complex"))}
    level = ""
    actions: list[int] = []
    for line in (RECORDINGS / f"{name}.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("level "):
            level = line.removeprefix("level ")
            continue
        for word in line.split():
            count, action = word.split("*")
            actions += [numbers[action]] * int(count)
    return Recording(level, tuple(actions))


@pytest.fixture(autouse=True)
def _the_game(smb_rom: Path) -> None:
    """Every test here plays it."""


@pytest.fixture
def recording() -> Callable[[str], Recording]:
    """Reads a recording by its name."""
    return read_recording
