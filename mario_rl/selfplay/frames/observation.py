"""What the agent that presses buttons sees: the environment's planes and features, and what it has in its hands.

The planes show no half that sticks out above the bottle, and nothing says which buttons are down; a held button turns
nothing, so both matter. A player knows them: it saw the capsule come in and feels its thumbs. They are in RAM, so no
memory has to be kept between two looks:

    hand, float32[11]: A, B, down, left, right held (0 or 1); colours of the first and the second half, one-hot
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A, B
from mario_rl.environment.drmario.memory import COLOUR_COUNT, GameMemory
from mario_rl.environment.drmario.observation import PlanesAndFeatures

Floats = npt.NDArray[np.float32]
Seen = dict[str, Floats]

HELD_BUTTONS = (A, B, DOWN, LEFT, RIGHT)
HAND = len(HELD_BUTTONS) + 2 * COLOUR_COUNT
SPACE = spaces.Dict({**PlanesAndFeatures.space.spaces, "hand": spaces.Box(0, 1, (HAND,), np.float32)})


def look(game: GameMemory, seat: int) -> Seen:
    """What a seat of each of the games sees."""
    return with_hand(PlanesAndFeatures().read(game, seat), game, seat)


def with_hand(seen: Seen, game: GameMemory, seat: int) -> Seen:
    """Add to what the environment shows what the seat has in its hands."""
    hand = np.empty((len(game.ram), HAND), np.float32)
    hand[:, : len(HELD_BUTTONS)] = game.held[:, seat, None] & np.array(HELD_BUTTONS, np.uint8) != 0
    colours = game.colours[:, seat, :, None] == np.arange(COLOUR_COUNT, dtype=np.uint8)
    hand[:, len(HELD_BUTTONS) :] = colours.reshape(len(hand), -1)
    return seen | {"hand": hand}
