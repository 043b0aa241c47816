"""The section of docs/results.md about exploring, from the figures that benchmarks/explore.py gathered."""

from __future__ import annotations

import statistics
from typing import Any

LEVELS = 32
MOST_MINUTES = 10.0  # for all levels with one seed, on two quiet cores


def goal_rows(report: dict[str, Any]) -> list[str]:
    """Table rows: what, measured (the worst seed), goal."""
    verified = min(seed["verified"] for seed in report["seeds"])
    minutes = max(seed["wall_s"] for seed in report["seeds"]) / 60
    return [
        f"| levels found by exploring and verified on two emulators, worst seed | **{verified}** | at least {LEVELS}"
        f"{_missed(verified < LEVELS)} |",
        f"| all of them, slowest seed | **{minutes:.1f} min** | at most {MOST_MINUTES:g} min"
        f"{_missed(minutes > MOST_MINUTES)} |",
    ]


def explore_section(report: dict[str, Any]) -> str:
    """The part of docs/results.md about exploring."""
    machine, seeds = report["machine"], report["seeds"]
    return f"""
## Exploring

Written by `python -m benchmarks.explore` on {machine["date"]}, {machine["cpu"]}, {machine["cores"]} cores, \
{machine["system"]}, Python {machine["python"]}: `mario-rl explore --all` with seeds 0 to {len(seeds) - 1}, one after \
the other. The minutes contain verification, shortening, maps and videos.

| Super Mario Bros., all levels | measured | goal |
|---|---|---|
{chr(10).join(goal_rows(report))}

{seeds_table(report)}

Frames explored until the end of the level was first reached (least, median and most of the seeds); CPU seconds of
exploring, as many frames again for shorter ways included (median). A step is four frames. Steps of the first route
found and of the shortened one, and what that leaves on the clock, are those of the seed whose route is the shortest.

{levels_table(report)}
"""


def seeds_table(report: dict[str, Any]) -> str:
    """One row a seed: the whole set."""
    rows = []
    for seed in report["seeds"]:
        levels = seed["levels"].values()
        frames = sum(level["frames"] + level["shortening_frames"] for level in levels)
        cpu = sum(level["cpu_s"] for level in levels)
        before, after = (sum(level[name] or 0 for level in levels) for name in ("first_route_steps", "route_steps"))
        rows.append(
            [
                str(seed["seed"]),
                f"{seed['found']} / {seed['verified']}",
                f"{frames / 1e6:.1f} M",
                f"{cpu:,.0f}",
                f"{before:,} → {after:,}",
                f"{seed['wall_s'] / 60:.1f}",
                f"{seed['load_at_start']:g}",
            ]
        )
    return _table(["seed", "found / verified", "frames", "CPU-s", "steps", "minutes", "load at the start"], rows)


def levels_table(report: dict[str, Any]) -> str:
    """One row a level, over all seeds."""
    rows = []
    for level in sorted({level for seed in report["seeds"] for level in seed["levels"]}):
        of_seeds = [seed["levels"][level] for seed in report["seeds"] if level in seed["levels"]]
        found = [figures for figures in of_seeds if figures["found"]]
        if not found:
            rows.append([level, "not found", "", "", "", ""])
            continue
        frames = [figures["frames"] for figures in found]
        best = min(found, key=lambda figures: figures["route_steps"])
        verified = sum(figures["verified"] for figures in of_seeds)
        names = sorted({name for figures in found for name in figures["verified_on"]}, reverse=True)
        rows.append(
            [
                level,
                f"{min(frames):,} / {statistics.median(frames):,.0f} / {max(frames):,}",
                f"{statistics.median(figures['cpu_s'] for figures in found):.1f}",
                f"{best['first_route_steps']} → {best['route_steps']}",
                str(best["clock_left"]),
                f"{verified} of {len(report['seeds'])}: {', '.join(names)}",
            ]
        )
    return _table(["level", "frames explored", "CPU-s", "route, steps", "clock left", "verified"], rows)


def _missed(missed: bool) -> str:
    return " (missed)" if missed else ""


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])
