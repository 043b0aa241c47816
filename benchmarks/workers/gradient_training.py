"""DDQN with the default settings and with those of the laptop preset, trained by one worker process and by two."""

import sys

import torch

import mario_rl
from benchmarks.gradient_training import TrainingMeasurement
from benchmarks.worker import serve

if __name__ == "__main__":
    torch.set_num_threads(1)
    runs = {
        f"{preset or 'default'}{workers}": TrainingMeasurement(sys.argv[1], workers, preset)
        for preset in (None, "laptop")
        for workers in (1, 2)
    }
    try:
        serve(mario_rl.__version__, {name: run.measure for name, run in runs.items()})
    finally:
        for run in runs.values():
            run.close()
