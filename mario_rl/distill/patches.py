"""IPS and BPS: what must change in a file to make another one of it, for those who have the first one.

A patch has no byte in it of a place where both files agree, so it can be given away where the file itself cannot.

IPS: "PATCH", records, "EOF". A record is an offset (3 bytes, the highest first), a size (2 bytes) and that many bytes;
or, with the size 0, how often (2 bytes) one byte comes.
BPS, also known as beat: "BPS1", sizes of the source, of the target and of a text, the text, actions, and the CRC32s (4
bytes, the lowest first) of the source, the target and the patch up to there. An action makes the next bytes of the
target.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from itertools import groupby

import numpy as np

IPS_MAGIC, IPS_END = b"PATCH", b"EOF"
IPS_END_AS_OFFSET = int.from_bytes(IPS_END)
IPS_OFFSETS = 1 << 24
IPS_LONGEST = 0xFFFF  # bytes of a record
IPS_REPEAT_FROM = 14  # as often a byte comes before a record of its own (8 bytes, and 5 for the next one) is worth it
BPS_MAGIC = b"BPS1"
BPS_REPEAT_FROM = 8
SOURCE_READ, TARGET_READ, SOURCE_COPY, TARGET_COPY = range(4)
CHECKSUMS = 12  # bytes
LARGEST_FILE = 1 << 24
"""Of a patch that asks for more, nothing is believed."""


class PatchError(ValueError):
    """A patch that cannot be made or applied; one line."""


def changes(source: bytes, target: bytes) -> Iterator[tuple[int, bytes]]:
    """The stretches of the target that are not as in the source, as long as they can be: offset and bytes."""
    both = min(len(source), len(target))
    changed = np.ones(len(target), np.bool_)
    changed[:both] = np.frombuffer(source, np.uint8)[:both] != np.frombuffer(target, np.uint8)[:both]
    edges = np.flatnonzero(np.diff(changed, prepend=False, append=False)).tolist()
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        yield start, target[start:end]


def _repeats(stretch: bytes, worth_it: int) -> Iterator[tuple[int, bytes]]:
    """A stretch in parts: single bytes that come so many times or more, and what is between them, which comes once."""
    literal = b""
    for byte, group in groupby(stretch):
        run = bytes([byte]) * len(list(group))
        if len(run) < worth_it:
            literal += run
            continue
        if literal:
            yield 1, literal
            literal = b""
        yield len(run), run[:1]
    if literal:
        yield 1, literal


# --- IPS ----------------------------------------------------------------------------------------------------------


def make_ips(source: bytes, target: bytes) -> bytes:
    """The patch that makes `target` of `source`; a PatchError if IPS cannot say it."""
    if len(target) < len(source):
        raise PatchError("IPS cannot make a file shorter: make a BPS")
    if len(target) > IPS_OFFSETS:
        raise PatchError(f"IPS reaches {IPS_OFFSETS:,} bytes, not {len(target):,}: make a BPS")
    records = []
    for start, stretch in changes(source, target):
        offset = start
        over_end = start < IPS_END_AS_OFFSET < start + len(stretch)  # no record may begin there
        for times, part in [(1, stretch)] if over_end else _repeats(stretch, IPS_REPEAT_FROM):
            length = times if times > 1 else len(part)
            for begin, end in _records(offset, offset + length):
                size = struct.pack(">HH", 0, end - begin) if times > 1 else struct.pack(">H", end - begin)
                records.append(begin.to_bytes(3) + size + (part if times > 1 else part[begin - offset : end - offset]))
            offset += length
    return IPS_MAGIC + b"".join(records) + IPS_END


def _records(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a stretch of changes into what goes into a record; none may begin where its offset would read "EOF"."""
    while begin < end:
        if begin == IPS_END_AS_OFFSET:
            raise PatchError(f"IPS cannot say that something changes from ${begin:X} on: make a BPS")
        stop = min(end, begin + IPS_LONGEST)
        if stop == IPS_END_AS_OFFSET and stop < end:
            stop -= 1
        yield begin, stop
        begin = stop


def apply_ips(source: bytes, patch: bytes) -> bytes:
    """What the patch makes of the source; a PatchError if it is no whole IPS patch."""
    if not patch.startswith(IPS_MAGIC):
        raise PatchError("this is no IPS patch")
    target, reader = bytearray(source), _Reader(patch, len(IPS_MAGIC), len(patch))
    while (head := reader.take(3)) != IPS_END:
        offset, size = int.from_bytes(head), int.from_bytes(reader.take(2))
        if size:
            content = reader.take(size)
        else:
            times = int.from_bytes(reader.take(2))
            content = reader.take(1) * times
        if not content:
            raise PatchError("the patch is damaged: it changes 0 bytes")
        target.extend(bytes(max(0, offset - len(target))))
        target[offset : offset + len(content)] = content
    if not reader.ended:
        raise PatchError("the patch is damaged: it goes on behind its end")
    return bytes(target)


# --- BPS ----------------------------------------------------------------------------------------------------------


