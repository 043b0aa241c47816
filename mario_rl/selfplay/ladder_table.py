"""A ladder for people to read: who stands where, and who scored how much against whom."""

from __future__ import annotations

from mario_rl.selfplay.ladder import Ladder


def table(ladder: Ladder) -> str:
    """Lines of text, the best player first."""
    players = ladder.ratings()
    width = max(len(player.name) for player in players)
    conditions = ladder.conditions
    points = ladder.points()
    games = points + points.T
    head = "".join(f"{place:>7}" for place in range(1, len(players) + 1))
    lines = [
        f"level {conditions.level} {conditions.speed}, {conditions.backend}, {ladder.games} games a pair; "
        f"Elo, {ladder.anchor or 'the average'} is 0; score against each place in %",
        f"   {'':<{width}}{'rating':>8}{'95 % interval':>18}{'games':>7}{'score':>7} {head}",
    ]
    for place, player in enumerate(players, 1):
        row = ladder.names.index(player.name)
        interval = f"{player.low:.0f} to {player.high:.0f}"
        scores = ""
        for other in players:
            column = ladder.names.index(other.name)
            met = games[row, column] > 0
            shown = f"{100 * points[row, column] / games[row, column]:.1f}" if met else "-"
            scores += f"{shown:>7}"
        lines.append(
            f"{place:>2} {player.name:<{width}}{player.rating:>8.0f}{interval:>18}"
            f"{player.games:>7}{player.score:>7.1%} {scores}"
        )
    return "\n".join(lines) + "\n"
