"""What a coordinator takes of the loads that are named, on one Ray cluster on this machine."""

import sys
from contextlib import closing
from functools import partial

import ray

from benchmarks.cluster_capacity import Capacity
from benchmarks.cluster_runs import loads
from benchmarks.cluster_training import local_cluster, ready, told_in_one_line
from benchmarks.worker import serve


def main(rom: str, names: list[str]) -> None:
    """Start coordinators and senders, answer questions, end them."""
    wanted = loads(names)
    actors = max(load.senders for load in wanted) + len({load.coordinator for load in wanted})
    with local_cluster(cpus=actors), closing(Capacity(rom, wanted)) as capacity:
        measurements = {load.name: partial(capacity.measure, load) for load in wanted}
        serve(ray.__version__, {"ready": ready} | measurements)


if __name__ == "__main__":
    told_in_one_line(lambda: main(sys.argv[1], sys.argv[2:]))
