"""Finds the weights of the Dr. Mario bots by playing, with CMA-ES: `mario-rl bench drmario --tune --minutes 30`.

A candidate is judged by whole games at several levels, real gravity and the game's own random numbers included: what
counts are the capsules it needs, and above all that it clears the bottle. All candidates of a generation play the same
games, each generation plays others, and the result is kept only if it beats the old weights in games neither has seen.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.measurement import say
from mario_rl.atomic_file import write_atomically
from mario_rl.environment.drmario import bot_weights
from mario_rl.environment.drmario.bot_weights import Weights, by_name, load_weights
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import MEDIUM, RulesBatch

PACKAGED = Path(bot_weights.__file__).with_name(bot_weights.PACKAGED)
MOST_CAPSULES = 600
POPULATION = 14
LARGEST_WEIGHT = 100.0
LOST = 3.0  # the cost of a round that was not cleared; one that was costs about 0.4


@dataclass(frozen=True)
class Plan:
    """How a bot is tuned: how far it looks, and how many games of each level a candidate plays."""

    plies: int
    games: dict[int, int]
    validation_games: int  # at each level


PLANS = {
    "greedy": Plan(plies=1, games={10: 8, 15: 16, 20: 24}, validation_games=400),
    "search": Plan(plies=2, games={10: 1, 15: 2, 20: 6}, validation_games=60),
}


def main() -> int:
    """Tune, validate, write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drmario_tuning", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="for all bots together (%(default)s)")
    parser.add_argument("--bots", nargs="+", choices=list(PLANS), default=list(PLANS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=PACKAGED, help="where the weights go (the packaged ones)")
    options = parser.parse_args()
    if options.minutes <= 0:
        parser.error("--minutes is more than 0")
    if not options.output.resolve().parent.is_dir():
        parser.error(f"{options.output.resolve().parent}: no such directory for the weights")
    try:
        import cma  # noqa: F401
    except ModuleNotFoundError:
        say("cma is not installed: pip install 'mario-rl[tune]'")
        return 2

    for bot in options.bots:
        old = load_weights(bot)
        tuned, generations = tune(old, PLANS[bot], 60 * options.minutes / len(options.bots), options.seed)
        before, after = (validation_cost(weights, PLANS[bot]) for weights in (old, tuned))
        say(f"{bot}: {generations} generations, cost in new games {before:.4f} before, {after:.4f} after")
        if after < before:
            write(options.output, bot, tuned, generations, after)
        else:
            say(f"{bot}: the old weights are as good and stay")
    return 0


def tune(
    start: Weights, plan: Plan, seconds: float, seed: int, clock: Callable[[], float] = time.monotonic
) -> tuple[Weights, int]:
    """The centre of the candidates when the time is over, and after how many generations that was."""
    import cma  # type: ignore[import-untyped]

    # In units of how much its feature varies in play, every weight matters about as much as any other.
    unit = 1 / (features_in_play(start, plan.plies).std(axis=0) + 0.05)
    centre = start / unit
    # A weight may change by a part of itself, and a small one become important.
    steps = 0.2 * (np.abs(centre) + np.abs(centre).mean() / 2 + 0.01)
    options = {"popsize": POPULATION, "seed": seed + 1, "verbose": -9, "CMA_stds": steps}
    search = cma.CMAEvolutionStrategy(centre, 1.0, options)
    end = clock() + seconds
    generation = 0
    while clock() < end:
        candidates = search.ask()
        costs = [cost(in_range(one * unit), plan.plies, plan.games, (seed, generation)) for one in candidates]
        search.tell(candidates, costs)
        generation += 1
        if generation % 5 == 0:
            say(f"generation {generation}: cost {np.mean(costs):.4f} on average, {min(costs):.4f} at best")
    return in_range(search.mean * unit), generation


def cost(weights: Weights, plies: int, games: dict[int, int], seed: tuple[int, ...]) -> float:
    """The mean over games: a part of what a capsule a virus costs, or much more for a bottle that was not cleared."""
    costs = []
    for level, count in games.items():
        viruses = 4 * (level + 1)
        left, capsules = play(weights, plies, level, np.random.default_rng([*seed, level]).integers(2, 1 << 16, count))
        costs.append(np.where(left == 0, capsules / (4 * viruses), LOST + left / viruses))
    return float(np.concatenate(costs).mean())


def validation_cost(weights: Weights, plan: Plan) -> float:
    """The same in games that tuning does not play, and more of them."""
    games = dict.fromkeys(plan.games, plan.validation_games)
    return cost(weights, plan.plies, games, (2**31,))


def play(
    weights: Weights, plies: int, level: int, seeds: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """One round a seed, one player, MED: viruses left and capsules used. A round that takes too many is broken off."""
    batch = RulesBatch(len(seeds), os.cpu_count() or 1)
    batch.reset(seeds, level, MEDIUM, 1)
    batch.skip_intro()
    capsules = batch.play(weights, plies, MOST_CAPSULES)[:, 0]
    return GameMemory(batch.ram).viruses()[:, 0], capsules


def features_in_play(weights: Weights, plies: int) -> npt.NDArray[np.int16]:
    """The features of fields that occur: a row each."""
    batch = RulesBatch(64, os.cpu_count() or 1)
    batch.reset(np.arange(64) * 512 + 2, np.arange(64) % 21, MEDIUM, 1)
    batch.skip_intro()
    seen = []
    for _ in range(20):
        batch.play(weights, plies, 5)
        seen.append(batch.board_features())
    return np.concatenate(seen)


def in_range(weights: npt.NDArray[np.float64]) -> Weights:
    """A factor changes no choice: the largest weight is always the same."""
    return (weights * (LARGEST_WEIGHT / np.abs(weights).max())).astype(np.float32)


def write(file: Path, bot: str, weights: Weights, generations: int, reached: float) -> None:
    """Put the bot's weights into the file, beside those of the others."""
    found = json.loads(file.read_text()) if file.is_file() else json.loads(PACKAGED.read_text())
    tuned = {"date": datetime.now(UTC).date().isoformat(), "generations": generations, "cost": round(reached, 4)}
    found[bot] = {"weights": by_name(weights), "tuned": tuned}
    write_atomically(file, (json.dumps(found, indent=1) + "\n").encode())
    say(f"{bot}: written to {file}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted; the weights are as they were")
        sys.exit(2)
