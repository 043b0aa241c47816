"""How many steps a second the HTTP server answers, how soon a killed console is back, and what 200 clients do to it.

`mario-rl bench server --json -` runs it: {"step_requests_per_s", "p99_ms", "lockstep_fps", "lockstep_vs_free_run",
"crash_recovery_s", ...}. The server and Mednafen are processes of their own, as in use; the clients are another one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measurement import arguments, exit_with, machine, say
from benchmarks.reference_speed import speed
from benchmarks.server_report import failed, goal_rows
from mario_rl.emulators.base import EmulatorReset
from mario_rl.emulators.mednafen import MednafenError
from mario_rl.emulators.mednafen_build import installed_build
from mario_rl.emulators.remote import RemoteEmulator

ROUNDS, QUICK_ROUNDS = 10, 5
ROUND_SECONDS = 1.0
CRASHES, QUICK_CRASHES = 20, 5
CROWD, CROWD_SECONDS, QUICK_CROWD_SECONDS = 200, 30, 5
WARM_UP_SECONDS = 3.0


def main() -> int:
    """Measure, print, write; return the exit code: 1 if there was an error or a leak."""
    options = arguments(__doc__)
    try:
        build = installed_build()
    except MednafenError as problem:
        say(str(problem))
        return 2
    quick = options.quick
    report: dict[str, Any] = {"benchmark": "server", "quick": quick, "machine": machine(), "mednafen": build.version}
    with running_server() as server:
        report |= step_rate(server.url, QUICK_ROUNDS if quick else ROUNDS)
        report |= recovery(server, QUICK_CRASHES if quick else CRASHES)
        report["crowd"] = crowd(server, QUICK_CROWD_SECONDS if quick else CROWD_SECONDS)
    report |= speed(Path(options.rom), quick, say)

    rows = "\n".join(["| the server | measured | goal |", "|---|---|---|", *goal_rows(report)])
    print(rows, file=sys.stderr if options.json == "-" else sys.stdout)
    text = json.dumps(report, indent=1)
    if options.json == "-":
        print(text)
    elif options.json is not None:
        Path(options.json).write_text(text + "\n")
    return 1 if failed(report) else 0


class Server:
    """`mario-rl serve` in a process of its own, at a port that was free."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "mario_rl", "serve", "--port", "0"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        address = re.search(r"http://\S+", self._process.stdout.readline())
        if address is None:
            raise RuntimeError("the server did not start")
        self.url = address[0]
        self.process = psutil.Process(self._process.pid)

    def consoles(self) -> list[psutil.Process]:
        """The Mednafen processes it owns."""
        return self.process.children(recursive=True)

    def end(self) -> None:
        """As an operator does."""
        self._process.terminate()
        self._process.communicate(timeout=60)


@contextmanager
def running_server() -> Iterator[Server]:
    """A server for the time of a block."""
    server = Server()
    try:
        yield server
    finally:
        server.end()


def step_rate(url: str, rounds: int) -> dict[str, Any]:
    """One client, one frame a step, RAM returned: the median rate of the rounds, and what 99 % of the steps take."""
    console = RemoteEmulator(url)
    rates, delays = [], []
    for turn in range(rounds + 1):
        begin = now = time.perf_counter()
        took = []
        while now - begin < ROUND_SECONDS:
            console.step()
            took.append(-now + (now := time.perf_counter()))
        if turn > 0:  # the first warms up
            rates.append(len(took) / (now - begin))
            delays += took
    console.close()
    rate, p99 = round(statistics.median(rates)), round(1000 * statistics.quantiles(delays, n=100)[-1], 2)
    say(f"{rate} steps/s over HTTP ({min(rates):.0f} to {max(rates):.0f}), p99 {p99} ms")
    return {"step_requests_per_s": rate, "p99_ms": p99, "rounds": rounds}


def recovery(server: Server, crashes: int) -> dict[str, Any]:
    """Kill the console while it is being stepped: seconds until a step succeeds again, the slowest and the median."""
    console = RemoteEmulator(server.url)
    took = []
    for _ in range(crashes):
        (mednafen,) = server.consoles()
        console.step(frames=60)
        begin = time.perf_counter()
        os.kill(mednafen.pid, signal.SIGKILL)
        resets = 0
        while resets == 0:
            try:
                console.step()
            except EmulatorReset:
                resets += 1
        console.step()
        took.append(time.perf_counter() - begin)
    console.close()
    slowest, median = round(max(took), 3), round(statistics.median(took), 3)
    say(f"a killed console steps again after {median} s, at most {slowest} s")
    return {"crash_recovery_s": slowest, "crash_recovery_median_s": median, "crashes": crashes}


def crowd(server: Server, seconds: float) -> dict[str, Any]:
    """Many clients at once: errors, and what the server keeps of them."""
    before = server.process.num_fds()
    clients(server.url, CROWD, WARM_UP_SECONDS)
    memory = server.process.memory_info().rss
    figures = clients(server.url, CROWD, seconds)
    time.sleep(1.0)  # the last connections are being closed
    figures["growth_mb"] = round((server.process.memory_info().rss - memory) / 1e6, 1)
    figures["descriptors_left"] = max(0, server.process.num_fds() - before)
    figures["consoles_left"] = len(server.consoles()) - 1
    say(
        f"{CROWD} clients for {seconds:g} s: {figures['requests']} requests, {figures['errors']} errors "
        f"{figures['which'] or ''}, {figures['growth_mb']} MB more memory"
    )
    return figures


def clients(url: str, count: int, seconds: float) -> dict[str, Any]:
    """See workers/http_clients.py."""
    command = [sys.executable, "-m", "benchmarks.workers.http_clients", url, str(count), str(seconds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


if __name__ == "__main__":
    exit_with(main)
