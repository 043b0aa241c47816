"""Plays the games of self-play and gathers what the learner's seats experience."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from mario_rl.environment.drmario.memory import Ints, Mask
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.environment.drmario.tally import LINES, LOCKS, SENT, VIRUSES
from mario_rl.selfplay.arena import Arena
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.dealer import LEARNER, NOBODY, Dealer
from mario_rl.selfplay.scorer import ScorerPolicy, seen_bytes, slot_masks
from mario_rl.selfplay.strands import Experience, Floats, Strands

LONGEST_ROUND_FRAMES = 36_000  # ten minutes; a longer round is broken off as a draw


class Opponent(Protocol):
    """Plays the seats that are not the learner's."""

    def decide(self, games: RulesBatch, numbers: Ints, seats: Ints) -> npt.NDArray[Any]:
        """Placements for these games and seats, whose capsules wait."""


@dataclass(frozen=True)
class Played:
    """A round that is over, seen from a learner's seat."""

    opponent: int
    """Its number, LEARNER for the learner itself, NOBODY in a game for one."""
    level: int
    speed: int
    score: float
    """1 for a win (or a cleared bottle), 0 for a loss, 1/2 for a draw."""
    cleared: bool
    capsules: int
    viruses: int
    """Cleared."""
    frames: int
    lines: int
    attack: int
    """Pieces of garbage sent."""
    height: float
    """Average of the columns at the end."""


