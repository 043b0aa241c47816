"""Writes docs/results.md, and tables in README.md and docs/cluster.md: `python -m benchmarks.report`.

All of it comes from benchmarks/results/*.json. The figures and the pages are committed together; a test writes the
pages again and compares.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks import (
    distill_report,
    dreamer_report,
    drmario_report,
    explore_report,
    reference_report,
    selfplay_report,
    server_report,
    training_report,
)
from benchmarks.cluster_report import cluster_page, cluster_section
from benchmarks.curriculum_report import curriculum_section
from benchmarks.worker import SOURCE_TREE

RESULTS = SOURCE_TREE / "benchmarks" / "results"
RESULTS_PAGE = SOURCE_TREE / "docs" / "results.md"
README = SOURCE_TREE / "README.md"
CLUSTER_PAGE = SOURCE_TREE / "docs" / "cluster.md"
README_BEGIN = "<!-- results: written by `python -m benchmarks.report` -->\n"
README_END = "<!-- end of results -->\n"


@dataclass(frozen=True)
class Goal:
    """What a figure says, the value we aim at, and whether that is the least or the most it should be."""

    figure: str
    says: str
    value: float
    at_most: bool = False

    def row(self, ratios: dict[str, float | None]) -> str:
        """A table row: what, measured, goal."""
        measured = ratios[self.figure]
        shown = "not measured" if measured is None else self._with_unit(measured)
        missed = measured is None or (measured > self.value if self.at_most else measured < self.value)
        bound = "at most" if self.at_most else "at least"
        return f"| {self.says} | **{shown}** | {bound} {self._with_unit(self.value)}{' (missed)' if missed else ''} |"

    def _with_unit(self, value: float) -> str:
        if self.figure.startswith("exchange_share"):
            return f"{100 * value:.2g} %"
        return f"{value:g}{' µs' if self.figure.endswith('_us') else '×'}"


GOALS = {
    "emulators": [
        Goal("ram_vs_cynes", "one console, RAM only, against cynes", 45),
        Goal("ram_vs_stable_retro", "one console, RAM only, against stable-retro", 10),
        Goal("render_vs_stable_retro", "one console, every frame drawn, against stable-retro", 2.3),
        Goal("save_load_us", "save and load a state", 10, at_most=True),
    ],
    "environment": [
        Goal("pixels16_vs_stable_retro", "16 lanes of 84×84×4 pixels, against stable-retro in 16 processes", 18),
        Goal("tiles32_vs_stable_retro", "32 lanes of tiles, against stable-retro with RAM in 32 processes", 25),
        Goal("threads2_vs_1", "two threads against one, 32 lanes of tiles", 1.8),
    ],
    "gradients": [
        Goal("exchange_share", "share of a worker's time for the exchange of gradients", 0.03, at_most=True),
        Goal("workers2_vs_1", "two workers against one, gradients per second", 1.7),
        Goal("exchange_share_laptop", "that share with `--preset laptop` (ddqn)", 0.03, at_most=True),
        Goal("workers2_vs_1_laptop", "two workers against one with `--preset laptop` (ddqn)", 1.7),
        Goal("shm_vs_gloo", "a gradient exchanged between two processes, against gloo", 1),
        Goal("shm_vs_pipe", "a gradient exchanged between two processes, against a pipe", 1),
    ],
}


SECTIONS = ("cluster", "training", "dreamer", "explore", "curriculum", "drmario", "selfplay", "distill")
SECTIONS += ("reference", "server")


def summary_table(reports: dict[str, dict[str, Any]]) -> str:
    """The figures we have goals for, of all benchmarks that were run: the table in the README."""
    rows = [goal.row(reports[name]["ratios"]) for name, goals in GOALS.items() if name in reports for goal in goals]
    if "training" in reports:
        rows += training_report.goal_rows(reports["training"])
    if "dreamer" in reports:
        rows += dreamer_report.goal_rows(reports["dreamer"])
    table = "\n".join(["| Super Mario Bros. 1-1 | measured | goal |", "|---|---|---|", *rows]) + "\n"
    if "explore" in reports:
        rows = explore_report.goal_rows(reports["explore"])
        table += (
            "\n" + "\n".join(["| Super Mario Bros., all levels | measured | goal |", "|---|---|---|", *rows]) + "\n"
        )
    if "drmario" in reports:
        rows = drmario_report.goal_rows(reports["drmario"])
        table += "\n" + "\n".join(["| Dr. Mario | measured | goal |", "|---|---|---|", *rows]) + "\n"
    if "selfplay" in reports:
        rows = selfplay_report.goal_rows(reports["selfplay"])
        table += "\n" + "\n".join(["| Dr. Mario, self-play | measured | goal |", "|---|---|---|", *rows]) + "\n"
    if "distill" in reports:
        rows = distill_report.goal_rows(reports["distill"])
        head = ["| Dr. Mario, inside the cartridge | measured | goal |", "|---|---|---|"]
        table += "\n" + "\n".join([*head, *rows]) + "\n"
    real = [("reference", reference_report), ("server", server_report)]
    rows = [row for name, report in real if name in reports for row in report.goal_rows(reports[name])]
    if rows:
        table += "\n" + "\n".join(["| Mednafen, the real emulator | measured | goal |", "|---|---|---|", *rows]) + "\n"
    return table


def results_page(reports: dict[str, dict[str, Any]]) -> str:
    """The whole of docs/results.md: a section for each benchmark that was run."""
    emulators, environment = reports["emulators"], reports["environment"]
    sections = gradients_section(reports["gradients"]) if "gradients" in reports else ""
    sections += cluster_section(reports["cluster"]) if "cluster" in reports else ""
    sections += training_report.training_section(reports["training"]) if "training" in reports else ""
    sections += dreamer_report.dreamer_section(reports["dreamer"]) if "dreamer" in reports else ""
    sections += explore_report.explore_section(reports["explore"]) if "explore" in reports else ""
    sections += curriculum_section(reports["curriculum"]) if "curriculum" in reports else ""
    sections += drmario_report.drmario_section(reports["drmario"]) if "drmario" in reports else ""
    sections += selfplay_report.selfplay_section(reports["selfplay"]) if "selfplay" in reports else ""
    sections += distill_report.distill_section(reports["distill"]) if "distill" in reports else ""
    sections += reference_report.reference_section(reports["reference"]) if "reference" in reports else ""
    sections += server_report.server_section(reports["server"]) if "server" in reports else ""
    consoles = [
        f"| {name} {figures['version']} | {figures['ram']['per_cpu_second']:,.0f} | "
        f"{figures['render']['per_cpu_second']:,.0f} | {figures['save_load_us']:g} |"
        for name, figures in emulators["systems"].items()
        if figures["available"]
    ]
    vectors = [
        f"| {name} {figures['version']} | {measurement} | {rate['per_second']:,.0f} |"
        for name, figures in environment["systems"].items()
        if figures["available"]
        for measurement, rate in figures.items()
        if isinstance(rate, dict)
    ]
    memory = emulators["systems"]["mario-rl"]["memory"]
    return f"""# Results

