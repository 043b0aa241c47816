"""Environments by the name of the game, for code that does not care which game it is."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.vector import VectorEnv

from mario_rl.environment import DRMARIO, DRMARIO_PLACEMENT, SMB

__all__ = ["ENVIRONMENTS", "make_env", "make_vector_env"]

ENVIRONMENTS = {"smb": SMB, "drmario": DRMARIO, "drmario-placement": DRMARIO_PLACEMENT}


def make_env(game: str, **settings: Any) -> gymnasium.Env[Any, Any]:
    """One environment of `game` ("smb", "drmario"...); `settings` as in docs/environment.md and docs/drmario.md."""
    return gymnasium.make(_id_of(game), **settings)


def make_vector_env(game: str, lanes: int, threads: int = 1, **settings: Any) -> VectorEnv[Any, Any, Any]:
    """`lanes` environments of `game` on one batch of games; autoreset mode SAME_STEP."""
    return gymnasium.make_vec(
        _id_of(game), num_envs=lanes, vectorization_mode="vector_entry_point", threads=threads, **settings
    )


def _id_of(game: str) -> str:
    if game not in ENVIRONMENTS:
        raise ValueError(f"unknown game {game!r}; use one of {', '.join(ENVIRONMENTS)}")
    return ENVIRONMENTS[game]
