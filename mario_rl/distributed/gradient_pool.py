"""Gradients on their way from the workers to the coordinator: one buffer per worker, no locks, no copies.

A buffer has one writer (its worker) and one reader (the coordinator). Three of its words say whose turn it is:

- `sequence` counts the writer's steps: odd while it writes, even when it has finished. It never goes back.
- `ready` is the sequence number of the gradient on offer, 0 when there is none.
- `taken` is the sequence number of the gradient that the reader took last, the only word that the reader writes.

So a gradient can be read when `ready == sequence != taken`, and the next one written when `ready` is 0 or `taken`. A
writer that is killed in the middle leaves `sequence` odd and nothing on offer; its successor counts on from there. A
reader that finds `sequence` unchanged after reading knows that nobody wrote meanwhile: nothing torn passes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mario_rl.distributed.shared_memory import CACHE_LINE, SharedBlock, fence

Floats = npt.NDArray[np.float32]

_SEQUENCE, _READY, _STEP, _WEIGHT_VERSION, _LOSS = range(5)  # words of the writer's cache line
_DATA_OFFSET = 2 * CACHE_LINE  # the writer's line, the reader's line


@dataclass(frozen=True, slots=True)
class GradientHeader:
    """What a worker says about a gradient."""

    worker: int
    sequence: int
    step: int  # the worker's environment steps
    weight_version: int  # the weights it was computed on
    loss: float


@dataclass(frozen=True, slots=True)
class GradientView:
    """A gradient where it lies in shared memory: read it before `release`, and ask `intact` afterwards."""

    header: GradientHeader
    gradient: Floats


class SharedGradientPool:
    """The gradient buffers of all workers of a run; `size` is the number of floats in a gradient."""

    def __init__(self, name: str, workers: int, size: int, *, create: bool = False) -> None:
        self.workers = workers
        self.size = size
        stride = _DATA_OFFSET + -(-size * 4 // CACHE_LINE) * CACHE_LINE
        self._block = SharedBlock(name, workers * stride, kind="gradient", shape=(workers, size), create=create)
        self.name = name
        self._writer = [self._block.words(worker * stride, 5) for worker in range(workers)]
        self._losses = [self._block.numbers(worker * stride + _LOSS * 8, 1) for worker in range(workers)]
        self._taken = [self._block.words(worker * stride + CACHE_LINE, 1) for worker in range(workers)]
        self._data = [self._block.floats(worker * stride + _DATA_OFFSET, size) for worker in range(workers)]
        self._viewed = [0] * workers  # sequence numbers of the reader's views

    # The worker's side

    def can_write(self, worker: int) -> bool:
        """Whether the gradient before has been taken."""
        ready = self._writer[worker][_READY]
        return ready == 0 or ready == self._taken[worker][0]

    def write(self, worker: int, gradient: Floats, step: int, weight_version: int, loss: float) -> bool:
        """Offer a gradient. False, and nothing is written, if the one before has not been taken yet."""
        if gradient.shape != (self.size,) or gradient.dtype != np.float32:
            raise ValueError(
                f"a gradient is float32[{self.size}] here, not {gradient.dtype}{list(gradient.shape)}:"
                " worker and coordinator must build the same model"
            )
        if not self.can_write(worker):
            return False
        words = self._writer[worker]
        writing = (words[_SEQUENCE] + 1) | 1  # the next odd number, also after a predecessor that died while writing
        words[_SEQUENCE] = writing
        fence()
        np.copyto(self._data[worker], gradient)
        words[_STEP] = step
        words[_WEIGHT_VERSION] = weight_version
        self._losses[worker][0] = loss
        fence()
        words[_SEQUENCE] = writing + 1
        fence()
        words[_READY] = writing + 1
        return True

    # The coordinator's side

    def ready(self) -> list[int]:
        """The workers whose gradients are on offer."""
        return [worker for worker in range(self.workers) if self._offered(worker) is not None]

    def view(self, worker: int) -> GradientView | None:
        """The gradient on offer, without a copy; None if there is none."""
        sequence = self._offered(worker)
        if sequence is None:
            return None
        fence()
        words = self._writer[worker]
        header = GradientHeader(
            worker, sequence, int(words[_STEP]), int(words[_WEIGHT_VERSION]), float(self._losses[worker][0])
        )
        gradient = self._data[worker].view()
        gradient.flags.writeable = False
        view = GradientView(header, gradient)
        if not self.intact(view):
            return None
        self._viewed[worker] = sequence
        return view

    def intact(self, view: GradientView) -> bool:
        """Whether all that was read through a view until now is the one gradient that it was made for."""
        fence()
        return bool(self._writer[view.header.worker][_SEQUENCE] == view.header.sequence)

    def add_into(self, worker: int, accumulator: Floats) -> GradientHeader | None:
        """Add the gradient on offer to `accumulator`, in place.

        None if there was nothing whole to add: then the accumulator counts as spoilt, and its sum begins anew. That
        happens only if the worker died and was replaced within this call.
        """
        view = self.view(worker)
        if view is None:
            return None
        np.add(accumulator, view.gradient, out=accumulator)
        return view.header if self.intact(view) else None

    def release(self, worker: int) -> None:
        """Give the buffer of the last view back to its worker."""
        fence()
        self._taken[worker][0] = self._viewed[worker]

    # The supervisor's side

    def clear(self, worker: int) -> None:
        """Withdraw whatever a worker offered or had begun to write. Only once its process is dead."""
        words = self._writer[worker]
        words[_READY] = 0
        fence()
        words[_SEQUENCE] = (words[_SEQUENCE] + 2) & ~1  # even, and new to everyone who still reads

    def close(self) -> None:
        """Let go of the memory; its creator also removes it from the machine."""
        self._block.close()

    def _offered(self, worker: int) -> int | None:
        """The sequence number on offer. `ready` may change between two reads, so each word is read once."""
        words = self._writer[worker]
        ready = int(words[_READY])
        fence()
        return ready if ready != 0 and ready == words[_SEQUENCE] and ready != self._taken[worker][0] else None
