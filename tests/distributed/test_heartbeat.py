"""Signs of life between processes."""

from __future__ import annotations

import math
import multiprocessing
import time
from types import SimpleNamespace

import pytest

from mario_rl.distributed import heartbeat as heartbeat_module
from mario_rl.distributed.heartbeat import SharedHeartbeat
from tests.distributed.child_processes import PATIENCE, a_name


def test_heartbeats_grow_old(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: 1000.0)
    monkeypatch.setattr(heartbeat_module, "time", clock)
    ours = SharedHeartbeat(a_name("heartbeat"), workers=2, create=True)
    theirs = SharedHeartbeat(ours.name, workers=2)
    assert ours.age(0) == math.inf
    theirs.beat(0)
    theirs.beat(ours.coordinator)
    clock.monotonic = lambda: 1007.0
    theirs.beat(ours.coordinator)
    assert [ours.age(index) for index in range(3)] == [7.0, math.inf, 0.0]
    assert ours.stale(6.9) == [0]
    assert ours.stale(7.0) == [], "who never beat is not stale: it is starting"
    ours.forget(0)
    assert ours.stale(1.0) == []
    ours.close()


def test_a_heartbeat_is_understood_by_another_process() -> None:
    """Both processes must mean the same by a timestamp."""
    ours = SharedHeartbeat(a_name("heartbeat"), workers=1, create=True)
    before = time.monotonic()
    process = multiprocessing.get_context("spawn").Process(target=_beat, args=(ours.name,), daemon=True)
    process.start()
    process.join(PATIENCE)
    assert process.exitcode == 0
    assert 0 <= ours.age(0) <= time.monotonic() - before
    ours.close()


def _beat(name: str) -> None:
    SharedHeartbeat(name, workers=1).beat(0)
