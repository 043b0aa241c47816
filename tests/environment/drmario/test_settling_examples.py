"""Worked examples of Dr. Mario's rules with the numbers of docs/drmario.md: after the lock, attacks, the end."""

from __future__ import annotations

import pytest

from mario_rl.emulators.base import LEFT, START
from mario_rl.environment.drmario.rules import HIGH, LOW, MEDIUM
from tests.environment.drmario.example_game import (
    ACTION,
    ATTACK,
    CAPSULES,
    COMBO,
    DAS,
    FAILED,
    FALLING,
    GRAVITY,
    LEVEL,
    REDRAW,
    SETTLING,
    SPEED_UPS,
    STEP,
    VIRUSES,
    WINS,
    Game,
    X,
    Y,
    picture,
)

# --- settling ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("players", "speed", "row", "frames"),
    [(2, MEDIUM, 15, 26), (2, MEDIUM, 3, 14), (2, MEDIUM, 0, 14), (1, MEDIUM, 15, 47), (1, HIGH, 15, 47)],
)
def test_frames_from_the_lock_to_the_next_capsule(players, speed, row, frames):
    game = Game(speed=speed, players=players).begin()
    game[X], game[Y], game[GRAVITY] = 0, 15 - row, 60
    if row < 15:
        game.ram[0x400 + 8 * (row + 1)] = 0xD0
    game.step()
    assert game[ACTION] == SETTLING
    # The first controllable frame comes after the one in which the action is 0 again.
    assert game.frames_until(lambda: game[ACTION] == FALLING) + 1 == frames


@pytest.mark.parametrize("frame_count", [0x10, 0x11])
def test_on_low_the_throw_advances_in_odd_frames_only(frame_count):
    game = Game(speed=LOW).begin()
    game.ram[0x43] = frame_count
    game[Y], game[GRAVITY] = 0, 60
    game.step()
    spawn = game.frames_until(lambda: game[ACTION] == 3)
    assert spawn in (16 + 50, 16 + 51) and game.ram[0x43] & 1
    assert spawn == 16 + (51 if frame_count == 0x11 else 50)


def test_a_match_pops_16_frames_before_the_pieces_above_fall():
    game = (
        Game(players=2)
        .begin()
        .draw("""
        .. .. .. o1 .. .. .. ..
        .. .. .. o0 .. .. .. ..
        .. .. .. v0 .. .. .. ..
        .. .. .. v0 .. .. .. ..
        .. .. .. v0 .. .. .. ..""")
    )
    game[ACTION], game[STEP], game[REDRAW] = SETTLING, 4, 0xFF
    game.step(frames=3)
    assert game.drawn(2) == picture(".. .. .. #0 .. .. .. ..\n.. .. .. #0 .. .. .. ..")
    assert f"{game[VIRUSES]:x}" == "1" and game[COMBO] == 1 and game[0x0E] == 3 and game[0x15] == 12
    game.step()
    assert game.drawn(5)[1:] == picture("\n".join([".. .. .. *0 .. .. .. .."] * 4))
    assert game[STEP] == 1 and game[REDRAW] == 15
    assert game.frames_until(lambda: game.drawn(5)[1] == picture(".. .. .. o1 .. .. .. ..")[0]) == 16
    assert game.frames_until(lambda: game.drawn(5)[2] == picture(".. .. .. o1 .. .. .. ..")[0]) == 16


def test_crossing_lines_both_count_and_partners_become_singles():
    game = (
        Game(players=2)
        .begin()
        .draw("""
        .. .. .. .. o1 .. .. ..
        .. .. .. .. o1 .. .. ..
        .. .. .. .. o1 .. .. ..
        .. o1 o1 <1 >1 o1 <2 >0
        .. <1 >0 ^2 o0 v2 v0 v2
        v0 v2 v0 _1 v0 .. .. ..""")
    )
    game[ACTION], game[STEP], game[REDRAW] = SETTLING, 4, 0xFF
    game.step(frames=4)
    assert game.drawn(6)[2:5] == picture("""
        .. .. .. .. *1 .. .. ..
        .. *1 *1 *1 *1 *1 <2 >0
        .. <1 >0 ^2 o0 v2 v0 v2""")
    assert game[COMBO] == 2 and game[0x21] == 5 + 4, "the crossing cell counts in both"
    assert game.ram[0x329:0x32B].tolist() == [1, 1]


def test_a_half_whose_partner_popped_falls_alone():
    game = (
        Game(players=2)
        .begin()
        .draw("""
        .. .. .. .. .. .. .. ..
        v1 v1 v1 <1 >0 .. .. ..
        v0 v2 v0 v2 .. .. .. ..""")
    )
    game[ACTION], game[STEP], game[REDRAW] = SETTLING, 4, 0xFF
    game.step(frames=4)
    assert game.drawn(2)[0] == "*1 *1 *1 *1 o0 .. .. .."
    game.step(frames=16)
    assert game.drawn(2) == picture(".. .. .. .. .. .. .. ..\nv0 v2 v0 v2 o0 .. .. ..")


