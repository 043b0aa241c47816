"""Watching: what stands on the screen, the keys, the pace, and a terminal that is given back as it was."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.emulators.base import RIGHT, A
from mario_rl.runs.directory import RunError
from mario_rl.runs.evaluate import Episode
from mario_rl.runs.panel import PANEL_WIDTH, Panel, bar, buttons
from mario_rl.runs.player import Moment, Player
from mario_rl.runs.terminal_screen import TerminalScreen, compose
from mario_rl.runs.watch import AFTER_AN_EPISODE_FRAMES, Pace, open_screen, watch
from tests.runs.players import Walker, make_run, trained

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
NOISE = np.random.default_rng(0).integers(0, 255, (240, 256, 3), np.uint8)


# --- the panel ----------------------------------------------------------------------------------------------------


def moment(values: list[float], action: int = 1, **info: object) -> Moment:
    facts = dict.fromkeys(("flag_get", "death", "stuck", "time_up", "warp"), False)
    facts |= {"level": "1-1", "x_pos": 1234, "x_pos_max": 2345, "time": 301, "episode_length": 77} | info
    ended = any(info.values())
    return Moment((), action, RIGHT | A, np.array(values, np.float32), facts, ended)


def test_the_panel_says_what_is_going_on() -> None:
    panel = Panel(["noop", "right"], "probability", "run · ppo")
    lines = panel.lines(moment([0.25, 0.75]), [Episode("1-1", True, 3161, 300), Episode("1-1", False, 9, 9)], 5)
    text = "\n".join(lines)
    for words in (
        "run · ppo",
        "level 1-1",
        "time 301",
        "x 1234",
        "best 2345",
        "episode 3 of 5",
        "step 77",
        "flags 1 of 2",
    ):
        assert words in text
    assert " ←  ↑  ↓ [→] B [A]" in lines
    noop, right = (next(line for line in lines if word in line[:7]) for word in ("noop", "right"))
    assert (noop[0], right[0]) == (" ", "▸"), "the chosen one is marked"
    assert noop.count("█") == 2
    assert right.count("█") == 7
    assert "0.750" in right


def test_q_values_are_shown_between_each_other() -> None:
    lines = Panel(["noop", "right"], "Q", "").lines(moment([-12.5, -12.4]), [], None)
    noop, right = (next(line for line in lines if word in line[:7]) for word in ("noop", "right"))
    assert noop.count("█") == 0
    assert right.count("█") == 10
    assert "-12.400" in right


@pytest.mark.parametrize(
    ("how", "words"),
    [("flag_get", "flag after 77 steps"), ("death", "died at x 1234"), ("time_up", "time up"), ("stuck", "stuck at")],
)
def test_the_panel_says_how_it_ended(how: str, words: str) -> None:
    lines = Panel(["noop"], "Q", "").lines(moment([0.0], 0, **{how: True}), [], 1)
    assert any(words in line for line in lines)


@given(
    st.lists(st.floats(-999, 999), min_size=12, max_size=12), st.integers(0, 11), st.sampled_from(["Q", "probability"])
)
def test_no_line_of_the_panel_is_too_wide(values: list[float], action: int, shows: str) -> None:
    names = ["right+A+B"] * 12
    assert all(len(line) <= PANEL_WIDTH for line in Panel(names, shows, "x" * 99).lines(moment(values, action), [], 9))


@given(st.floats(-1, 2))
def test_bars_are_as_long_as_their_share(share: float) -> None:
    drawn = bar(share)
    assert len(drawn) == 10
    eighths = sum(" ▏▎▍▌▋▊▉█".index(character) for character in drawn)
    assert abs(eighths - 80 * min(max(share, 0), 1)) <= 0.5


def test_nothing_pressed_has_no_brackets() -> None:
    assert "[" not in buttons(0)


# --- the terminal -------------------------------------------------------------------------------------------------


def pixels_of(row: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The colours (upper, lower) of each half block of a row, as a terminal would show them."""
    ink = paper = (0, 0, 0)
    cells = []
    for colours, character in re.findall(r"\x1b\[([0-9;]*)m|(.)", row):
        if character == "▀":
            cells.append((ink, paper))
        elif colours.startswith("38;2;"):
            ink = tuple(map(int, colours.split(";")[2:]))
        elif colours.startswith("48;2;"):
            paper = tuple(map(int, colours.split(";")[2:]))
    return cells


def test_half_blocks_are_averages_of_the_picture() -> None:
    """64 columns show 256 pixels, so that each half block is 4 x 4 of them."""
    rows = compose(NOISE, [], 64 + PANEL_WIDTH + 2, 26)
    means = NOISE[32:].reshape(52, 4, 64, 4, 3).astype(float).mean(axis=(1, 3))
    shown = np.array([pixels_of(row) for row in rows]).transpose(0, 2, 1, 3).reshape(52, 64, 3)
    np.testing.assert_allclose(shown, means, atol=1)


@settings(deadline=None, max_examples=60)
@given(columns=st.integers(1, 250), rows=st.integers(1, 80))
def test_it_fits_every_terminal(columns: int, rows: int) -> None:
    composed = compose(NOISE, ["p" * 99] * 99, columns, rows)
    assert len(composed) == rows
    texts = [ESCAPE.sub("", row) for row in composed]
    assert max(map(len, texts)) <= columns
    width = texts[0].count("▀")
    height = sum("▀" in text for text in texts)
    assert width >= 1
    assert height >= 1
    if columns >= 80 and rows >= 24:
        assert "ppp" in texts[0]
        assert width / (2 * height) == pytest.approx(256 / 208, rel=0.1), "pixels stay square"


