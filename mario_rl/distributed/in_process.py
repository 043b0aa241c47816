"""Everything in one process: the same worker and coordinator, taking turns. From one seed, always the same run."""

from __future__ import annotations

import time
from collections.abc import Callable

from mario_rl.distributed.coordinator import Keeper, Offer, Totals, TrainingCoordinator
from mario_rl.distributed.supervisor import NONFINITE_ALLOWED
from mario_rl.distributed.worker import TrainingWorker
from mario_rl.metrics.schema import Values

PAUSE_NAP = 0.05  # seconds
ROLLING = 100  # episodes of a flag rate


def train_in_process(
    worker: TrainingWorker,
    coordinator: TrainingCoordinator,
    keeper: Keeper,
    before: Totals,
    stopping: Callable[[], bool],
    paused: Callable[[], bool] = lambda: False,
) -> None:
    """Train until the run is finished or `stopping`. A round is never broken off, so that a resume is exact."""
    values_before = worker.collector.values()
    worker.flat.load_weights(coordinator.flat.weights_array())
    worker.weight_version = coordinator.version
    nonfinite_in_a_row = 0
    while not stopping() and not coordinator.finished():
        worker.collect(coordinator.counters.steps)
        for gradient in worker.gradients(coordinator.counters.steps):
            spoilt = coordinator.apply([Offer(0, gradient.vector, gradient.loss)])
            nonfinite_in_a_row = nonfinite_in_a_row + 1 if spoilt else 0
            if nonfinite_in_a_row >= NONFINITE_ALLOWED:
                raise FloatingPointError(
                    f"{NONFINITE_ALLOWED} gradients in a row were not finite: lower --lr or --reward-scale"
                )
            worker.flat.load_weights(coordinator.flat.weights_array())
            worker.weight_version = coordinator.version
        keeper.count(_totals(worker.collector.values(), values_before, before))
        worker.publish()
        keeper.tick()
        while paused() and not stopping():
            time.sleep(PAUSE_NAP)


def _totals(values: Values, values_before: Values, before: Totals) -> Totals:
    """What the run has done: what it had `before`, and what this worker has added since."""
    added = {name: int(values.get(name, 0) - values_before.get(name, 0)) for name in ("steps", "episodes", "flags")}
    recent = min(int(values.get("episodes", 0)), ROLLING)
    return Totals(
        before.steps + added["steps"],
        before.episodes + added["episodes"],
        before.flags + added["flags"],
        max(before.best_x, int(values.get("best_x", 0))),
        recent,
        round(values.get("flag_rate", 0.0) * recent),
    )
