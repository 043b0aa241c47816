"""Both ends of the shared memory, in one process: who waits for whom, what is dropped, what survives a restart."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator

import numpy as np
import pytest

from mario_rl import config as configuration
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator
from mario_rl.distributed.exchange import SharedExchange, SharedWorkers
from mario_rl.distributed.run_memory import MemoryPlan, RunMemory
from mario_rl.distributed.worker import Gradient

WORKERS = 2


@pytest.fixture
def coordinator() -> TrainingCoordinator:
    return TrainingCoordinator(configuration.from_dict({"hidden": 8, "max_staleness": 3}))


@pytest.fixture
def memory(coordinator: TrainingCoordinator) -> Iterator[RunMemory]:
    flat = coordinator.flat
    plan = MemoryPlan.of_run(f"test{uuid.uuid4().hex[:8]}", WORKERS, flat.trained_size, flat.size)
    created = RunMemory(plan, create=True)
    yield created
    created.close()


def gradient(of: TrainingCoordinator, value: float = 1.0) -> Gradient:
    return Gradient(np.full(of.flat.trained_size, value, np.float32), loss=value)


def joined(memory: RunMemory, coordinator: TrainingCoordinator, lockstep: bool) -> tuple[SharedWorkers, list]:
    """Both ends, with weights published and all workers in."""
    workers = SharedWorkers(memory, coordinator, lockstep, Totals())
    workers.publish(coordinator.flat.weights_array(), coordinator.version)
    exchanges = [SharedExchange(RunMemory(memory.plan), index, lockstep, 0) for index in range(WORKERS)]
    weights = np.zeros(coordinator.flat.size, np.float32)
    for exchange, row in zip(exchanges, memory.board.workers, strict=True):
        row.joined = 1
        assert exchange.fetch(weights) == coordinator.version
        assert np.array_equal(weights, coordinator.flat.weights_array())
        assert exchange.fetch(weights) is None  # nothing newer
    return workers, exchanges


def test_fetching_the_trained_weights_alone_leaves_the_target_network(
    memory: RunMemory, coordinator: TrainingCoordinator
) -> None:
    workers, (one, _) = joined(memory, coordinator, lockstep=False)
    new = np.full(coordinator.flat.size, 5.0, np.float32)
    workers.publish(new, coordinator.version + 1)
    weights, trained = np.zeros_like(new), coordinator.flat.trained_size
    assert one.fetch(weights, trained_only=True) == coordinator.version + 1
    assert (weights[:trained] == 5).all() and (weights[trained:] == 0).all()
    assert one.fetch(weights, trained_only=True) is None
    assert one.fetch(weights) == coordinator.version + 1  # the rest is still to be had
    assert (weights == 5).all()
    assert one.fetch(weights) is None


def test_off_policy_takes_what_is_there(memory: RunMemory, coordinator: TrainingCoordinator) -> None:
    workers, (one, two) = joined(memory, coordinator, lockstep=False)
    one.send(gradient(coordinator, 2.0))
    (offer,) = workers.gather(coordinator.version)
    assert offer.worker == 0 and offer.loss == 2.0 and (offer.vector == 2).all() and offer.intact()
    assert not memory.gradients.can_write(0)
    workers.release([offer], [])
    assert memory.gradients.can_write(0)
    two.send(gradient(coordinator))
    one.send(gradient(coordinator))
    assert {offer.worker for offer in workers.gather(coordinator.version)} == {0, 1}


def test_a_gradient_of_old_weights_is_dropped_and_counted(memory: RunMemory, coordinator: TrainingCoordinator) -> None:
    workers, (one, two) = joined(memory, coordinator, lockstep=False)
    for _ in range(4):
        coordinator.version += 1
        workers.publish(coordinator.flat.weights_array(), coordinator.version)
    two.fetch(np.zeros(coordinator.flat.size, np.float32))
    one.send(gradient(coordinator))  # four updates behind, three are allowed
    two.send(gradient(coordinator))
    assert [offer.worker for offer in workers.gather(coordinator.version)] == [1]
    assert coordinator.counters.grads_stale == 1
    assert memory.gradients.can_write(0)  # its worker may go on


def test_lockstep_waits_for_everybody_who_joined(memory: RunMemory, coordinator: TrainingCoordinator) -> None:
    workers, (one, two) = joined(memory, coordinator, lockstep=True)
    one.send(gradient(coordinator))
    assert workers.gather(coordinator.version) == []
    two.send(gradient(coordinator))
    offers = workers.gather(coordinator.version)
    assert {offer.worker for offer in offers} == {0, 1}
    coordinator.apply(offers)
    workers.release(offers, [])

    waiting = threading.Thread(target=one.await_update)
    waiting.start()
    waiting.join(0.15)
    assert waiting.is_alive()  # for the weights that follow
    workers.publish(coordinator.flat.weights_array(), coordinator.version)
    waiting.join(5)
    assert not waiting.is_alive()

    # one has not fetched the new weights: what it sends now is of no use, and the others do not count without it
    one.send(gradient(coordinator))
    two.fetch(np.zeros(coordinator.flat.size, np.float32))
    two.send(gradient(coordinator))
    assert workers.gather(coordinator.version) == []
    assert coordinator.counters.grads_stale == 1
    memory.board.workers[0].joined = 0  # as the supervisor does when a worker dies
    assert [offer.worker for offer in workers.gather(coordinator.version)] == [1]


def test_a_newcomer_joins_when_the_others_begin_a_rollout(memory: RunMemory, coordinator: TrainingCoordinator) -> None:
    _, (one, _) = joined(memory, coordinator, lockstep=True)
    memory.board.workers[1].joined = 0
    newcomer = SharedExchange(RunMemory(memory.plan), 1, True, 0)
    joining = threading.Thread(target=newcomer.join, args=({},))
    joining.start()
    joining.join(0.2)
    assert joining.is_alive() and not memory.board.workers[1].joined
    one.begin_round()
    joining.join(5)
    assert memory.board.workers[1].joined == 1


def test_who_is_alone_joins_at_once_and_stopping_frees_who_waits(
    memory: RunMemory, coordinator: TrainingCoordinator
) -> None:
    exchange = SharedExchange(memory, 0, True, 0)
    joining = threading.Thread(target=exchange.join, args=({},))
    joining.start()
    joining.join(0.1)
    assert joining.is_alive()  # there are no weights yet
    SharedWorkers(memory, coordinator, True, Totals()).publish(coordinator.flat.weights_array(), 0)
    joining.join(5)
    assert memory.board.workers[0].joined == 1
    exchange.fetch(np.zeros(coordinator.flat.size, np.float32))
    waiting = threading.Thread(target=exchange.await_update)
    waiting.start()
    memory.board.control.stop = 1
    waiting.join(5)
    assert not waiting.is_alive() and not exchange.running()


def test_counters_go_on_over_restarts_of_worker_and_run(memory: RunMemory, coordinator: TrainingCoordinator) -> None:
    before = Totals(steps=1000, episodes=10, flags=1, best_x=700)
    workers = SharedWorkers(memory, coordinator, False, before)
    workers.publish(coordinator.flat.weights_array(), coordinator.version)
    first = SharedExchange(memory, 0, False, before.steps)
    first.join({"steps": 300.0, "episodes": 3.0})  # what its collector brought along from before the resume
    first.note({"steps": 364.0, "episodes": 5.0, "flags": 1.0, "best_x": 900.0, "flag_rate": 0.2})
    assert first.run_steps() == 1064
    second = SharedExchange(memory, 0, False, before.steps)  # the first was killed
    second.join({})
    second.note({"steps": 36.0, "episodes": 1.0, "flags": 1.0, "best_x": 50.0, "flag_rate": 1.0})
    assert workers.totals() == Totals(1100, 13, 3, 900, 1, 1)


def test_a_restarted_coordinator_counts_versions_on(memory: RunMemory, coordinator: TrainingCoordinator) -> None:
    coordinator.version = 41
    SharedWorkers(memory, coordinator, False, Totals()).publish(coordinator.flat.weights_array(), 41)
    successor = TrainingCoordinator(coordinator.config)  # from a checkpoint of long ago
    workers = SharedWorkers(memory, successor, False, Totals())
    assert successor.version == 42
    workers.publish(successor.flat.weights_array(), successor.version)


def test_spoilt_gradients_in_a_row_are_counted_for_the_supervisor(
    memory: RunMemory, coordinator: TrainingCoordinator
) -> None:
    workers, (one, _) = joined(memory, coordinator, lockstep=False)
    for expected, value in ((1, np.nan), (2, np.inf), (0, 1.0), (1, np.nan)):
        one.send(gradient(coordinator, value))
        offers = workers.gather(coordinator.version)
        workers.release(offers, coordinator.apply(offers))
        assert memory.board.workers[0].nonfinite_in_a_row == expected
    assert np.isfinite(coordinator.flat.weights_array()).all()


def test_pausing_holds_a_worker_and_saving_is_asked_once(memory: RunMemory, coordinator: TrainingCoordinator) -> None:
    exchange = SharedExchange(memory, 0, False, 0)
    assert not exchange.save_wanted()
    memory.board.control.save_requests += 1
    assert exchange.save_wanted() and not exchange.save_wanted()
    memory.board.control.pause = 1
    running = threading.Thread(target=exchange.running)
    running.start()
    running.join(0.15)
    assert running.is_alive()
    memory.board.control.pause = 0
    running.join(5)
    assert not running.is_alive()
