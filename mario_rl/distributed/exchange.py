"""Workers and coordinator in different processes: both ends of the shared memory between them.

Off-policy workers send when they are ready, and the coordinator averages whatever is there: nobody waits for anybody
(or, if their experience `waits`, each for its own update only), and a gradient of weights that are more than
`max_staleness` updates old is dropped. On-policy workers go in lockstep: the coordinator waits for one gradient of
every worker that has joined, all computed on the newest weights, and each worker waits for the weights that follow. A
worker that dies is taken off the list by the supervisor; its successor joins when the others begin their next rollout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from mario_rl.distributed.coordinator import Offer, Totals, TrainingCoordinator
from mario_rl.distributed.gradient_pool import GradientView
from mario_rl.distributed.run_memory import RunMemory
from mario_rl.distributed.worker import Gradient, Vector
from mario_rl.metrics.schema import Values

NAP = 0.05  # seconds: the longest sleep between two signs of life, and between two looks at the stop word
ROLLING = 100  # episodes of a flag rate


class SharedExchange:
    """A worker's end (see `Exchange`)."""

    def __init__(self, memory: RunMemory, index: int, lockstep: bool, steps_before: int):
        self._memory = memory
        self._index = index
        self._lockstep = lockstep
        self._steps_before = steps_before  # of the run before it was resumed
        self._row = memory.board.workers[index]
        self._bell = memory.plan.worker_bells[index]
        self._version = -1  # of the trained weights fetched last
        self._whole_version = -1  # of all weights fetched last
        self._saves_seen = memory.board.control.save_requests
        # What a predecessor counted stays on the board; we add to it.
        self._board_before = {name: getattr(self._row, name) for name in ("steps", "episodes", "flags", "grads_sent")}
        self._values_before: Values = {}

    def join(self, values: Values) -> None:
        """Wait for the first weights and, in lockstep, until the others begin a rollout."""
        self._values_before = values
        while self._memory.weights.version < 0 and self._alive_and_wanted():
            self._bell.wait(NAP)
        if self._lockstep:
            begun = self._rounds_begun_by_others()
            while begun is not None and begun == self._rounds_begun_by_others() and self._alive_and_wanted():
                self._bell.wait(NAP)
        self._row.joined = 1

    def _rounds_begun_by_others(self) -> int | None:
        """How many rollouts the others have begun together; None if there are no others."""
        others = [row for row in self._memory.board.workers if row is not self._row and row.joined]
        return sum(row.rounds for row in others) if others else None

    def running(self) -> bool:
        """Whether to go on; sleeps while the run is paused."""
        while self._memory.board.control.pause and self._alive_and_wanted():
            self._bell.wait(NAP)
        return self._alive_and_wanted()

    def _alive_and_wanted(self) -> bool:
        self._memory.heartbeat.beat(self._index)
        return not self._memory.board.control.stop

    def run_steps(self) -> int:
        """Environment steps of the whole run."""
        return self._steps_before + self._memory.board.total("steps")

    def begin_round(self) -> None:
        """Say that a rollout begins."""
        self._row.rounds += 1

    def fetch(self, weights: Vector, trained_only: bool = False) -> int | None:
        """Copy the newest weights, if they are new."""
        known = self._version if trained_only else self._whole_version
        first = self._memory.plan.gradient_size if trained_only else None
        version = self._memory.weights.read_into(weights, known, first)
        if version is not None:
            self._version = version
            self._whole_version = self._whole_version if trained_only else version
        return version

    def send(self, gradient: Gradient) -> None:
        """Into our buffer, once the coordinator has taken the one before."""
        pool = self._memory.gradients
        while not pool.can_write(self._index):
            if not self._alive_and_wanted():
                return
            self._bell.wait(NAP)
        pool.write(self._index, gradient.vector, self._row.steps, self._version, gradient.loss)
        self._row.grads_sent += 1
        self._memory.plan.gradient_bell.ring()

    def await_update(self) -> None:
        """Sleep until there are newer weights than ours."""
        while self._memory.weights.version <= self._version and self._alive_and_wanted():
            self._bell.wait(NAP)

    def note(self, values: Values) -> None:
        """Onto the board."""
        row = self._row
        for name in ("steps", "episodes", "flags"):
            counted = values.get(name, 0) - self._values_before.get(name, 0)
            setattr(row, name, self._board_before[name] + int(counted))
        row.best_x = max(row.best_x, int(values.get("best_x", 0)))
        row.recent_episodes = min(int(values.get("episodes", 0)), ROLLING)
        row.recent_flags = round(values.get("flag_rate", 0.0) * row.recent_episodes)

    def save_wanted(self) -> bool:
        """Whether there was a request since the last time."""
        requests = self._memory.board.control.save_requests
        wanted = requests != self._saves_seen
        self._saves_seen = requests
        return wanted


