"""All 32 levels start where they should, and their start states are cached safely."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mario_rl.emulators.base import RIGHT
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.environment.smb.env import SmbEnv
from mario_rl.environment.smb.levels import LEVELS, StartStates, boot, parse_levels
from mario_rl.environment.smb.memory import GameMemory
from mario_rl.environment.smb.settings import LONGEST_NOOP

WATER = ("2-2", "7-2")
SAME_MAPS = {"5-3": "1-3", "5-4": "2-4", "6-4": "1-4", "7-2": "2-2", "7-3": "2-3"}


@pytest.fixture(scope="module")
def rom(smb_rom: Path) -> bytes:
    return smb_rom.read_bytes()


@pytest.fixture(scope="module")
def start_states(rom) -> StartStates:
    return StartStates(rom)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A cache directory of its own, and nothing in memory."""
    monkeypatch.setenv("MARIO_RL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(StartStates, "_in_memory", {})
    return tmp_path


def area_pointer(rom: bytes, level: str) -> int:
    """The address of a level's map, as the game's own tables in the ROM give it: world -> areas -> address."""

    def at(address: int) -> int:
        return rom[16 + address - 0x8000]

    world, stage = (int(number) for number in level.split("-"))
    area_of_world = stage - 1 + (world in (1, 2, 4, 7) and stage >= 2)
    area = at(0x9CBC + at(0x9CB4 + world - 1) + area_of_world)
    kind = (area >> 5) & 3
    number = at(0x9D28 + kind) + (area & 0x1F)
    header = 2  # the game steps over it when it loads the map
    return (at(0x9D2C + number) | at(0x9D4E + number) << 8) + header


@pytest.mark.parametrize("level", LEVELS)
def test_level_starts_on_its_own_map_and_mario_can_be_moved(level, rom, start_states):
    console = EmbeddedBatch(rom, lanes=1)
    console.load(0, start_states[level])
    game = GameMemory(console.ram)
    game.look()
    assert f"{game.world[0] + 1}-{game.stage[0] + 1}" == level
    assert game.area()[0] == area_pointer(rom, level)
    assert game.controllable()[0]
    assert game.x[0] == 40
    assert console.ram[0, 0x0704] == (level in WATER)
    assert (game.score[0], game.coins[0]) == (0, 0)
    assert 300 <= game.clock[0] <= 401
    console.step(np.array([[RIGHT, 0]], np.uint8), 40)
    game.look()
    assert game.x[0] > 50
    assert game.controllable()[0]


def test_27_different_maps(rom):
    assert {level: area_pointer(rom, level) for level in SAME_MAPS} == {
        level: area_pointer(rom, same) for level, same in SAME_MAPS.items()
    }
    assert len({area_pointer(rom, level) for level in LEVELS}) == 27


@pytest.mark.parametrize("level", LEVELS)
def test_the_longest_random_wait_harms_nobody(level, rom, start_states):
    console = EmbeddedBatch(rom, lanes=1)
    console.load(0, start_states[level])
    console.step(np.zeros((1, 2), np.uint8), LONGEST_NOOP + 1)
    game = GameMemory(console.ram)
    game.look()
    assert game.controllable()[0]
    assert not game.dead()[0]


def test_booting_again_gives_the_same_state(rom):
    console = EmbeddedBatch(rom, lanes=2)
    boot(console, 0, "3-2")
    boot(console, 1, "6-1")
    boot(console, 1, "3-2")
    np.testing.assert_array_equal(console.ram[0], console.ram[1])
    assert console.save(0) == console.save(1)


def test_start_states_are_kept_on_disk(empty_cache, rom, monkeypatch):
    states = StartStates(rom)
    made = states["1-3"]
    assert states.file("1-3").read_bytes() == made
    assert empty_cache in states.file("1-3").parents
    assert [file.name for file in states.file("1-3").parent.iterdir()] == ["1-3.state"], "no temporary file is left"

    monkeypatch.setattr(StartStates, "_in_memory", {})
    monkeypatch.setattr(StartStates, "_made_new", lambda *_: pytest.fail("it was on disk"))
    assert StartStates(rom)["1-3"] == made


@pytest.mark.parametrize("damage", ["empty", "truncated", "flipped", "text", "another level"])
def test_a_bad_cache_file_is_replaced_silently(damage, empty_cache, rom, monkeypatch):
    states = StartStates(rom)
    good = states["1-1"]
    bad = {
        "empty": b"",
        "truncated": good[:-7],
        "flipped": good[:100] + bytes([good[100] ^ 1]) + good[101:],
        "text": b"not a state",
        "another level": states["1-2"],
    }[damage]
    states.file("1-1").write_bytes(bad)
    monkeypatch.setattr(StartStates, "_in_memory", {})
    again = StartStates(rom)
    assert again["1-1"] == good
    assert states.file("1-1").read_bytes() == good


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(tmp_path, rom, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MARIO_RL_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(StartStates, "_in_memory", {})
    assert StartStates(rom)["1-1"]


def test_level_names():
    assert parse_levels("4-2") == ("4-2",)
    assert parse_levels("random") == LEVELS
    assert parse_levels(["1-1", "8-4"]) == ("1-1", "8-4")
    for wrong in ("9-1", "1-5", "", "all", ["1-1", "x"], []):
        with pytest.raises(ValueError, match="level"):
            parse_levels(wrong)


def test_a_list_of_levels_is_drawn_from_by_seed():
    def levels_of(seed: int) -> list[str]:
        env = SmbEnv(level=["1-1", "2-1", "8-3"], observation="ram")
        first = env.reset(seed=seed)[1]["level"]
        return [first] + [env.reset()[1]["level"] for _ in range(15)]

    assert levels_of(5) == levels_of(5)
    assert levels_of(5) != levels_of(6)
    assert set(levels_of(5)) == {"1-1", "2-1", "8-3"}


def test_random_means_all_32():
    env = SmbEnv(level="random", observation="ram")
    env.reset(seed=0)
    seen = {env.reset()[1]["level"] for _ in range(250)}
    assert seen == set(LEVELS)
