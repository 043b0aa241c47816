"""Where a worker's episodes begin, and what it imitates: the run's `--curriculum`, worker by worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mario_rl._native import Rom
from mario_rl.config import TrainingConfig
from mario_rl.distributed.coordinator import TrainingCoordinator
from mario_rl.emulators.rom import find_rom
from mario_rl.environment.smb.starts import Starts
from mario_rl.learners.base import Learner
from mario_rl.learners.imitation import Demonstrations, clone
from mario_rl.runs.directory import RunDirectory
from mario_rl.snapshots.curricula import ArchiveStarts, BackwardStarts
from mario_rl.snapshots.hotspots import DeathHotspotAggregate
from mario_rl.snapshots.practice import SnapshotStarts
from mario_rl.snapshots.preparation import KnownWay
from mario_rl.snapshots.sharing import SnapshotSharing

Warn = Callable[[str], None]
THE_COORDINATOR = -1  # as a number of a worker, for its seeds


class Curriculum:
    """A worker's. Without parts, that of a run whose curriculum is off."""

    def __init__(
        self,
        starts: Starts | None = None,
        demonstrations: Demonstrations | None = None,
        sharing: SnapshotSharing | None = None,
    ):
        self.starts = starts
        self._demonstrations = demonstrations
        self._sharing = sharing

    def imitation_loss(self, learner: Learner, progress: float) -> Tensor | None:
        """What to add to a minibatch's loss; None if nothing is to be imitated (any more)."""
        return None if self._demonstrations is None else self._demonstrations.loss(learner, progress)

    def between_rounds(self) -> None:
        """Learn from the other workers what they know, now and then."""
        if self._sharing is not None:
            self._sharing.now_and_then()

    def close(self) -> None:
        """Leave to the run what is worth knowing."""
        if self._sharing is not None:
            self._sharing.share()

    def continue_from(self, values: Mapping[str, float]) -> None:
        """Go on from the last known metrics alone."""
        if self.starts is not None:
            self.starts.continue_from(values)

    def state_dict(self) -> dict[str, Any]:
        """What is not part of the environment's state."""
        drawing = self._demonstrations
        return {"drawing": None if drawing is None else drawing.generator.get_state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken."""
        if self._demonstrations is not None and state["drawing"] is not None:
            self._demonstrations.generator.set_state(state["drawing"])


def worker_curriculum(run: Path, config: TrainingConfig, worker: int, warn: Warn) -> Curriculum:
    """The curriculum of one worker of a run that has been prepared."""
    seed = _seed(config, worker)
    match config.curriculum:
        case "snapshots":
            # One process alone shares with nobody: from one seed, always the same run.
            alone = config.workers == 0
            file = None if alone else RunDirectory(run).death_hotspots_json
            hotspots = DeathHotspotAggregate(file, config.half_life)
            starts = SnapshotStarts(
                config.lanes, hotspots, fresh=config.fresh, seed=seed, workers=max(config.workers, 1)
            )
            rom = Rom(find_rom("smb", config.rom).read_bytes())
            sharing = None if alone else SnapshotSharing(run / "snapshots", worker, starts, rom, warn)
            return Curriculum(starts, sharing=sharing)
        case "archive":
            return Curriculum(ArchiveStarts(KnownWay(run, config).archive(), config.fresh, seed))
        case "demo":
            shown = KnownWay(run, config).demonstrations()
            backwards = BackwardStarts(shown, config.lanes, config.fresh, seed)
            return Curriculum(backwards, Demonstrations(config, shown, seed))
    return Curriculum()


def warm_start(coordinator: TrainingCoordinator, run: Path) -> float | None:
    """Let a model that has learned nothing yet clone the run's demonstrations; the loss at the end, None if off."""
    config = coordinator.config
    if config.curriculum != "demo" or not config.clone_steps:
        return None
    torch.manual_seed(config.seed)
    demonstrations = Demonstrations(config, KnownWay(run, config).demonstrations(), _seed(config, THE_COORDINATOR))
    return clone(coordinator.flat, coordinator.learner, demonstrations, config.clone_steps)


def _seed(config: TrainingConfig, worker: int) -> int:
    """Streams of random numbers of their own, for every worker and seed."""
    return int(np.random.SeedSequence([config.seed, worker + 1, 2]).generate_state(1)[0])
