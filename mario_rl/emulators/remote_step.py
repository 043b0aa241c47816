"""One step of a console as bytes: what a remote client and the server send each other, thousands of times a second.

All numbers are little-endian.

    request   version u8 · wanted u8 · pad 1 u8 · pad 2 u8 · frames u16 · number of pokes u16
              then every poke: address u16 · value u8
    answer    version u8 · contained u8 · 0 u16 · length of the state u32
              then what it contains: RAM (2048 bytes), picture (240 x 256 x RGB), state

The pokes are written before the frames run. 0 frames run none: that writes RAM, or looks at it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from mario_rl.emulators.base import RAM_SIZE, SCREEN_HEIGHT, SCREEN_WIDTH

VERSION = 1
LONGEST_STEP = 600  # frames: ten seconds of play, and less than a second of a busy machine's time
MOST_POKES = RAM_SIZE
FRAME_SIZE = SCREEN_HEIGHT * SCREEN_WIDTH * 3

# The bits of `wanted` and `contained`.
DRAW = 1  # draw the last frame, so that it can be asked for later
RAM = 2
FRAME = 4  # draw it and send it along
STATE = 8
_ALL = DRAW | RAM | FRAME | STATE

CONTENT_TYPE = "application/octet-stream"

_REQUEST = struct.Struct("<BBBBHH")
_POKE = struct.Struct("<HB")
_ANSWER = struct.Struct("<BBHI")
LARGEST_REQUEST = _REQUEST.size + MOST_POKES * _POKE.size


class StepFormatError(ValueError):
    """Bytes that are no step; the message says what is wrong with them."""


@dataclass(frozen=True, slots=True)
class StepRequest:
    """What a console is to do."""

    pads: tuple[int, int]
    frames: int
    wanted: int
    pokes: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """What came of it; None where it was not wanted."""

    ram: bytes | None
    frame: bytes | None
    state: bytes | None


def pack_request(request: StepRequest) -> bytes:
    """The request as bytes."""
    head = _REQUEST.pack(VERSION, request.wanted, *request.pads, request.frames, len(request.pokes))
    return head + b"".join(_POKE.pack(*poke) for poke in request.pokes)


def unpack_request(body: bytes) -> StepRequest:
    """The request these bytes are, or a StepFormatError."""
    if len(body) < _REQUEST.size:
        raise StepFormatError(f"a step has at least {_REQUEST.size} bytes, this has {len(body)}")
    version, wanted, pad1, pad2, frames, pokes = _REQUEST.unpack_from(body)
    if version != VERSION:
        raise StepFormatError(f"this is a step of version {version}, the server knows version {VERSION}")
    if wanted & ~_ALL:
        raise StepFormatError(f"unknown bits in what is wanted: {wanted:#04x}")
    if frames > LONGEST_STEP:
        raise StepFormatError(f"a step has at most {LONGEST_STEP} frames, not {frames}")
    if pokes > MOST_POKES:
        raise StepFormatError(f"a step has at most {MOST_POKES} pokes, not {pokes}")
    if len(body) != _REQUEST.size + pokes * _POKE.size:
        raise StepFormatError(f"{pokes} pokes make {_REQUEST.size + pokes * _POKE.size} bytes, not {len(body)}")
    written = list(_POKE.iter_unpack(body[_REQUEST.size :]))
    if any(address >= RAM_SIZE for address, _ in written):
        raise StepFormatError(f"pokes go to RAM, addresses 0 to {RAM_SIZE - 1}")
    return StepRequest((pad1, pad2), frames, wanted, written)


def pack_answer(answer: StepAnswer) -> bytes:
    """The answer as bytes."""
    parts = ((RAM, answer.ram), (FRAME, answer.frame), (STATE, answer.state))
    contained = sum(bit for bit, part in parts if part is not None)
    head = _ANSWER.pack(VERSION, contained, 0, len(answer.state or b""))
    return b"".join((head, *(part for _, part in parts if part is not None)))


def unpack_answer(body: bytes) -> StepAnswer:
    """The answer these bytes are, or a StepFormatError."""
    if len(body) < _ANSWER.size:
        raise StepFormatError(f"an answer has at least {_ANSWER.size} bytes, this has {len(body)}")
    version, contained, _, state_size = _ANSWER.unpack_from(body)
    if version != VERSION:
        raise StepFormatError(f"this is an answer of version {version}, the client knows version {VERSION}")
    sizes = {RAM: RAM_SIZE, FRAME: FRAME_SIZE, STATE: state_size}
    parts: dict[int, bytes] = {}
    begin = _ANSWER.size
    for bit, size in sizes.items():
        if contained & bit:
            parts[bit] = body[begin : begin + size]
            begin += size
    if begin != len(body):
        raise StepFormatError(f"the answer has {len(body)} bytes, it should have {begin}")
    return StepAnswer(parts.get(RAM), parts.get(FRAME), parts.get(STATE))
