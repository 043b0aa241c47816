"""What prospects say comes true: compared with the game played on, and with a plain look at the next capsule."""

from __future__ import annotations

import numpy as np
import pytest

from mario_rl.environment.drmario.bots import make_bot
from mario_rl.environment.drmario.memory import COLUMNS, POP, ROWS, VIRUS, GameMemory
from mario_rl.environment.drmario.prospects import BOARD_FEATURES, PROSPECT_FEATURES, SITUATION_FEATURES, SLOTS
from mario_rl.environment.drmario.rules import LONGEST_SCRIPT, RulesBatch, Scripts
from mario_rl.environment.drmario.tally import COUNTS, LINES, RECEIVED, VIRUSES

GAMES = 24
# The byte is the count divided by this; 1 for the others.
DIVISORS = {"height_squares": 8, "depth_squares": 2}


def column(name: str) -> int:
    return PROSPECT_FEATURES.index(name)


def games_in_play(capsules: int, players: int, seed: int) -> RulesBatch:
    """Games after some capsules of a bot that plays badly enough to leave a mess."""
    games = RulesBatch(GAMES)
    games.reset(np.arange(GAMES) * 1000 + 2 * seed + 2, np.arange(GAMES) % 21, 1, players)
    games.skip_intro()
    waiting = games.next_decision()
    messy, tidy = make_bot("random", seed), make_bot("greedy")
    for number in range(capsules):
        placements = np.full((GAMES, 2), -1)
        for seat in (0, 1):
            asked = (waiting >> seat & 1).astype(bool)
            if asked.any():
                bot = messy if number % 4 == 0 else tidy
                placements[asked, seat] = bot.choose(games, asked, seat)[asked]
        waiting = games.place(placements, waiting > 0)
    return games


def waiting_pairs(games: RulesBatch) -> tuple[np.ndarray, np.ndarray]:
    waiting = games.next_decision()
    numbers, seats = np.nonzero(waiting[:, None] & np.array([1, 2]))
    return numbers.astype(np.int32), seats.astype(np.int32)


@pytest.mark.parametrize(("capsules", "players"), [(0, 1), (5, 1), (20, 1), (8, 2), (25, 2)])
def test_the_game_goes_as_the_prospect_says(capsules: int, players: int) -> None:
    games = games_in_play(capsules, players, seed=capsules)
    numbers, seats = waiting_pairs(games)
    prospects = games.prospects(numbers, seats)
    trial = RulesBatch(1)
    compared = lines_seen = 0
    for row, (number, seat) in enumerate(zip(numbers.tolist(), seats.tolist(), strict=True)):
        state = games.save(number)
        for slot in range(0, prospects.counts[row], 3):
            trial.load(0, state)
            bytes_ = prospects.features[row, slot].astype(int)
            field, totals, frames, over = play_one(trial, seat, int(prospects.ids[row, slot]))
            topped_out = GameMemory(trial.ram).topped_out()[0, seat]
            assert bytes_[column("way_blocked")] == topped_out or totals[RECEIVED]
            if bytes_[column("way_blocked")] or totals[RECEIVED]:
                continue  # the next capsule was written over the field, or garbage fell into it
            trial_board = board_bytes(field)
            assert bytes_[: len(BOARD_FEATURES)].tolist() == trial_board, (number, slot)
            assert bytes_[column("lines_made")] == totals[LINES]
            assert bytes_[column("viruses_taken")] == totals[VIRUSES]
            assert bytes_[column("bottle_clear")] == (trial_board[0] == 0)
            lines_seen += totals[LINES] > 0
            if not over and players == 2 and bytes_[column("frames_taken")] < 255:
                # a lower bound of the way down, exact for the settling
                assert bytes_[column("frames_taken")] * 4 <= frames <= bytes_[column("frames_taken")] * 4 + 40
            compared += 1
    assert compared > 100
    assert lines_seen or capsules == 0


