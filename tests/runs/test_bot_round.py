"""Bots to look at: `mario-rl watch drmario` and `mario-rl record drmario`, from the round to the screen or the file."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from mario_rl import cli
from mario_rl.emulators.base import SCREEN_HEIGHT, SCREEN_WIDTH
from mario_rl.environment.drmario.bots import Rating, SearchBot, make_bot
from mario_rl.environment.drmario.memory import COLUMNS, ROWS
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.environment.drmario.seeds import random_state
from mario_rl.roms import antidote
from mario_rl.runs import bot_panel, bot_round, watch
from mario_rl.runs.bot_panel import WIDTH, lines, where, with_panel, worth
from mario_rl.runs.bot_round import OUTLINE, BotRounds, Contest, Moment, Picture, bottles
from mario_rl.runs.directory import RunError
from tests.mistakes import assert_one_clear_line

ON_THE_CARTRIDGE = Contest("greedy", level=0, backend="embedded", rom=antidote())


def mario_rl(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ending:
        cli.main(list(arguments))
    assert isinstance(ending.value.code, int)
    return ending.value.code


def first_decision(contest: Contest) -> Moment:
    with contextlib.closing(BotRounds(contest)) as rounds:
        return next(moment for moment in rounds.play(1) if moment.seats[0].placement is not None)


# --- rounds -------------------------------------------------------------------------------------------------------


def test_a_round_is_the_same_drawn_or_not_on_the_engine_or_the_cartridge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_round, "AFTER_A_ROUND_FRAMES", 5)
    ends = []
    for contest, drawn in ((Contest("greedy", level=0), False), (ON_THE_CARTRIDGE, True)):
        with contextlib.closing(BotRounds(contest, drawn)) as rounds:
            moments = list(rounds.play(1))
        assert [moment.ended for moment in moments] == [False] * (len(moments) - 1) + [True]
        assert len(moments) == (moments[-1].frame if drawn else 1)
        assert all((moment.picture is not None) == drawn for moment in moments)
        ends.append((moments[-1].seats, moments[-1].frame))
    assert ends[0] == ends[1]
    seat = ends[0][0][0]
    assert seat.cleared
    assert seat.viruses == 0
    assert 4 <= seat.capsules < 60


def test_seeds_give_different_rounds_and_the_first_is_that_of_power_on() -> None:
    assert random_state(0) == 0x8988
    states = [random_state(seed) for seed in range(32767)]
    assert len({state // 2 for state in states}) == 32767, "bit 0 changes nothing"
    assert min(states) >= 2
    assert max(states) <= 0xFFFF


def test_who_won() -> None:
    moment = first_decision(Contest("greedy", "random", level=0))
    agent, other = moment.seats
    assert not moment.won
    assert replace(moment, seats=(replace(agent, cleared=True), other)).won
    assert replace(moment, seats=(agent, replace(other, topped_out=True))).won
    assert not replace(moment, seats=(replace(agent, topped_out=True), replace(other, topped_out=True))).won
    assert not replace(moment, seats=(agent, replace(other, cleared=True))).won


@pytest.mark.parametrize(
    "contest",
    [
        Contest("greedy", level=3),
        Contest("greedy", "greedy", level=3),
        ON_THE_CARTRIDGE,
        replace(ON_THE_CARTRIDGE, opponent="random"),
    ],
    ids=lambda contest: f"{contest.backend} {len(contest.names)}",
)
def test_the_outline_stands_where_the_capsule_comes_to_rest(contest: Contest) -> None:
    """The picture of the bottle changes, when the capsule locks, only inside the outline."""
    places = bottles(contest)
    assert places is not None
    for place, seat in zip(places, range(2), strict=False):
        with contextlib.closing(BotRounds(contest)) as rounds:
            before = goal = None
            for moment in rounds.play(5):
                now = moment.seats[seat]
                if now.placement is not None:
                    goal, before = now.placement, moment
                elif goal is not None:
                    break
            assert before is not None
            assert goal is not None
        outlined = _outline_of(before.picture, place)
        rotation, y, x = goal // 128, goal // 8 % 16, goal % 8
        cells = {(15 - y, x), (14 - y, x) if rotation % 2 else (15 - y, x + 1)}
        assert outlined == cells, "both halves of the capsule, and nothing else"


def _outline_of(picture: Picture | None, place: bot_round.Bottle) -> set[tuple[int, int]]:
    """The cells that have a piece of the outline all along one of their sides at least, and on two of them."""
    assert picture is not None
    found = set()
    for row in range(ROWS):
        for column in range(COLUMNS):
            top, left = place.top + row * place.cell, place.left + column * place.cell
            cell = (picture[top : top + place.cell, left : left + place.cell] == OUTLINE).all(axis=2)
            sides = [cell[0].all(), cell[-1].all(), cell[:, 0].all(), cell[:, -1].all()]
            if sum(sides) >= 3:
                found.add((row, column))
    return found


def test_another_cartridge_is_not_drawn_upon(tmp_path: Path) -> None:
    other = tmp_path / "other.nes"
    image = bytearray(antidote().read_bytes())
    image[-1] ^= 1  # a pixel
    other.write_bytes(image)
    assert bottles(Contest("search", backend="embedded", rom=other)) is None


def test_what_cannot_be_played_is_said_in_one_line(smb_rom: Path) -> None:
    with pytest.raises(RunError, match="unknown backend 'toaster'"):
        BotRounds(Contest("search", backend="toaster"))
    with pytest.raises(RunError, match="no player 'hal'"):
        BotRounds(Contest("hal"))
    rounds = BotRounds(Contest("search", backend="embedded", rom=smb_rom))
    with contextlib.closing(rounds), pytest.raises(RunError, match="ROM"):
        next(rounds.play(0))


# --- the panel ----------------------------------------------------------------------------------------------------


def test_the_panel_says_what_is_going_on() -> None:
    contest = Contest("search", "greedy", level=7, speed="hi")
    moment = first_decision(contest)
    shown = lines(contest, moment, 3, 2)
    text = "\n".join(shown)
    for words in ("search vs greedy", "rules level 7 hi", "round 3  won 2", "viruses 32", "capsules 1"):
        assert words in text
    assert re.search("next [YRB][YRB]", text)
    assert max(map(len, shown)) <= 24
    marked = [line for line in shown if line.startswith(">")]
    assert len(marked) == 1
    assert marked[0].endswith("best")
    assert "no ratings" in "\n".join(lines(contest, first_decision(Contest("random")), 1, 0))


def test_placements_in_words() -> None:
    colours = 1, 2  # red and blue
    words = [where(Rating(rotation * 128 + 4 * 8 + 2, 0.0), colours) for rotation in range(4)]
    assert [text.split() for text in words] == [["3,5", "R", "B"], ["3,5", "B/R"], ["3,5", "B", "R"], ["3,5", "R/B"]]
    assert {len(text) for text in words} == {13}


def test_values_in_words() -> None:
    shown = [worth(value, best).strip() for value, best in ((5, 5), (3.5, 5), (1e9, 1e9), (-1e9, 5), (-3, 1e9))]
    assert shown == ["best", "-1.5", "clears", "tops out", "-3.0"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cleared": True}, "cleared, 1 capsules"),
        ({"topped_out": True}, "topped out, 4 left"),
        ({}, ""),
    ],
)
def test_how_it_ended(changes: dict[str, bool], words: str) -> None:
    moment = first_decision(Contest("greedy", level=0))
    assert bot_panel.ending(replace(moment, seats=(replace(moment.seats[0], **changes),))) == words


def test_how_it_ended_for_two() -> None:
    moment = first_decision(Contest("greedy", "greedy", level=0))
    agent, other = moment.seats
    assert bot_panel.ending(replace(moment, seats=(agent, replace(other, topped_out=True)))) == "won"
    assert bot_panel.ending(replace(moment, seats=(agent, replace(other, cleared=True)))) == "lost"


def test_the_panel_as_a_picture() -> None:
    moment = first_decision(Contest("greedy"))
    assert moment.picture is not None
    shown = lines(Contest("greedy"), moment, 1, 0)
    picture = with_panel(moment.picture, shown)
    assert picture.shape == (SCREEN_HEIGHT, SCREEN_WIDTH + WIDTH, 3)
    assert np.array_equal(picture[:, :SCREEN_WIDTH], moment.picture)
    panel = picture[:, SCREEN_WIDTH:]
    assert (panel == bot_panel.INK).all(axis=2).sum() > 500
    assert (panel[:, -1] == bot_panel.PAPER).all(), "no letter touches the edge"


# --- the commands -------------------------------------------------------------------------------------------------


def test_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bot_round, "LONGEST_ROUND_FRAMES", 60)
    arguments = ["record", "drmario", "--agent", "greedy", "--level", "0", "--episodes", "1", "--seed", "3"]
    assert mario_rl(*arguments, "-o", "x.mp4", "-o", "x.gif", "--backend", "embedded") == 0
    assert capfd.readouterr().out.startswith("level 0: not over, 60 frames (seed 3)\nx.mp4 (")
    assert imageio_ffmpeg.count_frames_and_secs("x.mp4")[0] == 60
    assert next(imageio_ffmpeg.read_frames("x.mp4"))["size"] == (3 * (SCREEN_WIDTH + WIDTH), 3 * SCREEN_HEIGHT)
    with Image.open("x.gif") as gif:
        assert gif.size == (SCREEN_WIDTH + WIDTH, SCREEN_HEIGHT)
    assert mario_rl(*arguments) == 0
    assert Path("drmario_greedy_level0.mp4").is_file()


def test_the_best_of_several_rounds_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The engine plays the same rounds by itself and says which one needs the fewest capsules."""
    bot = make_bot("greedy")
    assert isinstance(bot, SearchBot)
    batch = RulesBatch(6)
    batch.reset([random_state(seed) for seed in range(10, 16)], 1)
    batch.skip_intro()
    capsules = batch.play(bot.weights, bot.plies)[:, 0]
    recorded: list[Picture] = []

    @contextlib.contextmanager
    def no_file(file: Path, width: int) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(add=recorded.append)
        file.touch()

    monkeypatch.setattr("mario_rl.runs.video_file.video_file", no_file)
    options = ["--agent", "greedy", "--level", "1", "--episodes", "6", "--seed", "10", "--backend", "embedded"]
    assert mario_rl("record", "drmario", *options, "-o", str(tmp_path / "x.mp4")) == 0
    found = re.match(r"level 1: cleared, (\d+) capsules, (\d+) frames \(seed (\d+)\)", capfd.readouterr().out)
    assert found
    assert [int(found[1]), int(found[3])] == [capsules.min(), 10 + capsules.argmin()]
    assert len(recorded) == int(found[2])