class SharedWorkers:
    """The coordinator's end (see `Workers`)."""

    def __init__(self, memory: RunMemory, coordinator: TrainingCoordinator, lockstep: bool, before: Totals):
        self._memory = memory
        self._coordinator = coordinator
        self._lockstep = lockstep
        self._before = before  # what the run had done before it was resumed
        # a predecessor that died had published versions that the workers know
        coordinator.version = max(coordinator.version, memory.weights.version + 1)
        self._views: dict[int, GradientView] = {}

    def gather(self, version: int) -> list[Offer]:
        """What is on offer, or in lockstep: all or nothing."""
        pool = self._memory.gradients
        if not self._complete():
            self._memory.plan.gradient_bell.wait(NAP)
            if not self._complete():
                return []
        oldest = version if self._lockstep else version - self._coordinator.config.max_staleness
        offers = []
        for worker in pool.ready():
            view = pool.view(worker)
            if view is None:
                continue
            self._views[worker] = view
            if view.header.weight_version < oldest:
                self._coordinator.counters.grads_received += 1
                self._coordinator.counters.grads_stale += 1
                self.release([_offer(view, pool.intact)], [])
            else:
                offers.append(_offer(view, pool.intact))
        return offers if not self._lockstep or {offer.worker for offer in offers} >= self._joined() else []

    def _complete(self) -> bool:
        ready = set(self._memory.gradients.ready())
        return bool(ready) and (not self._lockstep or ready >= self._joined())

    def _joined(self) -> set[int]:
        return {index for index, row in enumerate(self._memory.board.workers) if row.joined}

    def release(self, offers: Sequence[Offer], spoilt: Sequence[int]) -> None:
        """Buffers are free again; a worker that goes wrong again and again is on the board for the supervisor."""
        for offer in offers:
            row = self._memory.board.workers[offer.worker]
            row.nonfinite_in_a_row = row.nonfinite_in_a_row + 1 if offer.worker in spoilt else 0
            self._memory.gradients.release(offer.worker)
            self._memory.plan.worker_bells[offer.worker].ring()

    def publish(self, weights: Vector, version: int) -> None:
        """Into the weights' memory; everybody who waits for them wakes up."""
        self._memory.weights.publish(weights, version)
        for bell in self._memory.plan.worker_bells:
            bell.ring()

    def totals(self) -> Totals:
        """The sums of the board, and what was before."""
        board, before = self._memory.board, self._before
        return Totals(
            before.steps + board.total("steps"),
            before.episodes + board.total("episodes"),
            before.flags + board.total("flags"),
            max([before.best_x, *(row.best_x for row in board.workers)]),
            board.total("recent_episodes"),
            board.total("recent_flags"),
        )

    def stopping(self) -> bool:
        """Whether the run is to end."""
        self._memory.heartbeat.beat(self._memory.heartbeat.coordinator)
        return bool(self._memory.board.control.stop)


def _offer(view: GradientView, intact: Callable[[GradientView], bool]) -> Offer:
    return Offer(view.header.worker, view.gradient, view.header.loss, partial(intact, view))
