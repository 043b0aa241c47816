"""Trains the agent that presses buttons: imitation, then PPO; stops and goes on exactly."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from mario_rl.runs.checkpoint import load_newest_good, save_run_checkpoint
from mario_rl.runs.directory import RunDirectory, RunError
from mario_rl.selfplay import chance
from mario_rl.selfplay.bot_scores import bot_scores, shown
from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.selfplay.frames.imitation import Imitation
from mario_rl.selfplay.frames.network import make_network
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.frames.reinforcement import Reinforcement
from mario_rl.selfplay.full_disk import not_ended_by_a_full_disk
from mario_rl.selfplay.reports import Board
from mario_rl.settings import ConfigError

FORMAT = "mario-rl frames run"
PLAYER_FILE = "player.pt"
IMITATED_FILE = "imitated.pt"  # the player after the warm start, before PPO
KEEP = 2  # numbered checkpoints besides the latest
SECONDS_BETWEEN_LINES = 10.0


@dataclass(frozen=True)
class FramesResult:
    """How a run ended."""

    finished: bool
    """False if it was stopped; it can go on."""
    why: str
    steps: int
    """Environment steps of PPO."""
    minutes: float
    """Of training, all sessions of the run together."""
    player: Path
    """The player's file."""


def train_frames(
    config: FramesConfig | None,
    directory: Path,
    stop: Callable[[], bool] = lambda: False,
    say: Callable[[str], None] = print,
    resume: bool = False,
    log: Callable[[str], None] = print,
) -> FramesResult:
    """Train in `directory` (made if it is not there) until the configured steps are done or `stop()` says so.

    `resume` goes on with the run in `directory`, exactly where its last checkpoint was made; `config` may then be None,
    or the run's own with other `steps`, `checkpoint_minutes`. `stop` is asked at every step; what was played since the
    last rollout is played again after resuming. `say` hears of the progress, `log` what should stay readable. The
    directory gets checkpoint.pt (and KEEP older ones), player.pt, imitated.pt and tensorboard/. A RunError or
    ConfigError in one line says what is wrong; a full disk is one only at the end.
    """
    torch.set_num_threads(1)
    run = RunDirectory(directory)
    saved = _saved(run, log) if resume else None
    if saved is not None:
        config = _resumed(config, FramesConfig.from_dict(saved["config"]))
    elif run.checkpoint_pt.exists():
        raise RunError(f"{directory} holds a run already: resume it, or choose another directory")
    session = _Session(config or FramesConfig(), run, stop, say, log, saved)
    try:
        return session.train()
    finally:
        session.close()


