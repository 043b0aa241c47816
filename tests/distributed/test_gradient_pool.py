"""Gradients arrive whole, once, and from whom they say, or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.distributed.gradient_pool import SharedGradientPool
from mario_rl.distributed.shared_memory import SharedMemoryError
from tests.distributed.child_processes import a_name, outcome, script
from tests.distributed.interrupted_arrays import Killed, dying, interrupted

WORKERS, SIZE = 3, 10


@pytest.fixture
def pool() -> Iterator[SharedGradientPool]:
    pool = SharedGradientPool(a_name("gradients"), WORKERS, SIZE, create=True)
    yield pool
    pool.close()


def full_of(value: float) -> npt.NDArray[np.float32]:
    return np.full(SIZE, value, np.float32)


def send(pool: SharedGradientPool, worker: int, value: int) -> bool:
    return pool.write(worker, full_of(value), step=value, weight_version=value + 1, loss=value / 4)


def test_a_gradient_travels_with_its_header(pool: SharedGradientPool) -> None:
    worker_side = SharedGradientPool(pool.name, WORKERS, SIZE)
    gradient = np.arange(SIZE, dtype=np.float32)
    assert worker_side.write(1, gradient, step=64, weight_version=7, loss=0.25)
    assert pool.ready() == [1]
    view = pool.view(1)
    assert view is not None
    assert (view.header.worker, view.header.step, view.header.weight_version, view.header.loss) == (1, 64, 7, 0.25)
    assert np.array_equal(view.gradient, gradient)
    with pytest.raises(ValueError, match="read-only"):
        view.gradient[0] = 1
    assert pool.intact(view)
    pool.release(1)
    assert pool.ready() == []
    assert pool.view(1) is None


def test_views_are_the_shared_memory_itself(pool: SharedGradientPool) -> None:
    send(pool, 0, 3)
    first, second = pool.view(0), pool.view(0)
    assert first is not None
    assert second is not None
    assert np.shares_memory(first.gradient, second.gradient)


def test_the_next_is_written_only_when_the_last_was_taken(pool: SharedGradientPool) -> None:
    assert send(pool, 0, 1)
    assert not pool.can_write(0)
    assert not send(pool, 0, 2), "not taken yet"
    accumulator = full_of(10)
    header = pool.add_into(0, accumulator)
    assert header is not None
    assert header.step == 1
    assert np.array_equal(accumulator, full_of(11))
    assert not pool.can_write(0), "added, but not released"
    pool.release(0)
    assert pool.can_write(0)
    assert send(pool, 0, 2)


def test_a_new_reader_gets_what_its_dead_predecessor_did_not_release(pool: SharedGradientPool) -> None:
    send(pool, 2, 5)
    pool.add_into(2, full_of(0))
    successor = SharedGradientPool(pool.name, WORKERS, SIZE)
    assert successor.ready() == [2]


def test_a_death_while_writing_offers_nothing(pool: SharedGradientPool) -> None:
    for value in (1, 2):
        with pytest.raises(Killed):
            pool.write(0, dying(full_of(value)), value, value, value)
        assert pool.ready() == []
        assert pool.view(0) is None
        assert pool._writer[0][0] % 2 == 1, "the header says that it is being written"
    assert send(pool, 0, 3), "a successor writes at once"
    assert pool._writer[0][0] % 2 == 0, "the header says that it is whole"
    accumulator = full_of(0)
    assert pool.add_into(0, accumulator) is not None
    assert np.array_equal(accumulator, full_of(3))


def test_a_worker_replaced_while_its_gradient_is_added_is_noticed(pool: SharedGradientPool) -> None:
    send(pool, 0, 1)

    def replace() -> None:
        pool.clear(0)
        send(pool, 0, 2)

    accumulator = full_of(0)
    assert pool.add_into(0, interrupted(accumulator, replace)) is None
    assert len(set(accumulator.tolist())) == 2, "the test must have torn it"
    pool.release(0)
    assert pool.ready() == [0], "releasing the old gradient does not take the new one"
    accumulator = full_of(0)
    assert pool.add_into(0, accumulator) is not None
    assert np.array_equal(accumulator, full_of(2))


def test_a_worker_cleared_while_its_gradient_is_added_is_noticed(pool: SharedGradientPool) -> None:
    send(pool, 0, 1)
    assert pool.add_into(0, interrupted(full_of(0), lambda: pool.clear(0))) is None


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["write", "die", "take", "look", "clear"]), st.integers(0, WORKERS - 1)), max_size=60
)


@given(OPERATIONS)
def test_any_order_of_events_is_as_with_a_plain_list(operations: list[tuple[str, int]]) -> None:
    """The reference: a place for one number per worker."""
    pool = SharedGradientPool(a_name("gradients"), WORKERS, SIZE, create=True)
    offered: list[int | None] = [None] * WORKERS
    for value, (operation, worker) in enumerate(operations, start=1):
        if operation == "write":
            assert send(pool, worker, value) is (offered[worker] is None)
            offered[worker] = value if offered[worker] is None else offered[worker]
        elif operation == "die" and offered[worker] is None:
            with pytest.raises(Killed):
                pool.write(worker, dying(full_of(value)), value, value, value)
        elif operation == "clear":
            pool.clear(worker)
            offered[worker] = None
        elif operation in ("take", "look"):
            accumulator = full_of(0)
            header = pool.add_into(worker, accumulator)
            assert (None if header is None else header.step) == offered[worker]
            assert np.array_equal(accumulator, full_of(offered[worker] or 0))
            if operation == "take":
                pool.release(worker)
                offered[worker] = None
        assert pool.ready() == [each for each in range(WORKERS) if offered[each] is not None]
        assert [pool.can_write(each) for each in range(WORKERS)] == [place is None for place in offered]
    pool.close()


@pytest.mark.parametrize("wrong", [np.zeros(SIZE + 1, np.float32), np.zeros(SIZE), np.zeros((1, SIZE), np.float32)])
def test_a_gradient_of_another_model_is_refused(pool: SharedGradientPool, wrong: npt.NDArray[np.float32]) -> None:
    with pytest.raises(ValueError, match=r"float32\[10\].*same model"):
        pool.write(0, wrong, 0, 0, 0.0)
    assert pool.ready() == []
    with pytest.raises(SharedMemoryError):
        SharedGradientPool(pool.name, WORKERS, SIZE + 1)


def test_writers_killed_at_random_moments_never_show_a_mixture() -> None:
    """Real processes, real SIGKILL, for some seconds. Every vector is full of one number, which its header says."""
    process = script(
        f"""
        import json, os, random, signal, time
        import numpy as np
        from mario_rl.distributed.gradient_pool import SharedGradientPool

        SIZE, KILLS, SECONDS = 100_000, 2_000, 3.0
        random.seed(1)
        parent = os.getpid()
        pool = SharedGradientPool({a_name("gradients")!r}, 1, SIZE, create=True)
        sums = np.zeros(SIZE, np.float32)
        counts = {{"read": 0, "killed_while_writing": 0, "mixed": 0, "backwards": 0}}
        newest = 0

        def write_forever(value):
            gradient = np.empty(SIZE, np.float32)
            while os.getppid() == parent:
                gradient.fill(value)
                while not pool.write(0, gradient, value, value + 1, value / 4):
                    pass
                value += 1

        def read():
            global newest
            header = pool.add_into(0, sums)
            if header is None:
                return  # nothing was there, so nothing was added
            right = header.step == header.weight_version - 1 == header.loss * 4
            counts["mixed"] += not (right and (sums[::499] == header.step).all())
            counts["backwards"] += header.step <= newest
            newest = max(newest, header.step)
            counts["read"] += 1
            pool.release(0)
            sums.fill(0)

        deadline = time.perf_counter() + SECONDS
        for kill in range(KILLS):
            if time.perf_counter() > deadline:
                break
            before = pool._writer[0][0]
            child = os.fork()
            if child == 0:
                write_forever(1 + kill * 1_000)
            while pool._writer[0][0] == before:  # until it writes
                read()  # what its predecessor left may be in its way
                time.sleep(0.0001)
            for _ in range(random.randrange(4)):
                read()
                time.sleep(random.uniform(0, 0.0003))  # about as long as a write takes
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            counts["killed_while_writing"] += pool._writer[0][0] % 2
            if random.random() < 0.5:
                pool.clear(0)
        pool.close()
        print(json.dumps(counts), flush=True)
        """
    )
    output, errors, exit_code = outcome(process)
    assert (errors, exit_code) == ("", 0)
    counts = json.loads(output)
    assert (counts["mixed"], counts["backwards"]) == (0, 0)
    assert counts["read"] > 50, "otherwise nothing was tested"
    assert counts["killed_while_writing"] > 10, "otherwise nothing was tested"
