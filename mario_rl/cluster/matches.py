"""Matches of Dr. Mario on a cluster: some games of a match, or a pair of a ladder, are a task (tasks.py).

Nodes need no files: players that are files, and ROMs, travel with the games.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mario_rl.cluster.connection import Connection
from mario_rl.cluster.node import ROM, scratch_directory
from mario_rl.cluster.tasks import done_on
from mario_rl.selfplay.ladder import Ladder, Pair
from mario_rl.selfplay.match import Conditions, GameRecord, Progress, play_match
from mario_rl.selfplay.players import CHECKPOINTS, Player, make_player, own_file

# Of one task. Always as many: what players that guess do depends on which games they play side by side, and it shall
# not depend on how large a cluster is.
GAMES_OF_A_SHARE = 50


@dataclass(frozen=True)
class TravellingPlayer:
    """A player by its name, which every node knows, or with the file that it is."""

    name: str
    seed: int
    content: bytes | None

    @staticmethod
    def packed(name: str, seed: int, checkpoints: Path = CHECKPOINTS) -> TravellingPlayer:
        """The player of that name here; a RunError if there is none."""
        make_player(name, seed, checkpoints)  # says what is wrong before anything travels
        prefix, file = own_file(name, checkpoints)
        if file is None:
            return TravellingPlayer(name, seed, None)
        return TravellingPlayer(prefix + file.name, seed, file.read_bytes())

    def unpacked(self, directory: Path | None, seat: int) -> Player:
        """The same one on a node."""
        if self.content is None or directory is None:
            return make_player(self.name, self.seed)
        prefix, _, file_name = self.name.rpartition(":")
        file = directory / str(seat) / file_name  # both may have the same name
        file.parent.mkdir()
        file.write_bytes(self.content)
        return make_player(f"{prefix}:{file}" if prefix else str(file), self.seed)


@dataclass(frozen=True)
class Share:
    """Some games of a match, in their order."""

    players: tuple[TravellingPlayer, ...]
    games: int
    conditions: Conditions
    rom: bytes | None  # the file of conditions.rom

    def play(self) -> list[GameRecord]:
        """On a node."""
        if self.rom is None and all(player.content is None for player in self.players):
            return self._play(None)  # nothing on disk that could be left there
        with scratch_directory() as directory:
            return self._play(directory)

    def _play(self, directory: Path | None) -> list[GameRecord]:
        conditions = self.conditions
        if directory is not None and self.rom is not None:
            conditions = dataclasses.replace(conditions, rom=directory / ROM)
            (directory / ROM).write_bytes(self.rom)
        a, *others = (player.unpacked(directory, seat) for seat, player in enumerate(self.players))
        return play_match(a, others[0] if others else None, self.games, conditions, threads=1)


def shares_of(names: Sequence[str], games: int, conditions: Conditions, checkpoints: Path = CHECKPOINTS) -> list[Share]:
    """A match in shares: the same games, on the same boards and from the same seats, as if it were played in one go."""
    rom = _rom_of(conditions)
    shares = []
    for first in range(0, games, GAMES_OF_A_SHARE):
        boards = first // 2 if conditions.twice else first
        seed = conditions.first_seed + first  # of those who guess: no two shares have one in common
        players = tuple(TravellingPlayer.packed(name, seed + seat, checkpoints) for seat, name in enumerate(names))
        here = dataclasses.replace(conditions, first_seed=conditions.first_seed + boards)
        shares.append(Share(players, min(GAMES_OF_A_SHARE, games - first), here, rom))
    return shares


def play_on(connection: Connection, shares: Sequence[Share], progress: Progress | None = None) -> list[GameRecord]:
    """All games of these shares, in order."""
    records: dict[int, list[GameRecord]] = {}
    for number, played in done_on(connection, Share.play, shares):
        records[number] = played
        if progress is not None:
            progress(sum(map(len, records.values())), sum(share.games for share in shares))
    return [record for number in range(len(shares)) for record in records[number]]


def meet_on(connection: Connection, ladder: Ladder, pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Let pairs of a ladder meet at the same time, each on one node; gives each once its result is noted."""
    conditions = ladder.conditions
    shares = []
    for pair in pairs:
        players = tuple(TravellingPlayer.packed(*player, ladder.checkpoints) for player in ladder.players(pair))
        shares.append(Share(players, ladder.games, conditions, _rom_of(conditions)))
    for number, records in done_on(connection, Share.play, shares):
        ladder.note(pairs[number], records)
        yield pairs[number]


def _rom_of(conditions: Conditions) -> bytes | None:
    return None if conditions.rom is None else conditions.rom.read_bytes()
