"""Bells wake who waits, and never make anyone wait."""

from __future__ import annotations

import multiprocessing
import os

from mario_rl.distributed.doorbell import Doorbell
from tests.distributed.child_processes import PATIENCE


def test_a_bell_rings_once_however_often_it_was_rung() -> None:
    bell = Doorbell()
    assert not bell.wait(0)
    for _ in range(3):
        bell.ring()
    assert bell.wait(0)
    assert not bell.wait(0)
    for _ in range(100_000):  # more than a pipe holds: ringing never waits
        bell.ring()
    assert bell.wait(0)
    bell.ring()
    assert bell.wait(PATIENCE)
    bell.close()


def test_a_bell_wakes_another_process() -> None:
    """There and back: each side sleeps until the other rings."""
    ours, theirs = Doorbell(), Doorbell()
    process = multiprocessing.get_context("spawn").Process(target=_answer, args=(ours, theirs, 50), daemon=True)
    process.start()
    for _ in range(50):
        theirs.ring()
        assert ours.wait(PATIENCE)
    process.join(PATIENCE)
    assert process.exitcode == 0
    ours.close()
    theirs.close()


def _answer(ours: Doorbell, theirs: Doorbell, times: int) -> None:
    for _ in range(times):
        if not theirs.wait(PATIENCE):
            os._exit(1)
        ours.ring()
