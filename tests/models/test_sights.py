"""What is seen comes back in its own shape, and which slot an enemy is in does not matter."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mario_rl.environment.smb import tiles
from mario_rl.environment.smb.observation import OBSERVATIONS
from mario_rl.models.sights import SCALAR_WEIGHT, TileSight, build_sight, newest

CASES = [("tiles", "mlp"), ("tiles", "cnn"), ("pixels", "small"), ("pixels", "nature")]
STATE, HIDDEN = 24, 16


def seen(observation: str, count: int) -> torch.Tensor:
    random = np.random.default_rng(0)
    space = OBSERVATIONS[observation].space
    if observation == "pixels":
        return newest(torch.from_numpy(random.integers(0, 256, (count, *space.shape), np.uint8)))
    return torch.from_numpy(random.integers(0, 3, (count, *space.shape)).astype(np.float32) / 2)


@pytest.mark.parametrize(("observation", "torso"), CASES)
def test_encoded_and_decoded_shapes_and_a_gradient_everywhere(observation: str, torso: str) -> None:
    torch.manual_seed(0)
    sight = build_sight(torso, OBSERVATIONS[observation].space.shape, STATE, HIDDEN)
    x = seen(observation, 5)
    features = sight.encode(x)
    assert features.shape == (5, HIDDEN)
    decoded = sight.decode(torch.randn(5, STATE))
    assert sight.mean(decoded).shape == sight.truth(x).shape == x.shape
    losses = sight.loss(decoded, x)
    assert losses.shape == (5,)
    (features.sum() + losses.sum()).backward()
    assert all(weights.grad is not None and weights.grad.isfinite().all() for weights in sight.parameters())


def test_newest_is_the_last_frame_of_a_stack() -> None:
    stack = torch.arange(2 * 4 * 3 * 3).reshape(2, 4, 3, 3)
    assert torch.equal(newest(stack), stack[:, 3])
    assert torch.equal(newest(stack[:, 0, 0]), stack[:, 0, 0])


def test_the_loss_of_tiles_is_cross_entropy_and_weighted_squares() -> None:
    sight = build_sight("mlp", (tiles.SIZE,), STATE, HIDDEN)
    x = seen("tiles", 3)
    decoded = torch.randn(3, tiles.SIZE, generator=torch.Generator().manual_seed(1))
    cells = len(tiles.PLANES) * tiles.CELLS
    chance = decoded[:, :cells].double().sigmoid()
    plain = -(x[:, :cells] * chance.log() + (1 - x[:, :cells]) * (1 - chance).log()).sum(1)
    plain += SCALAR_WEIGHT * ((decoded[:, cells:] - x[:, cells:]) ** 2).sum(1)
    assert torch.allclose(sight.loss(decoded, x).double(), plain, rtol=1e-4)


def test_things_are_the_same_whichever_slot_they_are_in() -> None:
    torch.manual_seed(0)
    sight = build_sight("mlp", (tiles.SIZE,), STATE, HIDDEN)
    assert isinstance(sight, TileSight)
    scalars = dict.fromkeys(tiles.SCALARS, 0.0) | {"speed_x": 0.5, "on_ground": 1.0}

    def around(**things: float) -> torch.Tensor:
        return sight._around(torch.tensor([list((scalars | things).values())]))

    goomba = {"kind": 1.0, "dx": 0.25, "dy": 0.0, "speed_x": -0.5}
    in_slot = [around(**{f"thing{slot}_{what}": value for what, value in goomba.items()}) for slot in (0, 3)]
    assert torch.allclose(*in_slot) and in_slot[0].abs().sum() > 0
    assert around().abs().sum() == 0, "nothing around says nothing"
    both = {f"thing{slot}_{what}": value for slot in (0, 3) for what, value in goomba.items()}
    assert torch.allclose(around(**both), 2 * in_slot[0], atol=1e-6)
