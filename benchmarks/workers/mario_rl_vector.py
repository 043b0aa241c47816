"""Our Super Mario Bros. vector environment: pixels in 16 lanes, tiles in 32, with one and two threads."""

import sys

import gymnasium

import mario_rl
from benchmarks.vector_measurements import VectorMeasurement
from benchmarks.worker import serve


def vector_env(rom_file: str, lanes: int, observation: str, threads: int) -> gymnasium.vector.VectorEnv:
    """Frame skip 4 and right-running actions, as the peer has them."""
    return gymnasium.make_vec(
        "mario_rl/SuperMarioBros-v0",
        num_envs=lanes,
        vectorization_mode="vector_entry_point",
        rom=rom_file,
        level="1-1",
        observation=observation,
        actions="right_only",
        frame_skip=4,
        threads=threads,
    )


if __name__ == "__main__":
    rom = sys.argv[1]
    serve(
        mario_rl.__version__,
        {
            "pixels16": VectorMeasurement(vector_env(rom, 16, "pixels", threads=2)).measure,
            "tiles32": VectorMeasurement(vector_env(rom, 32, "tiles", threads=2)).measure,
            "tiles32_one_thread": VectorMeasurement(vector_env(rom, 32, "tiles", threads=1)).measure,
        },
    )
