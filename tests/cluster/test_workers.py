"""The rules by which the coordinator takes gradients of actors: without Ray, call by call."""

from __future__ import annotations

import numpy as np
import pytest

from mario_rl import config as configuration
from mario_rl.cluster.messages import Sender
from mario_rl.cluster.wire import pack, unpack
from mario_rl.cluster.workers import ClusterWorkers
from mario_rl.distributed.coordinator import Totals, TrainingCoordinator

LIFE = 3  # of the coordinator


class Calls:
    """Workers' calls, and what became of them."""

    def __init__(self, lockstep: bool, **settings: object):
        config = configuration.from_dict({"model": "ddqn", "hidden": 8, "lanes": 2, "max_staleness": 2, **settings})
        self.coordinator = TrainingCoordinator(config)
        self.coordinator.version = 10
        self.workers = ClusterWorkers(self.coordinator, lockstep, Totals(steps=1000), LIFE)
        self.answered: list[int] = []
        self.publish()

    def publish(self) -> None:
        self.workers.publish(self.coordinator.flat.weights_array(), self.coordinator.version)

    def join(self, worker: int, life: int = 0) -> bool:
        sender = Sender(worker, life)
        return self.workers.hear(sender, Totals()) and self.workers.join(sender)

    def offer(self, worker: int, number: int = 10, life: int = LIFE, value: float = 1.0) -> None:
        gradient = np.full(self.coordinator.flat.trained_size, value, np.float32)
        packed = pack(gradient, "float32")
        self.workers.receive(Sender(worker, 0), (life, number), 0.5, packed, lambda: self.answered.append(worker))

    def gathered(self) -> list[int]:
        return sorted(offer.worker for offer in self.workers.gather(self.coordinator.version))


def test_off_policy_takes_what_is_there_and_answers_once_it_is_published() -> None:
    calls = Calls(lockstep=False)
    assert calls.join(0) and calls.join(1)
    calls.offer(1)
    offers = calls.workers.gather(10)
    assert [offer.worker for offer in offers] == [1]
    calls.coordinator.apply(offers)
    calls.workers.release(offers, [])
    assert calls.answered == [], "there are no weights to answer with yet"
    calls.publish()
    assert calls.answered == [1]
    answer = calls.workers.answer(Sender(1, 0))
    assert answer.weights is not None and answer.weights.version == (LIFE, 11)
    flat, following = calls.coordinator.flat, calls.workers.following()
    assert np.array_equal(unpack(answer.weights.fetched()), flat.weights_array()[: flat.trained_size])
    assert following is not None and np.array_equal(unpack(following), flat.weights_array()[flat.trained_size :])
    assert calls.gathered() == []


@pytest.mark.parametrize(("number", "life", "used"), [(8, LIFE, True), (7, LIFE, False), (10, LIFE - 1, False)])
def test_gradients_of_old_weights_or_of_another_coordinator_are_dropped(number: int, life: int, used: bool) -> None:
    calls = Calls(lockstep=False)
    calls.join(0)
    calls.offer(0, number, life)
    assert calls.gathered() == ([0] if used else [])
    assert calls.answered == ([] if used else [0])
    assert calls.coordinator.counters.grads_stale == (0 if used else 1)


def test_lockstep_waits_for_everybody_and_not_for_the_dead() -> None:
    calls = Calls(lockstep=True)
    assert calls.join(0)
    assert not calls.join(1), "the others are in the middle of a round"
    calls.workers.begin_round(Sender(0, 0))
    assert calls.join(1)
    calls.offer(0)
    assert calls.gathered() == []
    calls.offer(1)
    assert calls.gathered() == [0, 1]
    calls.workers.forget(1)
    assert calls.answered == [1]
    assert calls.gathered() == [0]


def test_lockstep_uses_the_newest_weights_only() -> None:
    calls = Calls(lockstep=True)
    calls.join(0)
    calls.offer(0, 9)
    assert calls.gathered() == []
    assert calls.answered == [0]


def test_what_was_done_counts_once_over_the_lives_of_workers() -> None:
    calls = Calls(lockstep=False)
    workers = calls.workers
    assert workers.hear(Sender(0, 0), Totals())
    assert workers.hear(Sender(0, 0), Totals(steps=50, episodes=2, flags=1, best_x=700))
    assert workers.totals().steps == 1050
    assert workers.hear(Sender(0, 1), Totals()), "it died, and has a successor"
    assert not workers.hear(Sender(0, 0), Totals(steps=60)), "who was replaced is not listened to"
    assert workers.answer(Sender(0, 0)).stop, "and is told to end"
    workers.hear(Sender(0, 1), Totals(steps=7, best_x=300))
    workers.hear(Sender(4, 9), Totals(steps=500)), "one that an earlier coordinator knew: only what comes now counts"
    workers.hear(Sender(4, 9), Totals(steps=503, recent_episodes=10, recent_flags=4))
    totals = workers.totals()
    assert (totals.steps, totals.episodes, totals.flags, totals.best_x) == (1000 + 50 + 7 + 3, 2, 1, 700)
    assert (totals.recent_episodes, totals.recent_flags) == (10, 4)


def test_gradients_that_are_not_finite_are_counted_for_the_supervisor() -> None:
    calls = Calls(lockstep=False)
    calls.join(0)
    for count in (1, 2):
        calls.offer(0, calls.coordinator.version, value=np.nan)
        offers = calls.workers.gather(calls.coordinator.version)
        calls.workers.release(offers, calls.coordinator.apply(offers))
        assert calls.workers.presence()[0].nonfinite_in_a_row == count
    calls.offer(0, calls.coordinator.version)
    offers = calls.workers.gather(calls.coordinator.version)
    calls.workers.release(offers, calls.coordinator.apply(offers))
    assert calls.workers.presence()[0].nonfinite_in_a_row == 0


def test_the_end_leaves_nobody_waiting() -> None:
    calls = Calls(lockstep=True)
    calls.join(0)
    calls.offer(0)
    calls.workers.end()
    assert calls.answered == [0]
    assert calls.workers.answer(Sender(0, 0)).stop
    calls.offer(0)
    assert calls.answered == [0, 0], "too late, and told so at once"
