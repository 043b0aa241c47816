"""The section of docs/results.md about self-play, from the figures that benchmarks/selfplay.py gathered."""

from __future__ import annotations

from typing import Any

from benchmarks.selfplay_buttons import buttons_table, buttons_text
from benchmarks.tables import in_brackets, number, table

Figures = dict[str, Any]

LEAST_CLEAR_RATES = {(10, "med"): 1.0, (15, "med"): 0.99, (20, "med"): 0.9, (20, "hi"): 0.8}
MOST_CAPSULES = 100.0  # a clear at level 10
LEAST_WIN_RATES = {"random": 1.0, "greedy": 0.9, "search": 0.55}
EVEN = 0.5  # which the interval against the last of them has to be above
LEAST_AGAINST_POOL = 0.6
LEAST_DECISIONS_PER_S = 6000
MOST_MINUTES = 60
MOST_BYTES = 2_000_000
CONSOLES = {"embedded": "Antidote on our console", "mednafen": "Antidote in Mednafen"}


def goal_rows(report: Figures) -> list[str]:
    """Table rows: what, measured, goal."""
    return [*_solo_rows(report), *_versus_rows(report), *_console_rows(report), *_training_rows(report)]


def _solo_rows(report: Figures) -> list[str]:
    solo = {(found["level"], found["speed"]): found for found in report["solo"]}
    rows = []
    for (level, speed), least in LEAST_CLEAR_RATES.items():
        found = solo.get((level, speed))
        missed = found is None or found["rate"] < least
        rows.append(_row(f"clears level {level} {speed.upper()}, alone", _rate(found), _at_least(least), missed))
    capsules = solo.get((10, "med"), {}).get("capsules_per_clear")
    shown = None if capsules is None else f"{capsules:.1f}"
    too_many = capsules is None or capsules > MOST_CAPSULES
    return [*rows, _row("capsules it takes for level 10", shown, f"at most {MOST_CAPSULES:g}", too_many)]


def _versus_rows(report: Figures) -> list[str]:
    versus = {found["b"]: found for found in report["versus"] if found["level"] == 10}
    rows = []
    for bot, least in LEAST_WIN_RATES.items():
        found = versus.get(bot)
        missed = found is None or found["rate"] < least
        goal = _at_least(least)
        if bot == "search":
            goal += f", the interval above {100 * EVEN:g} %"
            missed = missed or found is None or found["low"] <= EVEN
        rows.append(_row(f"beats {bot} at level 10 MED", _rate(found), goal, missed))
    worst = min(report["pool"], key=lambda found: found["rate"], default=None)
    missed = worst is None or worst["rate"] < LEAST_AGAINST_POOL
    says = f"beats the strongest of the {len(report['pool'])} past selves that its pool has admitted"
    return [*rows, _row(says, _rate(worst), _at_least(LEAST_AGAINST_POOL), missed)]


def _console_rows(report: Figures) -> list[str]:
    rows = []
    for backend, name in CONSOLES.items():
        played = [found for found in report["consoles"] if found["backend"] == backend]
        games, identical = (sum(found[key] for found in played) for key in ("games", "identical"))
        within = bool(played) and all(found["within"] for found in played)
        says = f"{name}: games exactly as on the rules engine, of {games}"
        shown = f"{identical}{'' if within else ', rates outside its interval'}" if played else None
        rows.append(_row(says, shown, "all, rates within its interval", identical < games or not within))
    times = report["decision"]
    longest, frame = times["longest_ms"], times["frame_ms"]
    says = f"time for a decision in a single game, longest of {times['decisions']}"
    return [*rows, _row(says, f"{longest:.1f} ms", f"at most a frame, {frame:.1f} ms", longest > frame)]


