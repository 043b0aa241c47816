"""One console on one core: frames per second, RAM only and drawing every frame; saving and loading a state.

Every system runs the same inputs (benchmarks/smb_run.py). Ratios compare CPU time, of which other processes take none.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks import peer_venv
from benchmarks.measurement import System, arguments, exit_with, machine, measure_in_rounds, publish, ratio

ROUNDS, QUICK_ROUNDS = 9, 3
SECONDS = 0.8


def main() -> int:
    """Measure, print, return the exit code."""
    options = arguments(__doc__)
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    report: dict[str, Any] = {"benchmark": "emulators", "quick": options.quick, "rounds": rounds, "machine": machine()}
    peers = peer_venv.peers_python()
    ours = System("mario-rl", sys.executable, "mario_rl_console", ["ram", "render"])
    cynes = System("cynes", peers, "cynes_console", ["ram", "render"])
    stable_retro = System("stable-retro", peers, "stable_retro_console", ["ram", "render"])
    nes_py = System("nes-py", peers, "nes_py_console", ["ram", "render"])
    systems = [ours, stable_retro, cynes, nes_py]

    for system in systems:
        system.start(options.rom)
    measure_in_rounds(systems, rounds, SECONDS)

    figures = {system.name: system.summary() for system in systems}
    for system in systems:
        if system.worker is not None:
            figures[system.name]["save_load_us"] = round(system.worker.ask("save_load")["microseconds"], 2)
    if ours.worker is not None:
        figures[ours.name]["memory"] = ours.worker.ask("memory")
    for system in systems:
        if system.worker is not None:
            system.worker.close()

    report["systems"] = figures
    report["ratios"] = {
        "ram_vs_cynes": ratio(ours.rates("ram", "cpu_s"), cynes.rates("ram", "cpu_s")),
        "ram_vs_stable_retro": ratio(ours.rates("ram", "cpu_s"), stable_retro.rates("ram", "cpu_s")),
        "render_vs_stable_retro": ratio(ours.rates("render", "cpu_s"), stable_retro.rates("render", "cpu_s")),
        "save_load_us": figures[ours.name].get("save_load_us"),
    }
    if nes_py.worker is not None:  # the one peer that may be missing
        report["ratios"]["ram_vs_nes_py"] = ratio(ours.rates("ram", "cpu_s"), nes_py.rates("ram", "cpu_s"))
    return publish(report, options.json)


if __name__ == "__main__":
    exit_with(main)