def test_linked_halves_fall_together_or_not_at_all():
    game = (
        Game(players=2)
        .begin()
        .draw("""
        ^0 <1 >2 .. <0 >1 .. o2
        _1 .. .. .. .. v0 .. ..
        .. .. .. .. .. .. .. ..""")
    )
    game[ACTION], game[STEP], game[REDRAW] = SETTLING, 3, 0xFF
    game.step()
    assert game.drawn(3) == picture("""
        .. .. .. .. <0 >1 .. ..
        ^0 <1 >2 .. .. v0 .. o2
        _1 .. .. .. .. .. .. ..""")


@pytest.mark.parametrize("speed", [LOW, MEDIUM, HIGH])
def test_score_doubles_with_every_virus_of_one_settling(speed):
    game = (
        Game(speed=speed)
        .begin()
        .draw("""
        v0 v0 v0 v0 .. .. .. v2
        .. .. .. .. .. .. v1 v0
        v1 v1 v1 v1 v1 .. .. ..""")
    )
    game[ACTION], game[STEP], game[REDRAW], game[VIRUSES] = SETTLING, 4, 0xFF, 0x20
    game.step(frames=3)
    points = [1, 2, 4, 8, 16, 32, 32, 32, 32]
    displayed = sum(100 * (speed + 1) * factor for factor in points)
    assert int("".join(map(str, reversed(game.ram[0x729:0x72F].tolist())))) * 10 == displayed


def test_two_players_have_no_score():
    game = Game(players=2).begin().draw("v0 v0 v0 v0 .. .. .. v2")
    game[ACTION], game[STEP], game[REDRAW] = SETTLING, 4, 0xFF
    game.step(frames=3)
    assert not game.ram[0x729:0x72F].any()


# --- two players ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "frame_count", "columns"),
    [
        (2, 0, [0, 4]),
        (2, 3, [3, 7]),
        (3, 2, [2, 4, 6]),
        (4, 2, [0, 2, 4, 6]),
        (4, 1, [1, 3, 5, 7]),
        (9, 3, [1, 3, 5, 7]),
    ],
)
def test_an_attack_lands_as_singles_in_the_top_row(size, frame_count, columns):
    game = Game(players=2).begin()
    game[ACTION], game.ram[0x43] = 2, frame_count - 1 & 0xFF
    game.ram[0x398], game.ram[0x3A9:0x3AD] = size, (2, 1, 0, 2)
    game.step()
    top = game.ram[0x400:0x408].tolist()
    assert top == [0x80 + (2, 1, 0, 2)[columns.index(c)] if c in columns else 0xFF for c in range(8)]
    assert game.ram[0x398] == 0 and game[ACTION] == SETTLING


def test_a_new_capsule_begins_without_a_combo():
    game = Game(players=2).begin()
    game[ACTION], game[COMBO] = 6, 1
    assert game.step()[COMBO] == 0


def test_a_single_line_is_no_attack_and_two_attacks_add_up():
    game = Game(players=2).begin()
    game[ACTION], game[COMBO] = 2, 1
    assert game.step()[ATTACK] == 0 and game[COMBO] == 1
    game[ACTION], game[COMBO], game[ATTACK] = 2, 3, 2
    assert game.step()[ATTACK] == 5 and game[COMBO] == 0


def test_first_players_attack_arrives_in_the_same_frame_the_second_players_in_the_next():
    game = Game(players=2).begin()
    game[ACTION], game[COMBO], game.ram[0x397] = 2, 2, 2
    game.step()
    assert game.ram[0x397] == SETTLING and (game.ram[0x500:0x508] != 0xFF).sum() == 2
    game = Game(players=2).begin()
    game[ACTION], game.ram[0x397], game.ram[0x38F] = 2, 2, 2
    game.step()
    assert game[ACTION] == 5 and game.ram[0x398] == 2, "too late for the first player, who has passed"


# --- the end ----------------------------------------------------------------------------------------------------------


def test_top_out_writes_the_capsule_over_what_is_there():
    game = Game(players=2).begin().draw("\n".join([".. .. .. .. v1 .. .. .."] * 16))
    game[ACTION], game[0x1A], game[0x1B] = 6, 0, 2
    game.step()
    assert game.ram[0x403:0x405].tolist() == [0x60, 0x72] and game[FAILED] == 1
    assert game.ram[0x46] == 5
    game.step()
    assert game.ram[0x46] == 7 and game.ram[0x61] == 1 and game.ram[0x39E] == 1 and game[WINS] == 0


