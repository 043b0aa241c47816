"""The section of docs/results.md about players inside the cartridge, from what benchmarks/distill.py gathered."""

from __future__ import annotations

from typing import Any

from benchmarks.selfplay_report import ladder_table
from benchmarks.tables import in_brackets, number, table

Figures = dict[str, Any]

LEAST_CLEAR_RATES = {"tiny": {5: 0.9}, "small": {5: 1.0, 10: 0.97}, "large": {10: 0.99, 15: 0.9}}
"""By size and level, on the running ROM, MED."""
LEAST_FRAMES = 200_000  # on time
KINDS = {"half-tree": "tree, asked about each half"}
"""What forms are called, where their name does not say it."""


def goal_rows(report: Figures) -> list[str]:
    """Table rows: what, measured, goal."""
    rows = []
    for found in report["best"]:
        levels = {level["level"]: level for level in found["levels"]}
        rows.append(
            _row(f"{found['size']}: the whole player", f"{found['bytes']:,} bytes", f"at most {found['budget']:,}",
                 found["bytes"] > found["budget"])
        )  # fmt: skip
        for level, least in LEAST_CLEAR_RATES[found["size"]].items():
            if level not in levels:
                continue
            rate = levels[level]["rate"]
            goal = "always" if least == 1 else f"at least {100 * least:g} %"
            says = f"{found['size']} clears level {level} MED, as the ROM, of {levels[level]['games']}"
            rows.append(_row(says, f"{100 * rate:.1f} %", goal, rate < least))
    frames, late = (sum(found[key] for found in report["best"]) for key in ("frames", "late_frames"))
    rows.append(_row(f"late frames, of {frames:,}", str(late), f"0 of at least {LEAST_FRAMES:,}",
                     late > 0 or frames < LEAST_FRAMES))  # fmt: skip
    games, identical, alike = (sum(found[key] for found in report["best"]) for key in ("games", "identical", "alike"))
    rows.append(_row(f"games of the ROM that end as its mirror's, of {games:,}", f"{alike:,}", "all", alike < games))
    rows.append(_row("of these, the same to the frame", f"{identical:,}", "all", identical < games))
    boards, other = (sum(found[key] for found in report["best"]) for key in ("boards", "differences"))
    says = f"bottles on which the 6502 chooses otherwise than its mirror, of {boards:,}"
    rows.append(_row(says, str(other), "0", other > 0))
    return rows


def _row(says: str, measured: str, goal: str, missed: bool) -> str:
    return f"| {says} | **{measured}** | {goal}{' (missed)' if missed else ''} |"


def distill_section(report: Figures) -> str:
    """The part of docs/results.md about players inside the cartridge."""
    machine, program = report["machine"], report["program"]
    return f"""
## Dr. Mario, inside the cartridge

Written by `make distill` on {machine["date"]}, {machine["cpu"]}, {machine["cores"]} cores, {machine["system"]}, \
Python {machine["python"]}, load {machine["load_at_start"]:g} at the start{", `--quick`" if report["quick"] else ""}.

| Dr. Mario, inside the cartridge | measured | goal |
|---|---|---|
{chr(10).join(goal_rows(report))}

Everything here is played by the ROM: Antidote with the player burned into it, on our console, its own code pressing its
own buttons; MED, the game's own random numbers and gravity. Bytes are those of the whole player: choosing, steering and
the hook. In brackets the 95 % interval (Wilson). [cartridge.md](cartridge.md) explains how it works.

The best that others have published, as far as we know: 506 bytes that remove 15 % of the viruses of level 11.

### Alone, {program["games"]} games each, boards 0 to {program["games"] - 1}

{best_table(report)}

A round that is not cleared was topped out, or cut off after ten minutes: there are bottles it knows no way out of.

### Every form in every size

{program["other_games"]} games each, boards {program["other_boards"]} to \
{program["other_boards"] + program["other_games"] - 1}. The best of a size, by its rates at levels 5, 10 and 15 added \
up, is the one above, which was then measured on boards that did not choose it. "Skill a byte": those rates added up, \
in % a hundred bytes.

{forms_table(report)}

### Stage by stage

Share of the bottles cleared at levels 5, 10 and 15, by the rules engine, on boards 0 to \
{report["players"][0]["stages"][0]["games"] - 1}; the teacher is a network on the features that the cartridge counts, \
taught by {report["teacher"]}, and no player for a cartridge.

{stages_table(report)}

### Against others, level {program["level"]} MED, {program["versus_games"]} games each

The ROM always has the second seat (VS CPU). Score: wins and half the draws.

{versus_table(report)}

### On time, and as in Python

{proofs_table(report)}

A call is one of those in which it thinks; the cartridge leaves it {report["best"][0]["cycles_limit"]:,} cycles. \
The most is
over {report["best"][0]["boards"]:,} bottles of its own games, cycle by cycle in py65. `tiny` has no byte left to \
forget where it aimed before: if
there is no room anywhere in the bottle it goes on aiming there, which its mirror does not know. The games that are \
not the same to the frame are of that kind, and lost on both sides.

### The ladder

The mirrors, since seats change on a ladder and a cartridge's do not; {report["ladder"]["games"]} games a pair.

![Ratings with their intervals, and the score of everybody against everybody](pictures/ladder_cartridge.png)

{ladder_table(report)}

### The commands

    {(chr(10) + "    ").join(commands(report))}
"""


