"""The runs that are named, trained by Ray actors of one cluster on this machine."""

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import ray

from benchmarks.cluster_runs import WARM_UP_GRADIENTS, setups
from benchmarks.cluster_training import NEVER, ActorTraining, local_cluster, ready, told_in_one_line
from benchmarks.gradient_training import endless_config
from benchmarks.worker import serve


def main(rom: str, names: list[str]) -> None:
    """Start them, answer questions, end them."""
    wanted = setups(names)
    with (
        tempfile.TemporaryDirectory(prefix="mario-rl-bench-") as directory,
        local_cluster(cpus=sum(setup.workers + 1 for setup in wanted)),
        ExitStack() as closing,
    ):
        runs: dict[str, ActorTraining] = {}
        for setup in wanted:
            config = endless_config(rom, setup.workers, setup.preset, **setup.settings(), **NEVER)
            run = runs[setup.name] = ActorTraining(config, Path(directory) / setup.name, WARM_UP_GRADIENTS)
            closing.callback(run.close)
        for run in runs.values():  # all are told before the first is waited for
            closing.callback(run.ask_to_end)
        serve(ray.__version__, {"ready": ready} | {name: run.measure for name, run in runs.items()})


if __name__ == "__main__":
    told_in_one_line(lambda: main(sys.argv[1], sys.argv[2:]))
