"""Makes trained players those that come with the package: their files, with what was measured in their cards, and a
page about them for people.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.selfplay_buttons import buttons_table
from benchmarks.selfplay_report import ladder_table, solo_table, versus_table
from benchmarks.worker import SOURCE_TREE
from mario_rl.atomic_file import write_atomically
from mario_rl.runs.checkpoint import load_checkpoint
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.player_file import save_placement_player
from mario_rl.selfplay.run_directory import SelfPlayDirectory

CHAMPIONS = SOURCE_TREE / "mario_rl" / "selfplay" / "champions"


def package(run: SelfPlayDirectory, buttons: Path | None, report: dict[str, Any], folder: Path) -> None:
    """Write champion.pt, buttons.pt if there is such a player, and README.md."""
    folder.mkdir(exist_ok=True)
    state = load_checkpoint(run.player_pt)
    # How it was trained as the report has it: without the places where the run was kept.
    card = state["card"] | {"settings": report["training"]["settings"], "command": report["training"]["command"]}
    card["rated"] = champion_figures(report)
    save_placement_player(folder / "champion.pt", state["weights"], state["network"], state["steps"], card)
    if buttons is not None:
        player = FramesPlayer.load(buttons)
        player.card["rated"] = buttons_figures(report)
        player.save(folder / "buttons.pt")
    write_atomically(folder / "README.md", page(report).encode())


def champion_figures(report: dict[str, Any]) -> dict[str, Any]:
    """What was measured, in plain values; rates with their 95 % intervals."""
    against = {found["b"]: _interval(found) for found in report["versus"]}
    return {
        "date": report["machine"]["date"],
        "games": report["program"]["games"],
        "alone": {f"L{found['level']} {found['speed']}": _interval(found) for found in report["solo"]},
        "against": {f"{bot}, L{report['program']['level']} med": found for bot, found in against.items()},
        "worst_against_its_pool": min((found["rate"] for found in report["pool"]), default=None),
        "ladder": _standing(report, "champion"),
    }


def buttons_figures(report: dict[str, Any]) -> dict[str, Any]:
    """The same of the player that presses buttons."""
    return {
        "date": report["machine"]["date"],
        "games": report["program"]["buttons_games"],
        "alone": {
            f"L{found['level']} {found['speed']}": [found["clear_rate"], found["low"], found["high"]]
            for found in report["buttons"]["levels"]
        },
        "ladder": _standing(report, "buttons"),
    }


def _interval(found: dict[str, Any]) -> list[float]:
    return [found["rate"], found["low"], found["high"]]


def _standing(report: dict[str, Any], name: str) -> list[float]:
    """Rating and interval on the ladder."""
    player = next(player for player in report["ladder"]["players"] if player["name"] == name)
    return [player["rating"], player["low"], player["high"]]


# --- for people ---------------------------------------------------------------------------------------------------


def page(report: dict[str, Any]) -> str:
    """The model card."""
    training, program, machine = report["training"], report["program"], report["machine"]
    settings = training["settings"]
    return f"""# The players that come with mario-rl

Written by `python -m benchmarks.selfplay --package`; do not edit. All figures, and the commands that made them, are in
[docs/results.md](../../../docs/results.md).

## champion

What it is: a player of Dr. Mario that chooses where each capsule goes. One small network (two layers of
{settings["hidden"]} units) scores every place the capsule can reach, from what the bottle would look like afterwards
and from the situation of both players, and it takes the best one. It does not search. It plays alone and against
others. The file has {training["player_bytes"] / 1000:.0f} kB; loading it runs no code.

How it was trained: by PPO against itself and its past selves, from nothing, without examples of anybody's play.

    {training["command"]}

{training["decisions"]:,} decisions in {training["minutes"]:.1f} minutes on {machine["cores"]} cores \
({machine["cpu"]}), seed {training["seed"]}. Alone first, levels {settings["solo_level"]} at speeds \
{settings["solo_speed"]}, from easy to hard; then against itself ({100 * settings["self_prob"]:g} % of the games for \
two) and a pool of up to {settings["pool_size"]} past selves ({settings["pool_strategy"]}) and bots \
({settings["pool_bots"]}) at level {settings["level"]} {settings["speed"].upper()}, while \
{100 * settings["solo_share"]:g} % of the games stay for one.

How it is rated: {program["games"]} games each on the rules engine, which plays as the cartridge does, with the game's
own random numbers and gravity; in brackets the 95 % interval. Alone:

{solo_table(report)}

Against others, level {program["level"]} MED (score: wins and half the draws):

{versus_table(report)}

Among everybody ({report["ladder"]["games"]} games a pair, level {program["level"]} MED):

{ladder_table(report)}

How to use it:

    mario-rl selfplay evaluate champion search
    mario-rl watch drmario --agent champion
    mario-rl record drmario --agent champion --opponent search --backend mednafen -o match.mp4

Limits:

- It was trained with games for two at level {settings["level"]} {settings["speed"].upper()} only; at other levels and
  speeds it was trained alone.
- The past selves above are those its pool has admitted, which takes a score of
  {100 * settings["pool_gate"]:g} % against them, and the next one, which it does not beat so clearly yet.
- It was rated against the players above and nobody else: no person, no other program. Against somebody who plays quite
  differently the score can be another.
- It sees the capsule in hand and the next one, as the game shows them; it does not know those that come later.
- It knows the rules of the game as its cartridge has them: bottles of 8 by 16, three colours, two halves a capsule.
{_buttons_part(report)}"""


def _buttons_part(report: dict[str, Any]) -> str:
    if report["buttons"] is None:
        return ""
    trained = report["buttons"]["card"].get("trained")
    return f"""
## buttons

What it is: a player that presses the buttons of the pad itself, from what is in the bottle; no placement is steered for
it, while champion leaves the buttons to a planner. Play it as `buttons`, wherever `champion` can be named.

How it was trained: `mario-rl selfplay train --env frames`{f": {trained}" if trained else ""}.

How it is rated: {report["program"]["buttons_games"]} games each, alone, MED. On the ladder above it has \
{_standing(report, "buttons")[0]:.0f}, champion {_standing(report, "champion")[0]:.0f}.

{buttons_table(report)}

Limits: it was trained at medium speed; it presses the same buttons in the same situation, so a mistake can
repeat itself.
"""
