"""Fair measurement: systems take turns in rounds, so that a busy moment of the machine hits all of them alike."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NoReturn

from benchmarks.peer_venv import PeersNotInstalled
from benchmarks.worker import Answer, Worker, WorkerFailed

Clock = Literal["cpu_s", "wall_s"]
CLOCK_NAMES = {"cpu_s": "per_cpu_second", "wall_s": "per_second"}


@dataclass
class System:
    """One measured system: its worker process and the measurements to ask of it each round."""

    name: str
    python: Path | str
    module: str
    measurements: Sequence[str]
    worker: Worker | None = None
    version: str = ""
    answers: dict[str, list[Answer]] = field(default_factory=dict)

    def start(self, rom_file: str) -> None:
        """Start the worker; a system that cannot start is left out of the rounds, visibly."""
        try:
            self.worker = Worker(self.python, self.module, rom_file)
            self.version = self.worker.version
        except WorkerFailed as failure:
            say(f"{self.name} cannot be measured: {failure}")

    def rates(self, measurement: str, clock: Clock) -> list[float]:
        """Units per second of that clock, one per round."""
        return [answer["units"] / answer[clock] for answer in self.answers.get(measurement, [])]

    def summary(self, clocks: Sequence[Clock] = ("cpu_s", "wall_s")) -> dict[str, Any]:
        """The medians over the rounds, for the JSON object.

        A worker's CPU clock does not see its child processes, so a system with children has no figure by that clock.
        """
        if self.worker is None:
            return {"available": False}
        figures: dict[str, Any] = {"available": True, "version": self.version}
        for measurement, answers in self.answers.items():
            rates = {
                CLOCK_NAMES[clock]: round(statistics.median(self.rates(measurement, clock)), 1) for clock in clocks
            }
            figures[measurement] = {**rates, "rounds": len(answers)}
        return figures


def say(message: str) -> None:
    """Progress goes to stderr: stdout may be the JSON object's."""
    print(message, file=sys.stderr, flush=True)


def measure_in_rounds(systems: Sequence[System], rounds: int, seconds: float) -> None:
    """One warm-up round that does not count, then `rounds` that do; in each, every measurement of every system."""
    for turn in range(rounds + 1):
        say("warm-up round" if turn == 0 else f"round {turn} of {rounds}")
        for system in systems:
            for measurement in system.measurements if system.worker else ():
                assert system.worker is not None
                answer = system.worker.ask(measurement, seconds=seconds / 3 if turn == 0 else seconds)
                if turn > 0:
                    system.answers.setdefault(measurement, []).append(answer)


def ratio(ours: list[float], theirs: list[float]) -> float | None:
    """How many times as fast: the median of the rounds' ratios, each of two neighbours in time."""
    if not ours or not theirs:
        return None
    return round(statistics.median(a / b for a, b in zip(ours, theirs, strict=True)), 2)


def arguments(description: str | None) -> argparse.Namespace:
    """What `mario-rl bench` hands over."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rom", required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", metavar="FILE", help="- is stdout")
    return parser.parse_args()


def exit_with(main: Callable[[], int]) -> NoReturn:
    """Run a benchmark; what the user can put right is one line and exit code 2."""
    try:
        sys.exit(main())
    except PeersNotInstalled as problem:
        say(f"the peers could not be installed ({problem}); check the network and try again")
    except KeyboardInterrupt:
        say("interrupted")
    sys.exit(2)


def machine() -> dict[str, Any]:
    """What the figures were measured on; a load above 0 at the start means a busy machine."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        named = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(), re.MULTILINE)
        model = named[1] if named else model
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
        "load_at_start": round(os.getloadavg()[0], 2),
    }


def publish(report: dict[str, Any], destination: str | None) -> int:
    """Print the table, write the JSON object where it is wanted, and return the exit code: 1 if a ratio is missing."""
    print(table(report), file=sys.stderr if destination == "-" else sys.stdout)
    text = json.dumps(report, indent=2)
    if destination == "-":
        print(text)
    elif destination is not None:
        Path(destination).write_text(text + "\n")
    missing = [name for name, value in report["ratios"].items() if value is None]
    if missing:
        say(f"not measured: {', '.join(missing)}")
    return 1 if missing else 0


def table(report: dict[str, Any]) -> str:
    """The figures for people: every system's rates, then the ratios."""
    lines = [f"{'system':14} {'measurement':20} {'per CPU second':>16} {'per second':>16}"]
    for name, figures in report["systems"].items():
        for measurement, rate in figures.items():
            if isinstance(rate, dict) and "per_second" in rate:
                shown = [f"{rate[clock]:,.0f}" if clock in rate else "-" for clock in CLOCK_NAMES.values()]
                lines.append(f"{name:14} {measurement:20} {shown[0]:>16} {shown[1]:>16}")
    lines.append("")
    lines += [f"{name:30} {'-' if value is None else value:>10}" for name, value in report["ratios"].items()]
    return "\n".join(lines)
