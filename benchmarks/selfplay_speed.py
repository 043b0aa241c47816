"""How fast self-play learns end to end, beside the usual way to do it with the same libraries, in turns.

Ours goes on where a run ended: with its settings, its weights and its pool, three games of four for two as in training,
but all in one process. The peer is what sb3-contrib offers: `MaskablePPO.learn()` on Stable-Baselines3's DummyVecEnv of
single Gymnasium environments; as many of them, with as large batches and as many epochs, but only games for one, which
cost it less. Both are given by the decisions learned from in a second of CPU time.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv

from benchmarks.measurement import ratio, say
from mario_rl.environment import DRMARIO_PLACEMENT
from mario_rl.runs.checkpoint import load_checkpoint
from mario_rl.selfplay.config import SelfPlayConfig, levels
from mario_rl.selfplay.learner import scorer_of
from mario_rl.selfplay.run_directory import SelfPlayDirectory
from mario_rl.selfplay.training import SelfPlay

WARM_UP = 4  # updates of ours, so that the games are no longer all at their beginning
ENDLESS = 10**12  # decisions: it is we who stop
PEER = "sb3-contrib's MaskablePPO.learn() on Stable-Baselines3's DummyVecEnv"

Update = Callable[[], int]
"""Plays and learns once; says from how many decisions."""


def speeds(run: SelfPlayDirectory, rounds: int, two_processes: bool) -> dict[str, Any]:
    """Decisions learned a second, ours and the peer's; and, if wanted, how much a process beside the learner gives."""
    config = run.config()
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = rates_in_turns(run, config, Path(folder), rounds)
        one = [rate for _, rate in ours]
        beside = rate_beside_a_worker(run, Path(folder), rounds) if two_processes else None
    by_cpu = [rate for rate, _ in ours]
    found = {
        "decisions_per_s": round(statistics.median(by_cpu)),
        "peer": PEER,
        "peer_decisions_per_s": round(statistics.median(theirs)),
        "vs_peer": ratio(by_cpu, theirs),
        "one_process_decisions_per_wall_s": round(statistics.median(one)),
        "two_processes_decisions_per_wall_s": None if beside is None else round(beside),
        "two_processes_vs_one": None if beside is None else round(beside / statistics.median(one), 2),
        "rounds": rounds,
        "from": "the run's weights and pool",
        "settings": {name: getattr(config, name) for name in ("envs", "rollout", "batch_size", "epochs", "hidden")},
    }
    say(f"learned a CPU second: {found['decisions_per_s']:,} decisions, the peer {found['peer_decisions_per_s']:,}")
    return found


def rates_in_turns(
    run: SelfPlayDirectory, config: SelfPlayConfig, folder: Path, rounds: int
) -> tuple[list[tuple[float, float]], list[float]]:
    """By round: our decisions a CPU second and a second, and the peer's a CPU second."""
    training, peer = learner(run, folder, workers=0), peer_update(config)
    ours: list[tuple[float, float]] = []
    theirs: list[float] = []
    update = update_of(training)
    say("learning: warm-up")
    for _ in range(WARM_UP):
        update()
    peer()
    for turn in range(1, rounds + 1):
        say(f"learning: round {turn} of {rounds}")
        ours.append(timed(update))
        theirs.append(timed(peer)[0])
    training.close()
    return ours, theirs


def timed(update: Update) -> tuple[float, float]:
    """Decisions a CPU second of this process, and a second."""
    cpu, wall = time.process_time(), time.perf_counter()
    decisions = update()
    return decisions / (time.process_time() - cpu), decisions / (time.perf_counter() - wall)


def rate_beside_a_worker(run: SelfPlayDirectory, folder: Path, rounds: int) -> float:
    """Decisions a second if one process collects while another one learns."""
    say("learning: two processes")
    training = learner(run, folder, workers=1)
    try:
        for _ in range(WARM_UP):
            training.update(saving=lambda steps: False)
        before, begin = training.steps, time.perf_counter()
        for _ in range(2 * rounds):
            training.update(saving=lambda steps: False)
        return (training.steps - before) / (time.perf_counter() - begin)
    finally:
        training.close()


def learner(run: SelfPlayDirectory, folder: Path, workers: int) -> SelfPlay:
    """A learner that stands where the run ended, with games for two from the first one on; it saves nothing."""
    config = dataclasses.replace(run.config(), workers=workers, solo_steps=0, steps=ENDLESS, minutes=None)
    training = SelfPlay(SelfPlayDirectory(folder), config, say)
    scorer_of(training.ppo).load_state_dict(load_checkpoint(run.player_pt)["weights"])
    training.pool.load_state_dict(load_checkpoint(run.checkpoint_pt)["pool"])
    return training


def update_of(training: SelfPlay) -> Update:
    """One update of ours, with nothing on the way afterwards."""

    def update() -> int:
        before = training.steps
        training.update(saving=lambda steps: True)
        return training.steps - before

    return update


def peer_update(config: SelfPlayConfig) -> Update:
    """One rollout and its epochs of the peer's."""
    torch.set_num_threads(1)
    level = levels(config.level)[-1]

    def environment() -> gymnasium.Env[Any, Any]:
        return gymnasium.make(DRMARIO_PLACEMENT, observation="placements", level=level, max_frames=36_000)

    # About as many decisions as ours, but whole minibatches, as Stable-Baselines3 wants them.
    unit = math.lcm(config.envs, config.batch_size)
    rollout = unit * max(round(config.rollout / unit), 1)
    ppo = MaskablePPO(
        "MlpPolicy",
        DummyVecEnv([environment] * config.envs),
        n_steps=rollout // config.envs,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        seed=config.seed,
        device="cpu",
    )
    ppo.set_logger(Logger(folder=None, output_formats=[]))  # its own would leave a directory

    def update() -> int:
        ppo.learn(rollout, reset_num_timesteps=False)
        return rollout

    return update
