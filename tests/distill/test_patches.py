"""Patches made by us and applied by others, and none of the first file's bytes in them."""

from __future__ import annotations

import io
import random
import zlib
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.distill.patches import PatchError, apply_bps, apply_ips, changes, make_bps, make_ips

EOF_OFFSET = 0x454F46


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A file, and one of at least its size that has something in common with it."""
    source = draw(st.binary(max_size=300))
    target = bytearray(source)
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(target)))
        content = draw(
            st.binary(max_size=40) | st.builds(lambda byte, n: byte * n, st.binary(max_size=1), st.integers(0, 400))
        )
        target[start : start + len(content)] = content
    return source, bytes(target)


# --- the formats once more, read from their descriptions alone ------------------------------------------------------


def ips_literals(patch: bytes) -> Iterator[tuple[int, int]]:
    """(offset, byte) of all that an IPS patch writes."""
    file = io.BytesIO(patch)
    assert file.read(5) == b"PATCH"
    while (head := file.read(3)) != b"EOF":
        offset, size = int.from_bytes(head, "big"), int.from_bytes(file.read(2), "big")
        content = file.read(size) if size else int.from_bytes(file.read(2), "big") * file.read(1)
        yield from enumerate(content, offset)
    assert not file.read()


def bps_number(file: io.BytesIO) -> int:
    data, shift = 0, 1
    while True:
        x = file.read(1)[0]
        data += (x & 0x7F) * shift
        if x & 0x80:
            return data
        shift *= 128
        data += shift


def bps_actions(patch: bytes) -> Iterator[tuple[int, int, bytes | int]]:
    """(action, length, the literal bytes or the signed offset) of a BPS patch."""
    file = io.BytesIO(patch[:-12])
    assert file.read(4) == b"BPS1"
    _, _, text = bps_number(file), bps_number(file), bps_number(file)
    file.read(text)
    while file.tell() < len(patch) - 12:
        word = bps_number(file)
        length = (word >> 2) + 1
        if word & 3 == 1:
            yield 1, length, file.read(length)
        elif word & 3 == 0:
            yield 0, length, 0
        else:
            offset = bps_number(file)
            yield word & 3, length, (-1 if offset & 1 else 1) * (offset >> 1)


def bps_made(source: bytes, patch: bytes) -> bytes:
    """What a BPS patch makes of a file, a byte at a time."""
    target, source_offset, target_offset = bytearray(), 0, 0
    for action, length, what in bps_actions(patch):
        if isinstance(what, bytes):
            target += what
            continue
        source_offset += what if action == 2 else 0
        target_offset += what if action == 3 else 0
        for _ in range(length):
            if action == 0:
                target.append(source[len(target)])
            elif action == 2:
                target.append(source[source_offset])
                source_offset += 1
            else:
                target.append(target[target_offset])
                target_offset += 1
    sums = [int.from_bytes(patch[-number:][:4], "little") for number in (12, 8, 4)]
    assert sums == [zlib.crc32(source), zlib.crc32(target), zlib.crc32(patch[:-4])]
    return bytes(target)


# --- what is made -------------------------------------------------------------------------------------------------


@given(files())
def test_ips_makes_the_target(pair: tuple[bytes, bytes]) -> None:
    source, target = pair
    patch = make_ips(source, target)
    assert apply_ips(source, patch) == target
    plain = bytearray(source.ljust(len(target), b"\0"))
    for offset, byte in ips_literals(patch):
        plain[offset] = byte
    assert plain == target


@given(files(), st.booleans())
def test_bps_makes_the_target(pair: tuple[bytes, bytes], shorter: bool) -> None:
    source, target = reversed(pair) if shorter else pair
    patch = make_bps(source, target)
    assert apply_bps(source, patch) == target == bps_made(source, patch)


@given(files())
def test_no_byte_of_the_source_is_in_a_patch(pair: tuple[bytes, bytes]) -> None:
    """No literal is at a place where the files agree; so all of them are the target's own."""
    source, target = pair
    changed = {number for number in range(len(target)) if number >= len(source) or source[number] != target[number]}
    written = [offset for offset, _ in ips_literals(make_ips(source, target))]
    assert sorted(written) == sorted(changed)
    here = 0
    for action, length, _ in bps_actions(make_bps(source, target)):
        assert action in (0, 1, 3)
        assert changed.isdisjoint(range(here, here + length)) == (action == 0)
        assert action == 0 or changed.issuperset(range(here, here + length))
        here += length
    assert here == len(target)


@given(files())
def test_changes_are_as_long_as_they_can_be(pair: tuple[bytes, bytes]) -> None:
    source, target = pair
    last = -2
    for start, stretch in changes(source, target):
        assert start > last + 1 and stretch == target[start : start + len(stretch)]
        last = start + len(stretch) - 1


