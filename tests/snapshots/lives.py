"""Plays a vector environment and writes down every life: what its steps were, where it began and how it ended."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from mario_rl.distributed.worker import true_successors
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.learners.base import LaneSteps

Listener = Callable[[LaneSteps, dict[str, Any]], None]


@dataclass
class Life:
    """One episode of one lane."""

    lane: int
    begins: int
    """The step of the environment that was its first."""
    practice: bool
    observations: list[np.ndarray]
    """One more than rewards: the last is what the life ended with, or sees now."""
    rewards: list[float] = field(default_factory=list)
    terminated: bool = False
    truncated: bool = False
    end: dict[str, Any] = field(default_factory=dict)
    """The final info."""


def to_the_right(seed: int, steps: int, lanes: int) -> np.ndarray:
    """Actions of the set "right_only", held for four steps each."""
    return np.repeat(np.random.default_rng(seed).integers(1, 5, (-(-steps // 4), lanes)), 4, axis=0)[:steps]


def live(env: SmbVectorEnv, actions: np.ndarray, seed: int = 0, listener: Listener | None = None) -> list[Life]:
    """Play from a reset on; all lives, in the order in which they began."""
    observations, infos = env.reset(seed=seed)
    running = [
        Life(lane, 0, bool(infos["practice"][lane]), [observations[lane].copy()]) for lane in range(env.num_envs)
    ]
    lives = list(running)
    for time, row in enumerate(actions):
        following, rewards, terminated, truncated, infos = env.step(row)
        if listener is not None:
            steps = LaneSteps(observations, row, rewards, true_successors(following, infos), terminated, truncated)
            listener(steps, infos)
        observations = following
        for lane, life in enumerate(running):
            life.rewards.append(float(rewards[lane]))
            life.terminated, life.truncated = bool(terminated[lane]), bool(truncated[lane])
            if not (life.terminated or life.truncated):
                life.observations.append(following[lane].copy())
                continue
            life.observations.append(infos["final_obs"][lane].copy())
            life.end = {key: values[lane] for key, values in infos["final_info"].items()}
            running[lane] = Life(lane, time + 1, bool(infos["practice"][lane]), [following[lane].copy()])
            lives.append(running[lane])
    return lives


def steps_of(env: SmbVectorEnv, actions: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """Everything an environment answers."""
    for row in actions:
        yield copy.deepcopy(env.step(row))


def assert_same(first: Any, second: Any) -> None:
    """Through tuples, dicts, and arrays of arrays."""
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        for key in first:
            assert_same(first[key], second[key])
    elif isinstance(first, tuple | list) or (isinstance(first, np.ndarray) and first.dtype == object):
        assert len(first) == len(second)
        for one, other in zip(first, second, strict=True):
            assert_same(one, other)
    elif isinstance(first, np.ndarray):
        np.testing.assert_array_equal(first, second, strict=True)
    else:
        assert first == second


def through_a_file(state: dict[str, Any]) -> dict[str, Any]:
    """As a checkpoint would have it."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    loaded: dict[str, Any] = torch.load(file, weights_only=True)
    return loaded
