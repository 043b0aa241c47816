"""Pause, and how rounds, games and matches end on the cartridge. Timings: docs/drmario.md."""

from __future__ import annotations

import numpy as np
import pytest

from .session import (
    ACTION,
    DOWN,
    EMPTY,
    END,
    FAILED,
    FRAME_COUNTER,
    INIT,
    LEVEL,
    OPTIONS,
    PAUSED,
    PHASE,
    PLAY,
    SCORE,
    SEATS,
    START,
    TOP_SCORE,
    TOPPED_OUT,
    VIRUSES,
    VIRUSES_APPEAR,
    WINNER,
    WINS,
    Session,
    no_room,
    one_virus_from_clear,
    play,
)

ROUND_BYTES = np.r_[0x300:0x330, 0x380:0x3B0, 0x400:0x600]


def start_counts_from(session: Session, mode: int, phase: int) -> int:
    """The first frame (from now) in which a fresh START leads to that mode and phase."""
    state = session.emulator.save()
    for frame in range(1, 400):
        session.step(START)
        if (session.mode, session.ram[PHASE]) == (mode, phase):
            return frame
        session.emulator.load(state)
        session.step()
        state = session.emulator.save()
    raise AssertionError("START never counts")


def test_start_pauses_everything_but_the_frame_counter() -> None:
    session = play(players=2)
    session.step(0, START)
    assert session.ram[PAUSED] == 0, "pad 2 cannot pause"
    session.step()
    session.step(START)
    assert session.ram[PAUSED] == 5
    frozen, counter = session.ram[ROUND_BYTES].copy(), int(session.ram[FRAME_COUNTER])
    session.step(DOWN, DOWN, frames=100)
    assert np.array_equal(session.ram[ROUND_BYTES], frozen)
    assert session.ram[FRAME_COUNTER] == (counter + 100) % 256
    session.step(START)
    assert session.ram[PAUSED] == 0
    assert np.array_equal(session.ram[ROUND_BYTES], frozen)
    session.step(frames=30)
    assert not np.array_equal(session.ram[ROUND_BYTES], frozen)


def test_a_pause_hides_the_bottle() -> None:
    session = play()
    session.emulator.step(render=True)
    playing = session.emulator.frame().copy()
    session.step(START)
    session.step()
    session.emulator.step(render=True)
    pause = session.emulator.frame()
    assert (pause == pause[0, 0]).all(axis=2).mean() > 0.9
    assert len(np.unique(pause.reshape(-1, 3), axis=0)) > 1, "a word is to be seen"
    session.step(START)
    session.step()
    session.emulator.step(render=True)
    assert (session.emulator.frame() == playing).all(axis=2).mean() > 0.9


def last_virus(session: Session, seat: int = 0) -> None:
    """Up to the frame in which the last virus goes."""
    one_virus_from_clear(session, seat)
    session.until(lambda: session.ram[VIRUSES + SEATS[seat]] == 0)


@pytest.mark.parametrize("players", [1, 2])
def test_a_cleared_stage_waits_for_start(players: int) -> None:
    session = play(players)
    last_virus(session)
    assert session.ram[PHASE] == 1
    assert session.ram[WINS] == 1
    state = session.emulator.save()
    session.until(lambda: session.ram[PHASE] == 4)
    assert session.ram[WINNER] == 1
    letters = session.field()[6, 1:6]
    assert letters.tolist() == [0x0A + ord(letter) - ord("A") for letter in "STAGE"]
    session.emulator.load(state)
    assert session.until_mode(INIT, pad=START) == 113
    assert session.ram[LEVEL] == (1 if players == 1 else 0)
    assert session.until_mode(VIRUSES_APPEAR) == 1
    assert (session.field() == EMPTY).all()


def test_start_counts_97_frames_after_the_last_virus() -> None:
    session = play(players=2)
    last_virus(session, seat=1)
    assert start_counts_from(session, PLAY, phase=5) == 97
    assert session.ram[WINNER] == 2