Written by `make bench` (`python -m benchmarks.report`); do not edit.

- Consoles: {conditions(emulators)}.
- Vector environments: {conditions(environment)}.

Systems take turns in rounds; a ratio is the median of the rounds' ratios.

{summary_table({"emulators": emulators, "environment": environment})}
## One console

Frames per second of CPU time, one core, the same 600 frames of running and jumping through 1-1, over and over
(`benchmarks/smb_run.py`). RAM only: four frames a call where the system can; cynes, stable-retro and nes-py draw
all the same. Drawn: every frame handed over as an RGB array.

| | RAM only | drawn | save + load, µs |
|---|---|---|---|
{chr(10).join(consoles)}

{memory["lanes"]} of our consoles take {memory["megabytes"]:.0f} MB.

## Vector environments

Environment steps per second of wall time, all lanes together: random actions, frame skip 4, preprocessing and
resets included. stable-retro runs in its usual form: an AsyncVectorEnv with a process per lane and Gymnasium's grey,
resize and stack wrappers; its episodes end when all lives are lost, ours at a death.

- `pixels16`: 84×84 grey, 4 stacked, 16 lanes; ours with two threads.
- `tiles32`, `tiles32_one_thread`: our tiles, 32 lanes, two threads and one.
- `ram32`: RAM observations, 32 lanes.

