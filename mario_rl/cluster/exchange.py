"""A worker's line to a coordinator that is an actor elsewhere (see `distributed.worker.Exchange`).

A coordinator that is lost has a successor, which the parent starts from the newest checkpoint. Until then gradients are
dropped; the worker joins again with its next round, so that no successor gets gradients of a rollout that it never
knew.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from mario_rl.cluster.messages import Answer, Report, Sender
from mario_rl.cluster.relayed_events import RelayedEvents
from mario_rl.cluster.wire import pack, unpack_into
from mario_rl.distributed.coordinator import Totals
from mario_rl.distributed.worker import Gradient, Vector
from mario_rl.metrics.schema import Values

NAP = 0.05  # seconds between two questions while waiting
BEAT_SECONDS = 1.0  # without any other call, this often
GOODBYE_SECONDS = 5.0
ROLLING = 100  # episodes of a flag rate

NO_VERSION = (-1, -1)


class ClusterExchange:
    """A worker's end."""

    def __init__(
        self,
        coordinator: Any,
        sender: Sender,
        events: RelayedEvents,
        trained_size: int,
        lockstep: bool,
        precision: str,
        between_rounds: Callable[[], None] = lambda: None,
    ):
        self._coordinator = coordinator
        self._sender = sender
        self._events = events
        self._trained_size = trained_size
        self._lockstep = lockstep
        self._precision = precision
        self._between_rounds = between_rounds
        self._totals = Totals()
        self._values_before: Values = {}
        self._joined = False
        self._pending: Any = None  # the answer to the gradient sent last
        self._beat: Any = None  # the answer to the last sign of life
        self._spoke = 0.0  # monotonic
        self._answer = Answer(False, False, False, 0, None)
        self._version = self._whole_version = NO_VERSION  # of the trained weights, and of all weights, fetched last

    def join(self, values: Values) -> None:
        """Wait until the coordinator counts on us: for the first weights and, in lockstep, for the others."""
        self._values_before = values
        self._join()

    def _join(self) -> None:
        while not self._answer.stop:
            answer = self._ask(self._coordinator.join.remote(self._report()))
            self._joined = answer is not None and answer.joined and answer.weights is not None
            if self._joined:
                return
            time.sleep(NAP)

    def running(self) -> bool:
        """Whether to go on; sleeps while the run is paused."""
        self._beat_now_and_then()
        if self._answer.pause:
            self.await_update()  # later on, its answer would tell of a pause that is over
        while self._answer.pause and not self._answer.stop:
            time.sleep(NAP)
            self._beat_now_and_then(wait=True)
        return not self._answer.stop

    def _beat_now_and_then(self, wait: bool = False) -> None:
        if self._beat is not None and (wait or _is_ready(self._beat)):
            beat, self._beat = self._beat, None
            self._ask(beat)
        elif self._beat is None and time.monotonic() - self._spoke > BEAT_SECONDS:
            self._beat = self._coordinator.beat.remote(self._report())

    def run_steps(self) -> int:
        """Environment steps of the whole run, as far as we were told."""
        return self._answer.run_steps

    def begin_round(self) -> None:
        """Say that a rollout begins; join again if the coordinator has changed."""
        self._between_rounds()
        if not self._joined:
            self._join()
        if self._lockstep and self._joined:
            self._coordinator.begin_round.remote(self._sender)

    def fetch(self, weights: Vector, trained_only: bool = False) -> int | None:
        """Copy the newest weights that we were told of, if they are others."""
        newest = self._answer.weights
        if newest is None or newest.version == (self._version if trained_only else self._whole_version):
            return None
        try:
            unpack_into(newest.fetched(), weights[: self._trained_size])
            if not trained_only and len(weights) > self._trained_size:
                unpack_into(ray.get(self._coordinator.following.remote()), weights[self._trained_size :])
        except RayError:  # they were lost with the coordinator
            self._lose()
            return None
        self._version = newest.version
        self._whole_version = self._whole_version if trained_only else newest.version
        return newest.version[1]

    def send(self, gradient: Gradient) -> None:
        """Off, once the one before has been used."""
        self.await_update()
        if not self._joined or self._answer.stop:
            return
        packed = pack(gradient.vector, self._precision)
        self._pending = self._coordinator.offer.remote(self._report(), self._version, gradient.loss, packed)

    def await_update(self) -> None:
        """Wait for the answer to the gradient sent last: it brings the weights that came of it."""
        if self._pending is not None:
            pending, self._pending = self._pending, None
            self._ask(pending)

    def note(self, values: Values) -> None:
        """To be told with the next call."""
        before, recent = self._values_before, min(int(values.get("episodes", 0)), ROLLING)
        self._totals = Totals(
            **{name: int(values.get(name, 0) - before.get(name, 0)) for name in ("steps", "episodes", "flags")},
            best_x=int(values.get("best_x", 0)),
            recent_episodes=recent,
            recent_flags=round(values.get("flag_rate", 0.0) * recent),
        )

    def save_wanted(self) -> bool:
        """Never: what a worker remembers does not leave its node."""
        return False

    def leave(self) -> None:
        """Tell what is still to be told."""
        self.await_update()
        try:
            ray.get(self._coordinator.beat.remote(self._report()), timeout=GOODBYE_SECONDS)
        except (RayError, GetTimeoutError):
            return

    def _report(self) -> Report:
        self._spoke = time.monotonic()
        return Report(self._sender, self._totals, self._events.take())

    def _ask(self, call: Any) -> Answer | None:
        """The answer, once it is there; None if the coordinator was lost."""
        try:
            self._answer = ray.get(call)
        except RayError:
            self._lose()
            return None
        self._joined = self._joined and self._answer.joined
        return self._answer

    def _lose(self) -> None:
        """The coordinator is gone, or does not know us."""
        self._joined = False
        self._pending = self._beat = None
        answer = self._answer
        self._answer = Answer(answer.stop, False, False, answer.run_steps, None)
        time.sleep(NAP)


def _is_ready(call: Any) -> bool:
    return bool(ray.wait([call], timeout=0)[0])
