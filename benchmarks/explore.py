"""How long it takes to find a way through all 32 levels, with several seeds, one after the other.

`python -m benchmarks.explore --json benchmarks/results/explore.json` runs `mario-rl explore --all` as users do: with
verification on two emulators, maps and videos, which are left in `--output`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.explore_report import levels_table
from benchmarks.measurement import machine, say
from benchmarks.training import CommandFailed, exit_with_status
from benchmarks.worker import SOURCE_TREE

SEEDS = 3
NOT_ALL_VERIFIED = 1  # exit code of `mario-rl explore`; that is a result, too


def main() -> int:
    """Explore, print, write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explore", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="where the figures go; - is stdout")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds 0, 1, ... (%(default)s of them)")
    parser.add_argument("--levels", help="some levels (1-1,8-4) instead of all")
    parser.add_argument(
        "--output", type=Path, default=SOURCE_TREE / "checkpoints" / "explore", help="where routes and pictures go"
    )
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error("--seeds is at least 1")
    if options.json not in (None, "-") and not Path(options.json).resolve().parent.is_dir():
        parser.error(f"{Path(options.json).resolve().parent}: no such directory for --json")

    report: dict[str, Any] = {"benchmark": "explore", "machine": machine(), "seeds": []}
    for seed in range(options.seeds):
        say(f"seed {seed}, the first of {options.seeds} being 0")
        report["seeds"].append(explored(seed, options.levels, options.output.resolve() / f"seed{seed}"))

    print(levels_table(report), file=sys.stderr if options.json == "-" else sys.stdout)
    text = json.dumps(report, indent=1) + "\n"
    if options.json == "-":
        print(text, end="")
    elif options.json is not None:
        Path(options.json).write_text(text)
    return 0


def explored(seed: int, levels: str | None, output: Path) -> dict[str, Any]:
    """The figures of one `mario-rl explore`, and how long it took from its start to its end."""
    output.mkdir(parents=True, exist_ok=True)
    figures = output / "figures.txt"  # .json are routes there
    figures.unlink(missing_ok=True)
    which = ["--all"] if levels is None else ["--level", levels]
    command = [
        "-m",
        "mario_rl",
        "explore",
        *which,
        "--seed",
        str(seed),
        "--output",
        str(output),
        "--json",
        str(figures),
    ]
    load, began = os.getloadavg()[0], time.monotonic()
    process = subprocess.Popen([sys.executable, *command], cwd=SOURCE_TREE, stdout=sys.stderr)
    try:
        code = process.wait()
    except KeyboardInterrupt:
        process.wait()  # Ctrl-C reached it, too, and it is putting things away
        raise
    except BaseException:
        process.terminate()
        process.wait()
        raise
    wall = time.monotonic() - began
    if code not in (0, NOT_ALL_VERIFIED):
        raise CommandFailed(f"`mario-rl explore` ended with exit code {code}")
    report = json.loads(figures.read_text())
    for level in report["levels"].values():
        for name in ("route", "video", "map"):  # where files lie on this machine is nobody's business
            del level[name]
    return report | {"wall_s": round(wall, 1), "load_at_start": round(load, 2)}


if __name__ == "__main__":
    exit_with_status(main, can_go_on=False)
