"""How well a player that presses buttons clears bottles alone.

python -m mario_rl.selfplay.frames.measure player.pt --level 0 --level 5 --games 200
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.vector import DrMarioVectorEnv
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.frames.player import FramesPlayer

MOST_LANES = 100
NORMAL_95 = 1.959964


class Actor(Protocol):
    """Chooses among the 12 actions, for many games at once."""

    frame_skip: int

    def act(self, game: GameMemory, seat: int) -> npt.NDArray[np.int64]:
        """int64[n]"""


@dataclass(frozen=True)
class Solo:
    """Rounds played alone at one level."""

    level: int
    speed: str
    games: int
    seed: int
    """Of the first game; the others follow."""
    cleared: int
    clear_rate: float
    low: float
    """Of the 95 % interval (Wilson)."""
    high: float
    capsules_per_clear: float | None
    viruses_per_game: float
    """Cleared, in won and lost games."""
    seconds_per_game: float
    """On a console, in won and lost games."""
    truncated: int
    """Games that were neither won nor lost after ten minutes on a console; they count as not cleared."""


def measure(actor: Actor, level: int, games: int = 200, speed: str = "med", seed: int = 1_000_000) -> Solo:
    """Let a player play `games` rounds: lane i of the vector environment plays the game of seed + i, and only that."""
    lanes = min(games, MOST_LANES)
    played: list[tuple[bool, int, int, int, bool]] = []
    for start in range(0, games, lanes):
        count = min(lanes, games - start)
        played += _play(actor, level, count, speed, seed + start)
    won, capsules, viruses, frames, truncated = (np.array(column) for column in zip(*played, strict=True))
    low, high = wilson(int(won.sum()), games)
    return Solo(
        *(level, speed, games, seed, int(won.sum()), round(float(won.mean()), 4), round(low, 4), round(high, 4)),
        capsules_per_clear=round(float(capsules[won].mean()), 1) if won.any() else None,
        viruses_per_game=round(float(viruses.mean()), 2),
        seconds_per_game=round(float(frames.mean()) / 60.0988, 1),
        truncated=int(truncated.sum()),
    )


def _play(actor: Actor, level: int, lanes: int, speed: str, seed: int) -> list[tuple[bool, int, int, int, bool]]:
    """For each lane: won, capsules, viruses cleared, frames, truncated."""
    env = DrMarioVectorEnv(lanes, level=level, speed=speed, frame_skip=actor.frame_skip)
    env.reset(seed=seed)
    found: dict[int, tuple[bool, int, int, int, bool]] = {}
    while len(found) < lanes:
        _, _, _, truncated, infos = env.step(actor.act(env.lanes.game, 0))
        if "final_info" not in infos:
            continue
        final = infos["final_info"]
        for lane in np.flatnonzero(infos["_final_info"]).tolist():
            capsules, viruses, frames = (int(final[name][lane]) for name in ("capsules", "viruses_cleared", "frame"))
            won = str(final["result"][lane]) == "win"
            found.setdefault(lane, (won, capsules, viruses, frames, bool(truncated[lane])))
    env.close()
    return [found[lane] for lane in range(lanes)]


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a rate (Wilson 1927): it stays within 0 and 1 and is right near them, too."""
    rate, z = successes / trials, NORMAL_95
    scale = 1 + z * z / trials
    centre = (rate + z * z / (2 * trials)) / scale
    reach = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials)) / scale
    return max(0.0, centre - reach), min(1.0, centre + reach)


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m mario_rl.selfplay.frames.measure", description=__doc__)
    parser.add_argument("player", type=Path, help="a player file (.pt)")
    parser.add_argument("--level", type=int, action="append", help="virus level; several times for several (0 and 5)")
    parser.add_argument("--speed", default="med", help="low, med or hi")
    parser.add_argument("--games", type=int, default=200, help="rounds at each level")
    parser.add_argument("--seed", type=int, default=1_000_000, help="of the first round; the others follow")
    parser.add_argument("--sampled", action="store_true", help="draw the buttons instead of pressing the best")
    parser.add_argument("--json", action="store_true", help="one line of JSON a level")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.manual_seed(chosen.seed)
    try:
        player = FramesPlayer.load(chosen.player)
        player.greedy = not chosen.sampled
        for level in chosen.level or [0, 5]:
            began = time.perf_counter()
            solo = measure(player, level, chosen.games, chosen.speed, chosen.seed)
            print(json.dumps(asdict(solo)) if chosen.json else sentence(solo, time.perf_counter() - began), flush=True)
    except (RunError, ValueError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    return 0


def sentence(solo: Solo, seconds: float) -> str:
    """A line for people."""
    interval = f"{solo.low:.1%} to {solo.high:.1%}"
    capsules = "" if solo.capsules_per_clear is None else f", {solo.capsules_per_clear:.1f} capsules a clear"
    return (
        f"L{solo.level} {solo.speed}: cleared {solo.cleared} of {solo.games}, {solo.clear_rate:.1%} ({interval})"
        f"{capsules}, {solo.seconds_per_game:.0f} s a game on a console; played in {seconds:.0f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
