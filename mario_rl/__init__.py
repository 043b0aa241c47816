"""Reinforcement learning on NES games: a fast exact console and Gymnasium environments on it.

Importing this package makes its environments known to Gymnasium: `gymnasium.make("mario_rl/SuperMarioBros-v0")`.
"""

from importlib.metadata import PackageNotFoundError, version

from mario_rl.environment import register_environments

__all__ = ["__version__", "register_environments"]

try:
    __version__ = version("mario-rl")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+unknown"
