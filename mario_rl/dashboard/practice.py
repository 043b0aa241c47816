"""What a curriculum does, in words: episodes begun in the middle of a level, snapshots, the way back along a route."""

from __future__ import annotations

from mario_rl.dashboard.figures import count, percent
from mario_rl.dashboard.session import TrainingSession
from mario_rl.snapshots.state_machine import SnapshotRules

MOST_STUCK = SnapshotRules().max_restores_without_progress


def practises(session: TrainingSession) -> bool:
    """Whether episodes of this run may begin in the middle of a level."""
    return session.config.curriculum != "off"


def practice_of_worker(session: TrainingSession, worker: int) -> str:
    """One worker's practice."""

    def latest(name: str) -> float | None:
        return session.aggregator.latest(f"worker_{worker}", name)

    return _words(
        session.config.curriculum,
        latest("practice_episodes"),
        latest("practice_flag_rate"),
        (latest("saves"), latest("restores"), latest("stuck")),
        latest("curriculum_progress"),
    )


def practice_of_all(session: TrainingSession) -> str:
    """The practice of all workers; of stuck ones, the worst."""
    aggregator = session.aggregator
    return _words(
        session.config.curriculum,
        aggregator.total("practice_episodes"),
        aggregator.practice_flag_rate,
        (aggregator.total("saves"), aggregator.total("restores"), aggregator.maximum("stuck")),
        aggregator.mean("curriculum_progress"),
    )


def _words(
    curriculum: str,
    episodes: float | None,
    flag_rate: float | None,
    snapshots: tuple[float | None, float | None, float | None],
    progress: float | None,
) -> str:
    words = f"practice: {count(episodes or 0)} episodes"
    if flag_rate is not None:
        words += f", {percent(flag_rate)} flags"
    if curriculum == "snapshots":
        saves, restores, stuck = (number or 0 for number in snapshots)
        words += f"; {count(saves)} saved, {count(restores)} restored ({count(stuck)}/{MOST_STUCK})"
    if curriculum == "demo" and progress is not None:
        words += f"; starts {percent(progress)} of the way back"
    return words
