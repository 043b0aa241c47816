"""Exploration: a seed decides everything, and everything in the archive is really there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from mario_rl.emulators.base import DOWN, LEFT, RIGHT
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.environment.actions import RIGHT_ONLY, SIMPLE
from mario_rl.environment.smb import memory
from mario_rl.environment.smb.levels import StartStates
from mario_rl.environment.smb.memory import GameMemory
from mario_rl.snapshots.archive import Cell
from mario_rl.snapshots.explore import Exploration, explore, on_pipe_mouth

EASY = "1-4"  # found after some 30,000 frames
ENTERS_PIPE = 3  # the game's player state


@pytest.fixture(scope="module")
def easy(smb_rom: Path) -> Exploration:
    return explore(EASY, 0, frames=500_000, shorten=1.0)


@pytest.fixture(scope="module")
def maze(smb_rom: Path) -> Exploration:
    """The beginning of 7-4, where every wrong path leads back."""
    return explore("7-4", 0, frames=40_000)


@pytest.fixture(scope="module")
def pipes(smb_rom: Path) -> Exploration:
    """1-1 with its bonus room."""
    return explore("1-1", 1, frames=50_000)


def story(explored: Exploration) -> list[object]:
    cells = [(cell.key, cell.x, cell.y, cell.chosen, cell.way.all_pads()) for cell in explored.archive.cells]
    way = None if explored.way is None else explored.way.all_pads()
    return [explored.frames, explored.deaths, explored.loops, explored.found_after, way, *cells]


def test_a_seed_decides_everything_whatever_the_number_of_threads(easy: Exploration) -> None:
    assert story(explore(EASY, 0, frames=500_000, shorten=1.0, threads=2)) == story(easy)


def test_the_same_again_is_the_same(smb_rom: Path) -> None:
    one, other = (story(explore("8-4", 5, frames=8_000)) for _ in range(2))
    assert one == other


def test_another_seed_goes_another_way(easy: Exploration) -> None:
    assert story(explore(EASY, 1, frames=5_000))[-20:] != story(easy)[-20:]


def replayed(level: str, pads: bytes, rom: bytes) -> Iterator[GameMemory]:
    """The game after each of these steps, on a console of our own, without anything of the explorer's."""
    console = EmbeddedBatch(rom, lanes=1)
    console.load(0, StartStates(rom)[level])
    console.step(np.zeros((1, 2), np.uint8), 1)
    game = GameMemory(console.ram)
    game.look()
    yield game
    for pad in pads:
        console.step(np.array([[pad, 0]], np.uint8), 4)
        game.look()
        yield game


def state_of(cell: Cell, rom: bytes) -> EmbeddedBatch:
    console = EmbeddedBatch(rom, lanes=1)
    console.load(0, cell.state)
    return console


@pytest.mark.parametrize("exploration", ["easy", "maze", "pipes"])
def test_the_way_to_a_cell_leads_to_its_state(exploration: str, smb_rom: Path, request: pytest.FixtureRequest) -> None:
    explored: Exploration = request.getfixturevalue(exploration)
    cells = explored.archive.cells
    behind_a_pipe = [cell for cell in cells if cell.area != cells[0].area]
    assert (len(behind_a_pipe) > 10) == (exploration == "pipes")
    rom = smb_rom.read_bytes()
    for cell in [*cells[::50], *behind_a_pipe[::10]]:
        *_, last = replayed(explored.level, cell.way.all_pads(), rom)
        assert (last.ram == state_of(cell, rom).ram).all()
        assert (int(last.area()[0]), int(last.x[0]), int(last.y()[0])) == (cell.area, cell.x, cell.y)


def test_the_way_found_leads_to_the_end_and_not_before(easy: Exploration, smb_rom: Path) -> None:
    assert easy.way is not None
    finished = [bool(game.finished()[0]) for game in replayed(EASY, easy.way.all_pads(), smb_rom.read_bytes())]
    assert finished[-1] and not any(finished[:-1])


def test_shortening_takes_as_many_frames_again_and_never_makes_it_longer(easy: Exploration) -> None:
    assert easy.way is not None and easy.found_after is not None and easy.first_steps is not None
    assert 2 * easy.found_after <= easy.frames < 2 * easy.found_after + 100_000
    assert easy.way.steps < easy.first_steps  # with this seed; it cannot be more
    first = explore(EASY, 0, frames=500_000)
    assert first.way is not None
    assert (first.frames, first.way.steps) == (easy.found_after, easy.first_steps)


def test_a_loop_of_a_maze_is_no_progress(maze: Exploration, smb_rom: Path) -> None:
    """A cell has `looped` exactly if its way was set back in this area; a second loop makes no other cell."""
    assert maze.loops > 20
    cells = maze.archive.cells
    assert 0 < sum(cell.looped for cell in cells) < len(cells)
    rom = smb_rom.read_bytes()
    for looped in (False, True):
        for cell in [cell for cell in cells if cell.looped == looped][::30]:
            xs = [int(game.x[0]) for game in replayed("7-4", cell.way.all_pads(), rom)]
            set_back = any(after < before - 700 for before, after in pairwise(xs))
            assert set_back == looped
    assert len({cell.key for cell in cells}) == len(cells)
    assert len({cell.key >> 1 for cell in cells}) >= len(cells) / 2


@pytest.mark.parametrize(("actions", "allowed"), [("right_only", RIGHT_ONLY), ("simple", SIMPLE)])
def test_other_action_sets_find_a_way_with_their_own_pads(
    actions: str, allowed: tuple[int, ...], smb_rom: Path
) -> None:
    explored = explore(EASY, 0, frames=500_000, actions=actions)
    assert explored.way is not None
    assert set(explored.way.all_pads()) <= set(allowed)
    assert (LEFT in set(b"".join(cell.way.pads for cell in explored.archive.cells))) == (LEFT in allowed)


def test_whoever_watches_can_stop_it(smb_rom: Path) -> None:
    seen: list[int] = []

    def watch(explored: Exploration) -> bool:
        seen.append(explored.frames)
        return len(seen) < 5

    explored = explore("8-4", 0, frames=10**9, watching=watch)
    assert explored.way is None
    assert seen[-1] == explored.frames
    assert seen == sorted(seen)


def test_frames_bound_the_search(smb_rom: Path) -> None:
    explored = explore("8-4", 0, frames=3_000)
    assert explored.found_after is None and explored.first_steps is None
    assert 3_000 <= explored.frames < 10_000


def test_only_on_a_pipe_mouth_does_down_lead_into_a_pipe(pipes: Exploration, smb_rom: Path) -> None:
    """The game itself says which pipes can be entered: duck wherever Mario stands, and see."""
    standing = [cell for cell in pipes.archive.cells if not cell.in_the_air]
    everywhere = np.ones(len(standing), np.bool_)
    console = EmbeddedBatch(smb_rom.read_bytes(), lanes=len(standing))
    game = GameMemory(console.ram)
    pads = np.zeros((len(standing), 2), np.uint8)
    entered_in_all = 0
    for direction, frames_walked in product((LEFT, RIGHT), range(0, 40, 3)):
        console.load_lanes(everywhere, [cell.state for cell in standing])
        pads[:, 0] = direction
        console.step(pads, frames_walked)
        game.look()
        on_mouth = on_pipe_mouth(game)
        pads[:, 0] = DOWN
        console.step(pads, 1)
        entered = console.ram[:, memory.PLAYER_STATE] == ENTERS_PIPE
        assert (entered <= on_mouth).all()
        assert on_mouth.sum() < len(standing) / 4
        entered_in_all += int(entered.sum())
    assert entered_in_all > 0
