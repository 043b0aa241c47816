"""Title, options and the way into play: the script of docs/drmario.md, frame by frame."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .session import (
    ACTION,
    ATTRACT,
    DOWN,
    INIT,
    LEFT,
    LEVEL,
    LOAD,
    MUSIC,
    OPTION_ROW,
    OPTIONS,
    PLAY,
    PLAYERS,
    RESERVE,
    RIGHT,
    SCORE,
    SEATS,
    SELECT,
    SPEED,
    START,
    TITLE,
    TO_PLACE,
    TOP_SCORE,
    UP,
    VIRUSES,
    VIRUSES_APPEAR,
    VS_CPU,
    A,
    B,
    Session,
    load,
    options,
    play,
)


def first_seen(session: Session, script: dict[int, int], frames: int) -> dict[int, int]:
    """The frame in which each mode is first seen, if the script's pads are pressed in their frames."""
    seen: dict[int, int] = {}
    while session.frame < frames:
        session.step(script.get(session.frame + 1, 0))
        seen.setdefault(session.mode, session.frame)
    return seen


@pytest.mark.parametrize(
    ("script", "expected", "first_capsule"),
    [
        ({11: START, 15: START}, {OPTIONS: 11, LOAD: 15, INIT: 18, VIRUSES_APPEAR: 19, PLAY: 153}, 176),
        ({11: SELECT, 13: START, 17: START}, {OPTIONS: 13, LOAD: 17, INIT: 20, VIRUSES_APPEAR: 21, PLAY: 155}, 157),
    ],
    ids=["one player", "two players"],
)
def test_the_minimal_script(script: dict[int, int], expected: dict[int, int], first_capsule: int) -> None:
    session = Session()
    seen = first_seen(session, script, first_capsule - 1)
    assert seen == {TITLE: 1, **expected}
    assert session.ram[ACTION] == 3
    session.step()
    assert session.ram[ACTION] == 0
    assert session.ram[PLAYERS] == len(script) - 1


def test_start_does_not_count_before_frame_11() -> None:
    assert OPTIONS not in first_seen(Session(), {10: START}, 30)


@pytest.mark.parametrize(("k", "state"), [(3, 0x44C4), (4, 0x2262), (50, 0xA9F0)])
def test_the_generator_runs_with_the_time_spent_in_the_options(k: int, state: int) -> None:
    session = Session()
    first_seen(session, {11: START, 11 + k: START}, 11 + k)
    assert session.mode == LOAD
    assert session.random == state


def test_start_does_not_count_in_the_first_frames_of_the_options() -> None:
    assert LOAD not in first_seen(Session(), {11: START, 13: START}, 40)


def test_the_reserve_of_the_seed() -> None:
    session = load()
    session.until_mode(INIT)
    session.random = 0x8988
    session.step()
    assert "".join(map(str, session.ram[RESERVE : RESERVE + 32])) == "35830107203007331677636331663583"


@pytest.mark.parametrize(("level", "frames"), [(0, 134), (1, 138), (5, 154)])
def test_how_long_the_viruses_take(level: int, frames: int) -> None:
    session = load(level=level)
    session.until_mode(VIRUSES_APPEAR)
    assert session.ram[TO_PLACE] == 4 * (level + 1)
    assert session.until_mode(PLAY) == frames
    count = 4 * (level + 1)
    assert session.ram[VIRUSES] == count // 10 * 16 + count % 10
    assert ((session.field() & 0xF0) == 0xD0).sum() == count


def test_select_and_the_arrows_choose_on_the_title() -> None:
    session = Session()
    session.step(frames=20)

    def tap(pad: int) -> tuple[int, int]:
        session.step(pad)
        session.step()
        return int(session.ram[PLAYERS]), int(session.ram[VS_CPU])

    assert [tap(SELECT) for _ in range(3)] == [(2, 0), (2, 1), (1, 0)]
    assert [tap(DOWN) for _ in range(3)] == [(2, 0), (2, 1), (2, 1)]
    assert [tap(UP) for _ in range(3)] == [(2, 0), (1, 0), (1, 0)]
    assert tap(DOWN | LEFT) == (1, 0), "the arrows count only alone"


