"""The section of docs/results.md about Dr. Mario, from the figures that benchmarks/drmario.py gathered."""

from __future__ import annotations

from typing import Any

LEAST_FRAMES_PER_S = 5_000_000
LEAST_PLACEMENTS_PER_S = 300_000
LEAST_LOCKSTEP_FRAMES = 300_000
LEAST_CLEAR_RATES = {("greedy", "L10"): 0.99, ("search", "L15"): 0.99, ("search", "L20"): 0.85}


def goal_rows(report: dict[str, Any]) -> list[str]:
    """Table rows: what, measured, goal."""
    frames, placements = report["frames_per_s"], report["placements_per_s"]
    compared, mismatches = report["lockstep"]["frames"], report["lockstep"]["mismatches"]
    least_compared = LEAST_LOCKSTEP_FRAMES // (10 if report["quick"] else 1)
    rows = [
        f"| frames a second of the rules engine, one core | **{frames / 1e6:.1f} M** | at least "
        f"{LEAST_FRAMES_PER_S / 1e6:g} M{_missed(frames < LEAST_FRAMES_PER_S)} |",
        f"| placements a second, listed and carried out, one core | **{placements / 1e3:,.0f} k** | at least "
        f"{LEAST_PLACEMENTS_PER_S / 1e3:g} k{_missed(placements < LEAST_PLACEMENTS_PER_S)} |",
        f"| frames in which engine and cartridge differ, of {compared:,} | **{mismatches}** | 0 of at least "
        f"{least_compared:,}{_missed(mismatches > 0 or compared < least_compared)} |",
    ]
    for (bot, level), least in LEAST_CLEAR_RATES.items():
        rate = report["bots"][bot][level]["clear_rate"]
        rows.append(
            f"| {bot} clears level {level[1:]}, MED | **{100 * rate:.1f} %** | at least {100 * least:g} %"
            f"{_missed(rate < least)} |"
        )
    return rows


def drmario_section(report: dict[str, Any]) -> str:
    """The part of docs/results.md about Dr. Mario."""
    machine, lockstep = report["machine"], report["lockstep"]
    seed = next(iter(next(iter(report["bots"].values())).values()))["first_seed"]
    return f"""
## Dr. Mario

Written by `make drmario` on {machine["date"]}, {machine["cpu"]}, {machine["cores"]} cores, {machine["system"]}, \
Python {machine["python"]}, load {machine["load_at_start"]:g} at the start{", `--quick`" if report["quick"] else ""}.

| Dr. Mario | measured | goal |
|---|---|---|
{chr(10).join(goal_rows(report))}

Frames per second of CPU time, level 10, pads held at random for eight frames, games that are over begun again; the
median of {report["rounds"]} rounds in which the systems take turns.

{speed_table(report)}

Lock-step: the engine and Antidote on the embedded core begin from the same seeds and get the same pads; all state is
compared after every frame. {lockstep["frames"]:,} frames of bot play with one and two players, levels 0 to 20 and all
speeds, {lockstep["rounds"]} rounds to their end, {lockstep["attacks"]} deliveries of garbage: \
{lockstep["mismatches"]} mismatches.

Bots, one player, MED, real gravity, the game's own capsules: rounds from their intro on, with the generator's states
${seed:04X}, ${seed + 2:04X}, ${seed + 4:04X}, ... A round is lost by topping out, or by more than 1000 capsules.

{bots_table(report)}
"""


def speed_table(report: dict[str, Any]) -> str:
    """One row a system."""
    ours = report["frames_per_s"]
    rows = [
        ["rules engine, one player", f"{ours:,}", ""],
        ["rules engine, two players", f"{report['frames_per_s_two_players']:,}", ""],
    ]
    for name, peer in report["peers"].items():
        rows.append([name, f"{peer['frames_per_s']:,}", f"{ours / peer['frames_per_s']:,.0f}×"])
    return _table(["", "frames/s", "the engine is faster by"], rows)


def bots_table(report: dict[str, Any]) -> str:
    """One row a bot and level."""
    rows = [
        [
            bot,
            level[1:],
            str(figures["games"]),
            f"{100 * figures['clear_rate']:.1f} %",
            "-" if figures["capsules"] is None else f"{figures['capsules']:g}",
            "-" if figures["most_capsules"] is None else str(figures["most_capsules"]),
            f"{figures['ms_per_capsule']:g}",
        ]
        for bot, levels in report["bots"].items()
        for level, figures in levels.items()
    ]
    return _table(["bot", "level", "rounds", "cleared", "capsules, mean", "most", "ms a capsule"], rows)


def tables(report: dict[str, Any]) -> str:
    """The figures for people."""
    return f"{speed_table(report)}\n\n{bots_table(report)}\n\n" + "\n".join(goal_rows(report))


def _missed(missed: bool) -> str:
    return " (missed)" if missed else ""


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])
