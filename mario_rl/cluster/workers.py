"""The coordinator's line to workers that are actors on other machines (see `distributed.coordinator.Workers`).

Two threads meet here: the coordinator's body, which gathers, releases and publishes, and the actor's event loop, where
the workers' calls arrive. A worker's offer is answered once the update that used it has been published, with the newest
weights: one message each way per gradient carries everything. The rules are those of shared memory
(`distributed/exchange.py`).
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mario_rl.cluster.messages import Answer, Presence, Sender, Version, Weights
from mario_rl.cluster.wire import Packed, Vector, pack, unpack
from mario_rl.distributed.coordinator import Offer, Totals, TrainingCoordinator

NAP = 0.05  # seconds: the longest sleep between two looks at the stop word

Reply = Callable[[], None]
"""Lets a waiting call return."""


@dataclass
class _Worker:
    """One worker in one of its lives, as far as it has told."""

    life: int
    joined: bool = False
    rounds_when_asked: int | None = None  # how many rounds had begun when it asked to join
    heard: float = field(default_factory=time.monotonic)
    at_first: Totals = field(default_factory=Totals)  # what it had done in this life when it first spoke to us
    done: Totals = field(default_factory=Totals)
    nonfinite_in_a_row: int = 0


@dataclass(frozen=True)
class _Received:
    sender: Sender
    version: Version
    loss: float
    packed: Packed
    reply: Reply


class ClusterWorkers:
    """The coordinator's end."""

    def __init__(self, coordinator: TrainingCoordinator, lockstep: bool, before: Totals, life: int):
        self._coordinator = coordinator
        self._lockstep = lockstep
        self._before = before
        self._life = life  # which of the coordinator's
        self._precision = coordinator.config.precision
        self._change = threading.Condition(threading.RLock())  # guards all below
        self._workers: dict[int, _Worker] = {}
        self._gone = Totals()  # what those have done that are no more
        self._received: dict[int, _Received] = {}
        self._to_answer: list[Reply] = []
        self._weights: Weights | None = None
        self._following: Vector | None = None  # the newest of the weights that are not trained
        self._rounds = 0  # begun by anybody
        self._steps = before.steps
        self.stop = self.pause = False
        self.alive_at: float | None = None  # monotonic: when the body was heard of last

    # --- for the coordinator's body -------------------------------------------------------------------------------

    def gather(self, version: int) -> list[Offer]:
        """What is on offer, or in lockstep: all or nothing."""
        with self._change:
            if not self._complete():
                self._change.wait(NAP)
                if not self._complete():
                    return []
            oldest = version if self._lockstep else version - self._coordinator.config.max_staleness
            for worker, received in list(self._received.items()):
                life, number = received.version
                if life != self._life or number < oldest:
                    self._coordinator.counters.grads_received += 1
                    self._coordinator.counters.grads_stale += 1
                    del self._received[worker]
                    received.reply()
            if not self._complete():
                return []
            return [Offer(worker, unpack(kept.packed), kept.loss) for worker, kept in self._received.items()]

    def _complete(self) -> bool:
        return bool(self._received) and (not self._lockstep or self._received.keys() >= self._joined())

    def _joined(self) -> set[int]:
        return {index for index, worker in self._workers.items() if worker.joined}

    def release(self, offers: Sequence[Offer], spoilt: Sequence[int]) -> None:
        """They were used: their workers are answered when the weights are there."""
        with self._change:
            for offer in offers:
                received = self._received.pop(offer.worker, None)
                if received is not None:  # else its worker died meanwhile
                    self._to_answer.append(received.reply)
                if offer.worker in self._workers:
                    worker = self._workers[offer.worker]
                    worker.nonfinite_in_a_row = worker.nonfinite_in_a_row + 1 if offer.worker in spoilt else 0

    def publish(self, weights: Vector, version: int) -> None:
        """Into the object store; everybody who waits for them is answered."""
        trained = self._coordinator.flat.trained_size
        published = Weights((self._life, version), Weights.stored(pack(weights[:trained].copy(), self._precision)))
        following = weights[trained:].copy()
        with self._change:
            self._weights, self._following = published, following
            answered, self._to_answer = self._to_answer, []
        for reply in answered:
            reply()

    def totals(self) -> Totals:
        """What all have done, in all their lives, and what was before."""
        with self._change:
            totals = self._before
            for done in (self._gone, *(_since(worker.at_first, worker.done) for worker in self._workers.values())):
                totals = _sum(totals, done)
            recent = [worker.done for worker in self._workers.values()]
            self._steps = totals.steps
            return dataclasses.replace(
                totals,
                recent_episodes=sum(done.recent_episodes for done in recent),
                recent_flags=sum(done.recent_flags for done in recent),
            )

    def stopping(self) -> bool:
        """Whether the run is to end."""
        self.alive()
        return self.stop

    def alive(self) -> None:
        """The body gets on."""
        self.alive_at = time.monotonic()

    # --- for the actor's calls ------------------------------------------------------------------------------------

    def hear(self, sender: Sender, done: Totals) -> bool:
        """Note what a worker tells; whether it is one to be listened to: none that has been replaced."""
        with self._change:
            known = self._workers.get(sender.worker)
            if known is not None and known.life > sender.life:
                return False
            if known is None or known.life < sender.life:
                self.forget(sender.worker)
                known = self._workers[sender.worker] = _Worker(sender.life, at_first=done)
            known.heard = time.monotonic()
            known.done = done
            return True

    def join(self, sender: Sender) -> bool:
        """Whether a worker takes part from now on; in lockstep that is when the others begin a round."""
        with self._change:
            worker = self._workers[sender.worker]
            if not worker.joined:
                if worker.rounds_when_asked is None:
                    worker.rounds_when_asked = self._rounds
                others = self._joined() - {sender.worker}
                worker.joined = not self._lockstep or not others or self._rounds > worker.rounds_when_asked
            return worker.joined and self._weights is not None

    def begin_round(self, sender: Sender) -> None:
        """A worker begins to collect."""
        with self._change:
            self._rounds += self._workers[sender.worker].joined

    def receive(self, sender: Sender, version: Version, loss: float, packed: Packed, reply: Reply) -> None:
        """Take a gradient; `reply` is called once it has been used, or was found too old."""
        with self._change:
            if not self._workers[sender.worker].joined or self.stop:
                reply()
                return
            self._received[sender.worker] = _Received(sender, version, loss, packed, reply)
            self._change.notify_all()

    def answer(self, sender: Sender) -> Answer:
        """What that worker is to know now."""
        with self._change:
            worker = self._workers.get(sender.worker)
            current = worker is not None and worker.life == sender.life
            replaced = worker is not None and worker.life > sender.life
            joined = current and worker is not None and worker.joined
            return Answer(self.stop or replaced, self.pause, joined, self._steps, self._weights)

    def following(self) -> Packed | None:
        """The newest weights that only follow the trained ones; None before the first."""
        with self._change:
            following = self._following
        return None if following is None else pack(following, self._precision)

    def forget(self, worker: int) -> None:
        """A worker is gone; what it did still counts."""
        with self._change:
            left = self._workers.pop(worker, None)
            if left is not None:
                self._gone = _sum(self._gone, _since(left.at_first, left.done))
            received = self._received.pop(worker, None)
            if received is not None:
                received.reply()
            self._change.notify_all()  # in lockstep the others may be complete now

    def end(self) -> None:
        """Nobody waits any longer."""
        with self._change:
            self.stop = True
            answered = [*self._to_answer, *(received.reply for received in self._received.values())]
            self._to_answer, self._received = [], {}
        for reply in answered:
            reply()

    def presence(self) -> dict[int, Presence]:
        """Who is there, and since when they have been silent. Whoever waits for us is not silent."""
        with self._change:
            now = time.monotonic()
            return {
                index: Presence(
                    worker.life,
                    0.0 if index in self._received else now - worker.heard,
                    worker.done.steps,
                    worker.nonfinite_in_a_row,
                )
                for index, worker in self._workers.items()
            }


def _since(first: Totals, now: Totals) -> Totals:
    """What was done between two reports."""
    return Totals(now.steps - first.steps, now.episodes - first.episodes, now.flags - first.flags, now.best_x)


def _sum(one: Totals, other: Totals) -> Totals:
    best = max(one.best_x, other.best_x)
    return Totals(one.steps + other.steps, one.episodes + other.episodes, one.flags + other.flags, best)
