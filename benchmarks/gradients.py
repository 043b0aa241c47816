"""What moving gradients costs: our shared memory beside gloo and a pipe, and the exchange's share of real training.

An exchange is one vector summed between two processes, both of which get the sum. Training is DDQN, one worker against
two, in two ways: with the defaults, a gradient for every 64 steps of the lanes, and as `--preset laptop` has it, a
small gradient for every step, which is the most that we ask of the exchange. It counts everything a worker does to hand
gradients over and to get weights, waiting included: the CPU time of that and the time it slept, of all its CPU time and
sleep.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

from benchmarks.measurement import System, arguments, exit_with, machine, measure_in_rounds, publish, ratio
from mario_rl.distributed.shared_memory import release_leftovers

ROUNDS, QUICK_ROUNDS = 9, 3
SECONDS, QUICK_SECONDS = 3.0, 2.0


def main() -> int:
    """Measure, print, return the exit code."""
    options = arguments(__doc__)
    rounds, seconds = (QUICK_ROUNDS, QUICK_SECONDS) if options.quick else (ROUNDS, SECONDS)
    report: dict[str, Any] = {"benchmark": "gradients", "quick": options.quick, "rounds": rounds, "machine": machine()}
    exchange = System("exchange", sys.executable, "gradient_exchange", ["shm", "gloo", "pipe"])
    training = System("training", sys.executable, "gradient_training", ["default1", "default2", "laptop1", "laptop2"])
    systems = [exchange, training]
    try:
        for system in systems:
            system.start(options.rom)
        measure_in_rounds(systems, rounds, seconds)
        if exchange.worker is not None:
            report["vector"] = exchange.worker.ask("size")
    finally:
        for system in systems:
            if system.worker is not None:
                system.worker.close()
        release_leftovers()  # of workers that Ctrl-C has killed

    report["systems"] = {system.name: system.summary(["wall_s"]) for system in systems}
    shm = exchange.rates("shm", "wall_s")
    report["ratios"] = {
        "exchange_share": exchange_share(training, "default2"),
        "exchange_share_laptop": exchange_share(training, "laptop2"),
        "shm_vs_gloo": ratio(shm, exchange.rates("gloo", "wall_s")),
        "shm_vs_pipe": ratio(shm, exchange.rates("pipe", "wall_s")),
        "workers2_vs_1": ratio(training.rates("default2", "wall_s"), training.rates("default1", "wall_s")),
        "workers2_vs_1_laptop": ratio(training.rates("laptop2", "wall_s"), training.rates("laptop1", "wall_s")),
    }
    return publish(
        report | report["ratios"], options.json
    )  # the ratios also stand on their own: they are what is asked for


def exchange_share(training: System, measurement: str) -> float | None:
    """The share of a worker's time that the exchange takes: the median of the rounds."""
    answers = training.answers.get(measurement)
    if not answers:
        return None
    return round(statistics.median(answer["exchange_s"] / answer["worker_s"] for answer in answers), 4)


if __name__ == "__main__":
    exit_with(main)
