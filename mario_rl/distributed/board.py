"""The run's notice board: small numbers that every process can read at any time.

    board.control.stop = 1
    board.workers[0].steps += 64
    board.total("steps")

Each word has one writer, named below, so that no two processes ever add to the same number. What a worker counts stays
on the board when the worker is replaced.
"""

from __future__ import annotations

from typing import ClassVar, overload

from mario_rl.distributed.shared_memory import CACHE_LINE, SharedBlock


class Word:
    """An int64 on the board, by the name of the attribute it is assigned to."""

    def __set_name__(self, owner: type[Row], name: str) -> None:
        self._index = len(owner.names)
        owner.names = (*owner.names, name)

    @overload
    def __get__(self, row: None, owner: type[Row]) -> Word: ...
    @overload
    def __get__(self, row: Row, owner: type[Row]) -> int: ...
    def __get__(self, row: Row | None, owner: type[Row]) -> Word | int:
        return self if row is None else int(row.words[self._index])

    def __set__(self, row: Row, value: int) -> None:
        row.words[self._index] = int(value)


class Row:
    """Words in their order of appearance."""

    __slots__ = ("words",)
    names: ClassVar[tuple[str, ...]] = ()

    def __init__(self, words: memoryview) -> None:
        self.words = words

    def __setattr__(self, name: str, value: object) -> None:
        if name != "words" and name not in self.names:
            raise AttributeError(f"the board has no word {name!r}; it has {', '.join(self.names)}")
        super().__setattr__(name, value)


class ControlRow(Row):
    """What the parent asks for, and the coordinator when the run is over."""

    stop = Word()  # 1: end in good order
    pause = Word()  # 1: wait
    save_requests = Word()  # grows with each wish for a checkpoint


class WorkerRow(Row):
    """What is known of one worker; the worker writes it unless said otherwise."""

    steps = Word()
    episodes = Word()
    flags = Word()
    recent_episodes = Word()  # of the last 100
    recent_flags = Word()  # of the last 100 episodes
    best_x = Word()
    first_flag_steps = Word()  # the run's steps when this worker first reached a flag; 0: not yet
    grads_sent = Word()
    rounds = Word()  # rollouts begun
    joined = Word()  # 1: the coordinator may wait for it (the supervisor clears this when the worker dies)
    nonfinite_in_a_row = Word()  # the coordinator's count (the supervisor clears it when the worker dies)
    restarts = Word()  # the supervisor's count


class Board:
    """The rows of a run: one for control, one per worker."""

    def __init__(self, control: ControlRow, workers: list[WorkerRow]) -> None:
        self.control = control
        self.workers = workers

    @classmethod
    def of_one_process(cls, workers: int) -> Board:
        """A board in plain memory, for a parent whose children are elsewhere."""
        rows = [WorkerRow(_plain_words(WorkerRow)) for _ in range(workers)]
        return cls(ControlRow(_plain_words(ControlRow)), rows)

    def total(self, word: str) -> int:
        """The sum of a word over all workers."""
        return sum(getattr(row, word) for row in self.workers)


class SharedBoard(Board):
    """A board that all processes of a machine see."""

    def __init__(self, name: str, workers: int, *, create: bool = False) -> None:
        self.name = name
        strides = [_whole_lines(len(ControlRow.names)), _whole_lines(len(WorkerRow.names))]
        size = strides[0] + workers * strides[1]
        self._block = SharedBlock(name, size, kind="board", shape=(workers, *strides), create=create)
        control = ControlRow(self._block.words(0, len(ControlRow.names)))
        starts = [strides[0] + worker * strides[1] for worker in range(workers)]
        super().__init__(control, [WorkerRow(self._block.words(start, len(WorkerRow.names))) for start in starts])

    def close(self) -> None:
        """Let go of the memory; its creator also removes it from the machine."""
        self._block.close()


def _plain_words(row: type[Row]) -> memoryview:
    return memoryview(bytearray(8 * len(row.names))).cast("q")


def _whole_lines(words: int) -> int:
    return -(-words * 8 // CACHE_LINE) * CACHE_LINE
