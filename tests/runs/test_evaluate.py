"""Evaluation: every episode once, without bias, and an honest interval."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.config import ConfigError, TrainingConfig
from mario_rl.environment.smb.env import SmbEnv
from mario_rl.runs import evaluate as evaluation
from mario_rl.runs.evaluate import Episode, Outcome, evaluate, evaluation_settings, wilson_interval
from tests.runs.players import Chooser, Replayer, Walker, flag_config


@pytest.fixture(autouse=True)
def _the_game(smb_rom: Path) -> None:
    """Every test here plays it."""


def played_alone(model: Chooser, seed: int, episodes: int, sticky: float) -> list[Episode]:
    """The plain reference: one environment, one episode after the other."""
    env = SmbEnv(**evaluation_settings(TrainingConfig(), "sticky", sticky=sticky))
    played = []
    observation, _ = env.reset(seed=seed)
    while len(played) < episodes:
        action = int(model.select_action(torch.from_numpy(observation)[None])[0])
        observation, _, terminated, truncated, info = env.step(np.int64(action))
        if terminated or truncated:
            played.append(Episode(info["level"], info["flag_get"], info["x_pos_max"], info["episode_length"]))
            observation, _ = env.reset()
    return played


def test_each_lane_plays_its_share_whatever_the_others_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten episodes in four lanes are 3 + 3 + 2 + 2, not the ten that end first."""
    monkeypatch.setattr(evaluation, "MOST_LANES", 4)
    model = Chooser()
    expected = [
        episode for lane, share in enumerate((3, 3, 2, 2)) for episode in played_alone(model, 50 + lane, share, 0.25)
    ]
    counts: list[tuple[int, int]] = []
    outcome = evaluate(model, TrainingConfig(), 10, "sticky", 50, progress=lambda *numbers: counts.append(numbers))
    assert sorted(map(str, outcome.played)) == sorted(map(str, expected))
    assert len({episode.steps for episode in expected}) > 3, "episodes of many lengths, or this shows nothing"
    assert counts[-1] == (10, 10)
    assert all(total == 10 for _, total in counts)


def test_the_stochastic_policy_is_the_sampled_one_and_repeatable() -> None:
    class OnlySamples(Chooser):
        def select_action(self, *arguments: object) -> torch.Tensor:
            raise AssertionError("greedy")

    first, again, other = (
        evaluate(OnlySamples(), TrainingConfig(sticky=0.5), 4, "stochastic", seed) for seed in (1, 1, 100)
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize(("protocol", "sticky"), [("stochastic", 0.0), ("greedy", 0.0), ("sticky", 0.125)])
def test_the_protocol_decides_whether_actions_stick(protocol: evaluation.Protocol, sticky: float) -> None:
    trained_with = TrainingConfig(sticky=0.5, level="1-2", stuck_steps=33)
    chosen = evaluation_settings(trained_with, protocol, "1-1,1-3", 0.125)
    assert chosen["sticky"] == sticky
    assert chosen["level"] == ["1-1", "1-3"]
    assert chosen["stuck_steps"] == 33


def test_a_flag_counts() -> None:
    outcome = evaluate(Replayer("1-1_finish"), flag_config(), 2, "stochastic", 0)
    assert outcome.summary() == {
        "episodes": 2,
        "successes": 2,
        "rate": 1.0,
        "low": pytest.approx(0.342, abs=0.001),
        "high": 1.0,
        "mean_x": 3161.0,
        "mean_steps": 328.0,
    }


def test_another_level_than_the_trained_one() -> None:
    outcome = evaluate(Walker(), TrainingConfig(), 3, "stochastic", 0, level="1-3")
    assert {episode.level for episode in outcome.played} == {"1-3"}


def test_averages() -> None:
    outcome = Outcome((Episode("1-1", True, 3161, 300), Episode("1-1", False, 161, 100)))
    assert (outcome.rate, outcome.mean_x, outcome.mean_steps) == (0.5, 1661, 200)


def test_what_cannot_be_evaluated() -> None:
    with pytest.raises(ValueError, match="at least 1 episode"):
        evaluate(Walker(), TrainingConfig(), 0, "sticky", 0)
    with pytest.raises(ValueError, match="unknown protocol 'lucky'; use one of stochastic, greedy, sticky"):
        evaluate(Walker(), TrainingConfig(), 1, "lucky", 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown level '9-1'"):
        evaluate(Walker(), TrainingConfig(), 1, "sticky", 0, level="9-1")
    with pytest.raises(ConfigError, match="--sticky"):
        evaluate(Walker(), TrainingConfig(), 1, "sticky", 0, sticky=1.5)


# --- Wilson's interval --------------------------------------------------------------------------------------------


@given(data=st.data(), episodes=st.integers(1, 2000))
def test_the_interval_is_the_solution_of_wilsons_equation(data: st.DataObject, episodes: int) -> None:
    """Its ends are the rates p from which the observed one is just 1.96 standard errors away."""
    successes = data.draw(st.integers(0, episodes))
    low, high = wilson_interval(successes, episodes)
    rate = successes / episodes
    assert 0 <= low <= rate <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            error = math.sqrt(end * (1 - end) / episodes)
            assert abs(rate - end) == pytest.approx(1.959964 * error, rel=1e-5, abs=1e-12)


def test_the_interval_against_published_figures() -> None:
    """Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29 (the score method without correction)."""
    published = {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }
    for (successes, episodes), ends in published.items():
        assert wilson_interval(successes, episodes) == pytest.approx(ends, abs=5e-5)
