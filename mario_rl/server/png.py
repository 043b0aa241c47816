"""A picture as a PNG file, with what Python has."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS, _RGB = 8, 2
_FAST = 1  # a console's picture is small at any level, and this one takes a millisecond


def png(picture: npt.NDArray[np.uint8]) -> bytes:
    """The file of uint8[height, width, 3]."""
    height, width, _ = picture.shape
    header = struct.pack(">IIBBBBB", width, height, _EIGHT_BITS, _RGB, 0, 0, 0)
    lines = np.zeros((height, 1 + 3 * width), np.uint8)  # every line begins with its filter: 0, none
    lines[:, 1:] = picture.reshape(height, 3 * width)
    pixels = zlib.compress(lines.tobytes(), _FAST)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
