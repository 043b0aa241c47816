"""Games of one player against another, or of one alone, many side by side, on whatever runs the game.

Both bottles begin with the same viruses and the game deals both players the same capsules, so nothing but their play
tells them apart; the players change seats after every game, unless one is a cartridge, whose seat is always the same
(cartridge_player.py). A game begins when the first capsules can be moved and ends with a cleared bottle or a top-out.
One that goes on for too long is cut off, at the first capsule that comes after its last frame; that is a draw, or, for
one alone, a bottle that was not cleared.

On the rules engine placements are carried out capsule by capsule; on consoles, and with players who press buttons, it
goes frame by frame. Which of them it is makes no difference to the games.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from mario_rl.emulators.remote import RemoteError
from mario_rl.environment.drmario.bots import Bot
from mario_rl.environment.drmario.console import RulesGames, open_games
from mario_rl.environment.drmario.memory import LATE_FRAMES, SPEEDS, GameMemory, Mask
from mario_rl.environment.drmario.pilot import Pilot
from mario_rl.environment.drmario.planner import Planner, at_decision, capsule_waits
from mario_rl.environment.drmario.seeds import random_state
from mario_rl.environment.drmario.settings import GameSettings
from mario_rl.environment.drmario.tally import Tally
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.cartridge_player import CartridgePlayer, cartridge_among
from mario_rl.selfplay.fixtures import Fixture, fixtures
from mario_rl.selfplay.players import ButtonPlayer, Player

__all__ = ["Conditions", "Fixture", "GameRecord", "fixtures", "play_match"]

Result = Literal["win", "draw", "loss"]
Ending = Literal["clear", "top_out", "cut_off"]

# Games side by side; a console that is a process or a server of its own plays one.
LANES = {"rules": 512, "embedded": 64}
MOST_LOSSES = 3  # of the consoles in a match, before it is given up
LONGEST_WAIT = 3600  # frames without a new capsule; a minute is several times what the slowest one takes

Progress = Callable[[int, int], None]
"""Called with the games played and the games to play, whenever the first changes."""


@dataclass(frozen=True)
class Conditions:
    """What is played, and on what."""

    level: int = 10
    speed: str = "med"
    backend: str = "rules"
    rom: Path | None = None
    first_seed: int = 0
    """The first board's; the others follow it."""
    twice: bool = False
    """Play every board twice, the seats swapped in between, instead of a new board in every game.

    Players that do not guess mostly play the same game again then, so that two such games tell little more than one.
    """
    max_frames: int = 36_000
    """Ten minutes."""


@dataclass(frozen=True)
class GameRecord:
    """How one game went, seen by player A."""

    seed: int
    """Of the board; `random_state(seed)` is what the game's generator begins with."""
    seat: int
    """Of A: 1 or 2."""
    result: Result
    """Alone a cleared bottle is a win and everything else a loss."""
    ending: Ending
    cleared: bool
    """A's bottle is clear."""
    capsules: int
    """That A has placed."""
    viruses: int
    """Left in A's bottle."""
    sent: int
    """Pieces of garbage that A's attacks consisted of."""
    received: int
    """Pieces of garbage that B's attacks consisted of."""
    opponent_capsules: int
    opponent_viruses: int
    frames: int
    missed: int
    """Capsules of either player that came to rest elsewhere than planned: a console that lost frames."""
    late_frames: int | None = None
    """Frames for which Antidote took too long, with its player at work; None if that did not play."""


def play_match(
    a: Player,
    b: Player | None,
    games: int,
    conditions: Conditions,
    progress: Progress | None = None,
    threads: int | None = None,
) -> list[GameRecord]:
    """Play so many games and say how each went, in the order of the boards; a RunError if that cannot be played.

    The same players (that do not guess) and conditions give the same records, on every backend. The games run on so
    many threads, by default on every core.
    """
    records: dict[int, GameRecord] = {}
    with contextlib.closing(_Tables(a, b, conditions, games, threads or _cores())) as tables:
        schedule = fixtures(games, conditions.first_seed, b is None, conditions.twice, tables.seat_of_a)
        waiting = list(enumerate(schedule))[::-1]
        while len(records) < len(schedule):
            tables.begin(waiting)
            ended = tables.play_on()
            records |= ended
            if ended and progress is not None:
                progress(len(records), len(schedule))
    return [records[number] for number in range(len(schedule))]


