"""What fields are worth and which placement is best: against a plain count in Python, and against the engine's play."""

from __future__ import annotations

import random
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.rules import BOARD_FEATURES, HIGH, LOW, MEDIUM, RulesBatch
from tests.environment.drmario.boards import crowded_board, viruses_on

CELLS = slice(0x400, 0x480)


def some_weights(seed: int = 1) -> np.ndarray:
    """Weights that play reasonably, each different, so that none can hide behind another."""
    weights = np.random.default_rng(seed).uniform(-3, 3, len(BOARD_FEATURES)).astype(np.float32)
    weights[BOARD_FEATURES.index("viruses")] = -40
    weights[BOARD_FEATURES.index("height_squares")] = -0.5
    return weights


# --- features -----------------------------------------------------------------------------------------------------


def plain_features(cells: bytes) -> dict[str, int]:
    """The features by their definitions (native/drmario/evaluation.hpp), without a thought for speed."""
    counts = dict.fromkeys(BOARD_FEATURES, 0)

    def taken(cell: int) -> bool:
        return cell < 0xF0

    def virus(cell: int) -> bool:
        return cell & 0xF0 == 0xD0

    highest, ends = 0, set()
    for column in range(8):
        stack = [cells[8 * row + column] for row in range(16)]
        occupied = [row for row in range(16) if taken(stack[row])]
        height = 16 - occupied[0] if occupied else 0
        highest = max(highest, height)
        name, free = {2: ("near", 10), 3: ("spawn", 9), 4: ("spawn", 9), 5: ("near", 10)}.get(column, ("outer", 11))
        counts[f"{name}_height"] += max(height - free, 0) ** 2
        counts["heights"] += height
        counts["height_squares"] += height**2
        counts["holes"] += height - len(occupied)
        counts["viruses"] += sum(virus(stack[row]) for row in occupied)
        counts["pieces"] += sum(not virus(stack[row]) for row in occupied)
        runs = [list(rows) for _, rows in groupby(occupied, key=lambda row: stack[row] & 3)]
        counts["runs"] += len(runs)
        depth = 0
        for above, run in enumerate(runs):
            length, viruses = min(len(run), 3), sum(virus(stack[row]) for row in run)
            if viruses:
                depth = above
            if above == 0:
                ends.add(stack[run[0]] & 3)
                with_virus = "virus_" if viruses else ""
                counts[f"{with_virus}top_{length}" if run[0] + len(run) >= 4 else "cramped"] += 1
                continue
            if length > 1:
                counts[f"below_{length}"] += 1
            if viruses:
                counts["buried_runs"] += 1
                counts["deep_runs"] += above > 1
                counts["burden"] += above * viruses
                if above == 1:
                    counts[f"virus_second_{length}"] += 1
        counts["depths"] += depth
        counts["depth_squares"] += depth**2
    counts["highest_square"] = highest**2
    counts["missing_colours"] = len({0, 1, 2} - ends)
    for row in range(16):
        for first in range(5):
            window = [cell for cell in cells[8 * row + first : 8 * row + first + 4] if taken(cell)]
            if len(window) in (2, 3) and len({cell & 3 for cell in window}) == 1:
                counts[f"row_{len(window)}"] += 1
                counts[f"virus_row_{len(window)}"] += any(map(virus, window))
    return counts


@given(st.integers(0, 2**32), st.sampled_from([0.2, 0.6, 0.95]), st.sampled_from([1, 2, 3]))
@settings(max_examples=150, deadline=None)
def test_features_are_what_their_names_say(seed: int, density: float, colours: int) -> None:
    batch = RulesBatch(1)
    board = crowded_board(random.Random(seed), density, colours)
    batch.ram[0, CELLS] = np.frombuffer(board, np.uint8)
    assert dict(zip(BOARD_FEATURES, batch.board_features()[0].tolist(), strict=True)) == plain_features(board)


