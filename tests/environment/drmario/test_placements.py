"""Placements: all that can be reached and no others, by scripts that cannot be shorter, and played in one call."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mario_rl.emulators.base import LEFT, RIGHT, A, B
from mario_rl.environment.drmario.placements import (
    FEATURES_MOST,
    PLACEMENT_FEATURES,
    PLACEMENTS,
    placement,
    position,
)
from mario_rl.environment.drmario.rules import HIGH, LOW, MEDIUM, RulesBatch
from tests.environment.drmario.every_way import EveryWay
from tests.environment.drmario.plain_placements import describe

ACTION, SPEED_UPS, DAS, COLOURS, VIRUSES = 0x317, 0x30A, 0x313, slice(0x301, 0x303), 0x324


def at_spawn(
    field: np.ndarray, speed: int = MEDIUM, speed_ups: int = 0, colours: tuple[int, int] = (0, 1)
) -> RulesBatch:
    """A game whose first capsule stands at its decision point over a field of 16 x 8 cells."""
    games = RulesBatch(1)
    games.reset(0x8988, 0, speed)
    games.skip_intro()
    games.next_decision()
    games.ram[0, 0x400:0x480] = field.ravel()
    games.ram[0, SPEED_UPS] = speed_ups
    games.ram[0, COLOURS] = colours
    return games


def heap(rng: random.Random, top: int, density: float) -> np.ndarray:
    """Singles from a row on, with nothing where the capsule appears."""
    field = np.full((16, 8), 0xFF, np.uint8)
    for row in range(top, 16):
        for column in range(8):
            if rng.random() < density:
                field[row, column] = 0x80 + rng.randrange(3)
    field[0, 3:5] = 0xFF
    return field


def random_games(
    n: int, level: int, speed: int, players: int = 1, seed: int = 1
) -> tuple[RulesBatch, np.random.Generator]:
    rng = np.random.default_rng(seed)
    games = RulesBatch(n)
    games.reset(rng.integers(2, 65536, n), level, speed, players)
    games.skip_intro()
    games.next_decision()
    return games, rng


def draw(ids: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return ids[np.arange(len(ids)), (rng.random(len(ids)) * counts).astype(int)]


# --- against every way there is ---------------------------------------------------------------------------------------

# Boards small enough to try everything: speed, speed-ups, first row of the heap, its density, its seed; what is held at
# the decision, and the auto shift counter.
SPAWNS = [
    (HIGH, 49, 3, 0.3, 1, 0, 0),  # a row every frame
    (HIGH, 49, 1, 0.15, 16, 0, 0),
    (HIGH, 49, 1, 0.15, 20, RIGHT, 15),
    (HIGH, 42, 4, 0.3, 0, 0, 0),  # every second
    (HIGH, 42, 2, 0.2, 5, LEFT, 15),
    (HIGH, 36, 2, 0.5, 1, 0, 0),  # every third
    (HIGH, 30, 2, 0.6, 0, RIGHT | B, 3),
    (MEDIUM, 26, 1, 0.6, 2, A, 0),
    (MEDIUM, 20, 2, 0.7, 30, 0, 0),
    (HIGH, 0, 1, 0.8, 0, 0, 0),
    (MEDIUM, 0, 1, 0.85, 0, LEFT | A, 12),
]


@pytest.fixture(scope="module")
def every_way() -> EveryWay:
    return EveryWay()


@pytest.mark.parametrize("spawn", SPAWNS)
def test_all_that_can_be_reached_by_the_fewest_frames(spawn, every_way):
    speed, speed_ups, top, density, seed, held, das = spawn
    rng = random.Random(seed)
    games = at_spawn(heap(rng, top, density), speed, speed_ups)
    games.ram[0, 0xF7], games.ram[0, DAS], games.ram[0, 0x43] = held, das, rng.randrange(256)
    fewest = every_way.fewest_frames(games.save(0))
    assert len(fewest) >= 12
    assert sorted(games.placements().ids[0].tolist()) == sorted(fewest)
    for target, frames in fewest.items():
        script = games.script(0, target)
        assert len(script) == frames, f"placement {position(target)}"
        assert lands(games, script) == position(target)


def lands(games: RulesBatch, script: bytes) -> tuple[int, int, int]:
    """Where a script takes the capsule: its last pad must be the one it locks with."""
    trial = RulesBatch(1)
    trial.load(0, games.save(0))
    for pad in script:
        assert trial.ram[0, ACTION] == 0
        at = tuple(int(trial.ram[0, 0x300 + offset]) for offset in (0x05, 0x06, 0x25))
        trial.step(np.array([[pad, 0]], np.uint8))
    assert trial.ram[0, ACTION] == 1
    return at


def test_an_empty_bottle_has_every_column_and_rotation():
    games = at_spawn(np.full((16, 8), 0xFF, np.uint8))
    found = games.placements()
    straight = [placement(x, 0, rotation) for rotation in range(4) for x in range(7 + (rotation & 1))]
    assert sorted(found.ids[0].tolist()) == straight
    assert not found.tucked.any()


def test_a_tuck_is_found_and_marked():
    field = np.full((16, 8), 0xFF, np.uint8)
    field[10, :4] = 0x80  # a roof over the left half of the bottle
    found = at_spawn(field).placements()
    under = {number for number, tucked in zip(found.ids[0].tolist(), found.tucked[0], strict=True) if tucked}
    assert placement(0, 0, 0) in under and placement(0, 0, 1) in under
    assert placement(3, 0, 0) in under, "one half under the roof is enough"
    assert placement(4, 0, 0) not in under


def test_a_wall_cuts_off_what_lies_behind_it():
    field = np.full((16, 8), 0xFF, np.uint8)
    field[0:, 2] = 0x80
    columns = {position(number)[0] for number in at_spawn(field).placements().ids[0].tolist()}
    assert columns == {3, 4, 5, 6, 7}


# --- what looks the same ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("colours", [(1, 1), (1, 2)])
def test_canonical_placements_are_those_with_different_results(colours):
    rng = random.Random(5)
    for _ in range(5):
        games = at_spawn(heap(rng, 6, 0.4), colours=colours)
        found = games.placements()
        results = {}
        for number, canonical in zip(found.ids[0].tolist(), found.canonical[0].tolist(), strict=True):
            trial = RulesBatch(1)
            trial.load(0, games.save(0))
            for pad in games.script(0, number):
                trial.step(np.array([[pad, 0]], np.uint8))
            results.setdefault(canonical, set()).add(trial.ram[0, 0x400:0x480].tobytes())
        assert all(len(fields) == 1 for fields in results.values())
        assert len({fields for (fields,) in results.values()}) == len(results)
        assert (len(results) < len(found.ids[0])) == (colours == (1, 1))


# --- playing them -----------------------------------------------------------------------------------------------------


def step_by_step(games: RulesBatch, scripts: list[list[bytes]], done: np.ndarray) -> np.ndarray:
    """Plays the scripts frame by frame, then nothing, until a capsule comes under control; who waits then."""
    n = len(done)
    frame = np.zeros(n, int)
    waiting = np.zeros(n, np.uint8)
    while not done.all():
        pads = np.zeros((n, 2), np.uint8)
        for game, seat in np.ndindex(n, 2):
            if frame[game] < len(scripts[game][seat]):
                pads[game, seat] = scripts[game][seat][frame[game]]
        settled = games.ram[:, [0x317, 0x397]] != 0
        games.step(pads, 1, ~done)
        frame[~done] += 1
        two = games.ram[:, 0x727] == 2
        came = settled & (games.ram[:, [0x317, 0x397]] == 0)
        came[:, 1] &= two
        over = (games.ram[:, 0x46] != 4) | (games.ram[:, 0x59] != 0)
        now = ~done & (came.any(axis=1) | over)
        waiting[now & ~over] = (came @ [1, 2])[now & ~over]
        for game in np.flatnonzero(now):
            scripts[game] = [script[frame[game] :] for script in scripts[game]]
        done = done | now
    return waiting


@pytest.mark.parametrize(("level", "speed"), [(0, LOW), (8, MEDIUM), (20, HIGH)])
def test_place_does_what_the_frames_do(level, speed):
    games, rng = random_games(12, level, speed)
    mirror = RulesBatch(12)
    mirror.ram[:] = games.ram
    placed = 0
    for _ in range(25):
        found = games.placements()
        live = found.counts > 0
        choice = draw(found.ids, np.maximum(found.counts, 1), rng)
        scripts = [[games.script(g, int(choice[g])) if live[g] else b"", b""] for g in range(12)]
        waiting = games.place(choice, live)
        expected = step_by_step(mirror, scripts, ~live)
        assert (games.ram == mirror.ram).all()
        assert (waiting == expected)[live].all()
        placed += live.sum()
    assert placed > 80


@pytest.mark.parametrize("level", [0, 12])
def test_place_for_two_stops_wherever_either_waits(level):
    n = 8
    games, rng = random_games(n, level, HIGH, players=2, seed=3)
    mirror = RulesBatch(n)
    mirror.ram[:] = games.ram
    scripts = [[b"", b""] for _ in range(n)]
    waiting = games.next_decision()
    alone = together = 0
    for _ in range(60):
        live = waiting > 0
        choices = np.full((n, 2), -1)
        for seat in range(2):
            due = (waiting & (1 << seat)) > 0
            found = games.placements(seat, due)
            assert ((found.counts > 0) == due).all()
            choices[due, seat] = draw(found.ids, np.maximum(found.counts, 1), rng)[due]
            for game in np.flatnonzero(due):
                scripts[game][seat] = games.script(game, int(choices[game, seat]), seat)
        alone += (waiting == 1).sum() + (waiting == 2).sum()
        together += (waiting == 3).sum()
        waiting = games.place(choices, live)
        assert (step_by_step(mirror, scripts, ~live) == waiting)[live].all()
        assert (games.ram == mirror.ram).all()
    assert alone > 50 and together > 0


def one_waits_while_the_other_falls(n: int) -> RulesBatch:
    """The first player's capsule had a short way and the next one waits; the second player's is still on its way."""
    games = RulesBatch(n)
    games.reset(0x8988, 0, MEDIUM, 2)
    games.skip_intro()
    games.next_decision()
    fields = games.ram[:, 0x400:0x600].reshape(n, 2, 32, 8)
    fields[:, :, :16] = 0xFF
    fields[:, 0, 2:16, 0] = [0xD0, 0xD1] * 7
    waiting = games.place([[placement(0, 14, 0), placement(6, 0, 0)]] * n)
    assert (waiting == 1).all() and (games.ram[:, 0x397] == 0).all()
    return games


def test_a_copy_goes_on_with_the_same_scripts():
    games = one_waits_while_the_other_falls(2)
    games.step(np.zeros((2, 2), np.uint8), [0, 1])  # now its script is forgotten in the second game
    games.copy(0, 1)
    games.place([[int(games.placements().ids[0, 0]), -1]] * 2)
    assert (games.ram[0] == games.ram[1]).all()


def test_a_script_ends_when_somebody_else_takes_the_pads():
    games = one_waits_while_the_other_falls(2)
    games.load(1, games.save(0))  # the state alone: without a script
    games.step(np.zeros((2, 2), np.uint8), 3)
    games.next_decision()
    assert (games.ram[0] == games.ram[1]).all()


# --- mistakes ---------------------------------------------------------------------------------------------------------


def test_a_placement_out_of_reach_is_refused_and_changes_nothing():
    games, _ = random_games(3, 5, MEDIUM)
    before = games.ram.copy()
    good = games.placements().ids[:, 0]
    with pytest.raises(ValueError, match=r"game 1, player 1: cannot get there"):
        games.place(np.array([good[0], placement(0, 14, 0), good[2]]))
    assert (games.ram == before).all()
    assert games.place(good).tolist() == [1, 1, 1]


def test_nothing_is_left_of_scripts_that_were_refused():
    games, _ = random_games(2, 5, MEDIUM)
    untouched = RulesBatch(2)
    untouched.ram[:] = games.ram
    good = games.placements().ids[:, -1]
    with pytest.raises(ValueError, match=r"game 1, player 1: cannot get there"):
        games.place([int(good[0]), placement(0, 14, 0)])
    for batch in (games, untouched):
        batch.ram[:, 0x312] = 1  # no longer at the decision: left alone, the capsules fall straight down
        batch.next_decision()
    assert (games.ram == untouched.ram).all()


def test_who_does_not_wait_must_not_place():
    games, _ = random_games(2, 5, MEDIUM)
    good = int(games.placements().ids[0, 0])
    with pytest.raises(ValueError, match=r"player 2: no capsule waits for a placement: give -1"):
        games.place([[good, good], [good, -1]])
    games.step(np.zeros((2, 2), np.uint8))
    with pytest.raises(ValueError, match="no capsule waits"):
        games.place(good)
    with pytest.raises(ValueError, match="no capsule waits"):
        games.script(0, good)
    assert games.placements().counts.tolist() == [0, 0]


def test_numbers_that_are_no_placements():
    games, _ = random_games(1, 5, MEDIUM)
    for number in (-2, PLACEMENTS):
        with pytest.raises(ValueError, match="between -1 and 511"):
            games.place(number)
        with pytest.raises(ValueError, match="cannot get there"):
            games.script(0, number)
        with pytest.raises(ValueError, match=r"0\.\.511"):
            position(number)
    with pytest.raises(ValueError, match="seat must be 0 or 1"):
        games.placements(2)
    with pytest.raises(ValueError, match="no placement has x 8"):
        placement(8, 0, 0)


def test_numbers_and_positions_are_the_same_thing():
    assert [placement(*position(number)) for number in range(PLACEMENTS)] == list(range(PLACEMENTS))


# --- features ---------------------------------------------------------------------------------------------------------


def test_features_are_what_they_say():
    games, rng = random_games(6, 14, MEDIUM, seed=9)
    seen = np.zeros(len(PLACEMENT_FEATURES), bool)
    for _ in range(12):
        found = games.placements()
        features = games.placement_features(found.ids)
        for game, count in enumerate(found.counts):
            field, colours = games.ram[game, 0x400:0x480].reshape(16, 8), games.ram[game, COLOURS].tolist()
            for k in range(count):
                expected = describe(field, position(int(found.ids[game, k])), colours)
                assert dict(zip(PLACEMENT_FEATURES, features[game, k].tolist(), strict=True)) == expected
            assert (features[game, :count] <= FEATURES_MOST).all()
            assert not features[game, count:].any()
            seen |= features[game].any(axis=0)
        live = found.counts > 0
        games.place(draw(found.ids, np.maximum(found.counts, 1), rng), live)
    assert seen.all()


def test_features_of_what_is_no_free_place_are_refused():
    games, _ = random_games(1, 20, MEDIUM)
    row, column = np.argwhere(games.ram[0, 0x400:0x480].reshape(16, 8) != 0xFF)[0]
    with pytest.raises(ValueError, match="something lies where a placement would be"):
        games.placement_features(np.array([[placement(int(column), int(15 - row), 1)]], np.int16))
