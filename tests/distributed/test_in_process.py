"""One process: the same run from the same seed, whether it was interrupted or not; and PPO is plain PPO."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mario_rl import config as configuration
from mario_rl.config import TrainingConfig
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator
from mario_rl.distributed.events import LocalEvents
from mario_rl.distributed.in_process import train_in_process
from mario_rl.distributed.worker import TrainingWorker, true_successors
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.learners.registry import build_model
from mario_rl.models.actor_critic import ActorCriticModel, draw
from mario_rl.runs import training
from mario_rl.runs.checkpoint import load_checkpoint
from mario_rl.runs.directory import RunDirectory

pytestmark = pytest.mark.usefixtures("smb_rom")

SMALL = {"workers": 0, "lanes": 3, "hidden": 16, "evaluate_every": 0, "sticky": 0.1}
DDQN = SMALL | {
    "model": "ddqn", "collect_steps": 4, "gradients_per_collect": 2, "batch_size": 16, "buffer_size": 600,
    "learning_starts": 100, "epsilon_steps": 500,
}  # fmt: skip
PPO = SMALL | {"model": "ppo", "collect_steps": 16, "batch_size": 20, "epochs": 2}
DREAMER = DDQN | {"model": "dreamer", "batch_size": 4, "sequence_length": 8, "horizon": 4, "imagined": 16}
PIXELS = DDQN | {"observation": "pixels", "lanes": 2, "buffer_size": 300}


def run_through(run: RunDirectory, config: TrainingConfig, before: Totals) -> dict[str, Any]:
    """Train to the end; what is on disk then."""
    session = training.open_session(run, config, before)
    while session.tick():
        time.sleep(0.01)
    assert session.close() == "SUCCESS", session.problem
    return load_checkpoint(run.checkpoint_pt)


def flattened(value: Any) -> list[Any]:
    """Everything in a checkpoint, in order, but for what goes by the clock on the wall."""
    if isinstance(value, dict):
        hidden = {"seconds", "config", "first_flag_seconds", "SystemCollector"}
        hidden |= {"steps_per_second", "updates_per_second", "deaths"}  # deaths: not yet published
        return [(key, flattened(entry)) for key, entry in value.items() if key not in hidden]
    if isinstance(value, list | tuple):
        return [flattened(entry) for entry in value]
    return [value.tolist()] if isinstance(value, torch.Tensor) else [value]


@pytest.mark.parametrize("settings", [DDQN, PPO, DREAMER, PIXELS], ids=["ddqn", "ppo", "dreamer", "ddqn from pixels"])
def test_a_run_that_was_interrupted_ends_as_one_that_was_not(settings: dict[str, Any], tmp_path: Path) -> None:
    steps = 12 * settings["lanes"] * settings["collect_steps"] * (4 if settings["collect_steps"] < 16 else 1)
    common = settings | {"checkpoints": str(tmp_path), "lr_steps": steps}
    whole_config = configuration.from_dict(common | {"steps": steps, "name": "whole"})
    run, before = training.begin(whole_config)
    expected = run_through(run, whole_config, before)
    assert expected["counters"]["updates"] > 10

    half_config = configuration.from_dict(common | {"steps": steps // 3 + 1, "name": "half"})
    run, before = training.begin(half_config)
    half = run_through(run, half_config, before)
    assert 0 < half["counters"]["steps"] < steps
    resumed_config = configuration.from_dict(common | {"steps": steps, "name": "half"})
    before, _ = training.resume(run, resumed_config)
    resumed = run_through(run, resumed_config, before)
    assert resumed["counters"]["steps"] == expected["counters"]["steps"] >= steps
    assert flattened(resumed) == flattened(expected)


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    ends = []
    for seed in (0, 0, 1):
        config = configuration.from_dict(PPO | {"steps": 100, "seed": seed, "checkpoints": str(tmp_path)})
        run, before = training.begin(config)
        ends.append(run_through(run, config, before)["model"]["policy.weight"])
    assert torch.equal(ends[0], ends[1])
    assert not torch.equal(ends[0], ends[2])


def test_a_run_that_only_makes_nonsense_ends_with_the_reason(tmp_path: Path) -> None:
    config = configuration.from_dict(PPO | {"steps": 1000, "reward_scale": 1e38, "checkpoints": str(tmp_path)})
    run, before = training.begin(config)
    session = training.open_session(run, config, before)
    while session.tick():
        time.sleep(0.01)
    assert session.close() == "FAILED"
    assert "not finite" in run.status().why and "--reward-scale" in run.status().why


class NoKeeper:
    """Only counts, as a coordinator needs it for its schedules."""

    def __init__(self, coordinator: TrainingCoordinator):
        self.coordinator = coordinator

    def count(self, totals: Totals) -> None:
        self.coordinator.counters.steps = totals.steps

    def tick(self) -> None:
        pass


def plain_ppo(config: TrainingConfig, rounds: int) -> ActorCriticModel:
    """PPO as it is in the books: one process, one optimiser over the parameters, nothing of ours but the network."""
    env = SmbVectorEnv(config.lanes, **config.environment())
    torch.manual_seed(config.seed)
    model = build_model(config, env.single_observation_space, int(env.single_action_space.n))
    assert isinstance(model, ActorCriticModel)
    optimiser = torch.optim.Adam(model.parameters(), config.lr, eps=config.adam_eps)
    generator = torch.Generator().manual_seed(int(np.random.SeedSequence([config.seed, 0]).generate_state(1)[0]))
    observation, _ = env.reset(seed=int(np.random.SeedSequence([config.seed, 0, 1]).generate_state(1)[0]))
    steps = 0
    for _ in range(rounds):
        progress = steps / config.steps
        rows = []
        for _ in range(config.collect_steps):
            with torch.no_grad():
                logits, value = model.evaluate(torch.from_numpy(observation))
                action = draw(logits, generator)
                log_prob = logits.log_softmax(1)[range(config.lanes), action]
            following, reward, terminated, truncated, infos = env.step(action.numpy())
            with torch.no_grad():
                next_value = model.evaluate(torch.from_numpy(true_successors(following, infos)))[1]
            reward = torch.from_numpy(reward * np.float32(config.reward_scale))
            ends = torch.from_numpy(terminated), torch.from_numpy(terminated | truncated)
            rows.append((torch.from_numpy(observation), action, log_prob, value, next_value, reward, *ends))
            observation = following
            steps += config.lanes
        states, actions, old, values, next_values, rewards, terminated, ended = map(
            torch.stack, zip(*rows, strict=True)
        )
        advantages = torch.zeros_like(values)
        running = torch.zeros(config.lanes)
        for t in reversed(range(config.collect_steps)):
            error = rewards[t] + config.gamma * next_values[t] * ~terminated[t] - values[t]
            running = error + config.gamma * config.gae_lambda * ~ended[t] * running
            advantages[t] = running
        returns = advantages + values
        for _ in range(config.epochs):
            for rows_now in torch.randperm(actions.numel(), generator=generator).split(config.batch_size):
                advantage = advantages.reshape(-1)[rows_now]
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                logits, value = model.evaluate(states.flatten(0, 1)[rows_now])
                policy = torch.distributions.Categorical(logits=logits)
                ratio = (policy.log_prob(actions.reshape(-1)[rows_now]) - old.reshape(-1)[rows_now]).exp()
                clipped = ratio.clamp(1 - config.clip_range, 1 + config.clip_range)
                loss = -torch.min(ratio * advantage, clipped * advantage).mean()
                loss = loss + config.value_weight * (returns.reshape(-1)[rows_now] - value).square().mean()
                loss = loss - config.entropy * (1 - progress) * policy.entropy().mean()
                optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), config.max_grad_norm)
                for group in optimiser.param_groups:
                    cosine = (1 + np.cos(np.pi * progress)) / 2
                    group["lr"] = config.lr_min + (config.lr - config.lr_min) * cosine
                optimiser.step()
    env.close()
    return model


def test_one_worker_is_plain_ppo_step_for_step() -> None:
    rounds = 3
    config = configuration.from_dict(
        PPO | {"steps": rounds * 3 * 16, "workers": 0, "max_grad_norm": 0.5, "lr": 1e-3, "epochs": 3}
    )
    worker = TrainingWorker(config, 0, LocalEvents("worker_0", lambda event: None))
    coordinator = TrainingCoordinator(config)
    train_in_process(worker, coordinator, NoKeeper(coordinator), Totals(), stopping=lambda: False)
    worker.close()
    assert coordinator.counters.updates == rounds * config.epochs * -(-3 * 16 // 20)
    plain = plain_ppo(config, rounds)
    ours = coordinator.flat.model.state_dict()
    for name, theirs in plain.state_dict().items():
        assert torch.allclose(ours[name], theirs, atol=2e-5), name
