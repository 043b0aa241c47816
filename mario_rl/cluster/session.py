"""A run on a cluster, as the dashboard or the progress line drives it."""

from __future__ import annotations

from mario_rl.cluster.connection import ClusterLost, Connection
from mario_rl.config import TrainingConfig
from mario_rl.distributed.coordinator import Totals
from mario_rl.distributed.events import Event
from mario_rl.distributed.supervisor import Supervisor
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.status import State
from mario_rl.runs.training import SupervisedSession

STALE_SECONDS = 60.0  # without a sign of life, an actor counts as hung; its model was imported when it got its place
RESCUE_SECONDS = 20.0  # for the last checkpoint when the head is gone; Ray ends everything after a minute
DRAIN_SECONDS = 30.0


class ClusterSession(SupervisedSession):
    """Workers and coordinator as actors on the nodes of a Ray cluster."""

    def __init__(self, run: RunDirectory, config: TrainingConfig, before: Totals):
        self._connection = Connection(config.cluster, cpus=config.workers + 1)
        try:
            from mario_rl.cluster.line import ClusterLine

            super().__init__(run, config, before)
            self._line = ClusterLine(run, config, before)
        except BaseException:
            self._connection.close()
            raise
        self.board = self._line.board
        self.supervisor = Supervisor(
            self._line.start_worker,
            self._line.start_coordinator,
            board=self.board,
            pool=self._line,
            heartbeat=self._line,
            last_words=self._line,
            report=lambda event: self.take([event]),
            stale_seconds=STALE_SECONDS,
        )

    def tick(self) -> bool:
        """As everywhere, and the head must answer: while it does not, nobody else is blamed for anything."""
        try:
            self._connection.check()
        except ClusterLost as lost:
            self.problem = f"{lost}, then resume"
            return False
        return True if self._connection.silent and not self.stop_asked else super().tick()

    def poll(self) -> list[Event]:
        """From the coordinator, where everybody's events come together."""
        return [] if self._connection.silent else self._line.poll()

    def close(self) -> State:
        """A lost head is not waited for: what the coordinator has is taken, if it can still be had."""
        if not self._connection.lost:
            return super().close()
        try:
            self.take(self._line.rescue(RESCUE_SECONDS))
        finally:
            self.let_go()
            state = self.finish()
        return state

    def let_go(self) -> None:
        """Of the actors and the cluster; the last files and events come first."""
        lost = self._connection.lost
        try:
            if not lost:
                self.take(self._line.drain(DRAIN_SECONDS))
        finally:
            self.problem = self.problem or self._line.unsaved
            self._line.close(cluster_lost=lost)
            self._connection.close()
