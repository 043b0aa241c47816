"""The notice board: every word by its name, none in the way of another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.distributed.board import SharedBoard, WorkerRow
from tests.distributed.child_processes import a_name


def test_the_board_is_read_by_all_and_kept() -> None:
    ours = SharedBoard(a_name("board"), workers=3, create=True)
    theirs = SharedBoard(ours.name, workers=3)
    ours.control.stop = 1
    for worker, row in enumerate(theirs.workers):
        row.steps += 64 * (worker + 1)
        row.best_x = 3160 + worker
    assert (theirs.control.stop, theirs.control.pause) == (1, 0)
    assert ours.total("steps") == 64 * 6
    assert [row.best_x for row in ours.workers] == [3160, 3161, 3162]
    ours.close()


@given(st.lists(st.tuples(st.sampled_from(WorkerRow.names), st.integers(0, 2), st.integers(-(2**63), 2**63 - 1))))
def test_words_do_not_touch_each_other(writes: list[tuple[str, int, int]]) -> None:
    board = SharedBoard(a_name("board"), workers=3, create=True)
    reference = {(name, worker): 0 for name in WorkerRow.names for worker in range(3)}
    for name, worker, value in writes:
        setattr(board.workers[worker], name, value)
        reference[name, worker] = value
    assert {(name, worker): getattr(board.workers[worker], name) for name, worker in reference} == reference
    assert [getattr(board.control, name) for name in board.control.names] == [0] * len(board.control.names)
    board.close()


def test_a_misspelt_word_is_an_error() -> None:
    board = SharedBoard(a_name("board"), workers=1, create=True)
    with pytest.raises(AttributeError, match="no word 'step'"):
        board.workers[0].step = 1  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        board.total("step")
    board.close()