class FakeScreen:
    """Remembers what it was shown; somebody presses q after some frames."""

    def __init__(self, most: int):
        self.shown: list[tuple[tuple[int, ...], list[str]]] = []
        self._most = most

    def show(self, picture: Picture, panel: list[str]) -> None:
        self.shown.append((picture.shape, panel))

    def pressed_keys(self) -> str:
        return "q" if len(self.shown) == self._most else ""


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> FakeScreen:
    screen = FakeScreen(10**9)

    @contextlib.contextmanager
    def opened(display: str, title: str) -> Iterator[FakeScreen]:
        yield screen

    monkeypatch.setattr(watch, "open_screen", opened)
    return screen


def test_watch_shows_rounds_to_their_end(
    screen: FakeScreen, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bot_round, "AFTER_A_ROUND_FRAMES", 5)
    options = ["--agent", "greedy", "--level", "0", "--episodes", "2", "--fps", "0", "--backend", "embedded"]
    assert mario_rl("watch", "drmario", *options) == 0
    assert capfd.readouterr().out == "cleared: 2, rounds played to their end: 2\n"
    assert screen.shown[0][0] == (SCREEN_HEIGHT, SCREEN_WIDTH, 3)
    assert "round 2  won 1" in screen.shown[-1][1]
    assert any("cleared" in line for line in screen.shown[-1][1])


