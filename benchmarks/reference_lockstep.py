"""The embedded core and Mednafen play the same games from power-on; all 2048 bytes of RAM are compared every frame.

What differs at power-on, and is made equal first:

- Mednafen's RAM begins as $FF (but for four bytes); ours, and what is compared, begins as 0.
- Mednafen's picture unit is dead for the first frame: a game that waits for it, as Super Mario Bros. does, loses one.

What is told apart from a mismatch:

- In Antidote, the two bytes of the stack that an NMI pushes when it breaks into the loop that waits for it. Where in
  that loop it does depends on cycles before the first frame; only the RTI reads them back. They are left out.
- A frame ends some cycles earlier or later in Mednafen than in ours. When Super Mario Bros. has more to do than fits
  into a frame, it is at work just then, and some writes are done in one and not yet in the other. Such a frame counts
  as "cut" if one of the CPUs was not in the game's waiting loop, and if every byte is equal in the frames around it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import DOWN, LEFT, RAM_SIZE, RIGHT, SELECT, START, UP, A, B
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.emulators.mednafen import MednafenEmulator
from mario_rl.environment.smb.levels import LEVELS
from mario_rl.snapshots.routes import packaged_route

QUICK_LEVELS = ("1-1", "1-2", "1-4", "2-2")  # ground, underground, castle, water
SMB_FRAMES_LATER = 1
ANTIDOTE_FRAMES_LATER = 0
ANTIDOTE_NMI_STACK = (0x01FD, 0x01FE)  # flags, and the low byte of the return address
GAMES, QUICK_GAMES = 12, 4
FRAMES_OF_A_GAME = 2000
HELD_FRAMES = 6
TITLE_FRAMES, MENU_FRAMES, START_EVERY = 30, 120, 306  # when Start is pressed
JUMP = 0x4C  # JMP absolute
NMI_VECTOR = 0xFFFA

Bytes = npt.NDArray[np.uint8]
Pokes = dict[int, list[tuple[int, int]]]


@dataclass
class Tally:
    """What was compared."""

    frames: int = 0
    mismatches: int = 0
    """Frames in which a byte differed."""
    cut: int = 0
    """Frames that ended in the middle of the game's work, a little earlier here than there; no mismatches."""
    runs: int = 0
    first: list[str] = field(default_factory=list)
    """The first differences, in words."""


@dataclass(frozen=True)
class Frame:
    """What both had in RAM after a frame, and, if that differs, whether the game was still at work."""

    number: int
    ours: Bytes
    theirs: Bytes
    at_work: bool = False

    @property
    def equal(self) -> bool:
        """In every byte."""
        return bool((self.ours == self.theirs).all())


