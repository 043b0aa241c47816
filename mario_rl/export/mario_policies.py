"""The models of Super Mario Bros. as functions for an ONNX file, and samples of what they say in real games.

    ddqn:    observation  ->  q_values
    ppo:     observation  ->  action_logits, action_probabilities, value
    dreamer: observation, deterministic, stochastic, last_action, began, noise
             ->  action_probabilities, next_deterministic, next_stochastic, state_scores

Dreamer has a memory: the next state goes in again with the next observation, beside the action that was done. Where an
episode `began`, what was before is forgotten. `noise` is 1 everywhere for the likeliest state; with exponentially
distributed numbers the state is drawn as it was in training. Its classes are those of the highest `state_scores`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mario_rl.environment.actions import action_names
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.export.onnx_file import Policy, Sample
from mario_rl.models.actor_critic import ActorCriticModel
from mario_rl.models.at_play import at_play
from mario_rl.models.ddqn import DdqnModel
from mario_rl.models.dreamer import DreamerAtPlay, DreamerModel
from mario_rl.models.dynamics import State, draw, noise
from mario_rl.models.sights import newest
from mario_rl.runs.directory import RunError
from mario_rl.runs.evaluate import evaluation_settings
from mario_rl.runs.trained_model import TrainedModel

__all__ = ["policy_of", "samples_of"]

LANES, STEPS = 8, 64  # 512 observations
RANDOM_ACTIONS = 0.2  # of those that are done: the greedy way alone is one narrow path


class QValues(nn.Module):
    """The target network of DDQN, which is what plays."""

    def __init__(self, model: DdqnModel):
        super().__init__()
        self.network = model.target

    def forward(self, observation: Tensor) -> Tensor:
        """Q-values, float32[n, actions]."""
        return self.network(observation)


class ActorCritic(nn.Module):
    """PPO's policy and value."""

    def __init__(self, model: ActorCriticModel):
        super().__init__()
        self.model = model

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits and probabilities, float32[n, actions], and values, float32[n]."""
        logits, value = self.model.evaluate(observation)
        return logits, logits.softmax(dim=1), value


class DreamerStep(nn.Module):
    """One look of Dreamer: `DreamerAtPlay.see`, with its memory as arguments and results."""

    def __init__(self, model: DreamerModel):
        super().__init__()
        self.model = model

    def forward(
        self,
        observation: Tensor,
        deterministic: Tensor,
        stochastic: Tensor,
        last_action: Tensor,
        began: Tensor,
        noise: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The policy, float32[n, actions], and the state it was read off: both parts, and what each class scored."""
        world, dynamics = self.model.world, self.model.world.dynamics
        kept = (~began).float()[:, None]
        done = F.one_hot(last_action, self.model.actions).float() * kept
        carried = dynamics.go_on(State(deterministic, stochastic).where(kept), done)
        seen = world.sight.encode(newest(observation))
        recognised = dynamics.posterior(carried, seen, torch.zeros_like(carried[:, 0]))
        state = State(carried, draw(recognised, noise))
        return self.model.policy(state.features), state.deterministic, state.stochastic, recognised / noise


def policy_of(trained: TrainedModel) -> Policy:
    """What to export of a model; a RunError about a model that nobody has taught this module."""
    model, config = cast(nn.Module, trained.model), trained.config
    outputs: tuple[str, ...]
    about = {
        "game": "Super Mario Bros.",
        "model": config.model,
        "actions": json.dumps(action_names(config.actions)),
        "environment": json.dumps({**evaluation_settings(config, "greedy"), "rom": None}),
    }
    if isinstance(model, DdqnModel):
        return Policy(QValues(model), ("observation",), ("q_values",), about)
    if isinstance(model, ActorCriticModel):
        outputs = ("action_logits", "action_probabilities", "value")
        return Policy(ActorCritic(model), ("observation",), outputs, about)
    if isinstance(model, DreamerModel):
        inputs = ("observation", "deterministic", "stochastic", "last_action", "began", "noise")
        outputs = ("action_probabilities", "next_deterministic", "next_stochastic", "state_scores")
        return Policy(DreamerStep(model), inputs, outputs, about)
    raise RunError(f"there is no export of the model {config.model!r}: export/mario_policies.py would have to know it")


