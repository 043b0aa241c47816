"""MaskablePPO on strands of self-play instead of the even grid of a vector environment."""

from __future__ import annotations

import math

import numpy as np
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from stable_baselines3.common.logger import Logger

from mario_rl.environment.drmario.prospects import SLOTS
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.scorer import ACTION_SPACE, OBSERVATION_SPACE, PlacementScorer, ScorerPolicy
from mario_rl.selfplay.strands import Experience

LEAST_ENTROPY = 0.1  # of the weight at the start


class StrandBuffer(MaskableRolloutBuffer):
    """A rollout buffer of however many decisions there are, with their advantages computed already."""

    def fill(self, experience: Experience) -> None:
        """Hold these decisions and no others."""
        self.buffer_size, self.n_envs = len(experience.actions), 1
        self.observations = experience.seen
        self.action_masks = np.arange(SLOTS) < experience.counts[:, None]
        self.actions = experience.actions[:, None]
        self.values = experience.values[:, None]
        self.log_probs = experience.log_probabilities[:, None]
        self.advantages = experience.advantages[:, None]
        self.returns = experience.returns[:, None]
        self.full = self.generator_ready = True


def make_ppo(config: SelfPlayConfig) -> MaskablePPO:
    """The algorithm without an environment: `learn_from` is called instead of `learn`."""
    ppo = MaskablePPO(
        ScorerPolicy,
        None,  # type: ignore[arg-type]  # sb3-contrib allows it, as for a model that is loaded
        learning_rate=config.lr,
        n_steps=1,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.entropy,
        vf_coef=config.value_weight,
        max_grad_norm=config.max_grad_norm,
        policy_kwargs={"hidden": config.hidden, "value_hidden": config.value_hidden},
        seed=config.seed,
        device="cpu",
        _init_setup_model=False,
    )
    ppo.observation_space, ppo.action_space = OBSERVATION_SPACE, ACTION_SPACE
    ppo.n_envs = 1
    ppo.rollout_buffer_class = StrandBuffer
    ppo._setup_model()
    return ppo


def learn_from(ppo: MaskablePPO, experience: Experience, config: SelfPlayConfig, progress: float) -> dict[str, float]:
    """One update at this part (0 to 1) of the run; what PPO says about it."""
    falls = (1 + math.cos(math.pi * min(progress, 1.0))) / 2  # from 1 to 0
    rate = config.lr_min + (config.lr - config.lr_min) * falls
    ppo.lr_schedule = lambda _: rate
    ppo.ent_coef = config.entropy * (LEAST_ENTROPY + (1 - LEAST_ENTROPY) * falls)
    logger = Logger(folder=None, output_formats=[])
    ppo.set_logger(logger)
    # Minibatches of equal size: normalising the advantages of a few left over would blow them up.
    parts = max(round(len(experience.actions) / config.batch_size), 1)
    ppo.batch_size = math.ceil(len(experience.actions) / parts)
    buffer = ppo.rollout_buffer
    assert isinstance(buffer, StrandBuffer)
    buffer.fill(experience)
    ppo.train()
    ppo.num_timesteps += len(experience.actions)
    said = {name.removeprefix("train/"): float(value) for name, value in logger.name_to_value.items()}
    return said | {"entropy": -said["entropy_loss"]}


def scorer_of(ppo: MaskablePPO) -> PlacementScorer:
    """The network that learns."""
    assert isinstance(ppo.policy, ScorerPolicy)
    return ppo.policy.scorer
