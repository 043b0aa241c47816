"""The rows of docs/results.md about the server, from the figures that benchmarks/server.py gathered."""

from __future__ import annotations

from typing import Any

LEAST_REQUESTS_PER_S = 800
MOST_P99_MS = 5
MOST_RECOVERY_S = 1
MOST_GROWTH_MB = 20  # of memory, under load; Python keeps some of what it once used


def goal_rows(report: dict[str, Any]) -> list[str]:
    """Table rows: what, measured, goal."""
    rate, p99, crowd = report["step_requests_per_s"], report["p99_ms"], report["crowd"]
    recovery = report["crash_recovery_s"]
    return [
        f"| steps a second over HTTP, one client, RAM returned | **{rate:,}** | at least {LEAST_REQUESTS_PER_S}"
        f"{_missed(rate < LEAST_REQUESTS_PER_S)} |",
        f"| of those, 99 % take at most | **{p99} ms** | at most {MOST_P99_MS} ms{_missed(p99 > MOST_P99_MS)} |",
        f"| from a killed console to the next step, slowest of {report['crashes']} | "
        f"**{recovery} s** | at most {MOST_RECOVERY_S} s{_missed(recovery > MOST_RECOVERY_S)} |",
        f"| errors in {crowd['requests']:,} requests of {crowd['clients']} clients at once | **{crowd['errors']}** | 0"
        f"{_missed(crowd['errors'] > 0)} |",
        f"| memory the server gained meanwhile | **{crowd['growth_mb']} MB** | at most {MOST_GROWTH_MB} MB"
        f"{_missed(crowd['growth_mb'] > MOST_GROWTH_MB)} |",
    ]


def server_section(report: dict[str, Any]) -> str:
    """The part of docs/results.md about the server."""
    machine, crowd = report["machine"], report["crowd"]
    return f"""
## The server

Written by `mario-rl bench server` on {machine["date"]}, {machine["cpu"]}, {machine["cores"]} cores, \
{machine["system"]}, Python {machine["python"]}, load {machine["load_at_start"]:g} at the \
start{", `--quick`" if report["quick"] else ""}; Mednafen {report["mednafen"]}.

| the server | measured | goal |
|---|---|---|
{chr(10).join(goal_rows(report))}

The server, its Mednafen and the clients are processes of their own on one machine. A step is one frame of Antidote,
sent and answered as bytes with all of RAM. {crowd["clients"]} clients at once read and step for \
{crowd["seconds"]:g} s. Killed is Mednafen, with SIGKILL, while a client steps.
"""


def failed(report: dict[str, Any]) -> bool:
    """Something that does not depend on the machine's speed went wrong."""
    crowd = report["crowd"]
    return bool(crowd["errors"] or crowd["descriptors_left"] or crowd["consoles_left"])


def _missed(missed: bool) -> str:
    return " (missed)" if missed else ""