def play_one(trial: RulesBatch, seat: int, placement: int) -> tuple[np.ndarray, np.ndarray, int, bool]:
    """Place the capsule and look as soon as it has settled; the other seat's capsule is left alone."""
    game = GameMemory(trial.ram)
    scripts = [
        Scripts(np.zeros((1, LONGEST_SCRIPT), np.uint8), np.zeros(1, np.int32), np.zeros(1, np.int32)) for _ in (0, 1)
    ]
    trial.write_scripts(np.array([placement]), scripts[seat], seat)
    totals, frames = np.zeros((COUNTS, 1, 2), np.int32), np.zeros(1, np.int32)
    # garbage that waits would fall into the field before anybody can look
    game.attack[0, 1 - seat] = 0
    reached = trial.follow(scripts, 1 << seat, totals, frames)
    return game.fields[0, seat].copy(), totals[:, 0, seat], int(frames[0]), reached[0] == 0


def board_bytes(field: np.ndarray) -> list[int]:
    """The features of a field as bytes, by the engine's own list (whose oracle is in test_search.py)."""
    games = RulesBatch(1)
    games.reset(2)
    GameMemory(games.ram).fields[0, 0] = field
    counts = games.board_features()[0].tolist()
    return [min(count // DIVISORS.get(name, 1), 255) for name, count in zip(BOARD_FEATURES, counts, strict=True)]


# --- the next capsule, the plain way ------------------------------------------------------------------------------


def plain_drops(field: np.ndarray, colours: tuple[int, int]) -> tuple[int, int]:
    """The most lines and the most viruses that a straight drop of a capsule takes at once."""
    most_lines = most_viruses = 0
    for first, second in {colours, colours[::-1]}:
        for cells in [upright(field, c) for c in range(COLUMNS)] + [lying(field, c) for c in range(COLUMNS - 1)]:
            if cells is None:
                continue
            board = field.copy()
            for (row, col), colour in zip(cells, (first, second), strict=True):
                board[row, col] = 0x80 + colour
            lines, viruses = plain_lines(board, set(cells))
            most_lines, most_viruses = max(most_lines, lines), max(most_viruses, viruses)
    return most_lines, most_viruses


def top(field: np.ndarray, col: int) -> int:
    taken = np.flatnonzero(field[:, col] < POP)
    return int(taken[0]) if len(taken) else ROWS


def upright(field: np.ndarray, col: int) -> list[tuple[int, int]] | None:
    row = top(field, col) - 1
    return [(row, col), (row - 1, col)] if row >= 1 else None


def lying(field: np.ndarray, col: int) -> list[tuple[int, int]] | None:
    row = min(top(field, col), top(field, col + 1)) - 1
    return [(row, col), (row, col + 1)] if row >= 0 else None


def plain_lines(board: np.ndarray, placed: set[tuple[int, int]]) -> tuple[int, int]:
    """Lines of four and more that the placed cells are part of, and their viruses (those of crossings twice)."""
    lines = viruses = 0
    for down, right in ((0, 1), (1, 0)):
        done: set[tuple[int, int]] = set()
        for row, col in placed:
            if (row, col) in done:
                continue
            colour, run = board[row, col] & 3, [(row, col)]
            for sign in (1, -1):
                r, c = row + sign * down, col + sign * right
                while 0 <= r < ROWS and 0 <= c < COLUMNS and board[r, c] < POP and board[r, c] & 3 == colour:
                    run.append((r, c))
                    r, c = r + sign * down, c + sign * right
            done |= set(run)
            if len(run) >= 4:
                lines += 1
                viruses += sum((board[cell] & 0xF0) == VIRUS for cell in run)
    return lines, viruses


def settled(games: RulesBatch, number: int, seat: int, placement: int) -> np.ndarray | None:
    trial = RulesBatch(1)
    trial.load(0, games.save(number))
    field, _, _, over = play_one(trial, seat, placement)
    return None if over else field


def test_what_the_next_capsule_could_do() -> None:
    games = games_in_play(22, 1, seed=7)
    numbers, seats = waiting_pairs(games)
    prospects = games.prospects(numbers, seats)
    seen = 0
    for row, number in enumerate(numbers.tolist()):
        colours = tuple(int(colour) & 3 for colour in GameMemory(games.ram).next[number, 0])
        for slot in range(0, prospects.counts[row], 5):
            field = settled(games, number, 0, int(prospects.ids[row, slot]))
            if field is None:
                continue
            lines, viruses = plain_drops(field, (colours[0], colours[1]))
            bytes_ = prospects.features[row, slot]
            assert (bytes_[column("next_lines")], bytes_[column("next_viruses")]) == (lines, viruses)
            assert bytes_[column("next_one_colour")] == (colours[0] == colours[1])
            for half, colour in enumerate(colours, start=1):
                ends = [field[top(field, c), c] & 3 for c in range(COLUMNS) if top(field, c) < ROWS]
                assert bytes_[column(f"next_columns_{half}")] == ends.count(colour)
            seen += lines > 0
    assert seen > 10


# --- the situation, and what is refused ---------------------------------------------------------------------------


def test_the_situation_is_seen_from_the_seat() -> None:
    games = games_in_play(12, 2, seed=3)
    game = GameMemory(games.ram)
    game.attack[:, 0], game.attack[:, 1] = 3, 0
    numbers, seats = waiting_pairs(games)
    situations = games.prospects(numbers, seats).situations.astype(int)
    features = [games.board_features(seat) for seat in (0, 1)]
    viruses = BOARD_FEATURES.index("viruses")
    for row, (number, seat) in enumerate(zip(numbers, seats, strict=True)):
        named = dict(zip(SITUATION_FEATURES, situations[row], strict=True))
        assert named["own_viruses"] == features[seat][number, viruses]
        assert named["other_viruses"] == features[1 - seat][number, viruses]
        assert named["two_players"] == 1
        assert (named["attack_on_own"], named["attack_on_other"]) == ((0, 3) if seat == 0 else (3, 0))
        assert named["own_fall"] == game.fall_frames()[number, seat]
        assert named["other_settles"] == (game.action[number, 1 - seat] != 0)
    alone = games_in_play(3, 1, seed=3)
    situation = alone.prospects(*waiting_pairs(alone)).situations
    assert not situation[:, len(BOARD_FEATURES) : 2 * len(BOARD_FEATURES)].any()
    assert not situation[:, SITUATION_FEATURES.index("two_players")].any()


def test_slots_hold_what_looks_different_and_the_lowest_if_there_are_too_many() -> None:
    games = games_in_play(10, 1, seed=1)
    numbers, seats = waiting_pairs(games)
    wide, narrow = games.prospects(numbers, seats), games.prospects(numbers, seats, 8)
    assert wide.ids.shape == (len(numbers), SLOTS)
    listed = games.placements()
    for row, number in enumerate(numbers):
        different = listed.ids[number][(listed.ids[number] == listed.canonical[number]) & (listed.ids[number] >= 0)]
        assert wide.ids[row, : wide.counts[row]].tolist() == different[-SLOTS:].tolist()
        assert narrow.ids[row].tolist() == different[-8:].tolist()
        assert (wide.ids[row, wide.counts[row] :] == -1).all()
        assert not wide.features[row, wide.counts[row] :].any()


@pytest.mark.parametrize(
    ("numbers", "seats", "slots"),
    [
        *(([0, 0], [0, 0], 64), ([GAMES], [0], 64), ([0], [1], 64), ([-1], [0], 64), ([0], [2], 64)),
        *(([0], [0], 0), ([0, 1], [0], 64), ([0], [0], 1000)),
    ],
)
def test_impossible_questions_are_refused(numbers: list[int], seats: list[int], slots: int) -> None:
    games = games_in_play(2, 1, seed=2)
    with pytest.raises(ValueError):
        games.prospects(np.array(numbers, np.int32), np.array(seats, np.int32), slots)
