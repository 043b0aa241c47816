"""The ladder: players meet in pairs, and their results together give everybody a rating.

Everybody meets everybody (a round robin), or, with a Swiss system, in every round somebody who does about as well and
whom they have not met. Each pair plays the same boards. What was played is kept in a file, so a ladder that was broken
off goes on, and a player added later only plays its own games.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mario_rl.atomic_file import write_atomically
from mario_rl.runs.directory import RunError
from mario_rl.selfplay import evaluation
from mario_rl.selfplay.ladder_entries import Entry
from mario_rl.selfplay.match import Conditions, GameRecord, Progress, play_match
from mario_rl.selfplay.players import CHECKPOINTS, make_player
from mario_rl.selfplay.rating import PlayerRating, fit, rate

FORMAT = 1
ANCHOR = "greedy"  # its rating is 0; it loses often enough and wins often enough to compare everybody with

Pair = tuple[str, str]
"""The names of two players, in the order of the alphabet."""


class Ladder:
    """Players, the pairs of them that have met, and what came of it."""

    def __init__(self, entries: Sequence[Entry], conditions: Conditions, games: int, checkpoints: Path = CHECKPOINTS):
        self.entries = list(entries)
        self.names = [entry.name for entry in entries]
        self.conditions = conditions
        self.games = games
        """Of a pair."""
        self.results: dict[Pair, dict[str, Any]] = {}
        """The figures of pairs that have met (evaluation.py)."""
        self.checkpoints = checkpoints
        self._sources = {entry.name: entry.source for entry in entries}

    def play(self, pair: Pair, progress: Progress | None = None) -> None:
        """Let two meet, unless they have."""
        if pair in self.results:
            return
        # Made anew, so that what a guessing player does depends on nothing that was played before.
        a, b = (make_player(source, seed, self.checkpoints) for source, seed in self.players(pair))
        self.note(pair, play_match(a, b, self.games, self.conditions, progress))

    def players(self, pair: Pair) -> list[tuple[str, int]]:
        """What `make_player` knows two by, and the seeds they play with."""
        seed = self.conditions.first_seed
        return [(self._sources[name], seed + number) for number, name in enumerate(pair)]

    def note(self, pair: Pair, records: Sequence[GameRecord]) -> None:
        """Two have met."""
        found = evaluation.figures(*pair, records, self.conditions)
        first, second = (self._sources[name] for name in pair)
        found["command"] = evaluation.command(first, second, self.games, self.conditions, self.checkpoints)
        self.results[pair] = {name: value for name, value in found.items() if name != "seeds"}

    def points(self, pairs: Collection[Pair] | None = None) -> npt.NDArray[np.float64]:
        """[n, n]: what each player made against each, in all pairs that have met or in these."""
        points = np.zeros((len(self.names), len(self.names)))
        for one, other in self.results if pairs is None else pairs:
            found = self.results[one, other]
            row, column = self.names.index(one), self.names.index(other)
            points[row, column] = found["wins"] + found["draws"] / 2
            points[column, row] = found["losses"] + found["draws"] / 2
        return points

    def ratings(self) -> list[PlayerRating]:
        """Everybody's, the best first."""
        return rate(self.names, self.points(), self.anchor)

    @property
    def anchor(self) -> str | None:
        """Whose rating is 0; None: the average."""
        return ANCHOR if ANCHOR in self.names else None

    # --- on disk --------------------------------------------------------------------------------------------------

    def as_dict(self) -> dict[str, Any]:
        """Everything, as it is stored."""
        identities = {entry.name: entry.identity for entry in self.entries}
        players = [dataclasses.asdict(player) | {"identity": identities[player.name]} for player in self.ratings()]
        return {
            "format": FORMAT,
            **self._terms(),
            "anchor": self.anchor,
            "players": players,
            "pairs": list(self.results.values()),
        }

    def save(self, file: Path) -> None:
        """Write it down; an OSError says why not."""
        write_atomically(file, as_json(self.as_dict()).encode())

    def take_over(self, file: Path) -> int:
        """Take the results of these players, as they are now, from a file; how many pairs that are.

        A RunError if it is no ladder, or one that was played differently.
        """
        try:
            stored = json.loads(file.read_bytes())
            identities = {player["name"]: player["identity"] for player in stored["players"]}
            pairs = {(found["a"], found["b"]): found for found in stored["pairs"]}
            terms = {name: stored[name] for name in ("format", *self._terms())}
        except (ValueError, TypeError, KeyError) as problem:
            raise RunError(f"{file} is not a ladder: name another file") from problem
        for name, wanted in {"format": FORMAT, **self._terms()}.items():
            if terms[name] != wanted:
                raise RunError(f"{file} is a ladder with {name} {terms[name]}, not {wanted}: name another file")
        same = {entry.name for entry in self.entries if identities.get(entry.name) == entry.identity}
        self.results |= {pair: found for pair, found in pairs.items() if same.issuperset(pair)}
        return len(self.results)

    def _terms(self) -> dict[str, Any]:
        conditions = self.conditions
        return {
            "level": conditions.level,
            "speed": conditions.speed,
            "backend": conditions.backend,
            "seed": conditions.first_seed,
            "games": self.games,
        }


def as_json(stored: Mapping[str, Any]) -> str:
    """One JSON object; a player and a pair a line."""
    lines = []
    for key, value in stored.items():
        if isinstance(value, list):
            rows = ",\n".join(f"    {json.dumps(row)}" for row in value)
            lines.append(f"  {json.dumps(key)}: [\n{rows}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


# --- who meets whom -----------------------------------------------------------------------------------------------


def pair_of(one: str, other: str) -> Pair:
    """Two players as a pair."""
    return (one, other) if one < other else (other, one)


def round_robin(ladder: Ladder) -> Iterator[Pair]:
    """Everybody against everybody."""
    for one, other in combinations(ladder.names, 2):
        yield pair_of(one, other)


def swiss(ladder: Ladder, rounds: int) -> Iterator[list[Pair]]:
    """So many rounds, or as many as there are; the pairs of a round must have been played before the next begins."""
    met: set[Pair] = set()
    for _ in range(rounds):
        drawn = next_round(_standing(ladder, met), met)
        if not drawn:
            return
        met.update(drawn)
        yield drawn


def _standing(ladder: Ladder, met: set[Pair]) -> list[str]:
    """The players by what their results in these pairs make of them, the best first.

    By their ratings: points alone would put those back who met the good ones.
    """
    strengths = dict(zip(ladder.names, fit(ladder.points(met)).values.tolist(), strict=True))
    return sorted(ladder.names, key=lambda name: -strengths[name])  # among equals, in the order of entry


def next_round(standing: Sequence[str], met: set[Pair]) -> list[Pair]:
    """Pairs of neighbours, as far as possible, who have not met; with an odd number of players one of them rests.

    None at all if there is no such round any more.
    """

    @cache  # the search comes to the same players again and again
    def drawn(left: tuple[str, ...], may_rest: bool) -> list[Pair] | None:
        if not left:
            return []
        first, *others = left
        for other in others:
            if pair_of(first, other) not in met:
                rest = drawn(tuple(name for name in others if name != other), may_rest)
                if rest is not None:
                    return [pair_of(first, other), *rest]
        return drawn(tuple(others), may_rest=False) if may_rest else None

    return drawn(tuple(standing), may_rest=len(standing) % 2 == 1) or []