| | measurement | steps/s |
|---|---|---|
{chr(10).join(vectors)}
{sections}"""


def gradients_section(report: dict[str, Any]) -> str:
    """The part of docs/results.md about gradients."""
    rates = [
        f"| {names[measurement]} | {rate['per_second']:,.0f} |"
        for names, system in ((EXCHANGES, "exchange"), (TRAININGS, "training"))
        for measurement, rate in report["systems"][system].items()
        if isinstance(rate, dict)
    ]
    return f"""
## Gradients

{conditions(report)}.

{summary_table({"gradients": report})}
Exchanged: {report["vector"]["floats"]:,} numbers, summed between two processes that both get the sum. Training: DDQN in
real workers with a real coordinator. With the defaults a worker makes a gradient of every 64 steps of its lanes; with
`--preset laptop` of every step, and smaller ones. The share counts what a worker computes and waits for to send
gradients and to get weights, of all that it computes and waits for.

| | per second |
|---|---|
{chr(10).join(rates)}
"""


EXCHANGES = {
    "shm": "exchanged by our shared memory",
    "gloo": "exchanged by gloo's all-reduce (torch.distributed)",
    "pipe": "exchanged by a multiprocessing pipe",
}
TRAININGS = {
    "default1": "gradients of one worker, defaults",
    "default2": "gradients of two workers, defaults",
    "laptop1": "gradients of one worker, `--preset laptop`",
    "laptop2": "gradients of two workers, `--preset laptop`",
}


def conditions(report: dict[str, Any]) -> str:
    """Where and how a benchmark was run."""
    machine = report["machine"]
    return (
        f"{report['rounds']} rounds{' (--quick)' if report['quick'] else ''} on {machine['date']}, {machine['cpu']}, "
        f"{machine['cores']} cores, {machine['system']}, Python {machine['python']}, "
        f"load {machine['load_at_start']:g} at the start"
    )


def with_table(page: str, table: str) -> str:
    """A page with the table between its two markers replaced."""
    before, begin, rest = page.partition(README_BEGIN)
    _, end, after = rest.partition(README_END)
    if not begin or not end:
        raise ValueError(f"the page lacks the markers {README_BEGIN.strip()} and {README_END.strip()}")
    return f"{before}{begin}{table}{end}{after}"


def load_reports() -> dict[str, dict[str, Any]]:
    """The figures of all benchmarks that were run, as `--json FILE` wrote them."""
    files = {name: RESULTS / f"{name}.json" for name in (*GOALS, *SECTIONS)}
    return {name: json.loads(file.read_text()) for name, file in files.items() if file.is_file()}


def main() -> None:
    """Rewrite the pages."""
    reports = load_reports()
    RESULTS_PAGE.write_text(results_page(reports))
    README.write_text(with_table(README.read_text(), summary_table(reports)))
    if "cluster" in reports:
        CLUSTER_PAGE.write_text(with_table(CLUSTER_PAGE.read_text(), cluster_page(reports["cluster"])))
    print(
        f"wrote {RESULTS_PAGE.relative_to(SOURCE_TREE)}, the tables in README.md and docs/cluster.md", file=sys.stderr
    )


if __name__ == "__main__":
    main()