def samples_of(trained: TrainedModel, seed: int = 0) -> list[Sample]:
    """What the model says in games that it plays, now and then with a random action."""
    samples = _dreamer_samples if isinstance(trained.model, DreamerModel) else _reflex_samples
    env = SmbVectorEnv(LANES, threads=1, **evaluation_settings(trained.config, "greedy"))
    with closing(env), torch.inference_mode():
        return list(samples(trained, env, seed))


def _reflex_samples(trained: TrainedModel, env: SmbVectorEnv, seed: int) -> Iterator[Sample]:
    model = trained.model
    playing = at_play(model, LANES)
    for observations, began, walk in _games(env, len(action_names(trained.config.actions)), seed):
        seen = torch.from_numpy(observations)
        playing.see(seen, torch.from_numpy(began))
        best = playing.act()
        if isinstance(model, ActorCriticModel):
            logits, value = model.evaluate(seen)
            outputs = {"action_logits": logits, "action_probabilities": playing.values(), "value": value}
        else:
            outputs = {"q_values": playing.values()}
        chooses = "action_logits" if "action_logits" in outputs else "q_values"
        yield Sample({"observation": observations}, _arrays(outputs), _arrays({chooses: best}))
        walk(best.numpy())


def _dreamer_samples(trained: TrainedModel, env: SmbVectorEnv, seed: int) -> Iterator[Sample]:
    model = cast(DreamerModel, trained.model)
    dynamics = model.world.dynamics
    shape = (LANES, dynamics.variables, dynamics.classes)
    playing = DreamerAtPlay(model, LANES)
    for step, (observations, began, walk) in enumerate(_games(env, model.actions, seed)):
        before, last = playing.state, playing.actions
        # In turn the likeliest state and a drawn one: the same generator gives the same noise twice.
        generator = torch.Generator().manual_seed(step) if step % 2 else None
        ringing = noise(shape, torch.Generator().manual_seed(step), "cpu") if step % 2 else torch.ones(shape)
        playing.see(torch.from_numpy(observations), torch.from_numpy(began), generator)
        best = playing.act()
        memory = {"deterministic": before.deterministic, "stochastic": before.stochastic, "last_action": last}
        outputs = {
            "action_probabilities": playing.values(),
            "next_deterministic": playing.state.deterministic,
            "next_stochastic": playing.state.stochastic,
        }
        classes = playing.state.stochastic.reshape(shape).argmax(-1)
        choices = {"action_probabilities": best, "state_scores": classes}
        inputs = {"observation": observations, **_arrays(memory), "began": began, "noise": ringing.numpy()}
        yield Sample(inputs, _arrays(outputs), _arrays(choices))
        playing.do(torch.from_numpy(walk(best.numpy())))


def _games(env: SmbVectorEnv, actions: int, seed: int) -> Iterator[tuple[Any, Any, Any]]:
    """What all lanes show, where an episode began, and how to go on: given the best actions, says which were done."""
    chance = np.random.default_rng(seed)
    observations, _ = env.reset(seed=seed)
    began = np.ones(LANES, np.bool_)

    def walk(best: Any) -> Any:
        nonlocal observations, began
        random = chance.integers(actions, size=LANES)
        done = np.where(chance.random(LANES) < RANDOM_ACTIONS, random, best)
        observations, _, terminated, truncated, _ = env.step(done)
        began = terminated | truncated
        return done

    for _ in range(STEPS):
        yield observations.copy(), began, walk


def _arrays(tensors: dict[str, Tensor]) -> dict[str, Any]:
    return {name: tensor.numpy().copy() for name, tensor in tensors.items()}