def _training_rows(report: Figures) -> list[str]:
    training, rate = report["training"], report["speed"]["decisions_per_s"]
    minutes, size = training["minutes"], training["player_bytes"]
    return [
        _row(
            "decisions a second learned end to end, one core",
            f"{rate:,}",
            f"at least {LEAST_DECISIONS_PER_S:,}",
            rate < LEAST_DECISIONS_PER_S,
        ),
        _row("training on two cores", f"{minutes:.1f} min", f"under {MOST_MINUTES} min", minutes >= MOST_MINUTES),
        _row("the player's file", f"{size / 1e6:.2g} MB", f"under {MOST_BYTES / 1e6:g} MB", size >= MOST_BYTES),
    ]


def _row(says: str, measured: str | None, goal: str, missed: bool) -> str:
    return f"| {says} | **{measured or 'not measured'}** | {goal}{' (missed)' if missed else ''} |"


def _rate(found: Figures | None) -> str | None:
    return None if found is None else f"{100 * found['rate']:.1f} %"


def _at_least(rate: float) -> str:
    return "always" if rate == 1 else f"at least {100 * rate:g} %"


# --- the section --------------------------------------------------------------------------------------------------


def selfplay_section(report: Figures) -> str:
    """The part of docs/results.md about self-play."""
    machine, training, program, times = report["machine"], report["training"], report["program"], report["decision"]
    return f"""
## Dr. Mario, self-play

Written by `make selfplay` on {machine["date"]}, {machine["cpu"]}, {machine["cores"]} cores, {machine["system"]}, \
Python {machine["python"]}, load {machine["load_at_start"]:g} at the start{", `--quick`" if report["quick"] else ""}.

| Dr. Mario, self-play | measured | goal |
|---|---|---|
{chr(10).join(goal_rows(report))}

Trained from nothing by `{training["command"]}`: {training["decisions"]:,} decisions in {training["minutes"]:.1f} \
minutes, seed {training["seed"]}, {training["pool_members"]} past selves in its pool at the end. It looks at where the \
capsule can go and chooses; there is no search at play time. Its card is \
[champions/README.md](../mario_rl/selfplay/champions/README.md).

The best that others have published, as far as we know: level 11 cleared in 93.8 % of 48 games, by a search three \
capsules deep on an FPGA. We know of no agent that learned by itself \
and is public with a measured rate.

Games on the rules engine, with the game's own random numbers and gravity, {program["games"]} of each kind, each on a
board of its own from board {program["first_board"]} on. Both players always have the same viruses and capsules and \
change seats after
every game. Score: wins and half the draws. In brackets the 95 % interval (Wilson). The boards are not held out:
training draws from all the game has.

### Alone

{solo_table(report)}

### Against others, level {program["level"]} MED

{versus_table(report)}

The pool admits a past self only when it is beaten by \
{100 * report["training"]["settings"]["pool_gate"]:g} %. So the goal against its members is nearly met by that rule;
the next past self, which is not beaten so clearly yet, waits outside.

### On the cartridge

The same boards as above, the first {program["console_games"]} of them, played frame by frame on consoles. A game is the
same if its result, its capsules and its frames are. A rate should lie within the rules engine's interval on the same
boards; that on all boards is of more games and so narrower than the luck of these.

{consoles_table(report)}

A decision takes {times["median_ms"]:.2g} ms (median of {times["decisions"]:,} in single games, longest \
{times["longest_ms"]:.2g} ms); a frame of the console lasts {times["frame_ms"]:.1f} ms.

### How fast it learns

{speed_text(report)}

### The ladder

Everybody against everybody, {report["ladder"]["games"]} games a pair; the model is in [ladder.md](ladder.md).

![Ratings with their intervals, and the score of everybody against everybody](pictures/ladder.png)

{ladder_table(report)}
{buttons_text(report)}
### The commands

    {(chr(10) + "    ").join(commands(report))}
"""


def solo_table(report: Figures) -> str:
    """One row a level and speed."""
    rows = [
        [
            str(found["level"]),
            found["speed"].upper(),
            in_brackets(found),
            number(found["capsules_per_clear"]),
            number(found["most_capsules"], 0),
            str(found["top_outs"]),
            number(found["seconds"], 0),
        ]
        for found in report["solo"]
    ]
    return table(["level", "speed", "cleared", "capsules, mean", "most", "topped out", "seconds a game"], rows)


