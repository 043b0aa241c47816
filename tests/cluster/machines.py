"""A cluster of several nodes on this machine: each a real raylet with an object store of its own, on loopback."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from mario_rl.cluster.node import scratch_directory

ADDRESS = "127.0.0.2"  # Ray takes 127.0.0.1 for a name of the machine's own address
STORE_BYTES = 100 << 20
FOUND_DEAD_SOONER = {"health_check_period_ms": 1000}  # after 5 s; by default after 15


@contextmanager
def cluster(nodes: int, **head: Any) -> Iterator[Cluster]:
    """A head without room for work, and so many nodes with room for one actor each."""
    with (
        tempfile.TemporaryDirectory(prefix="r-", ignore_cleanup_errors=True) as directory,  # short: sockets are in it
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("RAY_TMPDIR", directory)
        settings = {"num_cpus": 0, "include_dashboard": False, "_system_config": FOUND_DEAD_SOONER, **_node(), **head}
        running = Cluster(initialize_head=True, connect=False, head_node_args=settings)
        try:
            for _ in range(nodes):
                add_node(running)
            yield running
        finally:
            running.shutdown()
            with scratch_directory():  # which also removes what the killed nodes could not
                pass


def add_node(running: Cluster) -> Any:
    """One more, with room for one actor."""
    return running.add_node(wait=False, num_cpus=1, **_node())


def _node() -> dict[str, Any]:
    return {"node_ip_address": ADDRESS, "object_store_memory": STORE_BYTES}
