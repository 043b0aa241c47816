"""A run of self-play: collect, learn, take snapshots into the pool, measure, save; to its end, whatever that is."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mario_rl.runs.checkpoint import save_run_checkpoint
from mario_rl.runs.directory import RunError
from mario_rl.runs.status import State
from mario_rl.selfplay import chance
from mario_rl.selfplay.bot_scores import bot_scores, shown
from mario_rl.selfplay.collecting import Harvest, Orders, joined, open_collecting
from mario_rl.selfplay.collector import Played
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.figures import behaviour_of, figures_of
from mario_rl.selfplay.full_disk import not_ended_by_a_full_disk
from mario_rl.selfplay.learner import learn_from, make_ppo, scorer_of
from mario_rl.selfplay.opponent_pool import OpponentPool
from mario_rl.selfplay.placement_player import PlacementPlayer
from mario_rl.selfplay.player_file import save_placement_player
from mario_rl.selfplay.reports import Reports
from mario_rl.selfplay.run_directory import SelfPlayDirectory
from mario_rl.selfplay.scorer import PlacementScorer

REPORTED_GAMES = 2_000  # at most, in an average

Say = Callable[[str], None]


class SelfPlay:
    """Everything that learns, and what it has done so far."""

    def __init__(self, run: SelfPlayDirectory, config: SelfPlayConfig, log: Say):
        torch.set_num_threads(1)  # the network is small: more threads only wait for each other
        self.run = run
        self.config = config
        self._minutes_before, self._began = 0.0, time.monotonic()
        self._random = chance.start(config.seed)
        self.ppo = make_ppo(config)
        self.pool = OpponentPool(config.pool_size, config.pool_strategy, config.pool_gate, config.bots)
        self._recent: list[Played] = []
        self._collecting = open_collecting(config, log)
        self._collects = False
        self.cap, self.versus = 0, False
        """How far the curriculum has come: the highest solo level, and whether there are games for two."""

    @property
    def steps(self) -> int:
        """Decisions learned from."""
        return int(self.ppo.num_timesteps)

    @property
    def minutes(self) -> float:
        """Of training by the clock, evaluations and saving included, over all sessions."""
        return self._minutes_before + (time.monotonic() - self._began) / 60

    @property
    def progress(self) -> float:
        """The part of the run that is done."""
        by_time = self.minutes / self.config.minutes if self.config.minutes else 0.0
        return max(self.steps / self.config.steps, by_time)

    def update(self, saving: Callable[[int], bool]) -> dict[str, float]:
        """Learn from one rollout; `saving(steps)` says whether the run will be saved after so many, for which all wait.

        Returns the figures of PPO and of the games.
        """
        begin = time.monotonic()
        self._begin_collecting()
        harvest = self._finish_collecting()
        experience = joined([part.experience for part in harvest])
        if self.config.workers and not saving(self.steps + len(experience.actions)):
            self._begin_collecting()  # with these weights, while they change
        learned = learn_from(self.ppo, experience, self.config, self.progress)
        if not all(torch.isfinite(values).all() for values in self.ppo.policy.state_dict().values()):
            raise RunError("the weights are no numbers any more; resume with a lower --lr")
        played = [game for part in harvest for game in part.played]
        self._remember(played)
        rate = len(experience.actions) / (time.monotonic() - begin)
        return {f"ppo/{name}": value for name, value in learned.items()} | {"run/decisions_per_second": rate}

    def _begin_collecting(self) -> None:
        if self._collects:
            return
        config = self.config
        invited, chances = self.pool.invite(config.opponents, self._random)
        members = {number: self.pool.of(number) for number in invited}
        weights = {name: values.clone() for name, values in scorer_of(self.ppo).state_dict().items()}
        orders = Orders(
            weights,
            {number: member.name if member.weights is None else member.weights for number, member in members.items()},
            invited,
            chances.tolist(),
            versus=self.versus or self.steps >= config.solo_steps,
        )
        for part in self._collecting:
            part.begin(orders)
        self._collects = True

    def _finish_collecting(self) -> list[Harvest]:
        harvest = [part.finish() for part in self._collecting]
        self._collects = False
        self.cap = max(part.cap for part in harvest)
        # Whoever is ready first takes the others along: the curriculum is the same for all.
        self.versus = any(part.versus for part in harvest)
        return harvest

    def _remember(self, played: list[Played]) -> None:
        self._recent = [*self._recent, *played][-REPORTED_GAMES:]
        for game in played:
            if game.opponent > 0:
                self.pool.played(game.opponent, game.score)

    def take_snapshot(self) -> str | None:
        """Let the pool consider the learner as it is now; what happened, for the log."""
        if not self.versus:
            return None
        joined, gone = self.pool.consider(scorer_of(self.ppo).state_dict(), self.steps, behaviour_of(self._recent))
        self._write_pool()
        if joined is None:
            return None
        return f"{joined.name} joined the pool" + (f", {gone.name} left it" if gone else "")

    def _write_pool(self) -> None:
        """Let the pool's files be those of its past selves and of the candidate.

        Whatever is there: a full disk may have kept some from being written, and those of a future that was given up
        by resuming from before it are left over.
        """
        run, candidate = self.run, self.pool.candidate
        wanted = {run.pool_member(member.steps): member for member in self.pool.selves}
        if candidate is not None:
            wanted[run.candidate_file(candidate.steps)] = candidate
        run.pool.mkdir(exist_ok=True)
        for file, member in wanted.items():
            if not file.exists():
                assert member.weights is not None
                self._save_player(file, member.weights, member.steps)
        for file in {*run.pool_members(), *run.candidates()} - set(wanted):
            file.unlink(missing_ok=True)

    def figures(self) -> dict[str, float]:
        """Averages over the last games, and the scores against the pool."""
        found = figures_of(self._recent)
        candidate = self.pool.candidate
        if candidate is not None and candidate.games:
            found["win_rate/self"] = candidate.score
        return found | {"run/solo_cap": float(self.cap), "run/pool": float(len(self.pool.selves))}

    def player(self) -> PlacementPlayer:
        """The learner as it is now, as a player."""
        scorer = PlacementScorer(self.config.hidden, self.config.value_hidden)
        scorer.load_state_dict(scorer_of(self.ppo).state_dict())
        return PlacementPlayer(scorer, self.run.name)

    def measure(self) -> dict[str, float]:
        """Its score against each of the bots, at the level and speed of its games for two."""
        config = self.config
        level, speed = int(config.level.split("-")[-1]), config.speed.split(",")[0].strip()
        return bot_scores(self.player(), config.evaluate_games, level, speed)

    # --- saving -----------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the checkpoint and the player; nobody may be collecting."""
        assert not self._collects
        save_run_checkpoint(self.run, self.state_dict(), self.config.keep)
        self._save_player(self.run.player_pt, scorer_of(self.ppo).state_dict(), self.steps)

    def _save_player(self, file: Path, weights: Mapping[str, Tensor], steps: int) -> None:
        config = self.config
        card = {
            "steps": steps,
            "minutes": round(self.minutes, 1),
            "rewards": config.rewards,
            "settings": dataclasses.asdict(config),
        }
        network = {"hidden": config.hidden, "value_hidden": config.value_hidden}
        save_placement_player(file, weights, network, steps, card)

    def state_dict(self) -> dict[str, Any]:
        """Everything a resume needs, as tensors and plain values."""
        return {
            "kind": "selfplay",
            "config": dataclasses.asdict(self.config),
            "counters": {"steps": self.steps, "updates": int(self.ppo._n_updates)},
            "minutes": self.minutes,
            "policy": self.ppo.policy.state_dict(),
            "optimizer": self.ppo.policy.optimizer.state_dict(),
            "pool": self.pool.state_dict(),
            "curriculum": {"cap": self.cap, "versus": self.versus},
            "recent": [dataclasses.asdict(game) for game in self._recent],
            "collecting": [part.state_dict() for part in self._collecting],
            "chance": chance.state_of(self._random),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where that was taken, with as many games and workers."""
        if len(state["collecting"]) != len(self._collecting):
            raise RunError(f"it was saved with --workers {state['config']['workers']}: leave --workers out to resume")
        self._minutes_before, self._began = float(state["minutes"]), time.monotonic()
        self.ppo.policy.load_state_dict(state["policy"])
        self.ppo.policy.optimizer.load_state_dict(state["optimizer"])
        self.ppo.num_timesteps = int(state["counters"]["steps"])
        self.ppo._n_updates = int(state["counters"]["updates"])
        self.pool.load_state_dict(state["pool"])
        self.cap, self.versus = int(state["curriculum"]["cap"]), bool(state["curriculum"]["versus"])
        self._recent = [Played(**game) for game in state["recent"]]
        for part, saved in zip(self._collecting, state["collecting"], strict=True):
            part.load_state_dict(saved)
        chance.restore(state["chance"], self._random)

    def come_to_rest(self) -> None:
        """Learn from what is being collected, so that nobody is on the way."""
        if self._collects:
            self.update(saving=lambda steps: True)

    def close(self) -> None:
        """End the workers."""
        for part in self._collecting:
            part.close()


def train(
    run: SelfPlayDirectory,
    config: SelfPlayConfig,
    saved: dict[str, Any] | None,
    stop: Callable[[], bool],
    say: Say,
    log: Say,
) -> State:
    """Train to the end, or until `stop()`; `say` gets the progress, `log` what should stay readable."""
    run.begin()
    try:
        training = SelfPlay(run, config, log)
    except BaseException as problem:
        run.finish("FAILED", f"it did not begin: {problem}")
        raise
    try:
        if saved is not None:
            training.load_state_dict(saved)
        state, why = _train(training, stop, say, log)
        training.save()
    except BaseException as problem:
        run.finish("FAILED", f"{type(problem).__name__}: {problem}", steps=training.steps)
        raise
    finally:
        training.close()
    run.finish(state, why, steps=training.steps, minutes_trained=training.minutes)
    return state


def _train(training: SelfPlay, stop: Callable[[], bool], say: Say, log: Say) -> tuple[State, str]:
    run, config = training.run, training.config
    reports = Reports(run, training.steps)
    measured: dict[str, float] = {}
    try:
        while training.progress < 1 and not stop():
            passed = Passed(training.steps)
            learned = training.update(saving=partial(passed, config.checkpoint_every))
            if passed(config.evaluate_every, training.steps):
                scores = training.measure()
                log(f"{training.steps:,} decisions: {shown(scores)}")
                measured = {f"win_rate/{name}": score for name, score in scores.items()}
            figures = training.figures() | learned
            say(progress_text(training, figures))
            with not_ended_by_a_full_disk(log):
                if passed(config.snapshot_every, training.steps) and (news := training.take_snapshot()):
                    log(news)
                if passed(config.checkpoint_every, training.steps):
                    training.save()
                run.update_status(steps=training.steps, minutes_trained=training.minutes)
            with not_ended_by_a_full_disk(log):
                reports.add(training.steps, training.minutes, figures | measured)
        training.come_to_rest()
    finally:
        with not_ended_by_a_full_disk(log):
            reports.close()
    if training.progress < 1:
        return "INTERRUPTED", "stopped"
    return "SUCCESS", "all decisions made" if training.steps >= config.steps else "the time is over"


@dataclass(frozen=True)
class Passed:
    """Whether a multiple of something lies between the steps before and the steps now."""

    before: int

    def __call__(self, every: int, now: int) -> bool:
        return every > 0 and self.before // every < now // every


def progress_text(training: SelfPlay, figures: dict[str, float]) -> str:
    """The run in one line."""
    parts = [
        f"{100 * min(training.progress, 1):3.0f} %",
        f"{training.steps:,} decisions",
        f"{figures['run/decisions_per_second']:,.0f}/s",
        f"{training.minutes:.1f} min",
    ]
    if "solo/clear_rate" in figures:
        parts.append(f"solo 0-{training.cap}: {100 * figures['solo/clear_rate']:.0f} % cleared")
    if "win_rate/pool" in figures:
        parts.append(f"pool of {len(training.pool.selves)}: {100 * figures['win_rate/pool']:.0f} % won")
    if "versus/attack" in figures:
        parts.append(f"attack {figures['versus/attack']:.1f}")
    parts.append(f"entropy {figures['ppo/entropy']:.2f}")
    return " | ".join(parts)
