"""Each term of the reward by an example, and the tally of events against a game that writes them down."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.episode import Outcome, Rounds
from mario_rl.environment.drmario.memory import GameMemory, as_one_game
from mario_rl.environment.drmario.reward import PRESETS, TERMS, RewardWeights, reward_terms, total
from mario_rl.environment.drmario.tally import LONGEST_GAP, Tally
from tests.environment.drmario.plain_games import begin, fill, random_play

ALL = np.ones(1, np.bool_)
FIRST = RewardWeights()


@pytest.mark.parametrize("players", [1, 2])
def test_a_tally_that_looks_often_enough_misses_nothing(players: int) -> None:
    """What is counted where it happens in the reference is what the tally finds in the RAM."""
    seen = dict.fromkeys(("viruses", "pieces", "links", "sent", "received", "locks"), 0)
    for number in range(30):
        game = begin(500 + 31 * number, 20, players, speed=2)
        fill(game, number)
        ram = np.frombuffer(game.ram, np.uint8)[None]
        memory_view = GameMemory(ram)
        tally = Tally(1)
        tally.begin(ALL, memory_view)
        gaps = random.Random(number)
        wait = 1
        for played in random_play(game, number, 1200):
            wait -= 1
            if wait == 0:
                tally.look(memory_view)
                wait = gaps.randint(1, LONGEST_GAP)
            if played.ram[0x46] != 4 or played.ram[0x59]:
                break
        tally.look(memory_view)
        for name, expected in game.counts.items():
            assert getattr(tally, name)[0].tolist() == expected, (name, number)
        for name in seen:
            seen[name] += sum(game.counts[name])
    assert seen["links"] > 20 and seen["viruses"] > 100 and seen["locks"] > 100
    if players == 2:
        assert seen["sent"] > 10 and seen["received"] > 10


def nothing() -> Outcome:
    """A step in which nothing happened in an empty bottle."""
    no, none = np.zeros(1, np.bool_), np.zeros(1, np.int32)
    masks = dict.fromkeys(("win", "loss", "draw", "top_out", "truncated", "terminated"), no)
    counts = dict.fromkeys(("viruses", "pieces", "links", "virus_lead"), none)
    return Outcome(**counts, height=np.zeros(1), novelty=np.zeros(1), **masks, any_ended=False)


@pytest.mark.parametrize(
    ("changed", "first", "scaled"),
    [
        ({}, 0.1, 0),
        ({"viruses": 3}, 300.1, 0.3),
        ({"pieces": 4}, 20.1, 0.02),
        ({"links": 2}, 40.1, 0.04),
        ({"height": 6.5}, 0.1 - 3.25, -0.0013),
        ({"win": True}, 1000.1, 1),
        ({"loss": True}, -499.9, -1),
        ({"draw": True}, 0.1, 0),
        ({"top_out": True}, -999.9, -1),
        ({"virus_lead": 5, "novelty": 1.0}, 0.1, 0),
    ],
)
def test_the_presets(changed: dict[str, float], first: float, scaled: float) -> None:
    outcome = dataclasses.replace(nothing(), **{name: np.array([value]) for name, value in changed.items()})
    assert total(reward_terms(outcome, PRESETS["first"]))[0] == pytest.approx(first)
    assert total(reward_terms(outcome, PRESETS["scaled"]))[0] == pytest.approx(scaled, abs=1e-6)


def test_optional_terms() -> None:
    outcome = dataclasses.replace(nothing(), virus_lead=np.array([-2]), novelty=np.array([0.5]))
    weights = RewardWeights.of({"preset": "scaled", "virus_lead": 0.25, "exploration": 0.1})
    terms = reward_terms(outcome, weights)
    assert set(terms) == set(TERMS)
    assert terms["virus_lead"][0] == pytest.approx(-0.5)
    assert terms["exploration"][0] == pytest.approx(0.05)
    assert weights.win == 1


@pytest.mark.parametrize(
    ("rewards", "says"),
    [
        ("best", "unknown rewards 'best'; the presets are first, scaled"),
        ({"preset": "old"}, "unknown rewards 'old'"),
        ({"viruses": 1.0}, "unknown reward term 'viruses'; the terms are virus, survival"),
        ({"virus": "much"}, "the weight of the reward term virus is a number, not 'much'"),
    ],
)
def test_mistakes_in_weights_are_named(rewards: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        RewardWeights.of(rewards)  # type: ignore[arg-type]


def ended(players: int, **bytes_of_block: tuple[int, int]) -> GameMemory:
    """A round with 5 viruses in each bottle but for what is given: name=(player 1, player 2)."""
    game = as_one_game(np.zeros(2048, np.uint8))
    game.mode[0], game.players[0] = memory.MODE_PLAY, players
    for name, values in ({"VIRUSES": (5, 5)} | bytes_of_block).items():
        game.blocks[0, :, getattr(memory, name)] = values
    return game


@pytest.mark.parametrize(
    ("players", "viruses", "failed", "results"),
    [
        (1, (5, 5), (0, 0), ("", None)),
        (1, (0, 5), (0, 0), ("win", None)),
        (1, (5, 0), (0, 1), ("", None)),  # nobody sits in the second seat
        (1, (5, 5), (1, 0), ("top_out", None)),
        (2, (0, 5), (0, 0), ("win", "loss")),
        (2, (5, 0), (0, 0), ("loss", "win")),
        (2, (0, 0), (0, 0), ("draw", "draw")),
        (2, (5, 5), (1, 0), ("top_out", "win")),
        (2, (5, 5), (0, 1), ("win", "top_out")),
        (2, (5, 5), (1, 1), ("draw", "draw")),
        (2, (0, 5), (0, 1), ("win", "loss")),  # the cleared bottle counts first
        (2, (5, 0), (0, 1), ("loss", "win")),
    ],
)
def test_how_a_round_ends(
    players: int, viruses: tuple[int, int], failed: tuple[int, int], results: tuple[str, str | None]
) -> None:
    game = ended(players, VIRUSES=viruses, FAILED=failed)
    rounds = Rounds(1, None)
    rounds.begin(ALL, game)
    rounds.begin_step()
    for seat, result in enumerate(results):
        if result is None:
            continue
        outcome = rounds.outcome(game, seat)
        assert outcome.results().tolist() == [result]
        assert outcome.terminated.tolist() == [result != ""] and outcome.any_ended == (result != "")
        paid = {name for name in ("win", "loss", "draw", "top_out") if getattr(outcome, name)[0]}
        assert paid == ({result} if result else set()), "exactly one of them is paid"


def test_a_round_is_truncated_by_its_frames() -> None:
    game = ended(1)
    rounds = Rounds(1, 10)
    rounds.begin(ALL, game)
    for frames, truncated in ((4, False), (5, False), (1, True)):
        rounds.begin_step()
        rounds.frames += frames
        assert rounds.outcome(game, 0).truncated.tolist() == [truncated]
    game.blocks[0, 0, memory.VIRUSES] = 0
    assert rounds.outcome(game, 0).terminated.all() and not rounds.outcome(game, 0).truncated.any()


def test_a_step_counts_only_what_happened_in_it_and_for_both_seats() -> None:
    game = ended(2)
    rounds = Rounds(1, None)
    rounds.begin(ALL, game)
    rounds.begin_step()
    game.blocks[0, :, memory.VIRUSES] = (3, 4)
    game.blocks[0, 0, memory.CELLS_MATCHED] = 9
    game.blocks[0, 0, memory.COMBO] = 2
    rounds.watch(game)
    first, second = rounds.outcome(game, 0), rounds.outcome(game, 1)
    assert (first.viruses[0], first.pieces[0], first.links[0], first.virus_lead[0]) == (2, 7, 1, 1)
    assert (second.viruses[0], second.pieces[0], second.links[0], second.virus_lead[0]) == (1, 0, 0, -1)
    rounds.begin_step()
    rounds.watch(game)
    first = rounds.outcome(game, 0)
    assert (first.viruses[0], first.pieces[0], first.links[0], first.virus_lead[0]) == (0, 0, 0, 0)


def test_the_exploration_bonus_fades_with_every_capsule_in_the_same_place() -> None:
    game = ended(1, X=(2, 0), ROTATION=(3, 0), CAPSULES=(1, 0), ACTION=(6, 6))
    rounds = Rounds(1, None)
    rounds.begin(ALL, game)
    paid = []
    for column in (2, 2, 2, 5, 2):
        game.blocks[0, 0, memory.X] = column
        game.blocks[0, 0, memory.CAPSULES] += 1
        for action in (memory.ACTION_FALLING, memory.ACTION_SETTLING):
            game.action[0, 0] = action
            rounds.begin_step()
            rounds.watch(game)
        paid.append(rounds.outcome(game, 0).novelty[0])
        rounds.begin_step()
        assert rounds.outcome(game, 0).novelty[0] == 0
    assert paid == pytest.approx([1, 2**-0.5, 3**-0.5, 1, 0.5])


def test_the_height_is_the_average_of_the_columns() -> None:
    game = ended(1)
    game.fields[:] = memory.EMPTY
    game.fields[0, 0, 12:, 0] = 0x80
    game.fields[0, 0, 4, 7] = 0xD1
    rounds = Rounds(1, None)
    assert rounds.outcome(game, 0).height.tolist() == [(4 + 12) / 8]
    assert reward_terms(rounds.outcome(game, 0), FIRST)["height"][0] == pytest.approx(-1)