def test_both_topped_out_in_one_frame_is_a_draw():
    game = Game(players=2).begin().draw(".. .. .. .. .. .. .. ..")
    game.ram[0x404] = game.ram[0x504] = 0x80
    game[ACTION] = game.ram[0x397] = 6
    game.step(frames=2)
    assert game.ram[0x46] == 7 and game.ram[0x61] == 0 and game[WINS] == game.ram[0x39E] == 0


def cleared(**how) -> Game:
    """A game in the frame of its last virus."""
    game = Game(**how).begin().draw("o0 o0 o0 v0 .. .. .. ..")
    game[ACTION], game[STEP], game[REDRAW], game[VIRUSES] = SETTLING, 5, 0xFF, 1
    game.step()
    assert game[VIRUSES] == 0 and game[WINS] == 1
    return game


def test_stage_clear_box_comes_64_frames_after_the_last_virus():
    game = cleared()
    assert game.frames_until(lambda: game.ram[0x55] == 1) == 64
    rows = game.ram[0x400:0x480].reshape(16, 8)
    assert rows[4].tolist() == [0xED] + [0xEE] * 6 + [0xEF]
    assert rows[6, 1:6].tolist() == [ord(c) - ord("A") + 0x0A for c in "STAGE"]
    assert rows[8, 1:6].tolist() == [ord(c) - ord("A") + 0x0A for c in "CLEAR"]


@pytest.mark.parametrize("players", [1, 2])
def test_held_start_leads_to_the_next_round_113_frames_after_the_last_virus(players):
    game = cleared(players=players)
    assert game.frames_until(lambda: game.ram[0x46] == 3, START) == 113
    assert game[LEVEL] == (1 if players == 1 else 0)


def test_without_start_the_clear_screen_stays():
    assert cleared().step(frames=500).ram[0x46] == 4


def test_interlude_after_level_five_on_medium_but_not_on_low():
    for speed, phase in ((MEDIUM, 6), (LOW, 0)):
        game = cleared(level=5, speed=speed)
        game.step(START, 115)
        assert game.ram[0x59] == phase and game[LEVEL] == 6
    game = cleared(level=5, speed=MEDIUM).step(START, 115).step(frames=50).step(START)
    assert game.ram[0x46] == 3


def test_third_win_ends_the_match_at_once():
    game = Game(players=2).begin().draw("o0 o0 o0 v0 .. .. .. ..")
    game[ACTION], game[STEP], game[REDRAW], game[VIRUSES], game[WINS] = SETTLING, 5, 0xFF, 1, 2
    game.step()
    assert game.ram[0x46] == 7 and game[WINS] == 3
    game.step()
    assert game.ram[0x55] == 1


@pytest.mark.parametrize(("players", "wins", "frames"), [(1, 0, 194), (2, 0, 82), (2, 3, 193)])
def test_start_leaves_the_end_screen_after_so_many_frames(players, wins, frames):
    for early in (1, 0):
        game = Game(players=players).begin()
        game.ram[0x46], game.ram[0x51], game[WINS] = 7, 0, wins
        game.step(frames=frames - 1 - early).step(START)
        left = game.ram[0x46] == 1 or game.ram[0x59] == 1
        assert left != bool(early)
        if players == 2 and not wins and left:
            assert game.frames_until(lambda game=game: game.ram[0x46] == 3) == 17


def test_pause_freezes_everything_but_the_frame_count():
    game = Game().begin()
    game.step(START)
    assert game.ram[0x68D] == 5
    before = game.ram.copy()
    game.step(LEFT, 10).step(START, other=START)
    assert game.ram[0x68D] == 0 and game.ram[0x43] == before[0x43] + 11
    assert (game.ram[0x300:0x600] == before[0x300:0x600]).all()
    assert game.step().step(other=START).ram[0x68D] == 0, "the second player cannot pause"


def test_every_ninth_capsule_speeds_up():
    game = Game().begin()
    speed_ups = []
    for capsules in range(0x02, 0x10 + 3):
        if capsules & 0x0F > 9:
            continue
        game[CAPSULES], game[SPEED_UPS], game[ACTION], game.ram[0x7D] = capsules, 5, 6, 21
        speed_ups.append(game.step()[SPEED_UPS] - 5)
        assert game[CAPSULES] == (capsules + 1 if capsules != 9 else 0x10)
    assert speed_ups == [0] * 7 + [1] + [0] * 3


def test_round_start_keeps_the_auto_shift_counter_and_the_attack_colours_of_who_acted_last():
    game = Game(players=2).begin()
    game[DAS], game.ram[0x393] = 3, 9
    game.ram[0x329:0x32D], game.ram[0x3A9:0x3AD] = (1, 1, 1, 1), (2, 0, 2, 0)
    game.ram[0x46] = 3
    game.step()
    assert game[DAS] == game.ram[0x393] == 9
    assert game.ram[0x329:0x32D].tolist() == [2, 0, 2, 0]