@pytest.mark.parametrize(("level", "speed", "interlude"), [(5, 1, True), (5, 0, False), (20, 0, True), (6, 2, False)])
def test_some_levels_are_followed_by_an_interlude(level: int, speed: int, interlude: bool) -> None:
    session = play(level=level, speed=speed)
    last_virus(session)
    session.until(lambda: session.mode == INIT or session.ram[PHASE] == 6, pad=START)
    assert session.ram[LEVEL] == level + 1
    assert (session.ram[PHASE] == 6) == interlude
    if interlude:
        session.step(frames=60)
        assert session.mode == PLAY
        session.step(START)
        assert session.mode == INIT


def test_both_clear_in_one_frame_is_a_draw_with_a_win_for_each() -> None:
    session = play(players=2)
    one_virus_from_clear(session, 0)
    one_virus_from_clear(session, 1)
    session.until(lambda: session.ram[PHASE] == 4)
    assert session.ram[WINNER] == 0
    assert (session.ram[WINS], session.ram[WINS + SEATS[1]]) == (1, 1)
    for seat in (0, 1):
        letters = session.field(seat)[7, 2:6]
        assert letters.tolist() == [0x0A + ord(letter) - ord("A") for letter in "DRAW"]


@pytest.mark.parametrize("loser", [0, 1])
def test_a_full_bottle_loses_the_round(loser: int) -> None:
    session = play(players=2)
    no_room(session, loser)
    session.until_mode(TOPPED_OUT)
    session.step()
    assert session.mode == END
    assert session.ram[FAILED] == loser + 1
    assert session.ram[WINS + SEATS[1 - loser]] == 1
    assert session.ram[WINS + SEATS[loser]] == 0
    assert start_counts_from(session, END, phase=1) == 82
    assert session.until_mode(INIT) == 17


def test_two_full_bottles_are_a_draw() -> None:
    session = play(players=2)
    no_room(session, 0)
    no_room(session, 1)
    session.until_mode(END)
    assert session.ram[FAILED] == 0
    assert (session.ram[WINS], session.ram[WINS + SEATS[1]]) == (0, 0)


@pytest.mark.parametrize("winner", [0, 1])
def test_three_wins_end_the_match(winner: int) -> None:
    session = play(players=2)
    session.ram[WINS + SEATS[winner]] = 2
    one_virus_from_clear(session, winner)
    session.until_mode(END)
    session.step()
    assert session.ram[WINNER] == winner + 1
    assert start_counts_from(session, OPTIONS, phase=0) == 193 - 1
    session.step(frames=3)
    assert (session.ram[WINS], session.ram[WINS + SEATS[1]]) == (0, 0)


def test_a_game_alone_ends_with_its_score_kept() -> None:
    session = play()
    session.ram[SCORE : SCORE + 6] = [5, 4, 3, 2, 0, 0]
    no_room(session)
    session.until_mode(END)
    session.step()
    assert (session.ram[FAILED], session.ram[WINNER]) == (1, 2)
    assert session.ram[TOP_SCORE : TOP_SCORE + 6].tolist() == [5, 4, 3, 2, 0, 0]
    assert start_counts_from(session, OPTIONS, phase=0) == 194 - 1
    session.step(frames=3)
    session.step(START)
    session.until_mode(PLAY)
    assert not session.ram[SCORE : SCORE + 6].any(), "a new game begins at 0"


def test_a_lower_score_does_not_replace_the_high_score() -> None:
    session = play()
    session.ram[SCORE : SCORE + 6] = [9, 9, 9, 0, 0, 0]
    no_room(session)
    session.until_mode(END)
    assert session.ram[TOP_SCORE : TOP_SCORE + 6].tolist() == [0, 0, 0, 1, 0, 0]


def test_viruses_score_more_within_one_capsule() -> None:
    session = play(speed=2)
    field = session.field()
    field[:] = EMPTY
    field[15, :4] = 0xD0  # four viruses in one line: (1 + 2 + 4 + 8) x 300
    session.ram[VIRUSES] = 0x12
    session.ram[ACTION], session.ram[0x307], session.ram[0x300], session.ram[0x32D] = 1, 4, 0xFF, 0
    session.until(lambda: session.ram[VIRUSES] == 0x08, limit=5)
    assert session.ram[SCORE : SCORE + 6].tolist() == [0, 5, 4, 0, 0, 0]
