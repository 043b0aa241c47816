"""How a player in training does against the bots, for its curves."""

from __future__ import annotations

from mario_rl.environment.drmario.bots import BOTS, make_bot
from mario_rl.selfplay.evaluation import figures
from mario_rl.selfplay.match import Conditions, play_match
from mario_rl.selfplay.players import Player

FIRST_BOARD = 20_000  # boards that `selfplay evaluate` does not begin with


def bot_scores(player: Player, games: int, level: int, speed: str) -> dict[str, float]:
    """Its score against each of the bots, by name."""
    conditions = Conditions(level, speed, first_seed=FIRST_BOARD)
    scores = {}
    for name in BOTS:
        records = play_match(player, make_bot(name), games, conditions)
        scores[name] = float(figures(player.name, name, records, conditions)["rate"])
    return scores


def shown(scores: dict[str, float]) -> str:
    """For a line of text."""
    return ", ".join(f"{100 * score:.0f} % against {name}" for name, score in scores.items())
