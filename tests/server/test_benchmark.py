"""The benchmark of the server: its clients count what goes wrong, its table says what was missed."""

from __future__ import annotations

import asyncio
from typing import Any

from benchmarks.server_report import failed, goal_rows
from benchmarks.workers import http_clients

from .running_server import RunningServer

GOOD: dict[str, Any] = {
    "step_requests_per_s": 800,
    "p99_ms": 5,
    "lockstep_fps": 2000,
    "lockstep_vs_free_run": 1.5,
    "crash_recovery_s": 1,
    "crashes": 5,
    "crowd": {"clients": 200, "requests": 1000, "errors": 0, "growth_mb": 1, "descriptors_left": 0, "consoles_left": 0},
}


def test_clients_count_what_goes_wrong(embedded: RunningServer) -> None:
    without_console = asyncio.run(http_clients.run(embedded.url, 4, 0.3))
    assert set(without_console["which"]) == {"409"}, "steps are refused, and a status is always there"  # type: ignore[call-overload]
    embedded.post("/launch")
    playing = asyncio.run(http_clients.run(embedded.url, 4, 0.3))
    assert playing["errors"] == 0 and playing["requests_per_s"] > 0  # type: ignore[operator]
    nobody = asyncio.run(http_clients.run("http://127.0.0.1:1", 4, 0.3))
    assert (nobody["requests"], nobody["errors"]) == (4, 4)


def test_the_table_says_what_was_missed() -> None:
    assert not any("missed" in row for row in goal_rows(GOOD)) and not failed(GOOD)
    for key, worse in (
        ("step_requests_per_s", 799),
        ("p99_ms", 5.1),
        ("crash_recovery_s", 1.1),
    ):
        assert sum("missed" in row for row in goal_rows({**GOOD, key: worse})) == 1
    for key in ("errors", "descriptors_left", "consoles_left"):
        assert failed({**GOOD, "crowd": {**GOOD["crowd"], key: 1}})
