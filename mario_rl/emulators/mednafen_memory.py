"""Memory that a console in Mednafen and this process share. native/mednafen_shim.c has the same numbers."""

from __future__ import annotations

import mmap
import os

import numpy as np
from numpy.typing import NDArray

from mario_rl.emulators.base import RAM_SIZE, SCREEN_HEIGHT, SCREEN_WIDTH

PAGE = 0x1000
PICTURE_AT = 0x2000  # RGB; below it are the pages with the console's RAM
PICTURE_SHAPE = (SCREEN_HEIGHT, SCREEN_WIDTH, 3)
EXCHANGE_AT = 0x40000
EXCHANGE_SIZE = 0x40000  # a state, or bytes of the bus
SIZE = 0x80000


class ConsoleMemory:
    """A memory file without a name: nothing of it is left when the last process that has it open ends."""

    def __init__(self, ram_address: int):
        self.fd = os.memfd_create("mario-rl-mednafen")
        os.ftruncate(self.fd, SIZE)
        self._map = mmap.mmap(self.fd, SIZE)
        everything = np.frombuffer(self._map, np.uint8)
        ram_at = ram_address % PAGE
        self.ram: NDArray[np.uint8] = everything[ram_at : ram_at + RAM_SIZE]
        self.picture: NDArray[np.uint8] = everything[PICTURE_AT : PICTURE_AT + np.prod(PICTURE_SHAPE)].reshape(
            PICTURE_SHAPE
        )
        # What is mapped over the program's own pages: (address, size).
        first = ram_address - ram_at
        self.ram_pages = (first, -(-(ram_at + RAM_SIZE) // PAGE) * PAGE)

    def begin_with(self, pages: bytes) -> None:
        """Put there what a new program has in the pages with its RAM, before they become shared."""
        self._map[: len(pages)] = pages

    def exchanged(self, size: int) -> bytes:
        """What the console put into the exchange area."""
        return self._map[EXCHANGE_AT : EXCHANGE_AT + size]

    def exchange(self, data: bytes) -> None:
        """Put something there for the console."""
        self._map[EXCHANGE_AT : EXCHANGE_AT + len(data)] = data

    def close(self) -> None:
        """Let go of the file; arrays that look into the memory stay good. Idempotent."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
