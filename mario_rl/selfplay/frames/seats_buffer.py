"""A rollout buffer of Stable-Baselines3 that learns from some rows only: not from those that a guest has played."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from stable_baselines3.common.buffers import DictRolloutBuffer
from stable_baselines3.common.type_aliases import DictRolloutBufferSamples


class SeatsBuffer(DictRolloutBuffer):
    """Whoever collects sets `learned[pos]` before it adds a step; advantages are computed for all rows alike."""

    def reset(self) -> None:
        """See `DictRolloutBuffer.reset`."""
        self.learned = np.ones((self.buffer_size, self.n_envs), np.bool_)
        super().reset()

    def get(  # type: ignore[override]  # as SB3's own
        self, batch_size: int | None = None
    ) -> Generator[DictRolloutBufferSamples, None, None]:
        """Minibatches of what is learned from, in random order."""
        assert self.full
        if not self.generator_ready:
            kept = self.swap_and_flatten(self.learned)[:, 0]
            self.observations = {name: self._kept(values, kept) for name, values in self.observations.items()}
            for name in ("actions", "values", "log_probs", "advantages", "returns"):
                setattr(self, name, self._kept(getattr(self, name), kept))
            self.generator_ready = True
        order = np.random.permutation(len(self.actions))  # noqa: NPY002  as SB3 draws; its state is saved with the run
        for first in range(0, len(order), batch_size or len(order)):
            yield self._get_samples(order[first : first + (batch_size or len(order))])

    def _kept(self, values: np.ndarray[Any, Any], kept: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return self.swap_and_flatten(values)[kept]
