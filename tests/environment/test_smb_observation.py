"""The observations, compared with slow and plain readings of the same moments."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mario_rl.environment.smb import memory, tiles
from mario_rl.environment.smb.env import SmbEnv
from mario_rl.environment.smb.observation import PIXELS_CROP
from mario_rl.environment.smb.vector import SmbVectorEnv

# Together they show everything: ground, water, castles with firebars, Bowser and hammers, lifts, springs.
GAMES = ("1-1_finish", "1-1_grow", "1-2_finish", "1-3_finish", "2-2_finish", "2-4_finish", "4-4_below_zero")
GAMES += ("6-3_finish", "6-4_finish", "8-3_finish", "2-1_cloud")


def planes_of(observation: np.ndarray) -> dict[str, np.ndarray]:
    return {name: observation[tiles.LAYOUT[name]].reshape(13, 16) for name in tiles.PLANES}


def scalars_of(observation: np.ndarray) -> dict[str, float]:
    return dict(zip(tiles.SCALARS, observation[tiles.LAYOUT["scalars"]].tolist(), strict=True))


def signed16(high: int, low: int) -> int:
    value = int(high) * 256 + int(low)
    return value - 65536 if value > 32767 else value


class PlainReader:
    """The spec of docs/environment.md, cell by cell, for one lane's RAM."""

    def __init__(self, ram: np.ndarray):
        self.ram = [int(byte) for byte in ram]
        self.x = signed16(self.ram[0x6D], self.ram[0x86])
        self.left = signed16(self.ram[0x71A], self.ram[0x71C])
        self.y = (self.ram[0xB5] - 1) * 256 + self.ram[0xCE]
        self.first_column = (self.x + 8) // 16 - 4
        self.planes = {name: np.zeros((13, 16), np.float32) for name in tiles.PLANES}
        self.draw_map()
        self.draw_things()

    def metatile(self, row: int, column: int) -> int | None:
        """The tile at a column of the level, None left of the screen, 0 where nothing is drawn yet."""
        from_screen = column - self.left // 16
        if from_screen < 0:
            return None
        if from_screen > 22:
            return 0
        return self.ram[0x500 + (column // 16) % 2 * 0xD0 + row * 16 + column % 16]

    def draw_map(self) -> None:
        for row in range(13):
            for column in range(16):
                tile = self.metatile(row, self.first_column + column)
                self.planes["solid"][row, column] = tile is None or (
                    tile not in (0, 0x24, 0x25, 0x26, 0x5F, 0x60, 0xC2, 0xC3, 0xC5)
                )
                if tile in (0x51, 0x52, 0xC0, 0xC1) or (tile is not None and 0x55 <= tile <= 0x5E):
                    self.planes["blocks"][row, column] = 1
                if tile in (0x10, 0x11, 0x1F, 0x6C):
                    self.planes["blocks"][row, column] = 0.5
                if tile in (0xC2, 0xC3):
                    self.planes["coins"][row, column] = 1
                if tile in (0x24, 0x25, 0xC5):
                    self.planes["coins"][row, column] = 0.5

    def mark(self, plane: str, x: float, y: float) -> None:
        row, column = math.floor((y - 32) / 16), math.floor(x / 16) - self.first_column
        if 0 <= row < 13 and 0 <= column < 16:
            self.planes[plane][row, column] = 1

    def draw_things(self) -> None:
        ram = self.ram
        self.mark("mario", self.x + 8, self.y + 24)
        if ram[0x756]:
            self.mark("mario", self.x + 8, self.y + 8)
        for slot in range(6):
            kind = ram[0x16 + slot]
            if not ram[0x0F + slot] or ram[0x1E + slot] & 0x20:
                continue
            x = signed16(ram[0x6E + slot], ram[0x87 + slot])
            y = (ram[0xB6 + slot] - 1) * 256 + ram[0xCF + slot]
            if 0x1B <= kind <= 0x1F:
                angle = ram[0xA0 + slot] / 32 * 2 * math.pi
                for ball in range(12 if kind == 0x1F else 6):
                    across, down = 8 * ball * math.sin(angle), -8 * ball * math.cos(angle)
                    self.mark("enemies", int(x + 4 + across), int(y + 4 + down))
            elif kind == 0x15:
                for across in (6, 8, 18):
                    self.mark("enemies", x + across, y + 4)
            elif kind == 0x2D:
                self.mark("enemies", x + 8, y)
                self.mark("enemies", x + 8, y + 16)
            elif kind <= 0x12 or kind in (0x14, 0x33):
                self.mark("enemies", x + 8, y + 16)
            elif kind in (0x2B, 0x2C):
                for across in (6, 8, 18):
                    self.mark("platforms", x + across, y + 4)
                    if across != 8:
                        self.mark("platforms", x + across, y + 4 - 128)
                        self.mark("platforms", x + across, y + 4 + 128)
            elif 0x24 <= kind <= 0x2A:
                short = ram[0x6CC] or ram[0x74E] == 3
                for across in (8, 24) if short else (8, 24, 40):
                    self.mark("platforms", x + across, y + 4)
            elif kind == 0x32:
                self.mark("platforms", x + 8, y + 16)
            elif kind == 0x2E:
                self.mark("powerups", x + 8, y + 16)
        for slot in range(9):
            if ram[0x2A + slot] & 0x80 and ram[0xC2 + slot] == 1:
                self.mark("enemies", ram[0x7A + slot] * 256 + ram[0x93 + slot] + 8, ram[0xDB + slot] + 8)


@pytest.mark.parametrize("name", GAMES)
def test_planes_are_what_a_plain_reading_gives(name, recording):
    env = recording(name).environment()
    for step in recording(name).play(env):
        expected = PlainReader(env.lanes.console.ram[0]).planes
        for plane, cells in planes_of(step.observation).items():
            np.testing.assert_array_equal(cells, expected[plane], err_msg=f"{plane} at x={step.info['x_pos']}")


def test_games_show_something_in_every_plane(recording):
    """Otherwise the test above would prove little."""
    most = dict.fromkeys(tiles.PLANES, 0.0)
    for name in GAMES:
        for step in recording(name).play():
            for plane, cells in planes_of(step.observation).items():
                most[plane] = max(most[plane], float(cells.sum()))
    assert most["mario"] == 2, "tall Mario fills two tiles"
    assert all(most.values()), most
    assert most["enemies"] > 6, "a firebar is in view"


def test_start_of_1_1_by_hand():
    """Small Mario stands on the ground in column 4, two tiles of ground below him, walls left of the screen."""
    observation, _ = SmbEnv(level="1-1", noop_max=0).reset()
    planes = planes_of(observation)
    assert np.argwhere(planes["mario"]).tolist() == [[10, 4]]
    assert planes["solid"][11:].all()
    assert planes["solid"][:, 0].all(), "x = 40 is column 3 of the level: the window starts one column left of it"
    assert not planes["solid"][:11, 1:].any()
    scalars = scalars_of(observation)
    assert scalars["on_ground"] == 1
    assert scalars["area_ground"] == 1
    assert scalars["x"] == pytest.approx(40 / 4096)
    assert scalars["y"] == pytest.approx(176 / 128 - 1)
    assert scalars["screen_x"] == pytest.approx(40 / 128 - 1)


def test_the_goomba_is_where_it_hurts():
    """Walking into the first goomba: in the step before death it is in Mario's row, in his or the next column."""
    env = SmbEnv(level="1-1", noop_max=0)
    env.reset()
    before, done = None, False
    while not done:
        observation, _, done, _, _ = env.step(np.int64(1))
        if not done:
            before = observation
    row, column = np.argwhere(planes_of(before)["enemies"])[0]
    assert row == 10
    assert column in (4, 5)
    scalars = scalars_of(before)
    assert scalars["thing0_kind"] == 1
    assert 0 < scalars["thing0_dx"] * 128 < 24
    assert scalars["thing0_speed_x"] < 0


def test_what_is_seen_ahead_is_what_comes(recording):
    """The window never shows columns the game has not drawn yet: a column ahead is the same when Mario gets there."""
    seen_first: dict[int, np.ndarray] = {}
    compared = 0
    for step in recording("1-1_finish").play():
        solid = planes_of(step.observation)["solid"]
        mario_column = (step.info["x_pos"] + 8) // 16
        seen_first.setdefault(mario_column + 11, solid[:, 15].copy())
        if mario_column in seen_first and mario_column > 20:
            changed = (seen_first[mario_column] != solid[:, 4]).sum()
            assert changed <= 1, "a brick may have been broken, no more"
            compared += 1
    assert compared > 100


@pytest.mark.parametrize("metatile", tiles.HIDDEN_BLOCKS)
def test_hidden_blocks_are_air_for_mario_and_in_the_observation(metatile):
    """Put one in Mario's way: he walks through it."""
    env = SmbEnv(level="1-1", noop_max=0)
    env.reset()
    env.lanes.console.ram[0, memory.METATILES][10 * 16 + 5] = metatile  # at x = 80, on the ground
    observation = env.step(np.int64(1))[0]
    assert not planes_of(observation)["solid"][10, 4 + 2 : 4 + 4].any()
    for _ in range(20):
        info = env.step(np.int64(1))[4]
    assert info["x_pos"] > 100


def test_a_brick_in_the_way_is_solid_for_mario_and_in_the_observation():
    env = SmbEnv(level="1-1", noop_max=0)
    env.reset()
    env.lanes.console.ram[0, memory.METATILES][10 * 16 + 5] = 0x51
    observation = env.step(np.int64(1))[0]
    planes = planes_of(observation)
    assert np.argwhere(planes["solid"][10, 1:]).ravel().tolist() == [5]
    assert np.argwhere(planes["blocks"]).tolist() == [[10, 6]]
    for _ in range(20):
        info = env.step(np.int64(1))[4]
    assert info["x_pos"] < 80


@pytest.mark.parametrize("observation", ["tiles", "pixels", "ram"])
def test_many_lanes_see_what_one_sees(observation, recording):
    game = recording("1-3_finish")
    settings = {"level": "1-3", "actions": "complex", "noop_max": 0, "stuck_steps": None, "observation": observation}
    single = SmbEnv(**settings)
    vector = SmbVectorEnv(3, **settings)
    alone, _ = single.reset()
    together, _ = vector.reset()
    for action in game.actions[:80]:
        np.testing.assert_array_equal(together[1], alone)
        alone = single.step(np.int64(action))[0]
        together = vector.step(np.array([0, action, 5]))[0]


def test_observations_stay_what_they_were():
    """A step must not change the arrays it returned before."""
    for observation in ("tiles", "pixels", "ram"):
        vector = SmbVectorEnv(2, observation=observation, noop_max=0)
        first, _ = vector.reset(seed=0)
        copy = first.copy()
        for _ in range(5):
            vector.step(np.array([1, 4]))
        np.testing.assert_array_equal(first, copy)


def test_ram_is_the_console_s():
    env = SmbEnv(observation="ram", noop_max=0)
    env.reset()
    observation = env.step(np.int64(3))[0]
    np.testing.assert_array_equal(observation, env.lanes.console.ram[0])
    assert observation.dtype == np.uint8


def test_pixels_are_the_grey_screen_below_the_status_bar():
    """Compared with the rendered frame: cropped, grey, averaged over areas; brighter of two frames, so never darker."""
    env = SmbEnv(observation="pixels", noop_max=0, render_mode="rgb_array")
    env.reset()
    for _ in range(5):
        observation = env.step(np.int64(0))[0]
    top, bottom, left, right = PIXELS_CROP
    frame = env.render().astype(np.float64)[top : 240 - bottom, left : 256 - right]
    grey = frame @ [0.299, 0.587, 0.114]
    rows = np.repeat(grey, 84, axis=0).reshape(84, grey.shape[0], -1).mean(axis=1)
    expected = np.repeat(rows, 84, axis=1).reshape(84, 84, grey.shape[1]).mean(axis=2)
    difference = observation[-1] - expected
    assert np.abs(np.median(difference)) < 1
    assert (difference > -2.5).all()
    assert np.abs(difference).mean() < 2


def test_pixel_stack_shifts_by_one_frame_a_step_and_starts_full():
    env = SmbEnv(observation="pixels", noop_max=0)
    before, _ = env.reset()
    assert all((before[frame] == before[-1]).all() for frame in range(4)), "at reset the stack is one frame"
    for _ in range(6):
        after = env.step(np.int64(3))[0]
        np.testing.assert_array_equal(after[:3], before[1:])
        before = after
    assert (after[0] != after[3]).any()


def test_values_stay_in_the_space(recording):
    for name in ("4-4_below_zero", "8-4_finish", "2-1_cloud"):
        for step in recording(name).play():
            assert np.abs(step.observation).max() <= tiles.LARGEST
            assert step.observation.dtype == np.float32
