"""Rounds of Dr. Mario between players of every kind, frame by frame, for people to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.remote import RemoteError
from mario_rl.emulators.rom import find_rom
from mario_rl.environment.drmario import picture as rules_picture
from mario_rl.environment.drmario.bots import Rating
from mario_rl.environment.drmario.console import Games, open_games
from mario_rl.environment.drmario.memory import COLUMNS, ROWS, SPEEDS, GameMemory
from mario_rl.environment.drmario.seeds import random_state
from mario_rl.environment.drmario.settings import GameSettings
from mario_rl.roms import looks_like_antidote
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.cartridge_player import CartridgePlayer, cartridge_among, file_of, is_cartridge
from mario_rl.selfplay.pad_holder import PadHolder, give_pad
from mario_rl.selfplay.players import CHECKPOINTS, ButtonPlayer, Player, make_player

Picture = npt.NDArray[np.uint8]

AFTER_A_ROUND_FRAMES = 180  # the stage-clear box appears after 64 of them
AFTER_AN_ATTRACT_ROUND_FRAMES = 90  # from the 97th on the cartridge may be back at its title
LONGEST_ROUND_FRAMES = 216_000  # an hour: nobody needs that long
OUTLINE = (255, 255, 255)


@dataclass(frozen=True)
class Contest:
    """Who plays whom, and what."""

    agent: str
    """A player's name, as for every one of them: see `make_player`."""
    opponent: str | None = None
    """The player in the second seat, where a cartridge has to be; None: a round for one."""
    level: int = 10
    speed: str = "med"
    backend: str = "rules"
    rom: Path | None = None
    checkpoints: Path = CHECKPOINTS

    @property
    def names(self) -> tuple[str, ...]:
        """The players' names by seat."""
        return (self.agent,) if self.opponent is None else (self.agent, self.opponent)

    def players(self, seed: int = 0) -> list[Player]:
        """The players by seat; a RunError if there is no such player. The seed is for those who guess."""
        return [make_player(name, seed, self.checkpoints) for name in self.names]

    @property
    def rom_file(self) -> Path:
        """The cartridge that consoles play: the one that is a player, or else the game's; RomNotFound if none is."""
        named = next((name for name in self.names if is_cartridge(name)), None)
        return find_rom("drmario", self.rom) if named is None else file_of(named)

    def settings(self, backend: str) -> GameSettings:
        """The settings of its games; a ValueError in one line if something is wrong."""
        return GameSettings(level=self.level, speed=self.speed, players=len(self.names), backend=backend, rom=self.rom)


@dataclass(frozen=True)
class Seat:
    """A player at a moment."""

    name: str
    presses: bool
    """It presses buttons and has no plan to show."""
    viruses: int
    capsules: int
    colours: tuple[int, int]
    """Of the falling capsule: 0 yellow, 1 red, 2 blue."""
    next: tuple[int, int]
    pad: int
    placement: int | None
    """Where it is taking its capsule."""
    ratings: tuple[Rating, ...]
    """What it thinks of the capsule's placements, the best first."""
    cleared: bool
    topped_out: bool


@dataclass(frozen=True)
class Moment:
    """One frame of a round."""

    picture: Picture | None
    """uint8[240, 256, 3], where the agent takes its capsule outlined; None if nobody looks."""
    seats: tuple[Seat, ...]
    frame: int
    ended: bool

    @property
    def merit(self) -> tuple[bool, int]:
        """How well the agent did: the bottle cleared (or the opponent outlived), then few capsules."""
        return self.won, -self.seats[0].capsules

    @property
    def won(self) -> bool:
        """The agent cleared its bottle, or outlived its opponent."""
        others = self.seats[1:]
        outlived = any(seat.topped_out for seat in others) and not self.seats[0].topped_out
        return self.seats[0].cleared or outlived


