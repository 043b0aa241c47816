"""The bots: the same choices everywhere, in real rounds on the engine and on the cartridge, and weights that fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mario_rl.emulators.base import RAM_SIZE
from mario_rl.environment.drmario.bot_weights import by_name, load_weights
from mario_rl.environment.drmario.bots import BOTS, BotPlayer, SearchBot, make_bot
from mario_rl.environment.drmario.console import Games, open_games
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.pilot import landing
from mario_rl.environment.drmario.rules import BOARD_FEATURES, IMAGE, MEDIUM, RulesBatch
from mario_rl.environment.drmario.settings import GameSettings
from mario_rl.roms import antidote

SEED = 0x8988
ONE = np.ones(1, np.bool_)


def begun(backend: str, level: int, players: int = 1) -> Games:
    rom = None if backend == "rules" else antidote()
    games = open_games(GameSettings(players=players, backend=backend, rom=rom), 1)
    both = np.ones((1, 2), np.int32)
    games.begin(ONE, np.array([SEED], np.int32), level * both, MEDIUM * both, players)
    return games


def play_round(games: Games, players: list[BotPlayer], most_frames: int = 20_000) -> tuple[list[int], int]:
    """To the end of the round; where capsules came to rest of which the bot had said where, and the frames."""
    game = games.game
    pads = np.zeros((1, 2), np.uint8)
    landed = []
    for frame in range(most_frames):
        if game.round_over()[0]:
            return landed, frame
        for player in players:
            pads[0, player.seat] = player.pads(game.ram[0])
        planned = [player.placement for player in players]
        games.step(pads)
        for player, goal in zip(players, planned, strict=True):
            seat = player.seat
            if goal is not None and game.action[0, seat] == 1:  # it locked
                halves = landing(np.array([goal], np.int32), game.colours[:, seat])
                assert (game.fields[0, seat].reshape(-1)[halves.cells] == halves.values).all()
                landed.append(goal)
    raise AssertionError(f"still playing after {most_frames} frames")


def test_a_round_is_the_same_on_the_engine_the_cartridge_and_natively() -> None:
    """Frame by frame on both, the state compared at the end; and the same number of capsules when the engine plays."""
    rounds = {}
    for backend in ("rules", "embedded"):
        games = begun(backend, level=5)
        landed, frames = play_round(games, [BotPlayer("search")])
        rounds[backend] = landed, frames, games.game.ram[0, IMAGE].tobytes()
        assert games.game.cleared()[0, 0]
    assert rounds["rules"] == rounds["embedded"]

    bot = make_bot("search")
    assert isinstance(bot, SearchBot)
    batch = RulesBatch(1)
    batch.reset(SEED, 5, MEDIUM, 1)
    batch.skip_intro()
    capsules = batch.play(bot.weights, bot.plies)
    assert capsules[0, 0] == len(rounds["rules"][0])
    assert GameMemory(batch.ram).cleared()[0, 0]


def test_two_bots_play_each_other_on_the_cartridge() -> None:
    games = begun("embedded", level=3, players=2)
    landed, _ = play_round(games, [BotPlayer("greedy", 1), BotPlayer(make_bot("random", 3), 2)])
    assert len(landed) > 10
    assert games.game.cleared()[0, 0] or games.game.topped_out()[0, 1], "greedy wins against chance"


@pytest.mark.parametrize(("bot", "level"), [("greedy", 10), ("search", 15)])
def test_they_clear_their_levels(bot: str, level: int) -> None:
    """A small part of what `mario-rl bench drmario` measures, with other rounds."""
    player = make_bot(bot)
    assert isinstance(player, SearchBot)
    batch = RulesBatch(10)
    batch.reset(np.arange(10) * 5432 + 1000, level, MEDIUM, 1)
    batch.skip_intro()
    capsules = batch.play(player.weights, player.plies)[:, 0]
    assert GameMemory(batch.ram).cleared()[:, 0].all()
    assert capsules.mean() < 3 * 4 * (level + 1), "fewer than three capsules a virus"


def test_chance_takes_every_placement_there_is_and_only_those() -> None:
    batch = RulesBatch(300)
    batch.reset(SEED, 4, MEDIUM, 1)
    batch.skip_intro()
    batch.next_decision()
    lanes = np.arange(300) < 299
    chosen = make_bot("random", seed=1).choose(batch, lanes, 0)
    possible = set(batch.placements().ids[0].tolist()) - {-1}
    assert set(chosen[lanes].tolist()) <= possible
    assert len(set(chosen[lanes].tolist())) > 0.9 * len(possible)
    assert chosen.tolist() == make_bot("random", seed=1).choose(batch, lanes, 0).tolist()
    assert chosen.tolist() != make_bot("random", seed=2).choose(batch, lanes, 0).tolist()


def test_ratings_are_in_order_and_begin_with_what_is_chosen() -> None:
    batch = RulesBatch(3)
    batch.reset(SEED, 8, MEDIUM, 1)
    batch.skip_intro()
    batch.next_decision()
    for name in ("greedy", "search"):
        bot = make_bot(name)
        ratings = bot.ratings(batch, 1, 0)
        assert [rating.value for rating in ratings] == sorted((rating.value for rating in ratings), reverse=True)
        assert ratings[0].placement == bot.choose(batch, np.ones(3, np.bool_), 0)[1]
    assert make_bot("random").ratings(batch, 0, 0) == []


def test_a_player_holds_still_when_there_is_nothing_to_do() -> None:
    player = BotPlayer("greedy")
    assert player.pads(np.zeros(RAM_SIZE, np.uint8)) == 0, "a console that was just switched on"
    assert player.pads(np.full(RAM_SIZE, 0xFF, np.uint8)) == 0
    games = begun("rules", level=0)
    pads = np.zeros((1, 2), np.uint8)
    while player.placement is None:
        pads[0, 0] = player.pads(games.game.ram[0])
        games.step(pads)
    games.game.ram[0, 0x68D] = 5
    assert player.pads(games.game.ram[0]) == 0, "paused"
    games.game.ram[0, 0x68D] = 0
    held = [player.pads(games.game.ram[0]) for _ in range(20)]
    assert any(held), "and then it goes on"
    assert BotPlayer("greedy", 2).pads(games.game.ram[0]) == 0, "there is no second seat"


def test_unknown_bots_and_seats() -> None:
    with pytest.raises(ValueError, match=f"unknown bot 'hal'; use one of {', '.join(BOTS)}"):
        make_bot("hal")
    with pytest.raises(ValueError, match="player is 1 or 2"):
        BotPlayer("greedy", 3)


# --- weights ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bot", ["greedy", "search"])
def test_the_packaged_weights(bot: str) -> None:
    weights = load_weights(bot)
    assert weights.shape == (len(BOARD_FEATURES),)
    assert np.isfinite(weights).all()
    assert weights[BOARD_FEATURES.index("viruses")] < 0, "viruses are bad"


def test_weights_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "weights.json"
    weights = np.arange(len(BOARD_FEATURES), dtype=np.float32)
    file.write_text(json.dumps({"greedy": {"weights": by_name(weights)}}))
    assert load_weights("greedy", file).tolist() == weights.tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "cannot read the weights"),
        ("[]", "has no weights for the bot 'greedy'"),
        ('{"search": {}}', "has no weights for the bot 'greedy'"),
        ('{"greedy": {"weights": {"viruses": 1}}}', "not those of this version's features; tune them again"),
        (json.dumps({"greedy": {"weights": dict.fromkeys(BOARD_FEATURES, 5000)}}), "between -1000 and 1000"),
        (json.dumps({"greedy": {"weights": dict.fromkeys(BOARD_FEATURES, "x")}}), "between -1000 and 1000"),
    ],
)
def test_weights_that_do_not_fit(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "weights.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=words):
        load_weights("greedy", file)


def test_weights_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot read the weights in .*nowhere"):
        load_weights("greedy", tmp_path / "nowhere.json")
