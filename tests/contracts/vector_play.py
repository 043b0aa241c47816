"""Random play in a vector environment of any kind."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np

from mario_rl.environment.drmario.vector import DrMarioPlacementVectorEnv
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.environment.vector import LanesVectorEnv


def play(env: LanesVectorEnv, seed: int, steps: int) -> Iterator[tuple[Any, ...]]:
    """Random actions, and everything the environment answers to them."""
    random = np.random.default_rng(seed)
    for _ in range(steps):
        actions = draw(env, random)
        yield actions, *copy.deepcopy(env.step(actions))


def draw(env: LanesVectorEnv, random: np.random.Generator) -> np.ndarray:
    """An action a lane, of those that are allowed; Mario's lead mostly to the right."""
    if isinstance(env, DrMarioPlacementVectorEnv):
        masks = env.action_masks()
        return (random.random(masks.shape) * masks).argmax(axis=1)
    space = env.single_action_space
    most = space.n if isinstance(space, gymnasium.spaces.Discrete) else space.nvec  # type: ignore[attr-defined]
    anything = random.integers(0, most, (env.num_envs, *(space.shape or ())))
    if isinstance(env, SmbVectorEnv):
        return np.where(random.random(env.num_envs) < 0.1, anything, random.integers(1, 5, env.num_envs))
    return anything