class BotRounds:
    """Plays rounds of a contest. The same seed gives the same round, on every backend."""

    def __init__(self, contest: Contest, drawn: bool = True):
        self.contest = contest
        self._drawn = drawn
        players = contest.players()  # before a console is opened for nothing
        self._cartridge = cartridge_among(players, contest.backend, contest.rom)
        if len(players) == 2 and players[0] is self._cartridge:
            raise RunError(f"{contest.agent} sits in the second seat: name it as --opponent, and the other as --agent")
        try:
            if self._cartridge is not None:
                settings = contest.settings(contest.backend if drawn else "embedded")
                self._games: Games = self._cartridge.open_games(settings, 1, draw=drawn)
            else:
                # Nobody sees what it looks like if nothing is drawn, and the rules engine is the fastest.
                self._games = open_games(contest.settings(contest.backend if drawn else "rules"), 1, draw=drawn)
        except (ValueError, RemoteError) as problem:
            raise RunError(str(problem)) from problem
        self._bottles = bottles(contest) if drawn else None

    def play(self, seed: int) -> Iterator[Moment]:
        """One round, to its end and a little further; if nothing is drawn, only its last moment."""
        players = self.contest.players(seed)
        holders = [give_pad(player, seat) for seat, player in enumerate(players)]
        self._begin(seed)
        game = self._games.game
        pads = np.zeros((1, 2), np.uint8)
        left = AFTER_A_ROUND_FRAMES
        if self._cartridge is not None and len(players) == 1:
            left = min(left, AFTER_AN_ATTRACT_ROUND_FRAMES)
        for frame in range(1, LONGEST_ROUND_FRAMES + 1):
            over = bool(game.round_over()[0])
            for holder in holders:
                pads[0, holder.seat] = 0 if over else holder.pads(game.ram[0])
            self._games.step(pads)
            if self._games.lost[0]:
                raise RunError("the console was lost in the middle of a round; it runs again: start this once more")
            left -= over
            ended = left == 0 or frame == LONGEST_ROUND_FRAMES
            if self._drawn or ended:
                seats = tuple(
                    _seat(game, player, holder, int(pads[0, holder.seat]))
                    for player, holder in zip(players, holders, strict=True)
                )
                yield Moment(self._picture(seats) if self._drawn else None, seats, frame, ended)
            if ended:
                return

    def close(self) -> None:
        """Free the console."""
        self._games.close()

    def _begin(self, seed: int) -> None:
        both = np.ones((1, 2), np.int32)
        speed = SPEEDS.index(self.contest.speed.lower()) * both
        seeds = np.array([random_state(seed)], np.int32)
        levels = self.contest.level * both
        try:
            self._games.begin(np.ones(1, np.bool_), seeds, levels, speed, len(self.contest.names))
        except ValueError as problem:  # a cartridge that is another game
            named = "" if self._cartridge is None else f"{self._cartridge.rom}: "
            raise RunError(f"{named}{problem}") from problem

    def _picture(self, seats: tuple[Seat, ...]) -> Picture:
        picture = self._games.frame(0).copy()
        for place, seat in zip(self._bottles or (), seats, strict=False):
            if seat.placement is not None:
                place.outline(picture, seat.placement)
        return picture


@dataclass(frozen=True)
class Bottle:
    """Where a bottle is in the picture, in pixels."""

    top: int
    left: int
    cell: int

    def outline(self, picture: Picture, placement: int) -> None:
        """Draw the edge of the place a capsule is to go to."""
        rotation, y, x = placement // 128, placement // COLUMNS % ROWS, placement % COLUMNS
        upright = rotation % 2 == 1
        first_row = ROWS - 1 - y - upright
        top = self.top + max(first_row, 0) * self.cell  # a half above the bottle has no place
        bottom = self.top + (ROWS - y) * self.cell - 1
        left = self.left + x * self.cell
        right = left + (1 if upright else 2) * self.cell - 1
        picture[[top, bottom], left : right + 1] = OUTLINE
        picture[top : bottom + 1, [left, right]] = OUTLINE


def bottles(contest: Contest) -> tuple[Bottle, ...] | None:
    """Where the bottles are in what this contest's backend draws; None if that is not known."""
    alone = len(contest.names) == 1
    if contest.backend == "rules":
        lefts = rules_picture.BOTTLE_LEFT[len(contest.names)]
        return tuple(Bottle(rules_picture.BOTTLE_TOP, left, rules_picture.CELL) for left in lefts)
    if contest.backend.startswith("http") or not looks_like_antidote(contest.rom_file.read_bytes()):
        return None
    return tuple(Bottle(80, left, 8) for left in ((96,) if alone else (32, 160)))  # cartridge/art/layout.inc


def _seat(game: GameMemory, player: Player, holder: PadHolder, pad: int) -> Seat:
    seat = holder.seat
    first, second = game.colours[0, seat].tolist()
    next_first, next_second = game.next[0, seat].tolist()
    by_itself = isinstance(player, CartridgePlayer)
    return Seat(
        name=player.name,
        presses=by_itself or isinstance(player, ButtonPlayer),
        viruses=int(game.viruses()[0, seat]),
        capsules=int(game.capsules()[0, seat]),
        colours=(first, second),
        next=(next_first, next_second),
        pad=int(game.held[0, seat]) if by_itself else pad,
        placement=holder.placement,
        ratings=tuple(holder.ratings),
        cleared=bool(game.cleared()[0, seat]),
        topped_out=bool(game.topped_out()[0, seat]),
    )
