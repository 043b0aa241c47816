"""The players that press buttons: measured, and for people.

One of them is packaged as `buttons`. Others stand beside it, to compare: what it was before PPO, another network.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.measurement import say
from benchmarks.tables import in_brackets, number, table
from mario_rl.runs.directory import RunError
from mario_rl.selfplay import evaluation
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.match import Conditions, play_match

Figures = dict[str, Any]
NAME = "buttons"  # of the one that is packaged


def load_beside(words: list[str]) -> dict[str, FramesPlayer]:
    """Players of "NAME=PLAYER.pt"; a RunError about what is none."""
    found = {}
    for word in words:
        name, equals, file = word.partition("=")
        if not (name and equals and file):
            raise RunError(f"--beside is NAME=PLAYER.pt, not {word!r}")
        found[name] = FramesPlayer.load(Path(file))
    return found


def buttons_figures(
    player: FramesPlayer, beside: dict[str, FramesPlayer], levels: tuple[int, ...], games: int, first_board: int
) -> Figures:
    """How often each of them clears each level alone."""

    def measured(name: str, who: FramesPlayer) -> Figures:
        rows = []
        for level in levels:
            conditions = Conditions(level, first_seed=first_board)
            found = evaluation.figures(name, None, play_match(who, None, games, conditions), conditions)
            say(f"{name}, L{level}: {found['rate']:.1%} ({found['low']:.1%} to {found['high']:.1%}) of {games}")
            rows.append({key: value for key, value in found.items() if key != "seeds"})
        return {"name": name, "levels": rows, "card": who.card, "network": who.network.kind}

    return measured(NAME, player) | {"beside": [measured(name, who) for name, who in beside.items()]}


def buttons_text(report: Figures) -> str:
    """The section about them, if there is one."""
    buttons = report["buttons"]
    if buttons is None:
        return ""
    text = f"""
### The player that presses buttons

It sees the bottle and chooses what to hold on the pad; nobody steers for it. On the ladder it is `{NAME}`. \
Alone, MED:

{buttons_table(report)}
"""
    if buttons["beside"]:
        text += f"""
Beside it, on the same boards: share cleared, 95 % interval, capsules a cleared bottle. How each was trained is below.

{comparison_table(report)}

{chr(10).join(f"- `{one['name']}` ({one['network']}): {one['card'].get('trained', '?')}" for one in _all(buttons))}
"""
    return text


def buttons_table(report: Figures) -> str:
    """One row a level."""
    rows = [
        [
            str(found["level"]),
            str(found["games"]),
            in_brackets(found),
            number(found["capsules_per_clear"]),
            number(found["seconds"], 0),
        ]
        for found in report["buttons"]["levels"]
    ]
    return table(["level", "games", "cleared", "capsules, mean", "seconds a game"], rows)


def comparison_table(report: Figures) -> str:
    """One row a level, one column a player."""
    players = _all(report["buttons"])
    rows = [
        [str(found[0]["level"]), *(f"{in_brackets(one)}, {number(one['capsules_per_clear'])}" for one in found)]
        for found in zip(*(one["levels"] for one in players), strict=True)
    ]
    return table(["level", *(one["name"] for one in players)], rows)


def _all(buttons: Figures) -> list[Figures]:
    return [buttons, *buttons["beside"]]
