"""What `models/base.py` and `learners/base.py` promise, for every algorithm of the registry on every observation."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from mario_rl import config as configuration
from mario_rl.config import TrainingConfig
from mario_rl.environment.smb.observation import OBSERVATIONS
from mario_rl.learners.base import LaneSteps
from mario_rl.learners.registry import ALGORITHMS, build_experience, build_learner, build_model
from mario_rl.models.at_play import at_play
from mario_rl.models.flat import FlatModel

ACTIONS = 5
CASES = [("tiles", "mlp"), ("tiles", "cnn"), ("pixels", "small"), ("pixels", "nature")]


@pytest.fixture(params=sorted(ALGORITHMS))
def algorithm(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=CASES, ids=["-".join(case) for case in CASES])
def config(request: pytest.FixtureRequest, algorithm: str) -> TrainingConfig:
    observation, torso = request.param
    settings = {"model": algorithm, "observation": observation, "torso": torso, "hidden": 16, "lanes": 2}
    sizes = {"workers": 1, "collect_steps": 4, "buffer_size": 100, "batch_size": 4, "learning_starts": 4, "n_step": 2}
    sizes |= {"sequence_length": 4, "horizon": 3}
    return configuration.from_dict(settings | sizes)


def observations(config: TrainingConfig, count: int, seed: int = 0) -> np.ndarray:
    space = OBSERVATIONS[config.observation].space
    random = np.random.default_rng(seed)
    if space.dtype == np.uint8:
        return random.integers(0, 256, (count, *space.shape), np.uint8)
    return random.integers(0, 3, (count, *space.shape)).astype(np.float32) / 2


def build(config: TrainingConfig):
    torch.manual_seed(0)
    return build_model(config, OBSERVATIONS[config.observation].space, ACTIONS)


def test_forward_gives_one_finite_number_per_action(config: TrainingConfig) -> None:
    model = build(config)
    for network in ("online", "target"):
        values = model.forward(torch.from_numpy(observations(config, 3)), network)
        assert values.shape == (3, ACTIONS) and values.dtype == torch.float32 and values.isfinite().all()
    shown = model.action_values(torch.from_numpy(observations(config, 3)))
    assert shown.shape == (3, ACTIONS) and not shown.requires_grad and model.shows in ("Q", "probability")


def test_actions_are_deterministic_without_epsilon_and_repeatable_with_it(config: TrainingConfig) -> None:
    model, x = build(config), torch.from_numpy(observations(config, 64))
    greedy = model.select_action(x)
    assert greedy.dtype == torch.int64 and greedy.shape == (64,) and torch.equal(greedy, model.select_action(x))
    for act in (
        lambda seed: model.select_action(x, 1.0, torch.Generator().manual_seed(seed)),
        lambda seed: model.sample_action(x, torch.Generator().manual_seed(seed)),
    ):
        assert torch.equal(act(1), act(1))
        assert act(1).min() >= 0 and act(1).max() < ACTIONS
    random = model.select_action(x, 1.0, torch.Generator().manual_seed(1))
    assert set(random.tolist()) == set(range(ACTIONS))


def test_the_global_random_generator_is_left_alone(config: TrainingConfig) -> None:
    model, x = build(config), torch.from_numpy(observations(config, 8))
    before = torch.get_rng_state()
    model.sample_action(x, torch.Generator().manual_seed(0))
    model.select_action(x, 0.5, torch.Generator().manual_seed(0))
    assert torch.equal(before, torch.get_rng_state())


def test_at_play_it_acts_alike_on_what_is_alike_and_forgets_when_an_episode_begins(config: TrainingConfig) -> None:
    model = build(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    seen = [torch.from_numpy(observations(config, 3, seed)) for seed in range(4)]
    everyone, nobody = torch.ones(3, dtype=torch.bool), torch.zeros(3, dtype=torch.bool)

    def play(began: list[torch.Tensor], seed: int | None = None) -> list[list[int]]:
        playing = at_play(model, 3)
        generator = None if seed is None else torch.Generator().manual_seed(seed)
        chosen = []
        for x, begins in zip(seen, began, strict=True):
            playing.see(x, begins, generator)
            assert playing.values().shape == (3, ACTIONS)
            chosen.append(playing.act(generator).tolist())
        return chosen

    whole = [everyone, nobody, nobody, nobody]
    assert play(whole) == play(whole) and play(whole, seed=1) == play(whole, seed=1)
    fresh = at_play(model, 3)
    fresh.see(seen[3], everyone)
    assert play([everyone, nobody, nobody, everyone])[3] == fresh.act().tolist()


def test_weights_round_trip_and_sync(config: TrainingConfig) -> None:
    model, x = build(config), torch.from_numpy(observations(config, 4))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.01 * torch.randn_like(parameter))
    twin = build_model(config, OBSERVATIONS[config.observation].space, ACTIONS)
    twin.load_state_dict(model.state_dict())
    for network in ("online", "target"):
        assert torch.equal(model.forward(x, network), twin.forward(x, network))
    model.sync_target()
    assert torch.equal(model.forward(x, "online"), model.forward(x, "target"))


def test_the_loss_of_plain_transitions_has_a_gradient(config: TrainingConfig) -> None:
    model = build(config)
    learner = build_learner(config, model)
    assert learner.model is model
    flat = FlatModel(model)
    loss, metrics = learner.compute_loss(
        torch.from_numpy(observations(config, 6)),
        torch.arange(6) % ACTIONS,
        torch.linspace(-1, 1, 6),
        torch.from_numpy(observations(config, 6, seed=1)),
        torch.tensor([0.0, 0, 1, 0, 1, 0]),
        gamma=0.9,
    )
    loss.backward()
    assert loss.shape == () and loss.isfinite() and flat.gradient.isfinite().all() and flat.gradient.abs().sum() > 0
    assert metrics["loss"] == pytest.approx(loss.item()) and all(isinstance(value, float) for value in metrics.values())
    learner.update_targets()
    learner.update_targets(tau=1.0)
    assert torch.equal(
        model.forward(torch.from_numpy(observations(config, 2)), "target"),
        model.forward(torch.from_numpy(observations(config, 2))),
    )


def rounds(config: TrainingConfig, experience, first: int, count: int) -> list[float]:
    """Play and learn on made-up observations; the losses."""
    losses = []
    for number in range(first, first + count):
        for step in range(config.collect_steps):
            seed = number * config.collect_steps + step
            seen, following = observations(config, 2, seed), observations(config, 2, seed + 1)
            actions = experience.act(seen, 0.5, 10_000)
            assert actions.dtype == np.int64 and actions.shape == (2,)
            ended = np.array([seed % 3 == 0, False])
            experience.record(LaneSteps(seen, actions, np.full(2, 0.1, np.float32), following, ended, ended & False))
        losses += [loss.item() for loss, _ in experience.losses(0.5)]
    return losses


def test_an_experience_goes_on_exactly_where_its_state_was_taken(config: TrainingConfig, tmp_path) -> None:
    model = build(config)
    space = OBSERVATIONS[config.observation].space
    first, second = (build_experience(config, build_learner(config, model), space, 0) for _ in range(2))
    assert first.lockstep == ALGORITHMS[config.model].lockstep
    assert rounds(config, first, 0, 3)
    torch.save(first.state_dict(), tmp_path / "state.pt")
    second.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert rounds(config, first, 3, 2) == rounds(config, second, 3, 2)


def test_workers_do_not_share_random_numbers(config: TrainingConfig) -> None:
    model = build(config)
    space = OBSERVATIONS[config.observation].space
    of_two = dataclasses.replace(config, workers=2, epsilon_max=1.0, epsilon_min=1.0)
    seen = np.repeat(observations(config, 1), 2, axis=0)
    drawn = []
    for worker in range(2):
        experience = build_experience(of_two, build_learner(of_two, model), space, worker)
        drawn.append([experience.act(seen, 0.0, 0).tolist() for _ in range(20)])
    assert drawn[0] != drawn[1]
