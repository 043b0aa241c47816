"""The runs that are named, trained by processes with shared memory; and how long every model's vectors are."""

import sys

import torch

import mario_rl
from benchmarks.cluster_models import vectors
from benchmarks.cluster_runs import WARM_UP_GRADIENTS, setups
from benchmarks.gradient_training import TrainingMeasurement
from benchmarks.worker import serve

if __name__ == "__main__":
    torch.set_num_threads(1)
    rom, names = sys.argv[1], sys.argv[2:]
    runs = {}
    try:
        for setup in setups(names):
            runs[setup.name] = TrainingMeasurement(
                rom, setup.workers, setup.preset, WARM_UP_GRADIENTS, **setup.settings()
            )
        serve(
            mario_rl.__version__,
            {"ready": dict, "vectors": vectors} | {name: run.measure for name, run in runs.items()},
        )
    except KeyboardInterrupt:  # the benchmark says so
        sys.exit(2)
    finally:
        for run in runs.values():
            run.close()
