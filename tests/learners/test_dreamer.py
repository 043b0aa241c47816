"""Dreamer's maths against plain references, and that it learns: one sequence by heart, a corridor in imagination."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from mario_rl import config as configuration
from mario_rl.config import TrainingConfig
from mario_rl.environment.smb.observation import OBSERVATIONS
from mario_rl.learners.base import LaneSteps
from mario_rl.learners.dreamer import DreamerLearner, Replayed, lambda_returns
from mario_rl.learners.dreamer_experience import DreamerExperience
from mario_rl.learners.registry import build_model
from mario_rl.models.dreamer import DreamerModel
from mario_rl.models.dynamics import State, divergence
from mario_rl.models.flat import FlatModel
from tests.learners.tiny_problems import Corridor, learn

ACTIONS = 5


def settings(**changes: object) -> TrainingConfig:
    small = {"model": "dreamer", "sequence_length": 6, "batch_size": 3, "imagined": 10, "horizon": 4}
    return configuration.from_dict(small | changes)


def learner_of(config: TrainingConfig) -> DreamerLearner:
    torch.manual_seed(0)
    model = build_model(config, OBSERVATIONS[config.observation].space, ACTIONS)
    return DreamerLearner(config, model)


def sequences(config: TrainingConfig, learner: DreamerLearner, seed: int = 0) -> Replayed:
    """Noise, with an episode that ends within the second sequence and another that begins behind it."""
    random = np.random.default_rng(seed)
    length, count = config.sequence_length, config.batch_size
    if config.observation == "tiles":
        seen = random.integers(0, 2, (length, count, *OBSERVATIONS["tiles"].space.shape)).astype(np.float32)
    else:
        seen = random.integers(0, 256, (length, count, 84, 84), np.uint8)
    first, terminal = np.zeros((2, length, count), np.bool_)
    first[0, 0] = first[3, 1] = terminal[2, 1] = True
    dynamics = learner.model.world.dynamics
    nothing = dynamics.nothing(count, "cpu")
    return Replayed(
        torch.from_numpy(seen),
        torch.from_numpy(random.integers(0, ACTIONS, (length, count))),
        torch.from_numpy(random.normal(size=(length, count)).astype(np.float32)),
        torch.from_numpy(first),
        torch.from_numpy(terminal),
        State(torch.rand_like(nothing.deterministic), nothing.stochastic),
    )


# --- formulas -----------------------------------------------------------------------------------------------------


def test_lambda_returns_are_the_weighted_sum_of_all_n_step_returns() -> None:
    horizon, lam = 6, 0.8
    random = np.random.default_rng(0)
    rewards, discounts = random.normal(size=horizon), random.uniform(0.5, 1, horizon)
    values = random.normal(size=horizon + 1)

    def n_step(start: int, n: int) -> float:
        total, weight = 0.0, 1.0
        for step in range(start, start + n):
            total += weight * rewards[step]
            weight *= discounts[step]
        return total + weight * values[start + n]

    ours = lambda_returns(*(torch.tensor(array)[:, None] for array in (rewards, discounts, values)), lam)[:, 0]
    for start in range(horizon):
        left = horizon - start
        plain = sum((1 - lam) * lam ** (n - 1) * n_step(start, n) for n in range(1, left))
        plain += lam ** (left - 1) * n_step(start, left)
        assert ours[start].item() == pytest.approx(plain, abs=1e-9)


def test_nothing_is_returned_from_behind_an_end() -> None:
    rewards, values = torch.tensor([[1.0], [2.0], [50.0]]), torch.full((4, 1), 100.0)
    returns = lambda_returns(rewards, torch.tensor([[1.0], [0.0], [1.0]]), values, 0.95)
    assert returns[1].item() == 2.0
    assert returns[0].item() == pytest.approx(1 + 0.05 * 100 + 0.95 * 2)


def test_kl_is_balanced_and_has_free_nats(monkeypatch: pytest.MonkeyPatch) -> None:
    config = settings()
    learner = learner_of(config)
    replayed = sequences(config, learner)
    state = learner.generator.get_state()
    states, posterior = learner.recognise(replayed)
    prior = learner.model.world.dynamics.prior(states.deterministic)
    plain = divergence(posterior, prior).mean().item()

    def loss_with(dynamics: float, representation: float, free: float) -> float:
        for name, value in zip(
            ("DYNAMICS_WEIGHT", "REPRESENTATION_WEIGHT", "FREE_NATS"), (dynamics, representation, free), strict=True
        ):
            monkeypatch.setattr(f"mario_rl.learners.dreamer.{name}", value)
        learner.generator.set_state(state)
        return learner.world_phase(replayed)[0].item()

    without = loss_with(0.0, 0.0, 0.0)
    assert loss_with(1.0, 0.0, 0.0) - without == pytest.approx(plain, abs=1e-2)
    assert loss_with(1.0, 0.1, 0.0) - without == pytest.approx(1.1 * plain, abs=1e-2)
    assert loss_with(1.0, 0.1, plain + 3) - without == pytest.approx(1.1 * (plain + 3), abs=1e-2)


def test_the_prior_learns_from_the_dynamics_loss_alone_and_the_encoder_from_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = settings()
    learner = learner_of(config)
    replayed, world = sequences(config, learner), learner.model.world
    monkeypatch.setattr("mario_rl.learners.dreamer.FREE_NATS", 0.0)
    gradients = {}
    for dynamics, representation in ((1.0, 0.0), (0.0, 1.0)):
        monkeypatch.setattr("mario_rl.learners.dreamer.DYNAMICS_WEIGHT", dynamics)
        monkeypatch.setattr("mario_rl.learners.dreamer.REPRESENTATION_WEIGHT", representation)
        loss, _, _ = learner.world_phase(replayed)
        (gradients[dynamics],) = torch.autograd.grad(loss, [world.dynamics.expect[-1].weight], allow_unused=True)
    assert gradients[1.0].abs().sum() > 0 and gradients[0.0].abs().sum() == 0


# --- shapes and gradients -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["tiles", "pixels"])
def test_each_part_gets_its_own_gradient_in_its_own_place(observation: str) -> None:
    config = settings(observation=observation)
    learner = learner_of(config)
    flat = FlatModel(learner.model)
    replayed = sequences(config, learner)
    for weights in (learner.model.actor[-1].weight, learner.model.critic[-1].weight):
        torch.nn.init.normal_(weights, std=0.1)  # they begin with 0, where the layers below get no gradient

    state = learner.generator.get_state()
    world_loss, _, states = learner.world_phase(replayed)
    starts = learner._starts(states, replayed.terminal.flatten())
    behaviour_loss, _ = learner.behaviour_phase(starts, 0.9)
    slices, begin = {}, 0
    for part in learner.parts():
        slices[part.name] = slice(begin, begin := begin + part.size)
    assert begin == flat.trained_size

    world_loss.backward()
    assert flat.gradient[slices["world"]].abs().sum() > 0
    assert flat.gradient[slices["world"].stop :].abs().sum() == 0, "the world model does not push the behaviour"
    of_world = flat.gradient.clone()
    flat.zero_gradient()
    behaviour_loss.backward()
    assert flat.gradient[slices["world"]].abs().sum() == 0, "behaviour does not bend the world"
    assert all(flat.gradient[slices[name]].abs().sum() > 0 for name in ("actor", "critic"))
    of_behaviour = flat.gradient.clone()

    flat.zero_gradient()
    learner.generator.set_state(state)
    learner.return_range = 0.0
    loss, metrics, _ = learner.loss(replayed, 0.9)
    loss.backward()
    assert torch.allclose(flat.gradient, of_world + of_behaviour, rtol=1e-3, atol=1e-5)
    assert ("ssim" in metrics) == (observation == "pixels")
    assert metrics["ends_seen"] == pytest.approx(0.5, abs=0.3)  # it has learned nothing yet


def test_an_episode_s_first_row_forgets_what_was_before_it() -> None:
    config = settings()
    learner = learner_of(config)
    replayed = sequences(config, learner)
    elsewhere = dataclasses.replace(
        replayed, before=State(replayed.before.deterministic + 1, replayed.before.stochastic)
    )
    state = learner.generator.get_state()
    ones, _ = learner.recognise(replayed)
    learner.generator.set_state(state)
    others, _ = learner.recognise(elsewhere)
    length, count = config.sequence_length, config.batch_size
    same = (ones.deterministic == others.deterministic).all(-1).reshape(length, count)
    assert same[:, 0].all(), "begins with a first row"
    assert not same[:3, 1].any() and same[3:, 1].all(), "until the next episode begins"
    assert not same[:, 2].any()


def test_imagination_begins_where_an_episode_goes_on() -> None:
    config = settings(imagined=1000)
    learner = learner_of(config)
    states = State(torch.arange(18.0)[:, None], torch.zeros(18, 1))
    terminal = torch.zeros(18, dtype=torch.bool)
    terminal[[4, 7]] = True
    starts = learner._starts(states, terminal).deterministic[:, 0]
    assert sorted(starts.tolist()) == [number for number in range(18) if number not in (4, 7)]


def test_the_slow_critic_follows_by_its_share() -> None:
    learner = learner_of(settings())
    with torch.no_grad():
        learner.model.critic[-1].bias.fill_(1.0)
    learner.update_targets(0.25)
    assert learner.model.slow_critic[-1].bias.eq(0.25).all()


def test_the_range_of_returns_is_that_between_the_quantiles_and_moves_slowly() -> None:
    learner = learner_of(settings())
    learner._note_range(torch.linspace(0, 100, 1001)[None])
    assert learner.return_range == pytest.approx(90)
    learner._note_range(torch.linspace(0, 200, 1001)[None])
    assert learner.return_range == pytest.approx(0.99 * 90 + 0.01 * 180)


def test_half_of_the_gradients_while_all_is_new() -> None:
    config = settings(
        lanes=2, gradients_per_collect=3, new_steps=1000, learning_starts=20, buffer_size=200, batch_size=1, imagined=2
    )
    learner = learner_of(config)
    experience = DreamerExperience(config, learner, OBSERVATIONS["tiles"].space, 0)
    seen, nobody = np.zeros((2, *OBSERVATIONS["tiles"].space.shape), np.float32), np.zeros(2, np.bool_)

    def gradients(steps: int, rounds: int) -> int:
        count = 0
        for _ in range(rounds):
            actions = experience.act(seen, 0.0, steps)
            experience.record(LaneSteps(seen, actions, np.zeros(2, np.float32), seen, nobody, nobody))
            count += sum(1 for _ in experience.losses(0.0))
        return count

    assert gradients(0, 5) == 0, "nothing is learned from almost nothing"
    gradients(0, 5)
    assert gradients(0, 8) == gradients(999, 8) == 12, "half of three"
    assert gradients(1000, 4) == gradients(5000, 4) == 12


# --- learning -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["tiles", "pixels"])
def test_the_world_model_learns_one_sequence_by_heart(observation: str) -> None:
    torch.set_num_threads(1)
    config = settings(observation=observation, batch_size=2)
    learner = learner_of(config)
    replayed = sequences(config, learner)
    if observation == "pixels":  # white noise has more in it than any state: a bright square that moves
        pictures = torch.zeros(config.sequence_length, 2, 84, 84, dtype=torch.uint8)
        for step in range(config.sequence_length):
            for lane in range(2):
                pictures[step, lane, 20 + 30 * lane : 50 + 30 * lane, 8 * step : 8 * step + 30] = 200
        replayed.observations = pictures
    replayed.terminal[:] = False
    replayed.terminal[2, 1] = True
    optimiser = torch.optim.Adam(learner.model.world.parameters(), 3e-3)
    for _ in range(150 if observation == "tiles" else 400):
        loss, metrics, _ = learner.world_phase(replayed)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert metrics["recon_mse"] < 0.01, metrics
    assert metrics["reward_loss"] < 0.8 and metrics["ends_seen"] > 0.9, metrics
    assert observation == "tiles" or metrics["ssim"] > 0.5, metrics


def test_it_learns_the_corridor() -> None:
    torch.set_num_threads(1)
    config = settings(
        workers=1, lanes=8, gamma=Corridor.gamma, lr=3e-3, collect_steps=4, gradients_per_collect=1, buffer_size=2000,
        learning_starts=200, batch_size=8, sequence_length=8, imagined=64, horizon=8, tau=0.05, entropy=3e-3,
        reward_scale=1.0,
    )  # fmt: skip
    model, experience = learn(Corridor(8), config, rounds=250)
    assert isinstance(model, DreamerModel) and isinstance(experience, DreamerExperience)
    play = model.at_play(1)
    corridor, steps = Corridor(1), []
    for number in range(Corridor.cells - 1):
        play.see(torch.from_numpy(corridor.observe()), torch.tensor([number == 0]))
        steps.append(corridor.step(play.act().numpy()))
    assert [int(step.actions[0]) for step in steps] == [1] * (Corridor.cells - 1), "straight to the end"
    assert steps[-1].terminated[0]
    # the critic knows what the first cell is worth: the reward comes with the fifth step
    play = model.at_play(1)
    play.see(torch.from_numpy(Corridor(1).observe()), torch.tensor([True]))
    value = model.two_hot.mean(model.critic(play.state.features)).item()
    assert value == pytest.approx(Corridor.best_return, abs=0.15)
