"""The Dr. Mario rules engine: batches of games (Games). Source: native/drmario/. Use it through environment.drmario."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

BOARD_FEATURES: tuple[str, ...]
PLACEMENT_FEATURES: tuple[str, ...]
PLACEMENT_FEATURES_MOST: bytes
PROSPECT_FEATURES: tuple[str, ...]
SITUATION_FEATURES: tuple[str, ...]

MOST_PLACEMENTS: int

LONGEST_SCRIPT: int

class StateError(ValueError):
    """Bytes that are not the RAM of a game; nothing was changed."""

def image_mask() -> NDArray[np.bool_]:
    """bool[2048]: the bytes of RAM that are the game's state."""

class Games:
    """Games that are stepped together on a thread pool; each is 2048 bytes of RAM."""

    def __init__(self, n: int, threads: int = 1) -> None: ...
    def __len__(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def ram(self) -> NDArray[np.uint8]: ...
    def reset(
        self,
        seeds: ArrayLike,
        levels: ArrayLike,
        speeds: ArrayLike,
        players: ArrayLike,
        mask: NDArray[np.bool_] | None = None,
    ) -> None: ...
    def skip_intro(self, mask: NDArray[np.bool_] | None = None) -> None: ...
    def step(
        self, pads: NDArray[np.uint8], frames: int | NDArray[np.int32] = 1, mask: NDArray[np.bool_] | None = None
    ) -> None: ...
    def save(self, game: int) -> bytes: ...
    def load(self, game: int, state: bytes) -> None: ...
    def load_ram(self, game: int, console_ram: bytes) -> None: ...
    def copy(self, source: int, target: int) -> None: ...
    def placements(
        self, seat: int = 0, mask: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.int16], NDArray[np.uint8]]: ...
    def placement_features(self, placements: NDArray[np.int16], seat: int = 0) -> NDArray[np.uint8]: ...
    def script(self, game: int, placement: int, seat: int = 0) -> bytes: ...
    def next_decision(self, mask: NDArray[np.bool_] | None = None) -> NDArray[np.uint8]: ...
    def place(self, placements: ArrayLike, mask: NDArray[np.bool_] | None = None) -> NDArray[np.uint8]: ...
    def write_scripts(
        self,
        placements: ArrayLike,
        pads: NDArray[np.uint8],
        lengths: NDArray[np.int32],
        next: NDArray[np.int32],
        seat: int = 0,
        mask: NDArray[np.bool_] | None = None,
    ) -> None: ...
    def follow(
        self,
        scripts: list[tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32]]],
        deciders: int,
        totals: NDArray[np.int32],
        frames: NDArray[np.int32],
        mask: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.uint8]: ...
    def board_features(self, seat: int = 0) -> NDArray[np.int16]: ...
    def prospects(
        self, games: NDArray[np.int32], seats: NDArray[np.int32], slots: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.uint8], NDArray[np.uint8]]: ...
    def ratings(
        self, weights: NDArray[np.float32], plies: int = 1, seat: int = 0, mask: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int16], NDArray[np.float32]]: ...
    def search(
        self, weights: NDArray[np.float32], plies: int = 1, seat: int = 0, mask: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int16]: ...
    def play(
        self,
        weights: NDArray[np.float32],
        plies: int = 1,
        max_capsules: int = 1000,
        mask: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.int32]: ...
