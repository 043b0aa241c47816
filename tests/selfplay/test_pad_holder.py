"""Players of either kind with a pad in their hands: in rounds for people to look at, as in matches."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from mario_rl import cli_drmario
from mario_rl.environment.drmario.bots import BotPlayer
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.roms import antidote
from mario_rl.runs import bot_round
from mario_rl.runs.bot_panel import lines, pad_names
from mario_rl.runs.bot_round import BotRounds, Contest, Seat
from mario_rl.selfplay.match import Conditions, play_match
from mario_rl.selfplay.pad_holder import ButtonHolder, give_pad
from mario_rl.selfplay.players import Player, make_player
from tests.emulators.mednafen_here import mednafen_or_skip


class LeftOrDown:
    """Goes to the left wall, turning on the way, and drops."""

    name = "left or down"
    frame_skip = 3

    def hold(self, game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
        on_the_way = np.where(game.frame_count % 2, 0x82, 0x02)
        return np.where(game.x[:, seat] > 0, on_the_way, 0x04).astype(np.uint8)


@pytest.fixture
def presser(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a player called presser."""

    def make(name: str, seed: int = 0, *place: object) -> Player:
        return LeftOrDown() if name == "presser" else make_player(name, seed)

    monkeypatch.setattr(bot_round, "make_player", make)
    monkeypatch.setattr(bot_round, "AFTER_A_ROUND_FRAMES", 1)


def test_either_kind_gets_a_pad() -> None:
    assert isinstance(give_pad(make_player("greedy"), 1), BotPlayer)
    holder = give_pad(LeftOrDown(), 1)
    assert isinstance(holder, ButtonHolder)
    assert (holder.seat, holder.placement, holder.ratings) == (1, None, [])
    assert holder.pads(np.zeros(2048, np.uint8)) == 0, "no round, no button"


@pytest.mark.usefixtures("presser")
@pytest.mark.parametrize("backend", ["rules", "embedded"])
def test_a_round_for_people_is_that_of_a_match(backend: str) -> None:
    record = play_match(LeftOrDown(), make_player("greedy"), 1, Conditions(level=4))[0]
    contest = Contest("presser", "greedy", 4, backend=backend, rom=antidote())
    with contextlib.closing(BotRounds(contest)) as rounds:
        moments = list(rounds.play(0))
    agent, other = moments[-1].seats
    assert agent.topped_out
    assert record.ending == "top_out"
    assert (agent.viruses, other.viruses) == (record.viruses, record.opponent_viruses)
    held = {moment.seats[0].pad for moment in moments}
    assert held == {0, 0x82, 0x02, 0x04}
    assert all(moment.seats[0].placement is None and not moment.seats[0].ratings for moment in moments)
    assert any(moment.seats[1].placement is not None for moment in moments)


@pytest.mark.usefixtures("presser")
def test_the_panel_shows_its_buttons_instead_of_ratings() -> None:
    contest = Contest("presser", level=0)
    with contextlib.closing(BotRounds(contest)) as rounds:
        moment = next(moment for moment in rounds.play(0) if moment.seats[0].pad == 0x82)
    shown = lines(contest, moment, 1, 0)
    assert shown[0] == "left or down"
    assert shown[shown.index("presses buttons:") + 1] == " A left"
    nothing = replace(moment, seats=(replace(moment.seats[0], pad=0, name="x" * 40),))
    shown = lines(contest, nothing, 1, 0)
    assert " none" in shown
    assert max(map(len, shown)) <= 24


def test_buttons_in_words() -> None:
    assert pad_names(0xFF) == ["A", "B", "select", "start", "up", "down", "left", "right"]
    assert [pad_names(bit) for bit in (0x80, 0x40, 0x08, 0x01)] == [["A"], ["B"], ["up"], ["right"]]


def test_a_video_nobody_named_is_called_after_its_players() -> None:
    contest = Contest("runs/x/mine.pt", "champion", 3)
    assert cli_drmario.default_files(contest) == [Path("drmario_mine_champion_level3.mp4")]


def test_two_players_live_in_mednafen() -> None:
    """Picture by picture, as `mario-rl watch` shows them: what they do is what they do on the rules engine."""
    mednafen_or_skip()
    seen: list[list[tuple[Seat, ...]]] = []
    for backend in ("rules", "mednafen"):
        contest = Contest("greedy", "search", 2, backend=backend, rom=antidote())
        with contextlib.closing(BotRounds(contest)) as rounds:
            moments = list(islice(rounds.play(3), 300))
        assert all(moment.picture is not None and moment.picture.any() for moment in moments[1:])
        seen.append([moment.seats for moment in moments])
    assert seen[0] == seen[1]
    assert seen[0][-1][0].capsules > 2
