"""What the network sees of a bottle, and what comes out of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mario_rl.environment.drmario import memory
from mario_rl.environment.drmario.memory import BLUE, LEFT_HALF, RED, ROWS, VIRUS, GameMemory
from mario_rl.selfplay.frames.config import NETWORKS
from mario_rl.selfplay.frames.landing import ABOUT, KINDS, TEMPLATE, VIEW, outlook, target_views
from mario_rl.selfplay.frames.network import ACTIONS, make_network
from mario_rl.selfplay.frames.observation import HAND, SPACE, look
from tests.selfplay.frames.conftest import games_played_by_teacher


def seen_as_tensors(game: GameMemory, seat: int = 0) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(values) for name, values in look(game, seat).items()}


def one_game(x: int, y: int, rotation: int, colours: tuple[int, int]) -> np.ndarray:
    """RAM of a game with an empty bottle and a falling capsule."""
    ram = np.zeros((1, 2048), np.uint8)
    game = GameMemory(ram)
    ram[0, memory.MODE], ram[0, memory.PLAYERS] = memory.MODE_PLAY, 1
    game.fields[:] = memory.EMPTY
    block = game.blocks[0, 0]
    block[memory.COLOURS] = colours
    block[memory.X], block[memory.Y], block[memory.ROTATION] = x, y, rotation
    return ram


@pytest.mark.parametrize("kind", NETWORKS)
def test_everything_has_its_shape(kind: str) -> None:
    env = games_played_by_teacher(32, 60)
    seen = look(env.lanes.game, 0)
    assert SPACE.contains({name: values[0] for name, values in seen.items()})
    assert seen["hand"].shape == (32, HAND)
    thought = make_network(kind, 64, 8.0)(seen_as_tensors(env.lanes.game))
    falling = int(thought.falling.sum())
    assert 0 < falling < 32
    assert thought.log_buttons.shape == (32, ACTIONS)
    assert thought.log_targets.shape == (falling, 32)
    assert thought.log_steering.shape == (falling, 32, ACTIONS)
    assert thought.value.shape == (32,)
    assert torch.allclose(thought.log_buttons.exp().sum(1), torch.ones(32), atol=1e-5)
    assert (thought.decided()[~thought.falling] == 0).all()


@pytest.mark.parametrize("kind", NETWORKS)
def test_no_capsule_in_any_of_the_games_is_fine(kind: str) -> None:
    seen = {"planes": torch.zeros(3, 12, 16, 8), "features": torch.zeros(3, 32), "hand": torch.zeros(3, HAND)}
    thought = make_network(kind, 64, 8.0)(seen)
    assert thought.decided().tolist() == [0, 0, 0]
    thought.value.sum().backward()


def test_finds_the_capsule_wherever_it_is() -> None:
    for x, y, rotation in ((3, 15, 0), (7, 15, 1), (0, 4, 2), (5, 0, 3)):
        seen = seen_as_tensors(GameMemory(one_game(x, y, rotation, (RED, BLUE))))
        ahead = outlook(seen["planes"], seen["hand"])
        assert (ahead.x.item(), ROWS - 1 - ahead.row.item(), ahead.rotation.item()) == (x, y, rotation)
        right_end = x + (rotation % 2 == 0)
        assert ahead.room[0].tolist() == [float(x > 0), float(right_end < 7)]


def test_views_are_around_the_landing_place_and_told_by_the_capsules_colours() -> None:
    ram = one_game(3, 15, 0, (RED, BLUE))
    field = GameMemory(ram).fields[0, 0]
    field[12, 2] = VIRUS + RED  # row 12: a straight drop into column 2 rests in row 11
    field[12, 3] = LEFT_HALF + BLUE
    seen = seen_as_tensors(GameMemory(ram))
    ahead = outlook(seen["planes"], seen["hand"])
    targets = target_views(*seen.values(), ahead.rests)
    assert targets.shape == (1, 32, VIEW + ABOUT)
    views = targets[..., :VIEW].reshape(4, 8, len(TEMPLATE), KINDS)
    below, below_right = TEMPLATE.index((1, 0)), TEMPLATE.index((1, 1))
    like_base, like_partner = [1, 0, 0, 0], [0, 0.5, 0, 0]
    assert views[0, 2, below].tolist() == like_base
    assert views[0, 2, below_right].tolist() == like_partner
    # turned around, the other half lies in the base
    assert views[2, 2, below].tolist() == [0, 1, 0, 0]
    assert views[1, 2, below].tolist() == like_base
    left_of_column_0 = TEMPLATE.index((0, -1))
    assert views[0, 0, left_of_column_0].tolist() == [0, 0, 0, 0]
    assert not ahead.possible[0, 7]  # a flat capsule in the last column
    assert int(ahead.possible.sum()) == 30


def test_twins_count_once() -> None:
    seen = seen_as_tensors(GameMemory(one_game(3, 15, 0, (RED, RED))))
    ahead = outlook(seen["planes"], seen["hand"])
    assert int(ahead.possible.sum()) == 15
    assert not ahead.possible[0, 16:].any()


def test_the_half_above_the_bottle_is_known_by_hand() -> None:
    upright = seen_as_tensors(GameMemory(one_game(3, 15, 1, (RED, BLUE))))
    assert upright["planes"][0, 4].count_nonzero() == 1
    assert upright["hand"][0, 5:].tolist() == [0, 1, 0, 0, 0, 1]


@pytest.mark.parametrize("kind", NETWORKS)
def test_the_target_does_not_depend_on_where_the_capsule_is(kind: str) -> None:
    network = make_network(kind, 64, 8.0)
    chances = []
    for x, y, rotation, gravity in ((3, 15, 0, 0), (6, 9, 1, 12)):
        game = GameMemory(one_game(x, y, rotation, (RED, BLUE)))
        game.gravity[:] = gravity
        with torch.no_grad():
            chances.append(network(seen_as_tensors(game)).log_targets)
    assert torch.allclose(chances[0], chances[1], atol=1e-6)