class Pair:
    """One cartridge in both."""

    def __init__(self, rom: Path, frames_later: int, ignored: Iterable[int] = (), may_be_cut: bool = False):
        self._ours, self._theirs = EmbeddedBatch(rom, lanes=1), MednafenEmulator(rom)
        self._frames_later = frames_later
        self._compared = np.setdiff1d(np.arange(RAM_SIZE), list(ignored))
        self._may_be_cut = may_be_cut

    def play(self, name: str, pads: Iterable[tuple[int, int]], pokes: Pokes, tally: Tally) -> None:
        """From power-on, frame by frame."""
        ours, theirs = self._ours, self._theirs
        ram = ours.ram[0]
        ours.power(0)
        theirs.power()
        theirs.ram[:] = 0
        theirs.step(frames=self._frames_later)
        tally.runs += 1
        history: list[Frame] = []  # the last three
        for number, both in enumerate(pads):
            for address, value in pokes.get(number, ()):
                ram[address] = theirs.ram[address] = value
            ours.step(np.array([both], np.uint8), 1)
            theirs.step(both)
            frame = Frame(number, ram[self._compared], theirs.ram[self._compared])
            if not frame.equal and self._may_be_cut:
                frame = replace(frame, at_work=self._at_work())
            history = [*history[-2:], frame]
            if len(history) == 3:
                self._judge(name, *history, tally)

    def _judge(self, name: str, before: Frame, frame: Frame, after: Frame, tally: Tally) -> None:
        tally.frames += 1
        if frame.equal:
            return
        if frame.at_work and before.equal and after.equal:
            tally.cut += 1
            return
        tally.mismatches += 1
        if len(tally.first) < 5:
            places = np.flatnonzero(frame.ours != frame.theirs)[:4]
            words = [f"${self._compared[at]:04X} {frame.ours[at]:02X} not {frame.theirs[at]:02X}" for at in places]
            tally.first.append(f"{name} frame {frame.number}: {', '.join(words)}")

    def _at_work(self) -> bool:
        """Whether a CPU is anywhere but at a jump to itself, where Super Mario Bros. waits for the next frame."""
        registers = self._ours.registers(0)
        ours = (registers["pc"], registers["s"])
        # In a state of Mednafen the CPU is PC (4 bytes), A, P, another P, X, Y, S, and the RAM.
        state = self._theirs.save()
        ram_at = state.index(self._theirs.ram.tobytes())
        theirs = (int.from_bytes(state[ram_at - 10 : ram_at - 6], "little"), state[ram_at - 1])
        return not (self._waits(*ours, self._ours.ram[0]) and self._waits(*theirs, self._theirs.ram))

    def _waits(self, here: int, stack: int, ram: Bytes) -> bool:
        if here == int.from_bytes(self._theirs.peek(NMI_VECTOR, 2), "little"):
            # The next frame's NMI has just come, and pushed where it will return to, and the flags.
            here = int(ram[0x0100 + (stack + 2) % 0x100]) | int(ram[0x0100 + (stack + 3) % 0x100]) << 8
        return self._theirs.peek(here, 3) == bytes([JUMP, here & 0xFF, here >> 8])

    def close(self) -> None:
        """End Mednafen."""
        self._theirs.close()


def compare_smb(rom: Path, quick: bool, say: Callable[[str], None] = lambda line: None) -> Tally:
    """The routes through the levels, from power-on to the flag or the axe."""
    tally = Tally()
    pair = Pair(rom, SMB_FRAMES_LATER, may_be_cut=True)
    for level in QUICK_LEVELS if quick else LEVELS:
        route = packaged_route(level)
        pokes: Pokes = {}
        for frame, address, value in route.pokes:
            pokes.setdefault(frame, []).append((address, value))
        pair.play(level, ((pad, 0) for pad in route.pads()), pokes, tally)
        say(f"Super Mario Bros. {level}: {tally.frames:,} frames, {tally.mismatches} mismatches, {tally.cut} cut")
    pair.close()
    return tally


def compare_antidote(rom: Path, quick: bool, say: Callable[[str], None] = lambda line: None) -> Tally:
    """Games with pads at random, for one and two players, from the title on."""
    tally = Tally()
    pair = Pair(rom, ANTIDOTE_FRAMES_LATER, ANTIDOTE_NMI_STACK)
    for game in range(QUICK_GAMES if quick else GAMES):
        pair.play(f"game {game}", _fumbling(game), {}, tally)
        say(f"Antidote, game {game}: {tally.frames:,} frames, {tally.mismatches} mismatches")
    pair.close()
    return tally


def _fumbling(seed: int) -> Iterable[tuple[int, int]]:
    """Both pads at random: on the title (one player or two), in the options (levels, speeds), in play."""
    dice = random.Random(seed)
    pads = (0, 0)
    for frame in range(FRAMES_OF_A_GAME):
        if frame % HELD_FRAMES == 0:
            if frame < TITLE_FRAMES:
                choices = [0, SELECT]
            elif frame < MENU_FRAMES:
                choices = [0, LEFT, RIGHT, UP, DOWN]
            else:
                choices = [0, LEFT, RIGHT, DOWN, A, B, LEFT | A, RIGHT | B]
            pads = (dice.choice(choices), dice.choice(choices))
            if frame in (TITLE_FRAMES, MENU_FRAMES) or frame % START_EVERY == 0:
                pads = (START, 0)  # goes on, and pauses
        yield pads