def test_q_ends_it(screen: FakeScreen, capfd: pytest.CaptureFixture[str]) -> None:
    screen._most = 20
    assert mario_rl("watch", "drmario", "--players", "2", "--fps", "0") == 0
    assert len(screen.shown) == 20
    assert "champion vs champion" in screen.shown[0][1]
    assert capfd.readouterr().out == "won: 0, rounds played to their end: 0\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["watch", "drmario", "--level", "21"], ["0 to 20", "'21'"]),
        (["record", "drmario", "--level", "1-1"], ["0 to 20", "'1-1'"]),
        (["record", "drmario", "--agent", "hal"], ["hal", "greedy"]),
        (["record", "drmario", "--sticky", "0.1"], ["--sticky", "players of its own"]),
        (["record", "drmario", "--opponent", "greedy", "--players", "1"], ["--players 1"]),
        (["record", "drmario", "--backend", "toaster"], ["unknown backend 'toaster'"]),
        (["record", "drmario", "--backend", "embedded", "--rom", "no.nes"], ["no.nes"]),
        (["record", "drmario", "-o", "x.avi"], [".mp4 or .gif"]),
        (["record", "drmario", "-o", "nowhere/x.mp4"], ["no such directory"]),
        (["watch", "my_run", "--agent", "search", "--speed", "hi"], ["--agent, --speed", "only for `drmario`"]),
    ],
    ids=lambda part: " ".join(part),
)
def test_mistakes(
    arguments: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert mario_rl(*arguments) == 2
    assert_one_clear_line(capfd, words, tmp_path)
