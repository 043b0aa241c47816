"""A vector as long as a gradient of the laptop's DDQN, summed between two processes: shared memory, gloo, a pipe."""

import sys

import torch

from benchmarks.gradient_exchange import EXCHANGES
from benchmarks.gradient_training import endless_config
from benchmarks.worker import serve
from mario_rl.distributed.coordinator import TrainingCoordinator

if __name__ == "__main__":
    torch.set_num_threads(1)
    size = TrainingCoordinator(endless_config(sys.argv[1], workers=2, preset="laptop")).flat.trained_size
    exchanges = {name: way(size) for name, way in EXCHANGES.items()}
    try:
        sizes = {"size": lambda: {"floats": size}}
        serve(torch.__version__, sizes | {name: exchange.measure for name, exchange in exchanges.items()})
    finally:
        for exchange in exchanges.values():
            exchange.close()
