"""What a process says when it dies of an exception, so that the supervisor can tell people why."""

from __future__ import annotations

from mario_rl.distributed.shared_memory import CACHE_LINE, SharedBlock

ROOM = 4096  # bytes per process; of a longer text the end is kept, which names the error


class SharedLastWords:
    """One text per worker, and one for the coordinator, whose index is `coordinator`."""

    def __init__(self, name: str, workers: int, *, create: bool = False) -> None:
        self.name = name
        self.coordinator = workers
        stride = CACHE_LINE + ROOM
        self._block = SharedBlock(name, (workers + 1) * stride, kind="lastword", shape=(workers, ROOM), create=create)
        starts = [place * stride for place in range(workers + 1)]
        self._lengths = [self._block.words(start, 1) for start in starts]
        self._texts = [self._block.words(start + CACHE_LINE, ROOM // 8).cast("B") for start in starts]

    def say(self, index: int, text: str) -> None:
        """Leave a text behind. Whoever dies while writing it leaves none: its length comes last."""
        content = text.strip().encode(errors="replace")[-ROOM:]
        self._lengths[index][0] = 0
        self._texts[index][: len(content)] = content
        self._lengths[index][0] = len(content)

    def hear(self, index: int) -> str:
        """The whole text; empty if nothing was said."""
        return bytes(self._texts[index][: self._lengths[index][0]]).decode(errors="replace")

    def forget(self, index: int) -> None:
        """Nothing was said: a new process takes this place."""
        self._lengths[index][0] = 0

    def close(self) -> None:
        """Let go of the memory; its creator also removes it from the machine."""
        self._block.close()
