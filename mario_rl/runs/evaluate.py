"""How good a model is: many episodes, the share that reaches the flag, and how sure one can be of it.

Three protocols. "stochastic" plays the policy as it was trained, with its own randomness; "greedy" always does what the
model thinks best; "sticky" does so while the environment repeats the action before with chance 0.25, which asks for
robustness.

Every lane plays a number of episodes that is fixed beforehand. Taking the first n episodes that end instead would count
early deaths too often, since long games end late.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import torch

from mario_rl.config import TrainingConfig
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.models.at_play import at_play
from mario_rl.models.base import Model

Protocol = Literal["stochastic", "greedy", "sticky"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)

MOST_LANES = 256
Z_95 = 1.959963984540054  # the normal distribution's 97.5 % quantile

Progress = Callable[[int, int], None]
"""Called with the episodes done and the episodes to play, whenever the first changes."""


@dataclass(frozen=True)
class Episode:
    """How one episode ended."""

    level: str
    flag: bool
    x: int  # the furthest, in pixels of the area it ended in
    steps: int


@dataclass(frozen=True)
class Outcome:
    """What an evaluation found."""

    played: tuple[Episode, ...]

    @property
    def episodes(self) -> int:
        """How many were played."""
        return len(self.played)

    @property
    def successes(self) -> int:
        """How many reached the flag."""
        return sum(episode.flag for episode in self.played)

    @property
    def rate(self) -> float:
        """The share that reached the flag."""
        return self.successes / self.episodes

    @property
    def standard_error(self) -> float:
        """How far the rate is from the truth, typically."""
        return math.sqrt(self.rate * (1 - self.rate) / self.episodes)

    @property
    def mean_x(self) -> float:
        """How far they came, in pixels."""
        return float(np.mean([episode.x for episode in self.played]))

    @property
    def mean_steps(self) -> float:
        """How long they took, in environment steps."""
        return float(np.mean([episode.steps for episode in self.played]))

    def summary(self) -> dict[str, float]:
        """The figures, as in evaluation.json; low and high bound the rate with 95 % confidence."""
        low, high = wilson_interval(self.successes, self.episodes)
        return {
            "episodes": self.episodes,
            "successes": self.successes,
            "rate": self.rate,
            "low": low,
            "high": high,
            "mean_x": self.mean_x,
            "mean_steps": self.mean_steps,
        }


def wilson_interval(successes: int, episodes: int) -> tuple[float, float]:
    """The 95 % confidence interval of a rate (Wilson 1927): sensible at 0 and 1 and for few episodes, too."""
    rate = successes / episodes
    widening = Z_95**2 / episodes
    centre = (rate + widening / 2) / (1 + widening)
    half = Z_95 * math.sqrt(rate * (1 - rate) / episodes + widening / (4 * episodes)) / (1 + widening)
    # Exactly 0 and 1 at the ends, where rounding may miss them.
    return (0.0 if successes == 0 else centre - half, 1.0 if successes == episodes else centre + half)


def evaluate(
    model: Model,
    config: TrainingConfig,
    episodes: int,
    protocol: Protocol,
    seed: int,
    level: str | None = None,
    sticky: float = 0.25,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Outcome:
    """Play `episodes` episodes and say how they ended; the same arguments give the same episodes.

    `level` is another than the trained one if given, `sticky` is what the protocol "sticky" uses.
    """
    if episodes < 1:
        raise ValueError(f"an evaluation needs at least 1 episode, not {episodes}")
    if protocol not in PROTOCOLS:
        raise ValueError(f"unknown protocol {protocol!r}; use one of {', '.join(PROTOCOLS)}")
    lanes = min(episodes, MOST_LANES)
    env = SmbVectorEnv(lanes, threads=threads, **evaluation_settings(config, protocol, level, sticky))
    try:
        return Outcome(tuple(_play(model, env, _share(episodes, lanes), protocol, seed, progress)))
    finally:
        env.close()


def evaluation_settings(
    config: TrainingConfig, protocol: Protocol, level: str | None = None, sticky: float = 0.25
) -> dict[str, Any]:
    """The keywords of the environment in which a run's model is evaluated."""
    chosen = {"sticky": sticky if protocol == "sticky" else 0.0} | ({} if level is None else {"level": level})
    return dataclasses.replace(config, **chosen).environment()  # type: ignore[arg-type]


class Playing:
    """A model at play under a protocol, on some lanes."""

    def __init__(self, model: Model, lanes: int, protocol: Protocol, generator: torch.Generator):
        self._device = next(model.parameters()).device
        self._at_play = at_play(model, lanes)
        self._generator = generator if protocol == "stochastic" else None

    @torch.inference_mode()
    def see(self, observations: npt.NDArray[Any], began: npt.NDArray[np.bool_]) -> None:
        """Take in what all lanes show; where an episode `began`, what was before is forgotten."""
        self._at_play.see(torch.from_numpy(observations).to(self._device), torch.from_numpy(began), self._generator)

    @torch.inference_mode()
    def values(self) -> npt.NDArray[np.float32]:
        """What the model thinks of each action, [lanes, actions]."""
        return self._at_play.values().cpu().numpy()

    @torch.inference_mode()
    def act(self) -> npt.NDArray[np.int64]:
        """What it does, one action a lane."""
        return self._at_play.act(self._generator).cpu().numpy()


def _share(episodes: int, lanes: int) -> npt.NDArray[np.int64]:
    """How many episodes each lane plays."""
    return episodes // lanes + (np.arange(lanes) < episodes % lanes)


def _play(
    model: Model,
    env: SmbVectorEnv,
    wanted: npt.NDArray[np.int64],
    protocol: Protocol,
    seed: int,
    progress: Progress | None,
) -> list[Episode]:
    generator = torch.Generator().manual_seed(seed)
    played: list[Episode] = []
    playing = Playing(model, env.num_envs, protocol, generator)
    observations, _ = env.reset(seed=seed)
    began = np.ones(env.num_envs, np.bool_)
    while wanted.any():
        playing.see(observations, began)
        observations, _, terminated, truncated, infos = env.step(playing.act())
        began = terminated | truncated
        ended = began & (wanted > 0)  # a lane that has played its share only keeps the others company
        if ended.any():
            played += [_episode(infos["final_info"], lane) for lane in np.flatnonzero(ended).tolist()]
            wanted = wanted - ended
            if progress is not None:
                progress(len(played), len(played) + int(wanted.sum()))
    return played


def _episode(final_info: dict[str, npt.NDArray[Any]], lane: int) -> Episode:
    return Episode(
        level=str(final_info["level"][lane]),
        flag=bool(final_info["flag_get"][lane]),
        x=int(final_info["x_pos_max"][lane]),
        steps=int(final_info["episode_length"][lane]),
    )
