"""The commands of a benchmark on the nodes of a Ray cluster (`--cluster`), with the runs in directories here."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, TypeVar

from benchmarks.measurement import say
from mario_rl.config import CLUSTERS, is_cluster
from mario_rl.runs.directory import RunDirectory

Plan = TypeVar("Plan")
Outcome = TypeVar("Outcome")


class Nodes:
    """Where runs are trained and evaluated; each takes so many cores of one node."""

    def __init__(self, commands: Any, cores: int):
        self._commands = commands  # a ClusterCommands; its module needs Ray
        self._cores = cores

    def mario_rl(self, run: RunDirectory, arguments: Sequence[str], output: IO[str] | None) -> int | None:
        """The exit code of a command about a run; None if its node was lost, and what it did last with it."""
        from mario_rl.cluster.connection import NodeLost

        try:
            return self._commands.carry_out(run.path, arguments, self._cores, output or sys.stderr)
        except NodeLost as lost:
            say(f"{run.name}: {lost}; it goes on elsewhere")
            return None

    def stop(self) -> None:
        """Have everything save and end."""
        self._commands.stop()


@contextlib.contextmanager
def nodes_of(cluster: str, cores: int) -> Iterator[Nodes | None]:
    """Those of a cluster; None if there is none, and everything runs here."""
    if cluster == "off":
        yield None
        return
    from mario_rl.cluster.commands import ClusterCommands
    from mario_rl.cluster.connection import connected

    with connected(cluster) as connection:
        yield Nodes(ClusterCommands(connection), cores)


def machine_of_nodes() -> dict[str, Any]:
    """What the figures were measured on, in place of this machine: nodes may be of any kind."""
    import ray

    alive = [node for node in ray.nodes() if node["Alive"]]
    cores = sum(node["Resources"].get("CPU", 0) for node in alive)
    return {"cpu": f"a Ray cluster of {len(alive)} node{'' if len(alive) == 1 else 's'}", "cores": int(cores)}


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Give a benchmark the option --cluster."""

    def cluster(text: str) -> str:
        if not is_cluster(text):
            raise argparse.ArgumentTypeError(f"it is {CLUSTERS}, not {text!r}")
        return text

    parser.add_argument(
        "--cluster", type=cluster, default="off", help=f"train on a Ray cluster, many runs at a time: {CLUSTERS}"
    )


def side_by_side(
    work: Callable[[Plan], Outcome], plans: Sequence[Plan], at_once: int, stop: Callable[[], None]
) -> Iterator[Outcome]:
    """What becomes of each plan, in their order, so many at a time; if it is broken off, `stop` ends what runs."""
    with ThreadPoolExecutor(max(at_once, 1)) as pool:
        try:
            yield from pool.map(work, plans)
        except BaseException:
            stop()
            pool.shutdown(cancel_futures=True)
            raise
