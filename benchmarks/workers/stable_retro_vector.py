"""stable-retro in its usual form: a process per environment (AsyncVectorEnv) with Gymnasium's wrappers.

`pixels16`: 16 processes, frame skip 4, grey, 84x84, 4 stacked. `ram32`: 32 processes, frame skip 4, RAM observations.
"""

import functools
import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import gymnasium
import stable_retro
from gymnasium.vector import AsyncVectorEnv
from gymnasium.wrappers import FrameStackObservation, GrayscaleObservation, ResizeObservation

from benchmarks import smb_run
from benchmarks.vector_measurements import VectorMeasurement
from benchmarks.worker import Answer, serve
from benchmarks.workers.stable_retro_console import StableRetroConsole

GAME = "SuperMarioBros-Nes-v0"
STATE = "Level1-1"
FRAME_SKIP = 4
RIGHT_ONLY = [[], ["RIGHT"], ["RIGHT", "A"], ["RIGHT", "B"], ["RIGHT", "A", "B"]]


class FrameSkip(gymnasium.Wrapper):
    """Repeat an action for some frames; the last observation counts, the rewards add up."""

    def step(self, action):
        total = 0.0
        for _ in range(FRAME_SKIP):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += reward
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info


class RightOnly(gymnasium.ActionWrapper):
    """Five actions that run and jump right, instead of every combination of buttons (some of which pause the game)."""

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        buttons = env.unwrapped.buttons
        self._pressed = [[button in combination for button in buttons] for combination in RIGHT_ONLY]
        self.action_space = gymnasium.spaces.Discrete(len(RIGHT_ONLY))

    def action(self, action):
        return self._pressed[action]


def write_integration(folder: Path, rom_file: Path) -> None:
    """Copy stable-retro's own description of the game beside our ROM, with a start state made from that ROM.

    Its description accepts one dump only, and its states were made with that dump.
    """
    shipped = Path(stable_retro.data.path()) / "stable" / GAME
    game = folder / GAME
    game.mkdir()
    for name in ("data.json", "scenario.json"):
        shutil.copy(shipped / name, game / name)
    shutil.copy(rom_file, game / "rom.nes")
    (game / "metadata.json").write_text(json.dumps({"default_state": STATE}))
    console = StableRetroConsole(str(rom_file))
    smb_run.start_level_1_1(console)
    with gzip.open(game / f"{STATE}.state", "wb") as state:
        state.write(console.save())


def make_env(folder: str, observation: stable_retro.Observations) -> gymnasium.Env:
    """One environment, in the process that will run it."""
    stable_retro.data.Integrations.add_custom_path(folder)
    env = stable_retro.make(
        GAME,
        inttype=stable_retro.data.Integrations.CUSTOM_ONLY,
        obs_type=observation,
        use_restricted_actions=stable_retro.Actions.ALL,
        render_mode="rgb_array",
    )
    env = FrameSkip(RightOnly(env))
    if observation == stable_retro.Observations.IMAGE:
        env = FrameStackObservation(ResizeObservation(GrayscaleObservation(env), (84, 84)), 4)
    return env


def vector_of(lanes: int, folder: str, observation: stable_retro.Observations) -> Callable[..., Answer]:
    """Start the processes at the first question, so that only what is asked for runs."""
    kept: list[VectorMeasurement] = []

    def measure(seconds: float) -> Answer:
        if not kept:
            kept.append(VectorMeasurement(AsyncVectorEnv([functools.partial(make_env, folder, observation)] * lanes)))
        return kept[0].measure(seconds)

    return measure


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mario-rl-bench-") as temporary:
        write_integration(Path(temporary), Path(sys.argv[1]))
        serve(
            version("stable-retro"),
            {
                "pixels16": vector_of(16, temporary, stable_retro.Observations.IMAGE),
                "ram32": vector_of(32, temporary, stable_retro.Observations.RAM),
            },
        )