def best_table(report: Figures) -> str:
    """One row a player and level."""
    rows = [
        [
            f"`{found['size']}`, {_form(found)}, {found['bytes']:,} bytes" if place == 0 else "",
            str(level["level"]),
            in_brackets(level),
            number(level["capsules_per_clear"]),
            str(level["top_outs"]),
            str(level["cut_off"]),
            number(level["seconds"], 0),
        ]
        for found in report["best"]
        for place, level in enumerate(found["levels"])
    ]
    return table(["", "level", "cleared", "capsules, mean", "topped out", "cut off", "seconds a game"], rows)


def forms_table(report: Figures) -> str:
    """One row a player, by size."""
    levels = [level["level"] for level in report["players"][0]["levels"]]
    rows = []
    for found in report["players"]:
        rates = {level["level"]: level["rate"] for level in found["levels"]}
        together = 100 * sum(rates[level["level"]] for level in report["best"][0]["levels"])
        rows.append(
            [f"{found['budget']:,}", _form(found), f"{found['bytes']:,}", str(_cycles(found)),
             *(f"{100 * rates[level]:.0f} %" for level in levels), f"{100 * together / found['bytes']:.1f}"]
        )  # fmt: skip
    head = ["room", "form", "bytes", "cycles a call, at most", *(f"L{level}" for level in levels), "skill a byte"]
    return table(head, rows)


def _cycles(found: Figures) -> str:
    cycles = found["stages"][-1]["cycles"]
    return "-" if cycles is None else f"{cycles:,}"


def _form(found: Figures) -> str:
    return KINDS.get(found["kind"], found["kind"])


def stages_table(report: Figures) -> str:
    """One row a stage of each player."""
    teacher = report["players"][0]["stages"][0]
    rows = [[teacher["name"], "", "", *_rates(teacher)]]
    for found in report["players"]:
        for stage in found["stages"][1:]:
            size, cycles = f"{stage['bytes']:,}", f"{stage['cycles']:,}"
            rows.append([f"{stage['name']}, room for {found['budget']:,}", size, cycles, *_rates(stage)])
    return table(["", "bytes", "cycles a call", "L5", "L10", "L15"], rows)


def _rates(stage: Figures) -> list[str]:
    return [f"{100 * rate:.1f} %" for rate in stage["clear_rates"].values()]


def versus_table(report: Figures) -> str:
    """One row a player and opponent."""
    rows = [
        [
            f"`{found['size']}`",
            game["b"],
            in_brackets(game),
            f"{game['wins']} / {game['draws']} / {game['losses']}",
            number(game["sent"]),
            number(game["received"]),
            number(game["seconds"], 0),
        ]
        for found in report["best"]
        for game in found["versus"]
    ]
    return table(["", "opponent", "score", "won / drawn / lost", "garbage sent", "received", "seconds a game"], rows)


def proofs_table(report: Figures) -> str:
    """One row a player."""
    rows = [
        [
            f"`{found['size']}`",
            f"{found['cycles']:,}",
            f"{found['late_frames']} of {found['frames']:,}",
            f"{found['differences']} of {found['boards']:,}",
            f"{found['identical']:,} of {found['games']:,}",
            f"{found['mednafen']['identical']} of {found['mednafen']['games']}",
        ]
        for found in report["best"]
    ]
    head = ["", "cycles a call, at most", "late frames", "bottles chosen otherwise than by the mirror",
            "games as its mirror's, on our console", "in Mednafen"]  # fmt: skip
    return table(head, rows)


def commands(report: Figures) -> list[str]:
    """What distils them and plays all that again."""
    lines = [f"{found['command']} -o {found['file']}" for found in report["players"]]
    for found in report["best"]:
        lines.append(f"mario-rl burn {found['size']} -o {found['size']}.nes")
        lines += [part["command"] for part in [*found["levels"], *found["versus"], found["mednafen"]]]
    return [*lines, report["ladder"]["command"]]


def tables(report: Figures) -> str:
    """The figures for people."""
    parts = [best_table(report), forms_table(report), stages_table(report), versus_table(report), proofs_table(report)]
    return "\n\n".join([*parts, ladder_table(report), "\n".join(goal_rows(report))])
