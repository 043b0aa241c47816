"""What a world model remembers and what it imagines, beside what really happened.

An episode is played. Its observations are **recalled**: seen, turned into states, and decoded again. From some moments
of it the model plays on alone, with the same actions but without seeing anything more: that is what it **imagines**.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.models.dreamer import DreamerModel
from mario_rl.models.dynamics import State, draw, noise
from mario_rl.models.sights import newest
from mario_rl.runs.directory import RunError
from mario_rl.runs.evaluate import Playing, evaluation_settings
from mario_rl.runs.trained_model import TrainedModel

Floats = npt.NDArray[np.float32]

LENGTH = 15  # steps of a dream: the horizon that behaviour is learned with
MOMENTS = (0.1, 0.4, 0.7)  # of the episode, at which dreams begin
LEAST_EPISODE = 4 * LENGTH  # steps; an untrained model's may be shorter
EPISODES = 20  # to find one that is long enough


@dataclass(frozen=True)
class Dream:
    """A moment of an episode and what came next; arrays have one row for every step after it."""

    step: int
    x: int  # Mario's, in pixels, when it begins
    real: Floats
    recalled: Floats
    imagined: Floats
    paid: float  # what these steps really paid
    imagined_reward: float
    goes_on: float  # how likely the episode goes on, in imagination, at the end of the dream


@dataclass(frozen=True)
class Played:
    """An episode: one more observation than actions."""

    observations: npt.NDArray[Any]
    actions: npt.NDArray[np.int64]
    rewards: Floats  # as the model knows them: scaled
    xs: list[int]


def dream(trained: TrainedModel, level: str | None, seed: int) -> list[Dream]:
    """Dreams from an episode of the run's own model."""
    model = trained.model
    if not isinstance(model, DreamerModel):
        raise RunError(f"only a dreamer has dreams; this run's model is {trained.config.model}")
    played = _longest(trained, level, seed)
    length = min(LENGTH, len(played.actions) // 2)
    if length < 1:
        raise RunError("no episode was long enough to dream of: train the run for longer")
    starts = sorted({int(moment * (len(played.actions) - length)) for moment in MOMENTS})
    with torch.no_grad():
        states, recalled = _recall(model, played)
        return [_imagine(model, played, states, recalled, start, length, seed) for start in starts]


def _longest(trained: TrainedModel, level: str | None, seed: int) -> Played:
    """The first episode that is long enough, or the longest of some."""
    best: Played | None = None
    for number in range(EPISODES):
        played = _play(trained, level, seed + number)
        best = played if best is None or len(played.actions) > len(best.actions) else best
        if len(best.actions) >= LEAST_EPISODE:
            break
    assert best is not None
    return best


def _play(trained: TrainedModel, level: str | None, seed: int) -> Played:
    env = SmbVectorEnv(1, **evaluation_settings(trained.config, "stochastic", level))
    try:
        playing = Playing(trained.model, 1, "stochastic", torch.Generator().manual_seed(seed))
        observation, info = env.reset(seed=seed)
        seen, actions, rewards, xs = [observation[0]], [], [], [int(info["x_pos"][0])]
        began, over = np.ones(1, np.bool_), False
        while not over:
            playing.see(observation, began)
            action = playing.act()
            observation, reward, terminated, truncated, info = env.step(action)
            began = terminated | truncated
            over = bool(began[0])
            seen.append(info["final_obs"][0] if over else observation[0])
            xs.append(int((info["final_info"] if over else info)["x_pos"][0]))
            actions.append(int(action[0]))
            rewards.append(float(reward[0]) * trained.config.reward_scale)
    finally:
        env.close()
    return Played(np.stack(seen), np.array(actions, np.int64), np.array(rewards, np.float32), xs)


def _recall(model: DreamerModel, played: Played) -> tuple[list[State], Tensor]:
    """The states of an episode, each as the likeliest, and what is decoded from them."""
    at_play = model.at_play(1)
    states = []
    seen = torch.from_numpy(played.observations)
    for step in range(len(seen)):
        at_play.see(seen[step : step + 1], torch.tensor([step == 0]))
        states.append(at_play.state)
        if step < len(played.actions):
            at_play.do(torch.from_numpy(played.actions[step : step + 1]))
    features = torch.cat([state.features for state in states])
    return states, model.world.sight.mean(model.world.sight.decode(features))


def _imagine(
    model: DreamerModel, played: Played, states: Sequence[State], recalled: Tensor, start: int, length: int, seed: int
) -> Dream:
    world, dynamics = model.world, model.world.dynamics
    generator = torch.Generator().manual_seed(seed)
    state, features = states[start], []
    for action in torch.from_numpy(played.actions[start : start + length]):
        carried = dynamics.go_on(state, F.one_hot(action[None], model.actions).float())
        expected = dynamics.prior(carried)
        state = State(carried, draw(expected, noise(tuple(expected.shape), generator, "cpu")))
        features.append(state.features)
    dreamt = torch.cat(features)
    after = slice(start + 1, start + length + 1)
    real = world.sight.truth(newest(torch.from_numpy(played.observations[after])))
    return Dream(
        start,
        played.xs[start],
        real.numpy(),
        recalled[after].numpy(),
        world.sight.mean(world.sight.decode(dreamt)).numpy(),
        float(played.rewards[start : start + length].sum()),
        float(model.two_hot.mean(world.reward(dreamt)).sum()),
        float(world.going_on(dreamt)[:, 0].sigmoid().prod()),
    )
