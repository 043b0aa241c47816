"""The section of docs/results.md about Mednafen, from the figures that benchmarks/reference.py gathered."""

from __future__ import annotations

from typing import Any

LEAST_FRAMES_PER_S = 2000
LEAST_RATIO = 1.5
LEAST_FRAMES = {"smb": 10_000, "antidote": 10_000}
NAMES = {"smb": "Super Mario Bros.", "antidote": "Antidote"}


def goal_rows(report: dict[str, Any]) -> list[str]:
    """Table rows: what, measured, goal."""
    rows = []
    for game, name in NAMES.items():
        frames, mismatches = report[game]["frames"], report[game]["mismatches"]
        least = LEAST_FRAMES[game] // (4 if report["quick"] else 1)
        rows.append(
            f"| {name}: frames in which our core and Mednafen differ, of {frames:,} | **{mismatches}** | 0 of at least "
            f"{least:,}{_missed(mismatches > 0 or frames < least)} |"
        )
    speed = report["speed"]
    fps, ratio, wall = speed["lockstep_fps"], speed["lockstep_vs_free_run"], speed["lockstep_vs_free_run_wall"]
    launches = sum(one["launches"] for one in report["launches"].values())
    in_play = sum(one["in_play"] for one in report["launches"].values())
    least = 10 if report["quick"] else 200
    return [
        *rows,
        f"| Mednafen in lock-step, frames a second | **{fps:,}** | at least {LEAST_FRAMES_PER_S:,}"
        f"{_missed(fps < LEAST_FRAMES_PER_S)} |",
        f"| Mednafen in lock-step, against itself unheld (`-nothrottle`), per CPU second | **{ratio:g}×** | at least "
        f"{LEAST_RATIO:g}×{_missed(ratio < LEAST_RATIO)} |",
        f"| the same per second, with a second core to itself | **{wall:g}×** | at least {LEAST_RATIO:g}×"
        f"{_missed(wall < LEAST_RATIO)} |",
        f"| launches of Mednafen that ended in play, of {launches} | **{in_play}** | all of at least {least}"
        f"{_missed(in_play < launches or launches < least)} |",
    ]


def reference_section(report: dict[str, Any]) -> str:
    """The part of docs/results.md about Mednafen."""
    machine, smb, antidote, speed = report["machine"], report["smb"], report["antidote"], report["speed"]
    slowest = max(one["slowest_s"] for one in report["launches"].values())
    return f"""
## Mednafen

Written by `mario-rl bench emulators --reference mednafen` on {machine["date"]}, {machine["cpu"]}, \
{machine["cores"]} cores, {machine["system"]}, Python {machine["python"]}, load {machine["load_at_start"]:g} at the \
start{", `--quick`" if report["quick"] else ""}; Mednafen {report["mednafen"]}.

| Mednafen | measured | goal |
|---|---|---|
{chr(10).join(goal_rows(report))}

Our core and Mednafen play from power-on with the same pads; all of RAM is compared after every frame.
Super Mario Bros.: the routes through {smb["runs"]} levels. {smb["cut"]} frames ended while the game was still at work,
which our core sees a few cycles earlier than Mednafen; they are equal in the frame before and in the frame after.
Antidote: {antidote["runs"]} games with pads at random. [mednafen.md](mednafen.md) has what differs at power-on.

Speed: Super Mario Bros. from power-on, four frames a step, nothing drawn: {speed["lockstep_fps"]:,} frames a second \
on one core, {speed["lockstep_mednafen_share"]:.0%} of it Mednafen's own work. By itself, as it comes \
(`mednafen -nothrottle 1`, without sound or screen): {speed["free_run_fps"]:,}, for which it takes a second core if \
there is one: one thread emulates, another shows. Medians of {speed["rounds"]} rounds in turns.
The slowest launch into play took {slowest:g} s.
"""


def _missed(missed: bool) -> str:
    return " (missed)" if missed else ""
