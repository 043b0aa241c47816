"""Our core beside Mednafen, the real emulator: do they agree, how fast is Mednafen in lock-step, does it always launch?

`mario-rl bench emulators --reference mednafen --json -` runs it:
{"smb": {"frames", "mismatches"}, "antidote": {...}, "speed": {...}, "launches": {...}}.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measurement import arguments, exit_with, machine, say
from benchmarks.reference_lockstep import Tally, compare_antidote, compare_smb
from benchmarks.reference_report import goal_rows
from benchmarks.reference_speed import speed
from mario_rl.emulators.mednafen import MednafenError, MednafenManager
from mario_rl.emulators.mednafen_build import installed_build
from mario_rl.roms import antidote

LAUNCHES, QUICK_LAUNCHES = 100, 5  # of each game


def main() -> int:
    """Compare, measure, print, write; return the exit code: 1 if anything differs or does not get into play."""
    options = arguments(__doc__)
    try:
        build = installed_build()
    except MednafenError as problem:
        say(str(problem))
        return 2
    smb = Path(options.rom)
    report: dict[str, Any] = {"benchmark": "reference", "quick": options.quick, "machine": machine()}
    report["mednafen"] = build.version
    report["smb"] = figures(compare_smb(smb, options.quick, say))
    report["antidote"] = figures(compare_antidote(antidote(), options.quick, say))
    report["speed"] = speed(smb, options.quick, say)
    launches = QUICK_LAUNCHES if options.quick else LAUNCHES
    report["launches"] = {"smb": launch(smb, launches), "antidote": launch(antidote(), launches)}

    rows = "\n".join(["| Mednafen | measured | goal |", "|---|---|---|", *goal_rows(report)])
    print(rows, file=sys.stderr if options.json == "-" else sys.stdout)
    text = json.dumps(report, indent=1)
    if options.json == "-":
        print(text)
    elif options.json is not None:
        Path(options.json).write_text(text + "\n")
    different = report["smb"]["mismatches"] + report["antidote"]["mismatches"]
    failed = sum(one["launches"] - one["in_play"] for one in report["launches"].values())
    return 1 if different or failed else 0


def figures(tally: Tally) -> dict[str, Any]:
    """A comparison for the JSON object; differences are said, too."""
    for line in tally.first:
        say(f"MISMATCH {line}")
    return {"frames": tally.frames, "mismatches": tally.mismatches, "cut": tally.cut, "runs": tally.runs}


def launch(rom: Path, times: int, manager: Callable[[Path], MednafenManager] = MednafenManager) -> dict[str, Any]:
    """Launch again and again: how often that ended in play, and how long the slowest took."""
    in_play, slowest = 0, 0.0
    for number in range(1, times + 1):
        managed = manager(rom)
        begin = time.perf_counter()
        answer = managed.launch()
        slowest = max(slowest, time.perf_counter() - begin)
        managed.shutdown()
        if answer["success"] and answer["in_gameplay"]:
            in_play += 1
        else:
            say(f"launch {number} of {rom.name}: {answer['message']}")
    say(f"{rom.name}: {in_play} of {times} launches in play, the slowest in {slowest:.2f} s")
    return {"launches": times, "in_play": in_play, "slowest_s": round(slowest, 3)}


if __name__ == "__main__":
    exit_with(main)