def test_levels_move_at_once_then_every_seventh_frame() -> None:
    session = options(players=2)
    levels = []
    for _ in range(22):
        session.step(RIGHT, RIGHT)
        levels.append(int(session.ram[LEVEL]))
    assert levels == [1] * 7 + [2] * 7 + [3] * 7 + [4]
    session.step(RIGHT, RIGHT, frames=200)
    assert session.ram[LEVEL] == 20
    assert session.ram[LEVEL + SEATS[1]] == 20
    session.step()
    session.step(0, LEFT)
    assert (session.ram[LEVEL], session.ram[LEVEL + SEATS[1]]) == (20, 19)


def test_rows_speeds_and_music() -> None:
    session = options(players=2)

    def tap(pad: int, pad_2: int = 0) -> None:
        session.step(pad, pad_2)
        session.step()

    tap(DOWN)
    assert session.ram[OPTION_ROW] == 1
    tap(RIGHT, LEFT)
    tap(RIGHT, LEFT)
    assert (session.ram[SPEED], session.ram[SPEED + SEATS[1]]) == (2, 0)
    tap(0, DOWN)
    assert session.ram[OPTION_ROW] == 1, "pad 2 does not choose the row"
    tap(DOWN)
    tap(DOWN)
    assert session.ram[OPTION_ROW] == 2
    tap(RIGHT)
    tap(RIGHT)
    tap(RIGHT)
    assert session.ram[MUSIC] == 2
    tap(UP)
    tap(UP)
    tap(UP)
    assert session.ram[OPTION_ROW] == 0
    tap(B)
    assert session.mode == TITLE


def test_against_the_cartridge_pad_1_chooses_for_both() -> None:
    session = options(players=2, vs_cpu=True)
    session.step(RIGHT)
    session.step()
    session.step(0, RIGHT)
    assert (session.ram[LEVEL], session.ram[LEVEL + SEATS[1]]) == (1, 2)
    session.step(DOWN)
    session.step(LEFT)
    assert (session.ram[SPEED], session.ram[SPEED + SEATS[1]]) == (0, 0)


@pytest.mark.parametrize("begin", [options, load, play])
def test_four_buttons_lead_back_to_the_title(begin: Callable[[], Session]) -> None:
    session = begin()
    session.step(A | B | SELECT | START)
    assert session.mode == TITLE
    session.step(frames=10)
    assert session.mode == TITLE


def test_the_way_back_to_the_title_takes_exactly_four_buttons_and_keeps_the_seed() -> None:
    session = play()
    session.random = 0x1234
    session.step(A | B | SELECT | START | UP)
    assert session.mode == PLAY
    session.step(A | B | SELECT | START)
    assert session.mode == TITLE
    assert session.random == 0x1234


def test_the_reset_button_keeps_the_high_score_and_power_does_not() -> None:
    session = Session()
    session.step(frames=20)
    assert session.ram[TOP_SCORE : TOP_SCORE + 6].tolist() == [0, 0, 0, 1, 0, 0]
    session.ram[TOP_SCORE : TOP_SCORE + 6] = [1, 2, 3, 4, 5, 6]
    session.ram[SCORE] = 7
    session.random = 0x1234
    session.emulator.reset()
    session.step(frames=20)
    assert session.mode == TITLE
    assert session.random == 0x8988
    assert session.ram[TOP_SCORE : TOP_SCORE + 6].tolist() == [1, 2, 3, 4, 5, 6]
    assert session.ram[SCORE] == 0
    session.emulator.power()
    session.step(frames=20)
    assert session.ram[TOP_SCORE : TOP_SCORE + 6].tolist() == [0, 0, 0, 1, 0, 0]


def test_the_attract_mode_begins_after_eight_wraps_and_start_leaves_it() -> None:
    session = Session()
    session.step(frames=2051)
    assert (session.mode, session.ram[ATTRACT]) == (TITLE, 0)
    session.step()
    assert (session.mode, session.ram[ATTRACT]) == (OPTIONS, 0xFE)
    session.until_mode(PLAY)
    assert (session.ram[PLAYERS], session.ram[LEVEL], session.ram[SPEED]) == (1, 10, 1)
    session.step(START)
    assert (session.mode, session.ram[ATTRACT]) == (TITLE, 0)
    assert (session.ram[LEVEL], session.ram[SPEED]) == (0, 1), "the menu's choices are back"