def test_what_comes_again_and_again_is_short() -> None:
    source, target = bytes(70_000), b"\xff" * 70_000
    assert len(make_ips(source, target)) == 5 + 2 * 8 + 3
    assert len(make_bps(source, target)) < 40
    mixed = source[:100] + b"player" + b"\xff" * 200 + b"end" + source[309:]
    assert len(make_ips(source, mixed)) == 5 + (5 + 6) + 8 + (5 + 3) + 3


def test_an_offset_that_reads_eof() -> None:
    """Records begin before it where they can; where it is the first byte that changes, IPS has no word for it."""
    source = bytes(EOF_OFFSET + 20)
    for start, end in (
        (EOF_OFFSET - 1, EOF_OFFSET + 1),
        (EOF_OFFSET - 30, EOF_OFFSET),
        (EOF_OFFSET + 1, EOF_OFFSET + 9),
    ):
        for content in (b"\xff" * (end - start), bytes(range(1, 1 + end - start))):
            target = source[:start] + content + source[end:]
            patch = make_ips(source, target)
            assert apply_ips(source, patch) == target
            assert sorted(offset for offset, _ in ips_literals(patch)) == list(range(start, end))
    far = EOF_OFFSET - 0xFFFF  # a record as long as they may be would end there
    for end in (EOF_OFFSET, EOF_OFFSET + 10):
        for run in (0, 15):  # bytes of one kind, which would begin there
            content = random.Random(1).randbytes(end - far - run).replace(b"\0", b"\1") + b"\xff" * run
            target = source[:far] + content + source[end:]
            assert apply_ips(source, make_ips(source, target)) == target
    with pytest.raises(PatchError, match="make a BPS"):
        make_ips(source, source[:EOF_OFFSET] + b"\1" + source[EOF_OFFSET + 1 :])


def test_what_ips_cannot_say() -> None:
    with pytest.raises(PatchError, match="shorter"):
        make_ips(b"ab", b"a")
    with pytest.raises(PatchError, match="16,777,216"):
        make_ips(b"", bytes(2**24 + 1))


# --- patches that are none ----------------------------------------------------------------------------------------

SOURCE = bytes(range(256)) * 4
SOURCE_SIZE = bytes([0x00, 0x87])  # in a BPS patch: 0 + 7 * 128 + 128
TARGET = SOURCE[:100] + b"another player" + b"\0" * 60 + SOURCE[174:900] + bytes(124)


def refused(apply: Callable[[bytes, bytes], bytes], patch: bytes) -> str:
    with pytest.raises(PatchError) as problem:
        apply(SOURCE, patch)
    assert "\n" not in str(problem.value)
    return str(problem.value)


def test_torn_patches_are_refused() -> None:
    for apply, make in ((apply_ips, make_ips), (apply_bps, make_bps)):
        patch = make(SOURCE, TARGET)
        assert apply(SOURCE, patch) == TARGET
        for size in range(len(patch)):
            refused(apply, patch[:size])
        refused(apply, patch + b"\0")


def test_damaged_bps_patches_are_refused() -> None:
    patch = make_bps(SOURCE, TARGET)
    for number in range(len(patch)):
        refused(apply_bps, patch[:number] + bytes([patch[number] ^ 0x10]) + patch[number + 1 :])
    with pytest.raises(PatchError, match="another file"):
        apply_bps(TARGET, patch)


@given(st.binary(max_size=60))
@settings(max_examples=300)
def test_garbage_is_refused_or_makes_something(garbage: bytes) -> None:
    """Even with checksums that are right: one line, never anything else."""
    body = b"BPS1" + SOURCE_SIZE + garbage + zlib.crc32(SOURCE).to_bytes(4, "little") + bytes(4)
    for apply, patch in (
        (apply_ips, garbage),
        (apply_ips, b"PATCH" + garbage),
        (apply_bps, garbage),
        (apply_bps, body + zlib.crc32(body).to_bytes(4, "little")),
    ):
        try:
            made = apply(SOURCE, patch)
        except PatchError as problem:
            assert "\n" not in str(problem)
        else:
            assert len(made) <= 2**24 + 0xFFFF


@pytest.mark.parametrize(
    "actions",
    [
        bytes([0x80 | 3, 0x80]),  # copies from a target that is empty
        bytes([0x80 | 2, 0x83]),  # from before the source
        bytes([0x80 | 2, 0x10, 0xFF]),  # from behind it
        bytes([0x10, 0xFF]),  # reads more than there is
        bytes([0x80 | 1, 65, 0x80 | 3 | 0x7C, 0x80]),  # makes more than it says
        bytes([0x80 | 1, 65, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0xFF, 0x80]),
        bytes([0x80 | 1, 65]),  # makes less
    ],
)
def test_actions_that_cannot_be_are_refused(actions: bytes) -> None:
    body = b"BPS1" + SOURCE_SIZE + bytes([0x80 | 20, 0x80]) + actions
    body += zlib.crc32(SOURCE).to_bytes(4, "little") + zlib.crc32(b"A" * 20).to_bytes(4, "little")
    assert "damaged" in refused(apply_bps, body + zlib.crc32(body).to_bytes(4, "little"))
