"""A player inside the original cartridge, in a dump that its owner made: its place, and the hook that asks it.

Nothing of the game is in here; what must be known of it are addresses. The game reads both pads twice in every frame's
NMI, right after it has counted the frame, and only those buttons count that were down both times. The routine that
reads them ends with storing the second pad's byte. That end becomes a jump to `hook`, which stores it, too, and then,
in a game of two, puts there what the player wants instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mario_rl.distill.assembler import Program
from mario_rl.distill.chooser import Place
from mario_rl.distill.form import Form, ScoringForm
from mario_rl.distill.layout import Memory
from mario_rl.distill.listing import Assembled
from mario_rl.distill.operands import value
from mario_rl.distill.ranges import Range
from mario_rl.emulators.rom import GAMES
from mario_rl.environment.drmario.memory import (
    ACTION,
    ACTION_SPAWNED,
    BLOCK,
    BLOCK_SIZE,
    FIELD,
    FIELD_PAGE,
    FRAME_COUNT,
    MODE,
    MODE_PLAY,
    PAUSE,
    PLAYERS,
    PRESSED,
)

HEADER = 16
PRG_START, PRG_SIZE = 0x8000, 0x8000
MAPPER, BANKS = 1, bytes([2, 4])  # of 16 KB of program, of 8 KB of tiles
FILLER = (0x00, 0xFF)
CHECKSUMMED = range(0xB900, 0xBE00)
"""The game adds these bytes up at the title, and crashes in play if they are not what they were."""
STORE_PAD_2 = bytes([0x85, PRESSED + 1, 0x60])
"""sta $F6, rts"""
HOOK_HEAD = bytes([0x85, PRESSED + 1, 0xA5, MODE, 0xC9, MODE_PLAY])
"""How `hook` begins: sta $F6, lda $46, cmp #4"""
IN_ORIGINAL = Place(PRG_START, Memory(small=0x0104, large=0x0128, player_pad=PRESSED + 1), presses_in=1)
"""Its memory is the low end of the stack's page, which the stack does not reach."""
ASKED_IN, ANSWER = 0x0100, 0x0101  # the frame counter when the player was asked last, and what it said
FIELD_POINTER = 0x57  # of the game's own; its NMI leaves the second seat's field there, too


class OriginalError(ValueError):
    """A dump into which a player cannot go; one line says why."""


class Span(NamedTuple):
    """Addresses from the first to the last one."""

    first: int
    last: int


@dataclass(frozen=True)
class Revision:
    """What must be known of a revision of the game."""

    free: tuple[Span, ...]
    """Where only filler is."""
    hook: int | None = None
    """Where STORE_PAD_2 is, if that is known."""


REVISIONS = {
    "Japan, USA": Revision((Span(0xFAFC, 0xFCFF), Span(0xFF30, 0xFFCF), Span(0xD2CC, 0xD2FF)), hook=0xB7BF),
    "Japan, USA, revision A": Revision((Span(0xFB1E, 0xFCFF), Span(0xFF32, 0xFFCF), Span(0xCED4, 0xCEFF))),
}
"""By the names of their dumps."""


def revision_of(rom: bytes) -> Revision | None:
    """The revision of a dump; None if it is not exactly one that we know."""
    return REVISIONS.get(GAMES["drmario"].dump(rom) or "")


def has_player(rom: bytes) -> bool:
    """Whether a player is in it already."""
    return HOOK_HEAD in rom


def looks_like_dump(rom: bytes) -> bool:
    """Whether a file has the original's size and mapper, and stores a second pad somewhere as the original does."""
    mapper = rom[6] >> 4 | rom[7] & 0xF0
    return rom[4:6] == BANKS and mapper == MAPPER and STORE_PAD_2 in rom[HEADER : HEADER + PRG_SIZE]


def free_ranges(prg: bytes, revision: Revision) -> list[Range]:
    """The ranges of a revision, as far as there is nothing but filler; whatever else is there stays as it is."""
    return [_filler(prg, span) for span in revision.free]


