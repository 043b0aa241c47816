"""Vector environments of Super Mario Bros. 1-1: steps per second with random actions, frame skip 4, resets included.

Pixels: 84x84 grey, 4 stacked, 16 lanes. Tiles (ours) and RAM (stable-retro): 32 lanes. Ratios compare wall time, on
all the cores there are: stable-retro may use a process per lane, we use two threads.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks import peer_venv
from benchmarks.measurement import System, arguments, exit_with, machine, measure_in_rounds, publish, ratio

ROUNDS, QUICK_ROUNDS = 9, 5
SECONDS, QUICK_SECONDS = 3.0, 1.5


def main() -> int:
    """Measure, print, return the exit code."""
    options = arguments(__doc__)
    rounds, seconds = (QUICK_ROUNDS, QUICK_SECONDS) if options.quick else (ROUNDS, SECONDS)
    report: dict[str, Any] = {
        "benchmark": "environment",
        "quick": options.quick,
        "rounds": rounds,
        "machine": machine(),
    }
    ours = System("mario-rl", sys.executable, "mario_rl_vector", ["pixels16", "tiles32", "tiles32_one_thread"])
    stable_retro = System("stable-retro", peer_venv.peers_python(), "stable_retro_vector", ["pixels16", "ram32"])
    systems = [ours, stable_retro]

    for system in systems:
        system.start(options.rom)
    measure_in_rounds(systems, rounds, seconds)
    for system in systems:
        if system.worker is not None:
            system.worker.close()

    report["systems"] = {system.name: system.summary(["wall_s"]) for system in systems}
    tiles = ours.rates("tiles32", "wall_s")
    report["ratios"] = {
        "pixels16_vs_stable_retro": ratio(ours.rates("pixels16", "wall_s"), stable_retro.rates("pixels16", "wall_s")),
        "tiles32_vs_stable_retro": ratio(tiles, stable_retro.rates("ram32", "wall_s")),
        "threads2_vs_1": ratio(tiles, ours.rates("tiles32_one_thread", "wall_s")),
    }
    return publish(report, options.json)


if __name__ == "__main__":
    exit_with(main)
