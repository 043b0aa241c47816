"""The NES core: cartridges (Rom) and batches of consoles (Batch). Source: native/."""

from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

class RomError(ValueError):
    """A ROM file that cannot be played; the message says what is wrong with it."""

class StateError(ValueError):
    """Bytes that are not a state of this cartridge; nothing was changed."""

class Registers(TypedDict):
    pc: int
    a: int
    x: int
    y: int
    s: int
    p: int
    scanline: int
    dot: int

def palette() -> NDArray[np.uint8]:
    """RGB of every NES colour: uint8[emphasis 8, colour 64, 3]."""

def gather(memory: NDArray[np.uint8], addresses: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
    """out[k, lane] = memory[lane, addresses[k]]."""

def gather_words(
    memory: NDArray[np.uint8], low: NDArray[np.int64], high: NDArray[np.int64], out: NDArray[np.int16]
) -> None:
    """out[k, lane] = memory[lane, high[k]] << 8 | memory[lane, low[k]]."""

def gather_decimals(
    memory: NDArray[np.uint8], starts: NDArray[np.int64], digits: NDArray[np.int64], out: NDArray[np.int32]
) -> None:
    """Decimal numbers of one digit a byte, highest first: digits[k] of them from starts[k] on, into out[k, lane]."""

def look_up(
    memory: NDArray[np.uint8], addresses: NDArray[np.int64], tables: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """out[lane, k] = tables[k, memory[lane, addresses[k]]]."""

def mark(
    out: NDArray[np.float32],
    there: NDArray[np.bool_],
    plane: NDArray[np.int16],
    row: NDArray[np.int16],
    column: NDArray[np.int16],
    shape: tuple[int, int, int],
) -> None:
    """out[lane].reshape(shape)[plane, row, column] = 1 for every thing of every lane that is there and inside."""

def look_up_window(
    memory: NDArray[np.uint8],
    starts: NDArray[np.int64],
    rows: int,
    row_stride: int,
    outside: bytes,
    tables: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """A window of each lane's memory, each byte turned into one number per table.

    starts[lane, c] is the address of column c's first row, rows lie row_stride apart; a negative start -1-k stands
    for a column of bytes outside[k]. out[lane] gets one plane of rows x columns per table.
    """

class Rom:
    """A cartridge image (iNES)."""

    def __init__(self, data: bytes) -> None: ...
    @property
    def mapper(self) -> int: ...
    @property
    def battery(self) -> bool: ...
    @property
    def hash(self) -> int: ...
    @property
    def prg_size(self) -> int: ...
    @property
    def chr_size(self) -> int: ...
    @property
    def mirroring(self) -> Literal["horizontal", "vertical", "four-screen"]: ...

class Batch:
    """Consoles ("lanes") of one cartridge, stepped together on a thread pool; see `EmulatorBatch`."""

    def __init__(self, rom: Rom, lanes: int, threads: int = 1, idle_skip: bool = True) -> None: ...
    @property
    def lanes(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def state_size(self) -> int: ...
    @property
    def ram(self) -> NDArray[np.uint8]: ...
    @property
    def cycles(self) -> NDArray[np.uint64]: ...
    @property
    def frames(self) -> NDArray[np.uint64]: ...
    def step(
        self,
        pads: NDArray[np.uint8],
        frames: int | NDArray[np.int32],
        mask: NDArray[np.bool_] | None = None,
        screen: Literal["off", "draw", "push", "replace", "fill"] = "off",
    ) -> None: ...
    def configure_screen(
        self,
        colour: Literal["grey", "rgb"] = "grey",
        crop: tuple[int, int, int, int] = (0, 0, 0, 0),
        size: tuple[int, int] | None = None,
        stack: int = 1,
        max_pool: bool = False,
    ) -> NDArray[np.uint8]: ...
    def frame(self, lane: int) -> NDArray[np.uint8]: ...
    def pixels(self, lane: int) -> NDArray[np.uint8]: ...
    def peek(self, lane: int, address: int, length: int = 1) -> bytes: ...
    def poke(self, lane: int, address: int, value: int) -> None: ...
    def save(self, lane: int) -> bytes: ...
    def load(self, lane: int, state: bytes) -> None: ...
    def load_lanes(self, mask: NDArray[np.bool_], states: list[bytes]) -> None: ...
    def copy(self, source: int, target: int) -> None: ...
    def power(self, lane: int) -> None: ...
    def reset(self, lane: int) -> None: ...
    def registers(self, lane: int) -> Registers: ...
