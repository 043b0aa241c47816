"""The learner's past selves, and the bots beside them: who is kept, and who is drawn as an opponent.

The learner as it was some time ago is a candidate. It plays like a member, and becomes one when the learner beats it
clearly (`pool_gate`); then the learner as it is now is the next candidate. So members differ in strength, instead of
being copies of the last few minutes. A full pool lets one go: with the strategy "diverse" the one that plays most like
another, else the oldest of those the learner beats most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

RECENT_GAMES = 200  # the memory of a win rate, in games
LEAST_GAMES = 60  # before a win rate is trusted
STRENGTH_EXPONENT = 2.0  # of the chance to lose, in "prioritised" (as in prioritised fictitious self-play)
LEAST_CHANCE = 0.05  # so that nobody is forgotten


@dataclass
class Behaviour:
    """How somebody plays, as averages a game."""

    attack: float = 0.0
    """Pieces of garbage sent per 100 capsules."""
    speed: float = 0.0
    """Viruses cleared per 100 capsules."""
    height: float = 0.0
    """Average height of the columns at the end of a game."""

    def distance(self, other: Behaviour) -> float:
        """In units in which players differ by about 1."""
        units = (10.0, 10.0, 2.0)
        own, its = asdict(self).values(), asdict(other).values()
        return float(sum(((a - b) / unit) ** 2 for a, b, unit in zip(own, its, units, strict=True)) ** 0.5)


@dataclass
class Member:
    """Somebody in the pool."""

    number: int
    name: str
    """A bot's name, or "step 1,500,000"."""
    steps: int
    """When it joined; -1 for a bot, which never leaves."""
    weights: dict[str, Tensor] | None
    """Of a past self."""
    behaviour: Behaviour = field(default_factory=Behaviour)
    score: float = 0.5
    """The learner's recent score against it."""
    games: int = 0

    @property
    def is_bot(self) -> bool:
        """Whether it is a bot rather than a past self."""
        return self.weights is None


class OpponentPool:
    """The members, bots first, then past selves with the newest last; and the candidate."""

    def __init__(self, size: int, strategy: str, gate: float, bots: list[str]):
        self._size = size
        self._strategy = strategy
        self._gate = gate
        self._next_number = 1
        self.members: list[Member] = []
        self.candidate: Member | None = None
        for bot in bots:
            self.members.append(Member(self._number(), bot, -1, None))

    @property
    def selves(self) -> list[Member]:
        """The past selves among the members, the newest last."""
        return [member for member in self.members if not member.is_bot]

    @property
    def everyone(self) -> list[Member]:
        """Whoever may be drawn."""
        return self.members if self.candidate is None else [*self.members, self.candidate]

    def of(self, number: int) -> Member:
        """Somebody by number."""
        return next(member for member in self.everyone if member.number == number)

    def consider(
        self, weights: Mapping[str, Tensor], steps: int, behaviour: Behaviour
    ) -> tuple[Member | None, Member | None]:
        """Take in the candidate if it is beaten clearly; if there is none (any more), the learner becomes it.

        Returns who joined, and who had to go for it.
        """
        joined = gone = None
        candidate = self.candidate
        if candidate is not None and candidate.games >= LEAST_GAMES and candidate.score >= self._gate:
            joined, self.candidate = candidate, None
            self.members.append(joined)
            if len(self.selves) > self._size:
                gone = self._superfluous()
                self.members.remove(gone)
        if self.candidate is None:
            copied = {name: values.detach().clone() for name, values in weights.items()}
            self.candidate = Member(self._number(), f"step {steps:,}", steps, copied, behaviour)
        return joined, gone

    def _superfluous(self) -> Member:
        older = self.selves[:-1]
        if self._strategy != "diverse":
            return max(older, key=lambda member: (round(member.score, 1), -member.steps))

        def nearest(member: Member) -> float:
            return min(member.behaviour.distance(other.behaviour) for other in self.selves if other is not member)

        return min(older, key=nearest)

    def played(self, number: int, score: float) -> None:
        """The learner's score (0 to 1) in a game against a member; one that has left meanwhile is passed over."""
        for member in self.everyone:
            if member.number == number:
                member.games += 1
                member.score += (score - member.score) / min(member.games, RECENT_GAMES)

    def invite(self, count: int, random: np.random.Generator) -> tuple[list[int], npt.NDArray[np.float64]]:
        """Up to `count` different opponents who play next, and the chance of each."""
        everyone = self.everyone
        if not everyone:
            return [], np.zeros(0)
        chances = self._chances(everyone)
        count = min(count, int((chances > 0).sum()))
        drawn = random.choice(len(everyone), count, replace=False, p=chances)
        own = chances[drawn] / chances[drawn].sum()
        return [everyone[index].number for index in drawn], own

    def _chances(self, everyone: list[Member]) -> npt.NDArray[np.float64]:
        if self._strategy == "latest":
            weights = [float(member is everyone[-1]) for member in everyone]
        elif self._strategy == "prioritised":
            weights = [max((1 - member.score) ** STRENGTH_EXPONENT, LEAST_CHANCE) for member in everyone]
            # The candidate has to be played, or nobody would know whether it is beaten.
            weights[-1] = max(weights)
        else:
            weights = [1.0] * len(everyone)
        return np.array(weights) / sum(weights)

    def _number(self) -> int:
        self._next_number += 1
        return self._next_number - 1

    def state_dict(self) -> dict[str, Any]:
        """Everybody, as tensors and plain values."""
        return {
            "next_number": self._next_number,
            "members": [_as_values(member) for member in self.members],
            "candidate": None if self.candidate is None else _as_values(self.candidate),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly where that was taken."""
        self._next_number = int(state["next_number"])
        self.members = [_from_values(saved) for saved in state["members"]]
        self.candidate = None if state["candidate"] is None else _from_values(state["candidate"])


def _as_values(member: Member) -> dict[str, Any]:
    return vars(member) | {"behaviour": asdict(member.behaviour)}


def _from_values(saved: Mapping[str, Any]) -> Member:
    return Member(**(dict(saved) | {"behaviour": Behaviour(**saved["behaviour"])}))
