"""A cluster of several nodes on this machine: each a real raylet with an object store of its own, on loopback."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psutil
import pytest
from ray.cluster_utils import Cluster

from mario_rl.cluster.node import scratch_directory

ADDRESS = "127.0.0.2"  # Ray takes 127.0.0.1 for a name of the machine's own address
STORE_BYTES = 100 << 20
FOUND_DEAD_SOONER = {"health_check_period_ms": 1000}  # after 5 s; by default after 15. Ray adds its own to a copy


@contextmanager
def cluster(nodes: int, **head: Any) -> Iterator[Cluster]:
    """A head without room for work, and so many nodes with room for one actor each."""
    with (
        tempfile.TemporaryDirectory(prefix="r-", ignore_cleanup_errors=True) as directory,  # short: sockets are in it
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("RAY_TMPDIR", directory)
        settings = {"num_cpus": 0, "include_dashboard": False, "_system_config": dict(FOUND_DEAD_SOONER)}
        running = Cluster(initialize_head=True, connect=False, head_node_args=settings | _node() | head)
        try:
            for _ in range(nodes):
                add_node(running)
            yield running
        finally:
            left = [process for node in running.list_all_nodes() for process in _processes(node)]
            running.shutdown()
            _kill(left)
            with scratch_directory():  # which also removes what the killed nodes could not
                pass


def add_node(running: Cluster) -> Any:
    """One more, with room for one actor."""
    return running.add_node(wait=False, num_cpus=1, **_node())


def switch_off(running: Cluster, node: Any) -> None:
    """As a machine that loses its power."""
    lost = _processes(node)
    running.remove_node(node, allow_graceful=False)
    _kill(lost)


def switch_off_head(running: Cluster) -> None:
    """Its place among the nodes is kept, for Ray to tidy up."""
    lost = _processes(running.head_node)
    running.head_node.kill_gcs_server(check_alive=False)
    running.head_node.kill_raylet(check_alive=False)
    _kill(lost)


def _processes(node: Any) -> list[psutil.Process]:
    """What a node's raylet has started, actors among them. They would notice its end, but not at once."""
    try:
        return psutil.Process(node.all_processes["raylet"][0].process.pid).children(recursive=True)
    except (KeyError, psutil.NoSuchProcess):  # it has been switched off already
        return []


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=10)


def _node() -> dict[str, Any]:
    return {"node_ip_address": ADDRESS, "object_store_memory": STORE_BYTES}
