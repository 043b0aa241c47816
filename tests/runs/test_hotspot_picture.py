"""Deaths over the level: every death is drawn where it was, over the right piece of the right picture."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from mario_rl import cli
from mario_rl.config import TrainingConfig
from mario_rl.runs import hotspot_picture
from mario_rl.runs.deaths import Deaths
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.hotspot_picture import LINE, draw_deaths, plot_deaths, strips_of
from mario_rl.runs.level_picture import Picture
from mario_rl.runs.periods import Period
from mario_rl.snapshots.routes import RouteError, packaged_route

EARLY = Period("Early (first quarter)", -np.inf, 25, " in 30 episodes")
LATE = Period("Late (last quarter)", 75, np.inf, " in 20 episodes")

Death = tuple[float, int, int]  # time, area, x
some_deaths = st.lists(
    st.tuples(st.floats(0, 100), st.sampled_from([1, 2, 3]), st.integers(-200, 6000)), min_size=1, max_size=60
)


def deaths_of(rows: list[Death]) -> Deaths:
    time, area, x = zip(*rows, strict=True)
    return Deaths(np.array(time, float), np.array(["1-1"] * len(rows)), np.array(area), np.array(x))


def noise(width: int, unseen: int = 0) -> Picture:
    picture = np.random.default_rng(width).integers(1, 256, (208, width, 3), np.uint8)
    picture[:, :unseen] = 0
    return picture


def panels(figure: Figure) -> list[tuple[Axes, Axes]]:
    """Early and late of every strip."""
    return list(zip(figure.axes[::2], figure.axes[1::2], strict=True))


def bars(axis: Axes) -> dict[int, int]:
    return {int(bar.get_x()): int(bar.get_height()) for bar in axis.patches}  # type: ignore[attr-defined]


# --- strips -------------------------------------------------------------------------------------------------------


@given(some_deaths, st.dictionaries(st.integers(1, 4), st.integers(256, 7000)))
@settings(deadline=None)
def test_strips_hold_all_deaths_and_all_that_was_seen(rows: list[Death], widths: dict[int, int]) -> None:
    pictures = {area: np.full((208, width, 3), 9, np.uint8) for area, width in widths.items()}
    strips = strips_of("1-1", deaths_of(rows), pictures)
    areas = list(dict.fromkeys(strip.area for strip in strips))
    assert set(areas) == {area for _, area, _ in rows}
    assert areas[: len(set(areas) & set(widths))] == [area for area in widths if area in areas], "in the route's order"
    for area in areas:
        own = [strip for strip in strips if strip.area == area]
        assert all(0 < strip.right - strip.left <= LINE for strip in own)
        assert [strip.right for strip in own[:-1]] == [strip.left for strip in own[1:]]
        xs = [x for _, its, x in rows if its == area]
        assert own[0].left <= min(xs)
        assert own[-1].right > max(xs)
        if area in widths:
            assert own[0].left <= 0
            assert own[-1].right >= widths[area]
        assert [strip.caption is not None for strip in own] == [True] + [False] * (len(own) - 1)


def test_what_the_camera_never_saw_is_left_out() -> None:
    """The exit of 1-2 is the far end of another map."""
    (strip,) = strips_of("1-2", deaths_of([(1, 7, 3000)]), {7: noise(3292, unseen=2816)})
    assert (strip.left, strip.right, strip.caption) == (2816, 3292, "1-2")


def test_areas_are_named_where_there_are_several() -> None:
    strips = strips_of("1-2", deaths_of([(1, 0xA690, 3000), (1, 0xAC37, 9), (1, 5, 9)]), {0xAC37: noise(300)})
    assert [strip.caption for strip in strips] == [
        "1-2, area ac37",
        "1-2, area 0005 (not on the known route: no picture)",
        "1-2, area a690 (not on the known route: no picture)",
    ]


# --- drawing ------------------------------------------------------------------------------------------------------


@given(some_deaths)
@settings(max_examples=10, deadline=None)
def test_every_death_is_drawn_in_its_period_and_place(rows: list[Death]) -> None:
    deaths = deaths_of(rows)
    figure = draw_deaths("run", "1-1", deaths, (EARLY, LATE), {})
    strips = strips_of("1-1", deaths, {})
    assert len(panels(figure)) == len(strips)
    for row, during in enumerate((lambda time: time <= 25, lambda time: time >= 75)):
        expected = Counter((area, x // 25 * 25) for time, area, x in rows if during(time))
        drawn = {
            (strip.area, edge): height
            for strip, axes in zip(strips, panels(figure), strict=True)
            for edge, height in bars(axes[row]).items()
        }
        assert drawn == expected
    tops = {axis.get_ylim()[1] for axis in figure.axes}
    assert len(tops) == 1, "all panels have one scale"


def test_the_picture_lies_under_the_bars_at_its_own_x() -> None:
    picture = noise(3000)
    figure = draw_deaths(
        "run", "1-1", deaths_of([(1, 7, -20), (1, 7, 1600), (99, 7, 2999)]), (EARLY, LATE), {7: picture}
    )
    pieces = []
    for both in panels(figure):
        for axis in both:
            (image,) = axis.images
            left, right, bottom, top = image.get_extent()
            assert (bottom, top) == axis.get_ylim()
            np.testing.assert_array_equal(image.get_array(), picture[:, int(left) : int(right)])
        pieces.append((left, right, *both[0].get_xlim()))
    assert pieces[0][0] == 0
    assert pieces[0][2] == -25, "a death before the picture begins has its place"
    assert pieces[-1][1] == 3000
    assert pieces[0][1] == pieces[1][0]


def test_it_says_how_many_deaths_and_episodes() -> None:
    deaths = deaths_of([(1, 7, 100)] * 3 + [(50, 7, 100)] * 4 + [(99, 7, 700)])
    texts = [text.get_text() for text in draw_deaths("mine", "1-1", deaths, (EARLY, LATE), {}, "there is no ROM").texts]
    assert texts[:4] == [
        "mine: where Mario died in 1-1",
        "Early (first quarter): 3 deaths in 30 episodes",
        "Late (last quarter): 1 death in 20 episodes",
        "Without the picture of the level: there is no ROM",
    ]


def test_the_worst_places_have_their_number() -> None:
    rows = [(1.0, 7, x) for x in [110] * 9 + [310] * 5 + [510] * 3 + [710]]
    early, late = draw_deaths("run", "1-1", deaths_of(rows), (EARLY, LATE), {}).axes
    assert {text.get_text(): text.get_position()[0] for text in early.texts} == {"9": 112.5, "5": 312.5, "3": 512.5}
    assert not late.texts


# --- of a run -----------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    run = RunDirectory.create(tmp_path / "checkpoints", "run", TrainingConfig(model="ppo"))
    run.coordinator_csv.write_text("time,steps,episodes,loss\n0,0,0,1\n100,4000,100,1\n")
    run.deaths_csv.write_text("time,level,area,x_pos\n1,1-1,42640,700\n2,1-1,42640,710\n99,1-1,42640,2400\n")
    return run


def test_a_picture_for_every_level(run: RunDirectory, smb_rom: Path) -> None:
    with run.deaths_csv.open("a") as file:
        file.write("50,1-2,44087,300\n")
    files = [run.plots / "deaths-1-1.png", run.plots / "deaths-1-2.png"]
    assert list(plot_deaths(run)) == [(file, None) for file in files]
    with Image.open(files[0]) as picture:
        assert picture.format == "PNG"
        pixels = np.asarray(picture.convert("RGB"))
    sky = np.array([0x7F, 0x97, 0xFF])
    assert (pixels == sky).all(axis=2).mean() > 0.3


@pytest.mark.parametrize("content", [None, b"no cartridge at all"])
def test_without_a_rom_there_are_bars_and_a_reason(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    rom = tmp_path / "smb.nes"
    if content is not None:
        rom.write_bytes(content)
    monkeypatch.setenv("MARIO_RL_SMB_ROM", str(rom))
    ((file, missing),) = plot_deaths(run)
    assert missing is not None
    assert "\n" not in missing
    assert content is not None or "smb.nes" in missing
    with Image.open(file) as picture:
        assert (np.asarray(picture.convert("RGB")) == [0x7F, 0x97, 0xFF]).all(axis=2).sum() == 0


def test_a_level_without_a_known_route(run: RunDirectory, smb_rom: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(level: str) -> None:
        raise RouteError(f"no {level}.json")

    packaged = packaged_route("1-1")
    monkeypatch.setattr(hotspot_picture, "packaged_route", unknown)
    ((_, missing),) = plot_deaths(run)
    assert missing == "no route through 1-1 is known: mario-rl explore --level 1-1 finds one"
    (run.path / "routes").mkdir()
    packaged.save(run.path / "routes" / "1-1.json")
    assert [missing for _, missing in plot_deaths(run)] == [None], "the run's own route serves"
    (run.path / "routes" / "1-1.json").write_text(json.dumps({"format": "another"}))
    ((_, missing),) = plot_deaths(run)
    assert missing is not None
    assert "1-1.json" in missing


def test_the_command_draws_curves_and_deaths(
    run: RunDirectory, smb_rom: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert mario_rl("plot", "run") == 0
    assert capfd.readouterr().out.splitlines() == [
        "checkpoints/run/plots/training.png",
        "checkpoints/run/plots/deaths-1-1.png",
    ]
    shutil.rmtree(run.plots)
    assert mario_rl("plot", "run", "-o", "curves.png") == 0
    assert capfd.readouterr().out == "curves.png\n"
    assert not run.plots.exists()
    monkeypatch.setenv("MARIO_RL_SMB_ROM", "nowhere.nes")
    assert mario_rl("plot", "run") == 0
    last = capfd.readouterr().out.splitlines()[-1]
    assert last.startswith("checkpoints/run/plots/deaths-1-1.png, without the picture of the level: nowhere.nes (from")


def mario_rl(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ending:
        cli.main(list(arguments))
    assert isinstance(ending.value.code, int)
    return ending.value.code