class Collector:
    """n games of the learner against itself, against opponents and alone."""

    def __init__(
        self,
        config: SelfPlayConfig,
        policy: ScorerPolicy,
        opponents: Mapping[int, Opponent],
        random: np.random.Generator,
        threads: int = 1,
    ):
        self.arena = Arena(config.envs, threads)
        self.dealer = Dealer(config, random)
        self.strands = Strands(2 * config.envs, config.rollout + 4 * config.envs)
        self.played: list[Played] = []
        """Rounds that have ended since somebody emptied it."""
        self.invited: list[int] = []
        """The opponents that new games are dealt to, with their chances."""
        self.chances: npt.NDArray[np.float64] = np.zeros(0)
        self._config = config
        self._policy = policy
        self._opponents = opponents
        self._seats = np.full((config.envs, 2), NOBODY, np.int32)
        # As of each seat's last decision: its viruses cleared, the other one's, and the frame.
        self._before = np.zeros((3, config.envs, 2), np.int32)

    def collect(self) -> Experience:
        """Play until there are as many decisions as a rollout has, or a few more."""
        config = self._config
        if not self._seats.any() or (self._seats == NOBODY).all():
            self._deal(np.ones(config.envs, np.bool_))
        while self.strands.complete < config.rollout:
            self.step()
        return self.strands.take(config.gamma, config.gae_lambda)

    def step(self) -> None:
        """One decision of everybody who waits, and on to the next ones."""
        arena = self.arena
        games, seats = arena.askers()
        who = self._seats[games, seats]
        placements = np.full(len(games), -1, np.int64)
        for number in np.unique(who).tolist():
            own = who == number
            if number == LEARNER:
                placements[own] = self._learner_decides(games[own], seats[own])
            else:
                placements[own] = self._opponents[number].decide(arena.batch, games[own], seats[own])
        arena.place(games, seats, placements)
        arena.break_off(arena.frames > LONGEST_ROUND_FRAMES)
        over = arena.waiting == 0
        if over.any():
            self._finish(over)
            self._deal(over)

    def _learner_decides(self, games: Ints, seats: Ints) -> npt.NDArray[np.int16]:
        prospects = self.arena.batch.prospects(games, seats)
        seen = seen_bytes(prospects)
        with torch.no_grad():
            actions, values, log_probabilities = self._policy(
                torch.from_numpy(seen), action_masks=torch.from_numpy(slot_masks(prospects))
            )
        chosen = actions.numpy()
        self.strands.decide(
            2 * games + seats,
            seen,
            prospects.counts,
            chosen,
            log_probabilities.numpy(),
            values[:, 0].numpy(),
            self._rewards(games, seats),
        )
        return prospects.ids[np.arange(len(games)), chosen]

    def _rewards(self, games: Ints, seats: Ints) -> Floats:
        """What the seats have earned since their last decisions, ends left aside."""
        arena, config = self.arena, self._config
        cleared = arena.totals[VIRUSES]
        now = np.stack([cleared[games, seats], cleared[games, 1 - seats], arena.frames[games]])
        own, other, frames = now - self._before[:, games, seats]
        self._before[:, games, seats] = now
        alone = self._seats[games, 1] == NOBODY
        earned = np.where(alone, config.solo_virus * own - config.solo_frames * frames, config.virus * (own - other))
        return earned.astype(np.float32)

    def _finish(self, over: Mask) -> None:
        """Pay for the ends of the masked rounds, and remember how they went."""
        arena, config, memory = self.arena, self._config, self.arena.memory
        cleared, failed = memory.cleared(), memory.topped_out()
        heights = memory.heights().mean(axis=2)
        for seat in (0, 1):
            games = np.flatnonzero(over & (self._seats[:, seat] == LEARNER)).astype(np.int32)
            seats = np.full(len(games), seat, np.int32)
            own_clear, other_clear = cleared[games, seat], cleared[games, 1 - seat]
            own_fail, other_fail = failed[games, seat], failed[games, 1 - seat]
            nobody_cleared = ~own_clear & ~other_clear
            win = (own_clear & ~other_clear) | (nobody_cleared & other_fail & ~own_fail)
            loss = (other_clear & ~own_clear) | (nobody_cleared & own_fail & ~other_fail)
            verdict = win.astype(np.float32) - loss
            alone = self._seats[games, 1] == NOBODY
            ends = verdict * np.where(alone, config.solo_clear, config.win)
            self.strands.end(2 * games + seats, (self._rewards(games, seats) + ends).astype(np.float32))
            totals = arena.totals[:, games, seat]
            for row, game in enumerate(games.tolist()):
                self.played.append(
                    Played(
                        opponent=int(self._seats[game, 1 - seat]),
                        level=int(memory.level[game, seat]),
                        speed=int(memory.speed[game, seat]),
                        score=(1 + float(verdict[row])) / 2,
                        cleared=bool(own_clear[row]),
                        capsules=int(totals[LOCKS, row]),
                        viruses=int(totals[VIRUSES, row]),
                        frames=int(arena.frames[game]),
                        lines=int(totals[LINES, row]),
                        attack=int(totals[SENT, row]),
                        height=float(heights[game, seat]),
                    )
                )
                if alone[row]:
                    self.dealer.solo_ended(self.played[-1].level, bool(own_clear[row]))

    def _deal(self, lanes: Mask) -> None:
        """Begin new rounds in the masked games."""
        where = np.flatnonzero(lanes)
        deal = self.dealer.deal(len(where), self.invited, self.chances)
        self._seats[where] = deal.seats
        self._before[:, where] = 0
        spread = np.zeros((4, len(lanes)), np.int32)
        spread[0], spread[3] = 2, 1  # games that are not dealt to need numbers that are possible
        for row, values in enumerate((deal.seeds, deal.levels, deal.speeds, deal.players)):
            spread[row, where] = values
        self.arena.begin(lanes, *spread)

    def playing(self) -> set[int]:
        """The numbers of the opponents who sit in a game."""
        return {int(number) for number in np.unique(self._seats) if number not in (LEARNER, NOBODY)}

    def state_dict(self) -> dict[str, Any]:
        """Everything, as tensors and plain values."""
        return {
            "arena": self.arena.state_dict(),
            "dealer": self.dealer.state_dict(),
            "strands": self.strands.state_dict(),
            "seats": torch.from_numpy(self._seats.copy()),
            "before": torch.from_numpy(self._before.copy()),
            "invited": list(self.invited),
            "chances": self.chances.tolist(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where that was taken."""
        self.arena.load_state_dict(state["arena"])
        self.dealer.load_state_dict(state["dealer"])
        self.strands.load_state_dict(state["strands"])
        self._seats[:] = state["seats"].numpy()
        self._before[:] = state["before"].numpy()
        self.invited = [int(number) for number in state["invited"]]
        self.chances = np.array(state["chances"], np.float64)
