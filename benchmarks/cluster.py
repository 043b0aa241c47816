"""What training on a Ray cluster costs beside processes with shared memory, and how many gradients a coordinator takes.

All on this machine. Training: the same runs by real workers and a real coordinator, as processes and as Ray actors,
with the defaults (ddqn: a gradient for every 64 steps of the lanes) and as `--preset laptop` has them (a small one for
every step, which is the most that we ask). Capacity: a real coordinator whose workers do nothing but send. And what
gradients and weights of every model weigh, with the pace at which one worker makes them: what a network has to carry.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
from collections.abc import Sequence
from typing import Any

import psutil

from benchmarks.cluster_runs import BYTES, GROUPS, LOADS, QUICK_GROUPS, QUICK_LOADS, Load, Setup
from benchmarks.measurement import System, arguments, exit_with, machine, measure_in_rounds, publish, ratio, say
from benchmarks.worker import Answer, Worker, WorkerFailed
from mario_rl.distributed.shared_memory import release_leftovers

ROUNDS, QUICK_ROUNDS = 5, 2
LOAD_SECONDS, QUICK_LOAD_SECONDS = 1.5, 1.0
GOODBYE_SECONDS = 60.0


def main() -> int:
    """Measure, print, return the exit code."""
    options = arguments(__doc__)
    if importlib.util.find_spec("ray") is None:
        say("the benchmark of clusters needs Ray, which is not installed: pip install 'mario-rl[cluster]'")
        return 2
    try:
        return publish(figures(options.rom, options.quick), options.json)
    except WorkerFailed as failure:
        say(str(failure))
        return 2
    finally:
        release_leftovers()  # of processes that Ctrl-C has killed


def figures(rom_file: str, quick: bool) -> dict[str, Any]:
    """Everything that is measured, as one JSON object."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    report: dict[str, Any] = {"benchmark": "cluster", "quick": quick, "rounds": rounds, "machine": machine()}
    processes = Started("processes", sys.executable, "cluster_processes", [])
    actors = Started("actors", sys.executable, "cluster_actors", [])
    for group in QUICK_GROUPS if quick else GROUPS:
        processes.measurements = [setup.name for setup in group.processes]
        actors.measurements = [setup.name for setup in group.actors]
        take_turns([processes, actors], rom_file, rounds, group.seconds)
    loads = QUICK_LOADS if quick else LOADS
    capacity = Started("capacity", sys.executable, "cluster_capacity", [load.name for load in loads])
    take_turns([capacity], rom_file, rounds, QUICK_LOAD_SECONDS if quick else LOAD_SECONDS)
    vectors = vectors_of_models(rom_file)

    report["ray"] = actors.version
    report["systems"] = {system.name: system.summary(["wall_s"]) for system in (processes, actors, capacity)}
    report["ratios"] = {name: against_processes(name, actors, processes) for name in actors.answers}
    gradients = {vector["model"]: vector["gradient"] for vector in vectors}
    report["loads"] = [load_figures(load, capacity.answers[load.name], gradients[load.model]) for load in loads]
    report["models"] = [vector | pace(vector, processes) for vector in vectors]
    return report


class Started(System):
    """A system whose process is told what to start; one that cannot is the end of the benchmark."""

    def start(self, rom_file: str) -> None:
        """Start what is to be measured next."""
        say(f"starting {self.name}: {', '.join(self.measurements)}")
        others = psutil.Process().children()
        try:
            self.worker = Worker(self.python, self.module, rom_file, *self.measurements)
        except KeyboardInterrupt:  # the process that is starting has it, too, and ends what it has begun
            starting = [child for child in psutil.Process().children() if child not in others]
            psutil.wait_procs(starting, GOODBYE_SECONDS)
            raise
        self.worker.ask("ready")
        self.version = self.worker.version


def take_turns(systems: Sequence[Started], rom_file: str, rounds: int, seconds: float) -> None:
    """Start these, measure them in rounds, end them."""
    try:
        for system in systems:
            system.start(rom_file)
        measure_in_rounds(systems, rounds, seconds)
    finally:
        for system in systems:
            if system.worker is not None:  # one of an earlier turn has ended, and lets this pass
                system.worker.close()


def vectors_of_models(rom_file: str) -> list[dict[str, Any]]:
    """See cluster_models.py; asked in a process of its own, for this one needs no torch."""
    worker = Worker(sys.executable, "cluster_processes", rom_file)
    try:
        return worker.ask("vectors")["vectors"]
    finally:
        worker.close()


def against_processes(name: str, actors: System, processes: System) -> float | None:
    """How many times as many gradients a second as processes make; float16 is measured against these, too."""
    return ratio(actors.rates(name, "wall_s"), processes.rates(name.removesuffix("_float16"), "wall_s"))


def load_figures(load: Load, answers: Sequence[Answer], gradient: int) -> dict[str, Any]:
    """The medians of the rounds. Bytes: gradients that come in; and each node that has workers gets the weights."""

    def median(what: str, per: str = "wall_s") -> float:
        return statistics.median(answer[what] / answer[per] for answer in answers)

    megabytes = gradient * BYTES[load.precision] / 1e6
    return {
        "model": load.model,
        "precision": load.precision,
        "senders": load.senders,
        "gradients_per_s": round(median("units"), 1),
        "updates_per_s": round(median("updates"), 1),
        "in_mb_per_s": round(median("units") * megabytes, 1),
        "out_mb_per_s": round(median("updates") * megabytes, 1),
        "coordinator_cpu_share": round(median("coordinator_cpu_s"), 3),
        "raylet_cpu_share": round(median("raylet_cpu_s"), 3),
        "gradients_per_cpu_s": round(median("units", per="coordinator_cpu_s"), 1),
    }


def pace(vector: dict[str, Any], processes: System) -> dict[str, Any]:
    """What one worker process makes a second, and what of it a network would carry to and fro; None if not measured."""
    rates = processes.rates(Setup(vector["model"], vector["preset"], workers=1).name, "wall_s")
    rate = statistics.median(rates) if rates else None
    numbers = vector["gradient"] + vector["fetched"]
    carried = {name: None if rate is None else round(rate * numbers * size / 1e6, 2) for name, size in BYTES.items()}
    return {"gradients_per_s": None if rate is None else round(rate, 2), "mb_per_s": carried}


if __name__ == "__main__":
    exit_with(main)