def _filler(prg: bytes, span: Span) -> Range:
    """The longest stretch of filler."""
    best, start = Range(span.first, 0), span.first
    for address in range(span.first, span.last + 1):
        if prg[address - PRG_START] not in FILLER:
            start = address + 1
        best = max(best, Range(start, address + 1 - start), key=lambda found: found.size)
    return best


def find_hook(prg: bytes, revision: Revision) -> int:
    """The address of STORE_PAD_2; an OriginalError if that is not sure."""
    last = len(prg) - len(STORE_PAD_2)
    everywhere = [start for start in range(last + 1) if prg.startswith(STORE_PAD_2, start)]
    found = [PRG_START + start for start in everywhere]
    found = [start for start in found if start not in CHECKSUMMED and start + len(STORE_PAD_2) - 1 not in CHECKSUMMED]
    if revision.hook is not None:
        if revision.hook not in found:
            raise OriginalError(f"the game does not store the second pad at ${revision.hook:04X}, where it should")
        return revision.hook
    if len(found) != 1:
        where = ", ".join(f"${start:04X}" for start in found) or "nowhere"
        raise OriginalError(f"where the game stores the second pad is not clear: found {where}")
    return found[0]


def compile_for_original(form: Form, ranges: Sequence[Range]) -> Assembled:
    """A player and what it needs to live in the original, spread over free ranges; its label `hook` is to be jumped to.

    It thinks about one column in a frame: the NMI leaves no time for more.
    """
    program = Program(PRG_START)
    _write_hook(program)
    form = replace(form, columns_a_frame=1) if isinstance(form, ScoringForm) else form
    program.include(form.compile(IN_ORIGINAL).program, since="think")
    return program.assemble(ranges)


def _write_hook(p: Program) -> None:
    """The code that is jumped to with the second pad's byte in A; it runs on into the player's thinking.

    The second time in a frame it repeats the first answer, so that nothing is thought about twice.
    """
    pad_1, pad_2, field = p.name("pad_1", PRESSED), p.name("player_pad", PRESSED + 1), p.name("field", FIELD_POINTER)
    mode, players, paused = p.name("mode", MODE), p.name("players", PLAYERS), p.name("paused", PAUSE)
    frame_counter, action = p.name("frame_counter", FRAME_COUNT), p.name("action_2", BLOCK + BLOCK_SIZE + ACTION)
    asked_in, answer = p.name("asked_in", ASKED_IN), p.name("answer", ANSWER)
    p.comment("In place of the end of the game's routine that reads the pads: A the second pad's byte.")
    p.label("hook")
    p("sta", pad_2, "what was here before")
    p("lda", mode)
    p("cmp", value(MODE_PLAY))
    p("bne", "mirror")
    p("lda", players)
    p("eor", value(2))
    p("ora", paused)
    p("bne", "unasked", "a game of one, or a pause")
    p("sta", pad_2, "what it does not press is not pressed")
    p("sta", field)
    p("lda", frame_counter)
    p("cmp", asked_in)
    p("beq", "again")
    p("sta", asked_in)
    p("txa")
    p("pha")
    p("tya")
    p("pha")
    p("lda", value((FIELD + FIELD_PAGE) >> 8))
    p("sta", field + 1)
    p("ldx", value(BLOCK_SIZE), "the second seat")
    p("jsr", "ask")
    p("pla")
    p("tay")
    p("pla")
    p("tax")
    p("lda", pad_2)
    p("sta", answer)
    p("rts")
    p.label("unasked")
    p("lda", pad_2, "as if it had been stored just now")
    p.label("nothing_to_do")
    p("rts")
    p.label("again", "carry set")
    p("lda", answer)
    p("bcs", "store")
    p.label("mirror", "in the menus the first pad chooses for both")
    p("lda", pad_1)
    p.label("store")
    p("sta", pad_2)
    p("rts")
    p.label("ask")
    p("lda", action)
    p("beq", "steer")
    p("cmp", value(ACTION_SPAWNED))
    p("bne", "nothing_to_do")
