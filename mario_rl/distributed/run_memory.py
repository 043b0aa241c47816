"""All shared memory of one run: the parent creates it, every child opens it."""

from __future__ import annotations

from dataclasses import dataclass

from mario_rl.distributed.board import SharedBoard
from mario_rl.distributed.doorbell import Doorbell
from mario_rl.distributed.gradient_pool import SharedGradientPool
from mario_rl.distributed.heartbeat import SharedHeartbeat
from mario_rl.distributed.last_words import SharedLastWords
from mario_rl.distributed.shared_memory import block_name
from mario_rl.distributed.weights import SharedWeights


@dataclass(frozen=True)
class MemoryPlan:
    """What a child needs to know to find the memory: it travels to it as an argument."""

    run: str
    workers: int
    gradient_size: int  # floats
    weights_size: int  # floats
    names: dict[str, str]
    gradient_bell: Doorbell  # workers ring, the coordinator waits
    worker_bells: list[Doorbell]  # the coordinator rings, that worker waits

    @classmethod
    def of_run(cls, run: str, workers: int, gradient_size: int, weights_size: int) -> MemoryPlan:
        """The plan of a new run; the calling process is its parent."""
        names = {what: block_name(run, what) for what in ("gradients", "weights", "board", "heartbeat", "last_words")}
        bells = [Doorbell() for _ in range(workers)]
        return cls(run, workers, gradient_size, weights_size, names, Doorbell(), bells)


class RunMemory:
    """The memory itself, mapped into this process."""

    def __init__(self, plan: MemoryPlan, *, create: bool = False):
        self.plan = plan
        names, workers = plan.names, plan.workers
        self._open: list[SharedBoard | SharedGradientPool | SharedHeartbeat | SharedLastWords | SharedWeights] = []
        try:
            self.board = SharedBoard(names["board"], workers, create=create)
            self._open.append(self.board)
            self.heartbeat = SharedHeartbeat(names["heartbeat"], workers, create=create)
            self._open.append(self.heartbeat)
            self.last_words = SharedLastWords(names["last_words"], workers, create=create)
            self._open.append(self.last_words)
            self.weights = SharedWeights(names["weights"], plan.weights_size, create=create)
            self._open.append(self.weights)
            self.gradients = SharedGradientPool(names["gradients"], workers, plan.gradient_size, create=create)
            self._open.append(self.gradients)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of it; the parent also removes it from the machine."""
        for block in self._open:
            block.close()