def test_features_of_the_second_seat_are_its_own() -> None:
    batch = RulesBatch(1)
    board = crowded_board(random.Random(3), 0.7)
    batch.ram[0, 0x500:0x580] = np.frombuffer(board, np.uint8)
    batch.ram[0, CELLS] = 0xFF
    assert batch.board_features(1)[0].tolist() == list(plain_features(board).values())
    assert batch.board_features(0)[0, BOARD_FEATURES.index("heights")] == 0


# --- ratings ------------------------------------------------------------------------------------------------------


def at_a_decision(seed: int, speed: int, crowded: bool) -> RulesBatch:
    """A game of which 256 copies can be played, in its lane 0."""
    batch = RulesBatch(256)
    batch.reset(2 + seed % 65534, seed % 21, speed, 1)
    batch.skip_intro()
    batch.next_decision()
    if crowded:
        board = bytearray(crowded_board(random.Random(seed), 0.7))
        board[:24] = b"\xff" * 24
        batch.ram[:, CELLS] = np.frombuffer(bytes(board), np.uint8)
        batch.ram[:, 0x324] = viruses_on(bytes(board)) or 1
    return batch


def outcome(batch: RulesBatch, ids: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Play each placement in a lane of its own, frame by frame, and say what the field is worth when it has settled."""
    lanes = np.arange(batch.n) < len(ids)
    for lane in range(1, len(ids)):
        batch.copy(0, lane)
    chosen = np.full(batch.n, -1)
    chosen[: len(ids)] = ids
    assert batch.place(chosen, lanes)[lanes].all(), "no round ends here: those have a test of their own"
    return (batch.board_features() @ weights)[: len(ids)]


@pytest.mark.parametrize("speed", [LOW, MEDIUM, HIGH])
@pytest.mark.parametrize("crowded", [False, True])
def test_a_rating_is_what_the_field_is_worth_once_the_capsule_has_settled(speed: int, crowded: bool) -> None:
    weights = some_weights()
    for seed in range(12):
        batch = at_a_decision(seed, speed, crowded)
        counts, ids, values = batch.ratings(weights, mask=np.arange(256) == 0)
        found = batch.placements(mask=np.arange(256) == 0)
        distinct = found.ids[0][(found.ids[0] >= 0) & (found.ids[0] == found.canonical[0])]
        assert ids[0, : counts[0]].tolist() == distinct.tolist(), "every placement that looks different, in their order"
        assert counts[1:].max() == 0, "only what was asked for"
        rated = values[0, : counts[0]]
        played = outcome(batch, ids[0, : counts[0]], weights)
        assert rated == pytest.approx(played, abs=0.01)


def test_two_plies_are_the_best_that_the_next_capsule_can_make_of_it() -> None:
    weights = some_weights()
    for seed in range(6):
        batch = at_a_decision(seed, MEDIUM, crowded=seed % 2 == 1)
        only = np.arange(256) == 0
        counts, ids, values = batch.ratings(weights, plies=2, mask=only)
        one_ply = batch.ratings(weights, mask=only)[2][0, : counts[0]]
        outcome(batch, ids[0, : counts[0]], weights)
        for lane in range(counts[0]):
            own = values[0, lane]
            if abs(one_ply[lane]) > 1e8:
                assert own == one_ply[lane], "there is no next capsule"
                continue
            next_counts, _, next_values = batch.ratings(weights, mask=np.arange(256) == lane)
            best = next_values[lane, : next_counts[lane]].max()
            assert own == pytest.approx(best / 2 if abs(best) > 1e8 else best, abs=0.01)


def test_a_cleared_bottle_is_the_best_and_a_blocked_one_the_worst() -> None:
    """By hand: three yellow viruses left under a yellow capsule, and a way in that it can block."""
    batch = at_a_decision(1, MEDIUM, crowded=False)
    only = np.arange(256) == 0
    batch.ram[0, CELLS] = 0xFF
    batch.ram[0, [0x400 + 8 * row for row in (13, 14, 15)]] = 0xD0
    batch.ram[0, 0x301:0x303] = 0
    wall = [0x400 + 8 * row + column for row in range(1, 16) for column in (3, 4)]
    batch.ram[0, wall] = [0xD1 + (at // 8) % 2 for at in wall]
    for plies in (1, 2):
        counts, ids, values = batch.ratings(some_weights(), plies, mask=only)
        top = 15 * 8
        flat, upright = {top + 2, top + 3, top + 4}, {128 + top + 3, 128 + top + 4}
        assert set(ids[0, : counts[0]][values[0, : counts[0]] < -1e8].tolist()) == flat | upright
    batch.ram[0, wall] = 0xFF
    for plies in (1, 2):
        counts, ids, values = batch.ratings(some_weights(), plies, mask=only)
        on_them = [3 * 8, 128 + 3 * 8]  # lying with its left half on them, or upright
        clearing = ids[0, values[0] == 1e9].tolist()
        assert clearing == on_them, "now, not with the next capsule"
        assert batch.search(some_weights(), plies, mask=only)[0] in clearing
    batch.ram[0, 0x31A:0x31C] = 0  # the next one is yellow, too, and clears what this one leaves
    counts, ids, values = batch.ratings(some_weights(), 2, mask=only)
    rest = ~np.isin(ids[0, : counts[0]], on_them)
    assert (values[0, : counts[0]][rest] == 5e8).mean() > 0.5


def test_search_takes_the_best_rated_one() -> None:
    batch = RulesBatch(40)
    batch.reset(np.arange(40) * 999 + 2, np.arange(40) % 21, MEDIUM, 1)
    batch.skip_intro()
    assert (batch.search(some_weights()) == -1).all(), "nothing waits yet"
    batch.next_decision()
    for plies in (1, 2):
        _, ids, values = batch.ratings(some_weights(), plies)
        best = ids[np.arange(40), values.argmax(axis=1)]
        assert batch.search(some_weights(), plies).tolist() == best.tolist()


def test_playing_is_searching_and_placing_again_and_again() -> None:
    weights = some_weights()
    played, placed = RulesBatch(6), RulesBatch(6)
    for batch in (played, placed):
        batch.reset(np.arange(6) + 77, [0, 2, 5, 10, 15, 20], [0, 1, 2, 0, 1, 2], 1)
        batch.skip_intro()
    capsules = played.play(weights, 1, max_capsules=12)
    waiting = placed.next_decision()
    counted = np.zeros(6, np.int64)
    for _ in range(12):
        going = waiting > 0
        counted += going
        waiting[going] = placed.place(placed.search(weights), going)[going]
    assert (played.ram == placed.ram).all()
    assert capsules[:, 0].tolist() == counted.tolist()
    assert (capsules[:, 1] == 0).all()


def test_both_seats_are_played() -> None:
    batch = RulesBatch(3)
    batch.reset([2, 44, 666], 3, MEDIUM, 2)
    batch.skip_intro()
    capsules = batch.play(some_weights(), 1, 400)
    game = GameMemory(batch.ram)
    assert game.round_over().all()
    assert (capsules > 5).all()


@given(st.binary(min_size=2048, max_size=2048))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_safe(ram: bytes) -> None:
    batch = RulesBatch(1)
    batch.ram[0] = np.frombuffer(ram, np.uint8)
    batch.ram[0, [0x46, 0x59, 0x68D, 0x317, 0x306, 0x305, 0x325, 0x312]] = [4, 0, 0, 0, 15, 3, 0, 0]  # at a decision
    batch.board_features()
    batch.ratings(some_weights(), 2)
    batch.search(some_weights(), 2)
    batch.play(some_weights(), 1, 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"weights": np.zeros(3, np.float32)}, "weights must be 32 numbers"),
        ({"weights": np.full(32, np.nan, np.float32)}, "between -1000 and 1000"),
        ({"plies": 3}, "plies must be 1 or 2"),
        ({"seat": 2}, "seat must be 0 or 1"),
        ({"mask": np.ones(2, np.bool_)}, "mask"),
    ],
)
def test_what_is_asked_wrongly_is_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RulesBatch(1).ratings(**{"weights": some_weights(), **arguments})
