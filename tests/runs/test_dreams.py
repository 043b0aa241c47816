"""Dreams: what is recalled was seen, what is imagined was not looked at, and the picture shows both."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from mario_rl import cli
from mario_rl.environment.smb import tiles
from mario_rl.models.dreamer import DreamerModel
from mario_rl.runs import dreams
from mario_rl.runs.dream_picture import COLOURS, SKY, as_picture, caption, draw_dreams
from mario_rl.runs.evaluate import Playing
from mario_rl.runs.trained_model import TrainedModel, load_trained_model
from tests.runs.players import make_run


@pytest.fixture(params=["tiles", "pixels"])
def trained(request: pytest.FixtureRequest, tmp_path: Path, smb_rom: Path) -> TrainedModel:
    return load_trained_model(make_run(tmp_path, model="dreamer", observation=request.param, stuck_steps=20))


def test_a_dream_is_recalled_and_imagined_step_by_step(trained: TrainedModel) -> None:
    found = dreams.dream(trained, None, seed=0)
    assert [one.step for one in found] == sorted({one.step for one in found}) and 1 <= len(found) <= 3
    shape = (tiles.SIZE,) if trained.config.observation == "tiles" else (84, 84)
    for one in found:
        assert one.real.shape == one.recalled.shape == one.imagined.shape == (len(one.real), *shape)
        assert np.isfinite(one.imagined).all() and 0 <= one.goes_on <= 1
    assert [one.step for one in dreams.dream(trained, None, seed=0)] == [one.step for one in found]
    figure = draw_dreams(found, "a heading")
    columns = min(8, len(found[0].real))
    assert sum(len(part.axes) for part in figure.subfigs) == len(found) * 3 * columns
    assert caption(found[0]).startswith(f"from step {found[0].step}, x {found[0].x}: ")


def test_imagination_does_not_look(trained: TrainedModel) -> None:
    model = trained.model
    assert isinstance(model, DreamerModel)
    played = dreams._play(trained, None, 3)
    blind = dataclasses.replace(played, observations=played.observations.copy())
    start, length = 2, 5
    blind.observations[start + 1 :] = 0
    with torch.no_grad():
        one, other = (
            dreams._imagine(model, each, *dreams._recall(model, each), start, length, 0) for each in (played, blind)
        )
    np.testing.assert_array_equal(one.imagined, other.imagined)
    assert (one.recalled != other.recalled).any() and (one.real != other.real).any()


def test_what_is_recalled_is_what_a_player_knew(trained: TrainedModel) -> None:
    """The states of an episode are those of a greedy player that did the same."""
    model = trained.model
    assert isinstance(model, DreamerModel)
    played = dreams._play(trained, None, 1)
    with torch.no_grad():
        states, _ = dreams._recall(model, played)
    playing = model.at_play(2)
    for step in range(4):
        seen = torch.from_numpy(np.repeat(played.observations[step : step + 1], 2, axis=0))
        playing.see(seen, torch.tensor([step == 0, True]))  # the second lane begins again and again
        assert torch.allclose(playing.state.deterministic[0], states[step].deterministic[0], atol=1e-6)
        assert step == 0 or not torch.allclose(playing.state.deterministic[0], playing.state.deterministic[1])
        playing.do(torch.from_numpy(np.repeat(played.actions[step : step + 1], 2)))


def test_a_player_begins_anew_with_every_episode(trained: TrainedModel) -> None:
    seen = dreams._play(trained, None, 1).observations[:3]

    def probabilities(began: list[bool]) -> np.ndarray:
        playing = Playing(trained.model, 1, "greedy", torch.Generator())
        for observation, begins in zip(seen, began, strict=True):
            playing.see(observation[None], np.array([begins]))
            playing.act()
        return playing.values()

    with torch.no_grad():
        torch.nn.init.normal_(trained.model.actor[-1].weight)  # type: ignore[attr-defined]
    fresh = Playing(trained.model, 1, "greedy", torch.Generator())
    fresh.see(seen[2:3], np.array([True]))
    np.testing.assert_array_equal(probabilities([True, False, True]), fresh.values())
    assert (probabilities([True, False, False]) != fresh.values()).any()


def test_tiles_are_drawn_in_their_colours() -> None:
    seen = np.zeros(tiles.SIZE, np.float32)
    assert np.allclose(as_picture(seen), SKY)
    seen[tiles.LAYOUT["mario"].start + 3 * tiles.COLUMNS + 4] = 1
    seen[tiles.LAYOUT["enemies"].start + 5] = 0.5
    drawn = as_picture(seen)
    assert np.allclose(drawn[3, 4], COLOURS["mario"])
    assert np.allclose(drawn[0, 5], (np.array(COLOURS["enemies"]) + SKY) / 2)


def mario_rl(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ending:
        cli.main(list(arguments))
    assert isinstance(ending.value.code, int)
    return ending.value.code


def test_the_command_draws_them(tmp_path: Path, smb_rom: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = make_run(tmp_path, model="dreamer", stuck_steps=20)
    assert mario_rl("plot", str(run.path), "--dreams") == 0
    assert capfd.readouterr().out.strip() == str(run.plots / "dreams.png")
    with Image.open(run.plots / "dreams.png") as picture:
        assert picture.width > 500
    assert mario_rl("plot", str(run.path), "--dreams", "-o", str(tmp_path / "mine.png")) == 0
    assert (tmp_path / "mine.png").exists()


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("ddqn", ["--dreams"], "only a dreamer has dreams; this run's model is ddqn"),
        ("dreamer", ["--level", "1-2"], "--level and --weights are for --dreams"),
        ("dreamer", ["--dreams", "--level", "9-9"], "9-9"),
        ("dreamer", ["--dreams", "-o", "dream.jpg"], "its name ends in .png"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(
    model: str, options: list[str], words: str, tmp_path: Path, smb_rom: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path, model=model)
    assert mario_rl("plot", str(run.path), *options) == 2
    shown = capfd.readouterr()
    assert words in shown.err and shown.err.count("\n") == 1 and not run.plots.exists()