def make_bps(source: bytes, target: bytes) -> bytes:
    """The patch that makes `target` of `source`."""
    patch = bytearray(BPS_MAGIC + _number(len(source)) + _number(len(target)) + _number(0))
    made = copied = 0  # bytes of the target; the place in it from which was copied last
    for start, stretch in changes(source, target):
        if start > made:
            patch += _action(SOURCE_READ, start - made)
            made = start
        for times, part in _repeats(stretch, BPS_REPEAT_FROM):
            patch += _action(TARGET_READ, len(part)) + part
            made += len(part)
            if times > 1:  # the copy reads what it has just written
                patch += _action(TARGET_COPY, times - 1) + _signed(made - 1 - copied)
                made += times - 1
                copied = made - 1
    if len(target) > made:
        patch += _action(SOURCE_READ, len(target) - made)
    patch += struct.pack("<II", zlib.crc32(source), zlib.crc32(target))
    return bytes(patch + struct.pack("<I", zlib.crc32(patch)))


def apply_bps(source: bytes, patch: bytes) -> bytes:
    """What the patch makes of the source; a PatchError if it is for another one, or no whole BPS patch."""
    if not patch.startswith(BPS_MAGIC):
        raise PatchError("this is no BPS patch")
    if len(patch) < len(BPS_MAGIC) + 3 + CHECKSUMS:
        raise PatchError("the patch is damaged: it ends too early")
    source_sum, target_sum, patch_sum = struct.unpack("<III", patch[-CHECKSUMS:])
    if zlib.crc32(patch[:-4]) != patch_sum:
        raise PatchError("the patch is damaged: its checksum is wrong")
    reader = _Reader(patch, len(BPS_MAGIC), len(patch) - CHECKSUMS)
    source_size, target_size, text_size = reader.number(), reader.number(), reader.number()
    if max(source_size, target_size, text_size) > LARGEST_FILE:
        raise PatchError(f"the patch is damaged, or for files of more than {LARGEST_FILE:,} bytes")
    if (len(source), zlib.crc32(source)) != (source_size, source_sum):
        raise PatchError(f"the patch is for another file, of {source_size:,} bytes with the CRC32 {source_sum:08x}")
    reader.take(text_size)
    target = _Target(source, target_size)
    while not reader.ended:
        word = reader.number()
        action, length = word & 3, (word >> 2) + 1
        if action == SOURCE_READ:
            target.copy(source, len(target.made), length)
        elif action == TARGET_READ:
            target.add(reader.take(length))
        elif action == SOURCE_COPY:
            target.copy_from_source(reader.signed(), length)
        else:
            target.copy_from_target(reader.signed(), length)
    if len(target.made) != target_size or zlib.crc32(target.made) != target_sum:
        raise PatchError("the patch is damaged: what it makes is not what it says")
    return bytes(target.made)


class _Target:
    """A file in the making."""

    def __init__(self, source: bytes, size: int):
        self.made = bytearray()
        self._source, self._size = source, size
        self._source_offset = self._target_offset = 0

    def add(self, part: bytes) -> None:
        if len(self.made) + len(part) > self._size:
            raise PatchError("the patch is damaged: it makes more than it says")
        self.made += part

    def copy(self, file: bytes, start: int, length: int) -> None:
        if not 0 <= start <= start + length <= len(file):
            raise PatchError("the patch is damaged: it copies from beyond a file")
        self.add(file[start : start + length])

    def copy_from_source(self, further: int, length: int) -> None:
        self._source_offset += further
        self.copy(self._source, self._source_offset, length)
        self._source_offset += length

    def copy_from_target(self, further: int, length: int) -> None:
        """What it reads may be what it has just written: then that comes again and again."""
        self._target_offset += further
        start = self._target_offset
        if not 0 <= start < len(self.made) or length > self._size:
            raise PatchError("the patch is damaged: it copies from beyond a file")
        pattern = bytes(self.made[start : start + length])
        self.add((pattern * (length // len(pattern) + 1))[:length])
        self._target_offset += length


def _action(action: int, length: int) -> bytes:
    return _number(action | (length - 1) << 2)


def _signed(number: int) -> bytes:
    return _number(abs(number) << 1 | (number < 0))


def _number(number: int) -> bytes:
    """Seven bits a byte, the lowest first; the last byte has its highest bit set. No number can be written in two ways:
    each further byte begins where those before it could not reach."""
    written = b""
    while True:
        low, number = number & 0x7F, number >> 7
        if not number:
            return written + bytes([low | 0x80])
        written += bytes([low])
        number -= 1


class _Reader:
    """Reads a patch up to an end; a PatchError where it is torn."""

    def __init__(self, patch: bytes, start: int, end: int):
        self._patch, self._here, self._end = patch, start, end

    @property
    def ended(self) -> bool:
        return self._here == self._end

    def take(self, size: int) -> bytes:
        if size > self._end - self._here:
            raise PatchError("the patch is damaged: it ends too early")
        self._here += size
        return self._patch[self._here - size : self._here]

    def number(self) -> int:
        found, shift = 0, 1
        while True:
            byte = self.take(1)[0]
            found += (byte & 0x7F) * shift
            if byte & 0x80:
                return found
            shift <<= 7
            found += shift

    def signed(self) -> int:
        word = self.number()
        return -(word >> 1) if word & 1 else word >> 1
