"""Our envelope around Mednafen's states: a damaged one would end Mednafen, so nothing else is ever handed to it.

8 bytes  magic         4  version      4  size of the content
32       SHA-256 of the cartridge     20  build-id of the Mednafen that saved it
content  Mednafen's own, without names ("data only")
32       SHA-256 of all before
"""

from __future__ import annotations

import hashlib
import struct

from mario_rl._native import StateError

_HEAD = struct.Struct("<8sII32s20s")
_MAGIC = b"MRL-MDFN"
_VERSION = 1
_SUM_SIZE = 32


class StateFormat:
    """States of one cartridge in one build of Mednafen. Their content always has the same size."""

    def __init__(self, cartridge: bytes, build_id: str, content_size: int):
        self._cartridge = hashlib.sha256(cartridge).digest()
        self._build = bytes.fromhex(build_id)[:20].ljust(20, b"\0")
        self._size = content_size

    def wrap(self, content: bytes) -> bytes:
        """A state to keep."""
        body = _HEAD.pack(_MAGIC, _VERSION, len(content), self._cartridge, self._build) + content
        return body + hashlib.sha256(body).digest()

    def unwrap(self, state: bytes) -> bytes:
        """Mednafen's content of a state, or a StateError that says what it is not."""
        body, checksum = state[:-_SUM_SIZE], state[-_SUM_SIZE:]
        if len(body) < _HEAD.size or not body.startswith(_MAGIC):
            raise StateError("this is not a state of a console in Mednafen")
        _, version, size, cartridge, build = _HEAD.unpack_from(body)
        if version != _VERSION:
            raise StateError(f"this state has version {version}, not {_VERSION}: save it again")
        if hashlib.sha256(body).digest() != checksum:
            raise StateError("this state is damaged: its checksum is wrong")
        if cartridge != self._cartridge:
            raise StateError("this state is of another cartridge")
        if build != self._build:
            raise StateError("this state is of another build of Mednafen")
        content = body[_HEAD.size :]
        if size != len(content) or size != self._size:
            raise StateError("this state is damaged: its size is wrong")
        return content
