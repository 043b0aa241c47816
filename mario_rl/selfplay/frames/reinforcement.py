"""The second stage: PPO of Stable-Baselines3 on the rules engine, alone through a curriculum, then against its past.

It goes rollout by rollout. Between two of them the whole stage can be written down (`state_dict`), and goes on exactly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from mario_rl.bytes_in_checkpoints import bytes_as_tensors, tensors_as_bytes
from mario_rl.environment.drmario.vector import DrMarioVectorEnv
from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.selfplay.frames.curriculum import Curriculum
from mario_rl.selfplay.frames.network import FramesNetwork
from mario_rl.selfplay.frames.opponents import CURRENT, Opponents, Table
from mario_rl.selfplay.frames.policy import FramesPolicy, WarmPPO
from mario_rl.selfplay.frames.seats_buffer import SeatsBuffer
from mario_rl.selfplay.frames.tracking import Tracking
from mario_rl.selfplay.frames.vec_env import FramesVecEnv, Part, PlayedRound

# "scaled" with a price of time: a step costs 0.0005, a capsule (about 20 steps) a tenth of a virus.
REWARDS: dict[str, float | str] = {"preset": "scaled", "survival": -0.0005}


class Reinforcement:
    """Trains a network by PPO."""

    def __init__(self, network: FramesNetwork, config: FramesConfig, random: np.random.Generator):
        self.config = config
        self.curriculum = Curriculum(config.levels[0], config.levels[-1], config.pass_rate)
        self.tracking = Tracking()
        self.versus = False
        """Whether games against others have begun."""
        self.ppo = self._make_ppo(self._make_env())
        assert isinstance(self.ppo.policy, FramesPolicy)
        self.network = self.ppo.policy.network
        self.network.load_state_dict(network.state_dict())
        self.opponents = Opponents(self.network, config, random)
        self._rollouts = 0
        self._considered = 0  # steps at the last attempt to join the pool
        self._begin()

    @property
    def steps(self) -> int:
        """Environment steps so far."""
        return self.ppo.num_timesteps

    def rollout(self, stop: Callable[[], bool]) -> dict[str, float] | None:
        """Play a rollout and learn from it; returns what SB3 logs, or None if it was stopped while it played."""
        self._prepare()
        assert self.ppo.env is not None
        watch = _Watch(stop)
        watch.init_callback(self.ppo)
        if not self.ppo.collect_rollouts(self.ppo.env, watch, self.ppo.rollout_buffer, self.config.n_steps):
            return None
        self._learn()
        self._rollouts += 1
        return {name: float(value) for name, value in self.ppo.logger.name_to_value.items()}

    def _learn(self) -> None:
        """SB3's update; at first of the critic only."""
        config = self.config
        warm_start = config.imitation_rounds > 0
        warming = warm_start and self._rollouts < config.critic_rollouts
        self.ppo.actor_lr = 0.0 if warming else config.warm_lr if warm_start else config.lr
        self.ppo.train()

    def _prepare(self) -> None:
        """What happens between two rollouts: harder levels, games against others, a new member of the pool."""
        config = self.config
        if not self.versus and (self.curriculum.passed or self.steps >= config.solo_steps) and config.solo_share < 1:
            self.versus = True
            self.opponents.consider(self.steps, self.tracking.behaviour())
            self._considered = self.steps
            self._change_games()
        elif self.versus and self.steps - self._considered >= config.snapshot_every:
            self._considered = self.steps
            self.opponents.consider(self.steps, self.tracking.behaviour())
            if self._table is not None:
                self._table.stand_up()

    # --- the games ----------------------------------------------------------------------------------------------------

    def _make_env(self) -> FramesVecEnv:
        config = self.config
        settings: dict[str, Any] = {"speed": config.speed, "frame_skip": config.frame_skip, "rewards": REWARDS}
        for_two = config.games_for_two if self.versus else 0
        self._table = Table(for_two, self.opponents) if for_two else None
        parts = [Part(DrMarioVectorEnv(config.envs - 2 * for_two, **settings))]
        if for_two:
            parts.append(Part(DrMarioVectorEnv(for_two, **settings, players=2), self._table))
        env = FramesVecEnv(parts, self._round_over)
        env.draw_from(self.curriculum.levels(), config.speed)
        env.seed(config.seed + 10_000)
        return env

    def _change_games(self) -> None:
        """Other games from here on; all rounds begin anew."""
        env = self._make_env()
        if self._table is not None:
            for game in range(len(self._table.numbers)):
                self._table.deal(game)
        self._vec_env().close()
        self.ppo.set_env(env)
        self._begin()

    def _round_over(self, part: int, game: int, rounds: list[PlayedRound]) -> None:
        if part == 0:
            self.tracking.alone(rounds[0])
            if self.curriculum.played(rounds[0].level, rounds[0].result == "win"):
                self._vec_env().draw_from(self.curriculum.levels(), self.config.speed)
            return
        assert self._table is not None
        who = self._table.numbers[game].tolist()
        for seat, finished in enumerate(rounds):
            other = who[1 - seat]
            if who[seat] == CURRENT:
                self.tracking.for_two(finished, against_itself=other == CURRENT)
            if who[seat] == CURRENT and other != CURRENT:
                self.opponents.played(other, finished)
        self._table.deal(game)

    def _vec_env(self) -> FramesVecEnv:
        assert isinstance(self.ppo.env, FramesVecEnv)
        return self.ppo.env

    # --- SB3 ----------------------------------------------------------------------------------------------------------

    def _make_ppo(self, env: FramesVecEnv) -> WarmPPO:
        config = self.config
        ppo = WarmPPO(
            FramesPolicy,
            env,
            learning_rate=config.lr,
            n_steps=config.n_steps,
            batch_size=config.batch_size,
            n_epochs=config.epochs,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip_range,
            ent_coef=config.entropy,
            target_kl=config.target_kl or None,
            policy_kwargs={"kind": config.network, "width": config.width, "certainty": config.certainty},
            rollout_buffer_class=SeatsBuffer,
            device="cpu",
        )
        ppo.set_logger(Logger(folder=None, output_formats=[]))
        ppo.ep_info_buffer, ppo.ep_success_buffer = deque(maxlen=1), deque(maxlen=1)  # ours are in `tracking`
        return ppo

    def _begin(self) -> None:
        """SB3's own bookkeeping of what is seen now."""
        self.ppo._last_obs = self._vec_env().reset()
        self.ppo._last_episode_starts = np.ones(self.config.envs, np.bool_)

    # --- exact resuming -----------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Everything between two rollouts, as tensors and plain values (the random generators are the run's)."""
        assert self.ppo._last_episode_starts is not None
        return {
            "network": {name: weights.detach().clone() for name, weights in self.network.state_dict().items()},
            "optimiser": deepcopy(self.ppo.policy.optimizer.state_dict()),
            "steps": self.ppo.num_timesteps,
            "updates": self.ppo._n_updates,
            "rollouts": self._rollouts,
            "considered": self._considered,
            "versus": self.versus,
            "curriculum": self.curriculum.state_dict(),
            "tracking": self.tracking.state_dict(),
            "opponents": self.opponents.state_dict(),
            "games": [bytes_as_tensors(part.env.state_dict()) for part in self._vec_env().parts],
            "table": None if self._table is None else self._table.state_dict(),
            "episode_starts": self.ppo._last_episode_starts.tolist(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly there."""
        self.curriculum.load_state_dict(state["curriculum"])
        self.tracking.load_state_dict(state["tracking"])
        self.opponents.load_state_dict(state["opponents"])
        self.versus = bool(state["versus"])
        self._rollouts, self._considered = int(state["rollouts"]), int(state["considered"])
        self._change_games()
        for part, saved in zip(self._vec_env().parts, state["games"], strict=True):
            part.env.load_state_dict(tensors_as_bytes(saved))
        if self._table is not None:
            self._table.load_state_dict(state["table"])
        self.network.load_state_dict(state["network"])
        self.ppo.policy.optimizer.load_state_dict(state["optimiser"])
        self.ppo.num_timesteps, self.ppo._n_updates = int(state["steps"]), int(state["updates"])
        self.ppo._last_obs = self._vec_env().look()
        self.ppo._last_episode_starts = np.array(state["episode_starts"], np.bool_)


class _Watch(BaseCallback):
    """Ends a rollout when the run is to stop, and tells the buffer which rows are the agent's own."""

    def __init__(self, stop: Callable[[], bool]):
        super().__init__()
        self._stop = stop

    def _on_step(self) -> bool:
        buffer, env = self.model.rollout_buffer, self.model.env  # type: ignore[attr-defined]
        assert isinstance(env, FramesVecEnv)
        buffer.learned[buffer.pos] = env.learned
        return not self._stop()
