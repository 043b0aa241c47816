"""Stitched pictures against what the game's own RAM says about the level, and against other routes through it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.environment.smb.memory import METATILES, GameMemory
from mario_rl.runs import level_picture
from mario_rl.runs.level_picture import Picture, level_pictures
from mario_rl.snapshots.routes import Route, packaged_route

TILE = 16  # pixels
COIN = 0xC2  # its metatile
OVERWORLD_1_1 = 0xA690


@cache
def pictures(level: str, rom: Path) -> dict[int, Picture]:
    return level_pictures(packaged_route(level), rom.read_bytes())


def replayed(route: Route, rom: Path) -> Iterator[tuple[GameMemory, EmbeddedEmulator]]:
    """The console after every frame in which the game goes on."""
    console = EmbeddedEmulator(rom)
    game = GameMemory(console.ram[None])
    for number, pad in enumerate(route.pads()):
        for frame, address, value in route.pokes:
            if frame == number:
                console.poke(address, value)
        console.step((pad, 0), 1)
        game.look()
        if number > route.start_frame and game.controllable()[0]:
            yield game, console


def solid_tiles(route: Route, rom: Path) -> dict[tuple[int, int, int], int]:
    """What stands where at first sight, (area, column, row) -> metatile, from the buffer that decides collisions."""
    found: dict[tuple[int, int, int], int] = {}
    for game, console in replayed(route, rom):
        area, left = int(game.area()[0]), int(game.screen_left[0])
        buffer = console.ram[METATILES].reshape(2, 13, 16)
        for column in range(-(-left // TILE), (left + 256) // TILE) if left >= 0 else ():
            for row in range(13):
                found.setdefault((area, column, row), int(buffer[column // 16 % 2, row, column % 16]))
    return {place: tile for place, tile in found.items() if tile}


@pytest.mark.parametrize("level", ["1-3", "2-2", "4-4"])
def test_the_same_tile_looks_the_same_wherever_the_game_says_it_is(level: str, smb_rom: Path) -> None:
    """Nothing is shifted, smeared, left over from a sprite or cut off: one pixel would make another look."""
    looks: dict[tuple[int, int], Counter[bytes]] = defaultdict(Counter)
    for (area, column, row), tile in solid_tiles(packaged_route(level), smb_rom).items():
        picture = pictures(level, smb_rom)[area]
        # coins blink, and some are taken before they are bright; the last look was some frames before the end
        if tile != COIN and column * TILE + TILE <= picture.shape[1] - 16:
            looks[area, tile][picture[row * TILE :, column * TILE :][:TILE, :TILE].tobytes()] += 1
    tiles = sum(look.total() for look in looks.values())
    usual = sum(look.most_common(1)[0][1] for look in looks.values())
    assert tiles > 150
    assert len({look.most_common(1)[0][0] for look in looks.values()}) >= min(len(looks), 7)
    assert usual >= 0.995 * tiles


def test_two_ways_through_the_same_map_give_the_same_picture(smb_rom: Path) -> None:
    """5-3 is the map of 1-3 with other enemies and lifts, which are not part of the picture."""
    (one,), (other,) = pictures("1-3", smb_rom).values(), pictures("5-3", smb_rom).values()
    width = min(one.shape[1], other.shape[1])
    differing = (one[:, :width] != other[:, :width]).any(axis=2)
    assert width > 2400
    assert differing.mean() < 0.005


def test_the_pits_of_1_1_are_where_everybody_knows_them(smb_rom: Path) -> None:
    """Also where the packaged route goes through a pipe below."""
    picture = pictures("1-1", smb_rom)[OVERWORLD_1_1]
    sky = picture[60, 8]
    bottom = picture[-TILE:, : 200 * TILE].reshape(TILE, 200, TILE, 3)
    pits = np.flatnonzero((bottom == sky).all(axis=(0, 2, 3)))
    assert pits.tolist() == [69, 70, 86, 87, 88, 153, 154]


def test_what_a_pipe_leads_past_is_flown_over(smb_rom: Path) -> None:
    camera = level_picture._Camera(smb_rom.read_bytes())
    state, end = _start_of("2-1", smb_rom), 1500
    camera.console.load(state)
    camera.game.look()
    for _ in range(8):
        camera.play(0, look=True)
    (area,) = camera.areas.values()
    assert (area.width, area.has_gaps()) == (256, False)
    area.look(end, np.zeros((208, 256, 3), np.uint8), level_picture.CLEAR)  # seen from there on, as behind a pipe
    assert area.has_gaps()
    camera.fly_over(area)
    assert not area.has_gaps()
    ((_, whole),) = pictures("2-1", smb_rom).items()
    same = (area.picture()[:, :end] == whole[:, :end]).all(axis=2)
    assert same.mean() > 0.995  # blocks that the route hits, and coins that it takes, before they were bright


def test_the_loop_of_a_maze_ends_the_flight(smb_rom: Path) -> None:
    camera = level_picture._Camera(smb_rom.read_bytes())
    camera.console.load(_start_of("4-4", smb_rom))
    camera.game.look()
    camera.play(0, look=True)
    camera.play(0, look=True)
    (area,) = camera.areas.values()
    area.look(2500, np.zeros((208, 256, 3), np.uint8), level_picture.CLEAR)
    clock = int(camera.game.clock[0])
    camera.fly_over(area)
    assert area.has_gaps(), "the way back to x = 0 is not taken for the level going on"
    assert clock - int(camera.game.clock[0]) < 30, "it goes round once"


def test_looking_changes_nothing_in_the_game(smb_rom: Path) -> None:
    """But for the list of sprites, of which the game makes another in every frame."""
    route = packaged_route("5-2")
    camera, console = level_picture._Camera(smb_rom.read_bytes()), EmbeddedEmulator(smb_rom)
    for number, pad in enumerate(route.pads()):
        for frame, address, value in route.pokes:
            if frame == number:
                camera.console.poke(address, value)
                console.poke(address, value)
        camera.play(pad, look=number > route.start_frame)
        console.step((pad, 0), 1)
        seen, plain = camera.console.ram.copy(), console.ram.copy()
        seen[0x200:0x300] = plain[0x200:0x300] = 0
        assert (seen == plain).all(), f"frame {number}"
    assert camera.areas, "it has looked"


def test_status_bar_and_mario_are_not_part_of_it(smb_rom: Path) -> None:
    picture = pictures("1-1", smb_rom)[OVERWORLD_1_1]
    assert picture.shape[0] == 208
    assert picture.dtype == np.uint8
    hills, ground = picture[144:176, 32:64], picture[176:, :TILE]
    assert (picture[176:, : 16 * TILE].reshape(32, 16, TILE, 3) == ground[:, None]).all()
    assert len(np.unique(hills.reshape(-1, 3), axis=0)) == 3, "sky, green and black: no red of Mario's"


def _start_of(level: str, rom: Path) -> bytes:
    for _, console in replayed(packaged_route(level), rom):
        return console.save()
    raise AssertionError("the game never begins")
