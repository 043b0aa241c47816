"""A level as one long picture, stitched from the frames of a route.

The camera moves along the level, so every column of it is on the screen for a while. What moves in front of it (Mario,
enemies, platforms) is drawn by the console's sprites, and the game keeps the list of them in RAM: for a look they are
taken off the screen, and the level remains. The first look counts, before blocks were hit and bricks broken.

A route that takes a pipe leaves out what lies between: there Mario is carried along above the screen afterwards.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mario_rl.emulators.base import RIGHT, SCREEN_HEIGHT, SCREEN_WIDTH, B
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.environment.smb import memory
from mario_rl.environment.smb.memory import GameMemory
from mario_rl.snapshots.routes import Route

STATUS_BAR = 32  # rows at the top of the screen that are not part of the level
PICTURE_HEIGHT = SCREEN_HEIGHT - STATUS_BAR
FRAMES_BETWEEN = 4  # looks; the camera moves at most 3 pixels a frame
MORE_COLUMNS = 2048  # by which a picture grows

# The y of every sprite. The first one stays: by it the game knows where the status bar ends. The game makes the list
# anew in every frame and never reads it, so nothing but the picture changes.
SPRITES_Y = range(0x0204, 0x0300, 4)
OFF_SCREEN = 0xF8
COLOUR_ROTATION = 0x06D4  # question blocks and coins blink: which of six colours they have
BRIGHT = (1, 2, 3)  # in these they look as everybody remembers them

# Carried along: above the screen nothing is in the way.
FLYING = {memory.SLOT_Y_PAGE: 0, memory.SLOT_Y: 0xD0, memory.SPEED_Y: 0, memory.SPEED_X: 0x28}
STANDING_STILL = 60  # frames after which the camera has come to its end

# What a look at a column is worth; a better one replaces it.
UNSEEN, DARK, CLEAR = range(3)

Picture = npt.NDArray[np.uint8]


def level_pictures(route: Route, rom: bytes) -> dict[int, Picture]:
    """For every area of a route its picture, uint8[208, width, 3], as wide as the camera has seen; x is the column.

    What the camera never saw is black. Where a maze leads through the same x twice, the first time counts.
    """
    camera = _Camera(rom)
    pokes: dict[int, list[tuple[int, int]]] = {}
    for frame, address, value in route.pokes:
        pokes.setdefault(frame, []).append((address, value))
    for number, pad in enumerate(route.pads()):
        for address, value in pokes.get(number, ()):
            camera.console.poke(address, value)
        camera.play(pad, look=number > route.start_frame and number % FRAMES_BETWEEN == 0)
    for area in camera.areas.values():
        if area.has_gaps():
            camera.fly_over(area)
    return {address: area.picture() for address, area in camera.areas.items()}


class _Area:
    """What has been seen of one area."""

    def __init__(self, entrance: bytes):
        self.entrance = entrance  # the console when the camera came here
        self.width = 0  # columns up to the right edge of what was seen
        self._pixels: Picture = np.zeros((PICTURE_HEIGHT, 0, 3), np.uint8)  # with room for more columns
        self._worth = np.full(0, UNSEEN, np.uint8)  # of the look at each column

    def look(self, left: int, frame: Picture, worth: int) -> None:
        """A frame whose left edge is at this x."""
        self.width = max(self.width, left + SCREEN_WIDTH)
        if self.width > self._pixels.shape[1]:
            room = self.width + MORE_COLUMNS - self._pixels.shape[1]
            self._pixels = np.pad(self._pixels, ((0, 0), (0, room), (0, 0)))
            self._worth = np.pad(self._worth, (0, room), constant_values=UNSEEN)
        better = left + np.flatnonzero(self._worth[left : left + SCREEN_WIDTH] < worth)
        self._pixels[:, better] = frame[:, better - left]
        self._worth[better] = worth

    def has_gaps(self) -> bool:
        """Whether columns are missing between those that were seen."""
        seen = np.flatnonzero(self._worth != UNSEEN)
        return len(seen) < seen[-1] - seen[0] + 1

    def picture(self) -> Picture:
        """As much as was seen."""
        return self._pixels[:, : self.width].copy()


class _Camera:
    """A console that is looked at while it plays."""

    def __init__(self, rom: bytes):
        self.console = EmbeddedEmulator(rom)
        self.game = GameMemory(self.console.ram[None])
        self.game.look()
        self.areas: dict[int, _Area] = {}

    @property
    def left(self) -> int:
        """The x of the screen's left edge, in the frame that comes next."""
        return int(self.game.screen_left[0])

    def play(self, pad: int, look: bool) -> None:
        """A frame; `look` at it if the game goes on in it."""
        game = self.game
        if not look or not game.controllable()[0]:
            self.console.step((pad, 0), 1)
            game.look()
            return
        # A frame shows what the game had decided by the end of the one before: camera, sprites and colours.
        address, left = int(game.area()[0]), self.left
        worth = CLEAR if self.console.ram[COLOUR_ROTATION] in BRIGHT else DARK
        for y in SPRITES_Y:
            self.console.poke(y, OFF_SCREEN)
        self.console.step((pad, 0), 1, render=True)
        game.look()
        if left >= 0 and game.controllable()[0] and game.area()[0] == address:
            if address not in self.areas:
                self.areas[address] = _Area(self.console.save())
            self.areas[address].look(left, self.console.frame()[STATUS_BAR:], worth)

    def fly_over(self, area: _Area) -> None:
        """Carry Mario along from the entrance, as far as the area is known; the loop of a maze ends that."""
        self.console.load(area.entrance)
        self.game.look()
        end, furthest, still = area.width - SCREEN_WIDTH, self.left, 0
        frame = 0
        while furthest <= self.left < end and still < STANDING_STILL and self.game.controllable()[0]:
            still = still + 1 if self.left == furthest else 0
            furthest = self.left
            for byte, value in FLYING.items():
                self.console.poke(byte, value)
            self.play(RIGHT | B, look=frame % FRAMES_BETWEEN == 0)
            frame += 1