class _Session:
    """One process's part of a run."""

    def __init__(
        self,
        config: FramesConfig,
        run: RunDirectory,
        stop: Callable[[], bool],
        say: Callable[[str], None],
        log: Callable[[str], None],
        saved: dict[str, Any] | None,
    ):
        run.path.mkdir(parents=True, exist_ok=True)
        self._config, self._run, self._stop, self._say, self._log = config, run, stop, say, log
        self._random = chance.start(config.seed)
        self._network = make_network(config.network, config.width, config.certainty)
        self._saved = saved
        self._seconds_before = saved["minutes"] * 60 if saved else 0.0
        self._began = self._last_save = self._last_line = time.monotonic()
        self._board = Board(run.tensorboard, saved["steps"] if saved else 0)

    def train(self) -> FramesResult:
        """Both stages, or what is left of them."""
        saved, config = self._saved, self._config
        if saved is None or saved["stage"] == "imitation":
            imitation = Imitation(self._network, config, self._random)
            if saved is not None:
                imitation.load_state_dict(saved["imitation"])
                chance.restore(saved["chance"], self._random)
            if not self._imitate(imitation):
                return self._ended(False, "stopped during the imitation", 0)
            with not_ended_by_a_full_disk(self._log):
                self._player(0).save(self._run.path / IMITATED_FILE)
        reinforcement = Reinforcement(self._network, config, self._random)
        self._network = reinforcement.network
        if saved is not None and saved["stage"] == "reinforcement":
            reinforcement.load_state_dict(saved["reinforcement"])
            chance.restore(saved["chance"], self._random)
        steps = self._reinforce(reinforcement)
        finished = steps >= config.steps
        return self._ended(finished, "all steps are done" if finished else "stopped", steps)

    def _imitate(self, imitation: Imitation) -> bool:
        rounds = self._config.imitation_rounds
        while imitation.rounds < rounds:
            if self._stop():
                self._save("imitation", imitation.state_dict(), 0)
                return False
            progress = imitation.round()
            facts = {"loss": progress.loss, "agreement": progress.agreement, "lessons": len(imitation.lessons)}
            with not_ended_by_a_full_disk(self._log):
                self._board.add("imitation", facts, imitation.rounds)
            if self._line_due(imitation.rounds == rounds):
                self._say(
                    f"imitation {imitation.rounds}/{rounds} · loss {progress.loss:.2f} · "
                    f"as the teacher {progress.agreement:.0%} · {imitation.lessons.count:,} lessons"
                )
            self._save_if_due("imitation", imitation.state_dict, 0)
        return True

    def _reinforce(self, stage: Reinforcement) -> int:
        """The steps that were learned from."""
        began, first_steps = time.monotonic(), stage.steps
        while stage.steps < self._config.steps:
            if stage.steps == 0:
                self._measure(-1, 0)
            # Written down before, so that a rollout that is stopped halfway can be played again.
            state, luck = stage.state_dict(), chance.state_of(self._random)
            learned = None if self._stop() else stage.rollout(self._stop)
            if learned is None:
                self._save("reinforcement", state, state["steps"], luck)
                return int(state["steps"])
            averages = stage.tracking.averages()
            if (candidate := stage.opponents.pool.candidate) is not None and candidate.games:
                averages["win_rate_self"] = candidate.score
            said = {name.removeprefix("train/"): value for name, value in learned.items()}
            with not_ended_by_a_full_disk(self._log):
                self._board.add("games", averages, stage.steps)
                self._board.add("ppo", said, stage.steps)
                self._board.add("curriculum", {"hardest_level": stage.curriculum.hardest}, stage.steps)
            if self._line_due(stage.steps >= self._config.steps):
                speed = (stage.steps - first_steps) / (time.monotonic() - began)
                self._say(f"{self._progress(stage, averages, learned)} · {speed:,.0f} steps/s")
            self._measure(int(state["steps"]), stage.steps)
            self._save_if_due("reinforcement", stage.state_dict, stage.steps)
        self._save("reinforcement", stage.state_dict(), stage.steps)
        return stage.steps

    def _measure(self, before: int, now: int) -> None:
        """Against the bots, if between these steps it was time."""
        config = self._config
        every = config.evaluate_every
        if every and before // every < now // every:
            scores = bot_scores(self._player(now), config.evaluate_games, config.levels[-1], config.speed)
            with not_ended_by_a_full_disk(self._log):
                self._board.add("win_rate", scores, now)
            self._log(f"{now:,} steps: {shown(scores)}")

    def _progress(self, stage: Reinforcement, averages: dict[str, float], learned: dict[str, float]) -> str:
        parts = [f"{stage.steps:,}/{self._config.steps:,} steps", f"levels to {stage.curriculum.hardest}"]
        shown = {"clear_rate": "clears", "win_rate_self": "wins (self)", "win_rate_pool": "wins (pool)"}
        parts += [f"{label} {averages[name]:.0%}" for name, label in shown.items() if name in averages]
        if "capsules_per_clear" in averages:
            parts.append(f"{averages['capsules_per_clear']:.0f} capsules")
        parts.append(f"entropy {-learned.get('train/entropy_loss', 0.0):.3f}")
        parts.append(f"explained {learned.get('train/explained_variance', 0.0):.2f}")
        return " · ".join(parts)

    # --- saving -------------------------------------------------------------------------------------------------------

    def _save(self, stage: str, state: dict[str, Any], steps: int, luck: dict[str, Any] | None = None) -> None:
        whole = {
            "format": FORMAT,
            "config": dataclasses.asdict(self._config),
            "steps": steps,
            "minutes": self._minutes(),
            "stage": stage,
            stage: state,
            "chance": luck or chance.state_of(self._random),
        }
        save_run_checkpoint(self._run, whole, KEEP)

    def _ended(self, finished: bool, why: str, steps: int) -> FramesResult:
        file = self._run.path / PLAYER_FILE
        self._player(steps).save(file)
        return FramesResult(finished, why, steps, self._minutes(), file)

    def _player(self, steps: int) -> FramesPlayer:
        config = self._config
        rounds = config.imitation_rounds
        card = {"trained": f"{rounds} rounds of imitation of {config.teacher}, {steps:,} steps of PPO", "steps": steps}
        return FramesPlayer(self._network, self._run.path.name, config.frame_skip, card=card)

    def _minutes(self) -> float:
        return (self._seconds_before + time.monotonic() - self._began) / 60

    def _save_if_due(self, stage: str, state: Callable[[], dict[str, Any]], steps: int) -> None:
        if time.monotonic() - self._last_save >= self._config.checkpoint_minutes * 60:
            with not_ended_by_a_full_disk(self._log):
                self._save(stage, state(), steps)
            self._last_save = time.monotonic()  # even if there was no room: not in every rollout anew

    def _line_due(self, last: bool) -> bool:
        due = last or time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES
        if due:
            self._last_line = time.monotonic()
        return due

    def close(self) -> None:
        """Write what is still buffered."""
        with not_ended_by_a_full_disk(self._log):
            self._board.close()


def _saved(run: RunDirectory, log: Callable[[str], None]) -> dict[str, Any]:
    """The newest good checkpoint."""
    saved, _, warnings = load_newest_good(run)
    for warning in warnings:
        log(warning)
    if saved.get("format") != FORMAT:
        raise RunError(f"{run.path} is no run of the agent that presses buttons")
    return saved


def _resumed(chosen: FramesConfig | None, own: FramesConfig) -> FramesConfig:
    """The run's own configuration, with the few settings that may change."""
    if chosen is None:
        return own
    may_change = ("steps", "minutes", "name", "checkpoints", "checkpoint_minutes", "evaluate_every", "evaluate_games")
    wanted = dataclasses.replace(own, **{name: getattr(chosen, name) for name in may_change})
    if wanted != chosen:
        names = [
            field.name
            for field in dataclasses.fields(own)
            if getattr(wanted, field.name) != getattr(chosen, field.name)
        ]
        raise ConfigError(f"a resumed run keeps its own {', '.join(names)}")
    return wanted