def _cores() -> int:
    """Those this process may use: whoever plays several matches side by side gives each its own."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Tables:
    """Where the games are played, one a lane."""

    def __init__(self, a: Player, b: Player | None, conditions: Conditions, games: int, threads: int):
        self._players = (a,) if b is None else (a, b)
        self._conditions = conditions
        self._cartridge = cartridge_among(self._players, conditions.backend, conditions.rom, conditions.twice)
        pads = list(range(len(self._players)))
        self.seat_of_a: int | None = None
        """The same in all games; None: it is another one in every game."""
        if self._cartridge is not None:
            own = pads.pop()  # the last seat is the cartridge's, whose buttons are not ours to press
            self.seat_of_a = own if a is self._cartridge else 1 - own
        lanes = min(games, LANES.get(conditions.backend, 1))
        try:
            settings = GameSettings(
                level=conditions.level,
                speed=conditions.speed,
                players=len(self._players),
                backend=conditions.backend,
                rom=conditions.rom,
            )
            # With few games a frame is over before other threads have woken up.
            threads = max(1, min(threads, lanes // 4))
            opener = open_games if self._cartridge is None else self._cartridge.open_games
            self._games = opener(settings, lanes, threads)
        except (ValueError, RemoteError) as problem:
            raise RunError(str(problem)) from problem
        self._game = self._games.game
        self._planner = Planner(self._games)
        self._pilots = [Pilot(self._planner, self._game, seat) for seat in pads]
        self._tally = Tally(lanes)
        self._frames = np.zeros(lanes, np.int32)
        self._late_frames = np.zeros(lanes, np.uint8)
        self._pads = np.zeros((lanes, 2), np.uint8)
        self._playing = np.zeros(lanes, np.bool_)
        self._fixtures: list[tuple[int, Fixture]] = [(-1, Fixture(0, 0))] * lanes
        self._a_sits_first = np.ones(lanes, np.bool_)
        self._losses = 0
        # Both kinds of players that are asked, each with its number: A is 0, B is 1.
        self._pressers: list[tuple[int, ButtonPlayer]] = []
        self._choosers: list[tuple[int, Bot]] = []
        for number, player in enumerate(self._players):
            if isinstance(player, ButtonPlayer):
                self._pressers.append((number, player))
            elif not isinstance(player, CartridgePlayer):
                self._choosers.append((number, player))
        self._by_capsule = isinstance(self._games, RulesGames) and not self._pressers

    def close(self) -> None:
        """Release the consoles."""
        self._games.close()

    def begin(self, waiting: list[tuple[int, Fixture]]) -> None:
        """Begin games, from the last one waiting on, wherever none is being played."""
        free = np.zeros(len(self._playing), np.bool_)
        for lane in np.flatnonzero(~self._playing).tolist():
            if waiting:
                self._fixtures[lane] = waiting.pop()
                free[lane] = True
        if free.any():
            self._begin(free)

    def _begin(self, lanes: Mask) -> None:
        seeds = np.array([random_state(fixture.seed) for _, fixture in self._fixtures], np.int32)
        both = np.ones((len(lanes), 2), np.int32)
        speeds = SPEEDS.index(self._conditions.speed.lower()) * both
        while True:
            try:
                self._games.begin(lanes, seeds, self._conditions.level * both, speeds, len(self._players))
            except ValueError as problem:  # a cartridge that is another game
                named = "" if self._cartridge is None else f"{self._cartridge.rom}: "
                raise RunError(f"{named}{problem}") from problem
            self._await_capsules(lanes)
            if not (lanes & self._games.lost).any():
                break
            self._count_loss()
        self._a_sits_first = np.array([fixture.seat == 0 for _, fixture in self._fixtures])
        for pilot in self._pilots:
            pilot.forget(lanes)
        self._tally.begin(lanes, self._game)
        self._frames[lanes] = self._late_frames[lanes] = 0
        self._pads[lanes] = 0
        self._playing |= lanes

    def _await_capsules(self, lanes: Mask) -> None:
        nothing = np.zeros_like(self._pads)
        waiting = lanes.copy()
        for _ in range(LONGEST_WAIT):
            waiting &= ~(capsule_waits(self._game, 0) | self._games.lost)
            if not waiting.any():
                return
            self._games.step(nothing, 1, waiting)
        self._give_up(waiting)

    def _give_up(self, hanging: Mask) -> None:
        _, fixture = self._fixtures[int(np.flatnonzero(hanging)[0])]
        raise RunError(f"the cartridge hangs: no capsule came for {LONGEST_WAIT} frames on board {fixture.seed}")

    def _count_loss(self) -> None:
        self._losses += 1
        if self._losses > MOST_LOSSES:
            raise RunError(f"the console was lost {self._losses} times: see its log")

    # --- a game goes on -------------------------------------------------------------------------------------------

    def play_on(self) -> dict[int, GameRecord]:
        """Play until at least one game has ended (or was lost, and begun again); the records of those by number."""
        while True:
            self._choose_placements()
            if self._by_capsule:
                self._to_the_next_capsule()
            else:
                self._press_buttons()
                self._one_frame()
            lost = self._playing & self._games.lost
            if lost.any():
                self._count_loss()
                self._begin(lost)
            over = self._playing & self._game.round_over()
            too_long = self._playing & ~over & (self._frames >= self._conditions.max_frames)
            if too_long.any():
                over |= too_long & self._anybody_waits()
                hanging = too_long & ~over & (self._frames >= self._conditions.max_frames + LONGEST_WAIT)
                if hanging.any():
                    self._give_up(hanging)
            if over.any():
                self._playing &= ~over
                return {self._fixtures[lane][0]: self._record(lane) for lane in np.flatnonzero(over).tolist()}

    def _anybody_waits(self) -> Mask:
        waits = capsule_waits(self._game, 0)
        return waits if len(self._players) == 1 else waits | capsule_waits(self._game, 1)

    def _whose(self, player: int, seat: int) -> Mask:
        """bool[n]: A (0) or B (1) sits there."""
        return self._a_sits_first if player == seat else ~self._a_sits_first

    def _choose_placements(self) -> None:
        """Ask whoever chooses placements: each player once for all the games in which a seat's capsule waits."""
        for pilot in self._pilots:
            waiting = self._playing & at_decision(self._game, pilot.seat)
            if not waiting.any():
                continue
            games = self._planner.look(waiting)
            for number, player in self._choosers:
                asked = waiting & self._whose(number, pilot.seat)
                if asked.any():
                    pilot.send(asked, player.choose(games, asked, pilot.seat))

    def _to_the_next_capsule(self) -> None:
        scripts = [pilot.script_arrays for pilot in self._pilots]
        deciders = (1 << len(self._pilots)) - 1
        self._planner.batch.follow(scripts, deciders, self._tally.totals, self._frames, self._playing)

    def _press_buttons(self) -> None:
        """What to hold in the next frame."""
        for pilot in self._pilots:
            seat = pilot.seat
            for number, _ in self._choosers:
                steered = self._whose(number, seat)
                self._pads[steered, seat] = pilot.pads()[steered]
            for number, player in self._pressers:
                asked = self._playing & self._whose(number, seat) & (self._frames % player.frame_skip == 0)
                if asked.any():
                    self._pads[asked, seat] = player.hold(GameMemory(self._game.ram[asked]), seat)

    def _one_frame(self) -> None:
        self._games.step(self._pads, 1, self._playing)
        played = self._playing.astype(np.int32)
        for pilot in self._pilots:
            pilot.advance(played)
        self._frames += played
        self._tally.look(self._game)
        if self._cartridge is not None:
            np.maximum(self._late_frames, self._game.ram[:, LATE_FRAMES], out=self._late_frames)

    # --- a game is over -------------------------------------------------------------------------------------------

    def _record(self, lane: int) -> GameRecord:
        _, fixture = self._fixtures[lane]
        own, other = fixture.seat, 1 - fixture.seat
        cleared = self._game.cleared()[lane].tolist()
        topped_out = self._game.topped_out()[lane].tolist()
        # A bottle cleared in the frame in which another one overflows decides the round.
        ending: Ending = "clear" if any(cleared) else "top_out" if any(topped_out) else "cut_off"
        alone = len(self._players) == 1
        ahead = cleared if any(cleared) else [not seat for seat in topped_out]
        result: Result = "draw" if ahead[own] == ahead[other] else "win" if ahead[own] else "loss"
        if alone:
            result = "win" if cleared[own] else "loss"
        viruses = self._game.viruses()[lane].tolist()
        capsules = self._tally.locks[lane].tolist()
        sent = self._tally.sent[lane].tolist()
        return GameRecord(
            seed=fixture.seed,
            seat=own + 1,
            result=result,
            ending=ending,
            cleared=cleared[own],
            capsules=capsules[own],
            viruses=viruses[own],
            sent=sent[own],
            received=sent[other],
            opponent_capsules=0 if alone else capsules[other],
            opponent_viruses=0 if alone else viruses[other],
            frames=int(self._frames[lane]),
            missed=sum(int(pilot.missed[lane]) for pilot in self._pilots),
            late_frames=int(self._late_frames[lane]) if self._cartridge and self._cartridge.antidote else None,
        )
