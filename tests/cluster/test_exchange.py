"""A worker's end of the line, with calls that are answered when a test says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mario_rl.cluster import exchange as module
from mario_rl.cluster.exchange import ClusterExchange
from mario_rl.cluster.messages import Answer, Sender, Weights
from mario_rl.cluster.relayed_events import RelayedEvents
from mario_rl.cluster.wire import pack
from mario_rl.distributed.worker import Gradient


class Coordinator:
    """Tells whoever calls what is so at that moment, as the real one does."""

    def __init__(self) -> None:
        self.pause = False
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def remote(*arguments: Any) -> Answer:
            self.calls.append(name)
            return Answer(False, self.pause, True, 0, Weights((0, 0), pack(np.zeros(4, np.float32), "float32")))

        return type("Call", (), {"remote": staticmethod(remote)})


def test_a_pause_that_is_over_is_not_begun_again_by_an_answer_from_before(monkeypatch: pytest.MonkeyPatch) -> None:
    coordinator, naps = Coordinator(), 0

    def nap(seconds: float) -> None:
        nonlocal naps
        naps += 1
        coordinator.pause = naps < 3
        assert naps < 20

    monkeypatch.setattr(module.ray, "get", lambda call: call)
    monkeypatch.setattr(module.ray, "wait", lambda calls, timeout: (calls, []))
    monkeypatch.setattr(module.time, "sleep", nap)
    monkeypatch.setattr(module, "BEAT_SECONDS", -1.0)  # always due

    exchange = ClusterExchange(coordinator, Sender(0, 0), RelayedEvents("worker_0"), 4, False, "float32")
    exchange.join({})
    coordinator.pause = True
    exchange.send(Gradient(np.ones(4, np.float32), 0.5))  # answered while the run is paused, asked for after that
    assert exchange.running() and naps == 0, "it has not been told yet"
    assert exchange.running() and naps >= 3, "it slept through the pause"
    slept = naps
    exchange.send(Gradient(np.ones(4, np.float32), 0.5))
    assert exchange.running() and naps == slept, "it goes on"
