"""Weights arrive whole and never older than before, whatever happens to the one who publishes them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.distributed.shared_memory import SharedMemoryError
from mario_rl.distributed.weights import SharedWeights
from tests.distributed.child_processes import a_name, outcome, script
from tests.distributed.interrupted_arrays import Killed, dying, interrupted

SIZE = 10


@pytest.fixture
def weights() -> Iterator[SharedWeights]:
    weights = SharedWeights(a_name("weights"), SIZE, create=True)
    yield weights
    weights.close()


def full_of(value: float) -> npt.NDArray[np.float32]:
    return np.full(SIZE, value, np.float32)


def test_the_newest_weights_are_read(weights: SharedWeights) -> None:
    reader, mine = SharedWeights(weights.name, SIZE), full_of(-1)
    assert reader.version == -1
    assert reader.read_into(mine) is None
    weights.publish(np.arange(SIZE, dtype=np.float32), 0)
    assert reader.version == 0
    assert reader.read_into(mine) == 0
    assert np.array_equal(mine, np.arange(SIZE))
    for version in (1, 2, 5):
        weights.publish(full_of(version), version)
    assert reader.read_into(mine, newer_than=2) == 5
    assert np.array_equal(mine, full_of(5))
    mine.fill(-1)
    assert reader.read_into(mine, newer_than=5) is None
    assert np.array_equal(mine, full_of(-1)), "nothing newer, nothing copied"


def test_versions_only_grow(weights: SharedWeights) -> None:
    weights.publish(full_of(1), 8)
    for version in (8, 7):
        with pytest.raises(ValueError, match="go on counting"):
            weights.publish(full_of(2), version)
    mine = full_of(0)
    assert weights.read_into(mine) == 8
    assert np.array_equal(mine, full_of(1))


@given(st.lists(st.booleans(), max_size=20))
def test_deaths_while_publishing_leave_the_weights_before(deaths: list[bool]) -> None:
    """Every publication either happens or ends in a death half-way, any number of them in a row."""
    weights = SharedWeights(a_name("weights"), SIZE, create=True)
    newest = -1
    for version, dies in enumerate(deaths):
        publisher = SharedWeights(weights.name, SIZE)  # after a death, the coordinator is a new process
        if dies:
            with pytest.raises(Killed):
                publisher.publish(dying(full_of(version)), version)
        else:
            publisher.publish(full_of(version), version)
            newest = version
        mine = full_of(-1)
        assert weights.version == newest
        assert weights.read_into(mine) == (None if newest == -1 else newest)
        assert np.array_equal(mine, full_of(newest))
    weights.close()


@pytest.mark.parametrize("publications", [1, 2, 3])
def test_a_reader_that_is_overtaken_still_gets_whole_weights(weights: SharedWeights, publications: int) -> None:
    weights.publish(full_of(0), 0)

    def overtake() -> None:
        for version in range(1, publications + 1):
            weights.publish(full_of(version), version)

    mine = full_of(-1)
    version = weights.read_into(interrupted(mine, overtake))
    assert version is not None
    assert np.array_equal(mine, full_of(version))


def test_a_reader_is_not_held_up_by_a_dead_publisher_that_had_overtaken_it(weights: SharedWeights) -> None:
    weights.publish(full_of(0), 0)

    def overtake_and_die() -> None:
        weights.publish(full_of(1), 1)
        with pytest.raises(Killed):
            weights.publish(dying(full_of(2)), 2)  # in the very copy that is being read

    mine = full_of(-1)
    assert weights.read_into(interrupted(mine, overtake_and_die)) == 1
    assert np.array_equal(mine, full_of(1))


@pytest.mark.parametrize("wrong", [np.zeros(SIZE + 1, np.float32), np.zeros(SIZE), np.zeros((1, SIZE), np.float32)])
def test_weights_of_another_model_are_refused(weights: SharedWeights, wrong: npt.NDArray[np.float32]) -> None:
    for use in (lambda: weights.publish(wrong, 0), lambda: weights.read_into(wrong)):
        with pytest.raises(ValueError, match=r"float32\[10\].*same model"):
            use()
    with pytest.raises(SharedMemoryError):
        SharedWeights(weights.name, SIZE + 1)


def test_publishers_killed_at_random_moments_never_show_a_mixture() -> None:
    """Real processes, real SIGKILL, for some seconds. Every vector is full of its version; versions never go back."""
    process = script(
        f"""
        import json, os, random, signal, time
        import numpy as np
        from mario_rl.distributed.weights import SharedWeights

        SIZE, KILLS, SECONDS = 100_000, 2_000, 3.0
        random.seed(1)
        parent = os.getpid()
        weights = SharedWeights({a_name("weights")!r}, SIZE, create=True)
        mine = np.zeros(SIZE, np.float32)
        counts = {{"read": 0, "killed_while_writing": 0, "mixed": 0, "backwards": 0}}
        newest = -1

        def publish_forever():
            vector = np.empty(SIZE, np.float32)
            while os.getppid() == parent:
                version = weights.version + 1
                vector.fill(version)
                weights.publish(vector, version)

        def read():
            global newest
            version = weights.read_into(mine, newer_than=newest)
            if version is None:
                return
            counts["mixed"] += not (mine[::499] == version).all()
            counts["backwards"] += version <= newest
            newest = version
            counts["read"] += 1

        deadline = time.perf_counter() + SECONDS
        for kill in range(KILLS):
            if time.perf_counter() > deadline:
                break
            before = sum(header[0] for header in weights._headers)
            child = os.fork()
            if child == 0:
                publish_forever()
            while sum(header[0] for header in weights._headers) == before:  # until it writes
                time.sleep(0.0001)
            for _ in range(random.randrange(4)):
                read()
                time.sleep(random.uniform(0, 0.0003))  # about as long as a publication takes
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            counts["killed_while_writing"] += any(header[0] % 2 for header in weights._headers)
            read()
        weights.close()
        print(json.dumps(counts), flush=True)
        """
    )
    output, errors, exit_code = outcome(process)
    assert (errors, exit_code) == ("", 0)
    counts = json.loads(output)
    assert (counts["mixed"], counts["backwards"]) == (0, 0)
    assert counts["read"] > 50, "otherwise nothing was tested"
    assert counts["killed_while_writing"] > 10, "otherwise nothing was tested"