def versus_table(report: Figures) -> str:
    """One row an opponent: the bots, the past selves, the oldest first, and the one that waits to be admitted."""
    rows = [
        [
            opponent_name(found["b"]) + (", not admitted yet" if found is report["candidate"] else ""),
            in_brackets(found),
            f"{found['wins']} / {found['draws']} / {found['losses']}",
            number(found["sent"]),
            number(found["received"]),
            number(found["seconds"], 0),
        ]
        for found in [*report["versus"], *report["pool"], *_candidate(report)]
    ]
    return table(["opponent", "score", "won / drawn / lost", "garbage sent", "received", "seconds a game"], rows)


def _candidate(report: Figures) -> list[Figures]:
    return [] if report["candidate"] is None else [report["candidate"]]


def opponent_name(source: str) -> str:
    """A bot by its name, a past self by its decisions."""
    if not source.endswith(".pt"):
        return source
    steps = source.rsplit("-", 1)[-1].removesuffix(".pt")
    return f"itself after {int(steps):,} decisions"


def consoles_table(report: Figures) -> str:
    """One row a console and opponent."""
    rows = [
        [
            CONSOLES[found["backend"]],
            "alone" if found["b"] is None else f"against {found['b']}",
            f"{100 * found['rate']:.1f} %",
            f"{100 * found['engine_low']:.1f} to {100 * found['engine_high']:.1f} %",
            f"{100 * found['engine_low_all_boards']:.1f} to {100 * found['engine_high_all_boards']:.1f} %",
            f"{found['identical']} of {found['games']}",
        ]
        for found in report["consoles"]
    ]
    head = ["", "", "cleared, or score", "the engine's interval, same boards", "all boards", "the same games"]
    return table(head, rows)


def speed_text(report: Figures) -> str:
    """Ours, the peer's, and what a second process gives."""
    speed = report["speed"]
    settings = speed["settings"]
    text = f"""\
{speed["decisions_per_s"]:,} decisions a second of CPU time, played and learned from, in one process, going on from \
{speed["from"]} ({settings["envs"]} games, {settings["rollout"]:,} decisions an update, batches of \
{settings["batch_size"]:,}, {settings["epochs"]} epochs; games for two included). {speed["peer"]}, with our single \
environments, as many games, batches and epochs, in turns with it: {speed["peer_decisions_per_s"]:,}. Ours is \
{speed["vs_peer"]:g} times as fast (medians of {speed["rounds"]} rounds)."""
    if speed["two_processes_vs_one"] is None:
        return text
    return (
        f"{text} By the clock, one process learns from {speed['one_process_decisions_per_wall_s']:,} a second, "
        f"two (`--workers 1`) from {speed['two_processes_decisions_per_wall_s']:,}: "
        f"{speed['two_processes_vs_one']:g} times as many."
    )


def ladder_table(report: Figures) -> str:
    """One row a player, the best first."""
    rows = [
        [
            str(place),
            player["name"],
            f"{player['rating']:.0f}",
            f"{player['low']:.0f} to {player['high']:.0f}",
            str(player["games"]),
            f"{100 * player['score']:.1f} %",
        ]
        for place, player in enumerate(report["ladder"]["players"], 1)
    ]
    anchor = report["ladder"]["anchor"] or "the average"
    return table(["", "", f"rating (Elo, {anchor} is 0)", "95 % interval", "games", "score"], rows)


def commands(report: Figures) -> list[str]:
    """What trains it and plays all that again."""
    matches = [*report["solo"], *report["versus"], *report["pool"], *_candidate(report), *report["consoles"]]
    own = [report["training"]["command"], *(found["command"] for found in matches), report["ladder"]["command"]]
    return own if report["buttons"] is None else [*own, report["buttons"]["levels"][-1]["command"]]


def tables(report: Figures) -> str:
    """The figures for people."""
    parts = [solo_table(report), versus_table(report), consoles_table(report), ladder_table(report)]
    parts += [] if report["buttons"] is None else [buttons_table(report)]
    return "\n\n".join([*parts, speed_text(report), "\n".join(goal_rows(report))])