def test_only_what_changes_is_written() -> None:
    output = io.StringIO()
    screen = TerminalScreen(output, os.terminal_size((80, 24)))
    screen.show(NOISE, ["x 1"])
    first = len(output.getvalue())
    screen.show(NOISE, ["x 1"])
    assert len(output.getvalue()) == first, "the same again costs nothing"
    screen.show(NOISE, ["x 2"])
    assert first < len(output.getvalue()) < first * 1.1
    assert "x 2" in output.getvalue()


# --- the show -----------------------------------------------------------------------------------------------------


class RememberingScreen:
    """Shows nothing; presses keys at given frames."""

    def __init__(self, keys: dict[int, str] | None = None):
        self.keys = keys or {}
        self.looks = 0
        self.shown: list[list[str]] = []

    def show(self, picture: np.ndarray, panel: list[str]) -> None:
        self.shown.append(panel)

    def pressed_keys(self) -> str:
        self.looks += 1
        return self.keys.get(self.looks, "")


@pytest.fixture
def walker(smb_rom: Path) -> Iterator[Player]:
    with closing(Player(trained(Walker()))) as player:
        yield player


def test_all_frames_of_all_episodes_are_shown(walker: Player) -> None:
    frames = sum(len(moment.frames) for seed in (0, 1) for moment in walker.play(seed))
    screen = RememberingScreen()
    played = watch(walker, screen, Pace(0), 0, 2)
    assert len(played) == 2
    assert not any(episode.flag for episode in played)
    assert len(screen.shown) == frames + 2 * AFTER_AN_EPISODE_FRAMES


def test_q_ends_the_show(walker: Player) -> None:
    screen = RememberingScreen({10: "q"})
    assert watch(walker, screen, Pace(0), 0, None) == []
    assert len(screen.shown) == 9


def test_space_pauses_until_space(walker: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    naps: list[float] = []
    monkeypatch.setattr("time.sleep", naps.append)
    screen = RememberingScreen({5: " ", 9: " ", 12: "q"})
    watch(walker, screen, Pace(0), 0, 1)
    assert len(screen.shown) == 12 - 5, "nothing is shown from look 5 to 8, and q comes before frame 8"
    assert len(naps) == 4


class Clock:
    """A time that passes only when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 100.0

    def time(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds


def test_the_pace_is_kept_by_leaving_frames_out() -> None:
    """Drawing takes 2.5 frames' time: of 1000 frames 400 can be drawn, and the game keeps its speed."""
    clock = Clock()
    pace = Pace(50, clock.time, clock.pass_by)
    drawn = 0
    for _ in range(1000):
        if pace.wait():
            clock.pass_by(2.5 / 50)
            drawn += 1
    assert clock.now - 100 == pytest.approx(1000 / 50, rel=0.01)
    assert 350 <= drawn <= 450


def test_the_pace_waits_and_forgets_pauses() -> None:
    clock = Clock()
    pace = Pace(50, clock.time, clock.pass_by)
    assert all(pace.wait() for _ in range(50))
    assert clock.now == pytest.approx(101)
    clock.pass_by(30)
    pace.restart()
    assert pace.wait()
    assert clock.now == pytest.approx(131.02)


def test_a_display_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("DISPLAY", ":no-such-display")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(RunError, match="no window"), open_screen("window", "title"):
        pass
    with pytest.raises(RunError, match="needs a screen or a terminal; `mario-rl record`"), open_screen("auto", "title"):
        pass
    assert "showing it in the terminal" in capfd.readouterr().err


# --- the command in a real terminal -------------------------------------------------------------------------------


def read_until(terminal: int, words: bytes, seconds: float = 60) -> bytes:
    """What the terminal shows until `words` come."""
    seen = b""
    end = time.monotonic() + seconds
    while words not in seen:
        left = end - time.monotonic()
        assert left > 0 and select.select([terminal], [], [], left)[0], f"not in time, after {seen[-200:]!r}"
        seen += os.read(terminal, 65536)
    return seen


@pytest.mark.parametrize(("how", "code"), [("q", 0), ("ctrl-c", 130), ("terminate", 130)])
def test_the_terminal_is_given_back(how: str, code: int, smb_rom: Path, tmp_path: Path) -> None:
    run = make_run(tmp_path)
    terminal, screen = pty.openpty()
    termios.tcsetwinsize(screen, (24, 80))
    before = termios.tcgetattr(screen)
    command = [sys.executable, "-m", "mario_rl", "watch", str(run.path), "--display", "terminal"]
    process = subprocess.Popen(command, stdin=screen, stdout=screen, stderr=screen, start_new_session=True)
    try:
        assert b"\x1b[?1049h" in read_until(terminal, b"q quits")
        read_until(terminal, "▀".encode())
        assert termios.tcgetattr(screen) != before
        if how == "q":
            os.write(terminal, b"q")
        else:
            process.send_signal(signal.SIGINT if how == "ctrl-c" else signal.SIGTERM)
        ending = read_until(terminal, b"\x1b[?1049l")
        assert b"\x1b[?25h" in ending, "the cursor is back"
        assert process.wait(30) == code
        assert termios.tcgetattr(screen) == before
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(screen)
