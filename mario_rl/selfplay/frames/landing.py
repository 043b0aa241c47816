"""From what is seen to where the falling capsule could land: fixed geometry, nothing here is learned.

There are 32 targets, rotation x 8 + column. What decides about one of them lies around the place where a capsule
dropped there would come to rest, so each target gets a view of its own: the cells of TEMPLATE around that place, told
not by colour but by what they are to the capsule. One small network can then judge all targets, and what it learns in
one column, for one pair of colours, holds for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from mario_rl.environment.drmario.memory import COLOUR_COUNT, COLUMNS, ROWS

ROTATIONS = 4
TARGETS = ROTATIONS * COLUMNS
LEFT_OF, RIGHT_OF, ABOVE, BELOW = 3, 4, 1, 8  # how far a view reaches from its base cell
# (rows down, columns right) of the base cell, the left or lower one: a line through the capsule has at most three cells
# on either side, and what lies in the columns below decides how deep a virus gets buried.
TEMPLATE = tuple((row, column) for row in (-1, 0, 1) for column in range(-LEFT_OF, RIGHT_OF + 1)) + tuple(
    (row, column) for row in range(2, BELOW + 1) for column in range(-1, 3)
)
# Each cell: of the base half's colour, of the partner's, of another one (1 virus, 0.5 piece), empty; all 0 is the wall.
KINDS = 4
VIEW = KINDS * len(TEMPLATE)
# About a target as a whole: its height, viruses left, which halves of the next capsule are like which of this one, its
# column. Nothing that changes while the capsule falls: the target would change, too.
ABOUT = 2 + 4 + COLUMNS

_WIDE = COLUMNS + LEFT_OF + RIGHT_OF


@dataclass
class Outlook:
    """What there is to know about the falling capsules of n games, and about their targets."""

    x: Tensor  # long[n], column of the left half, or of an upright capsule
    row: Tensor  # long[n], of the left or lower half, 0 is the top
    rotation: Tensor  # long[n], 0 to 3
    room: Tensor  # float[n, 2]: the cells to the left and to the right of it are free
    rests: Tensor  # long[n, 2, 8]: the row of the base cell, flat and upright, in each column; -1: no room
    possible: Tensor  # bool[n, 32]: a capsule fits in there, and no other target looks the same


def outlook(planes: Tensor, hand: Tensor) -> Outlook:
    """Read what is seen (observation.py) of games in which a capsule is falling: float[n, 12, 16, 8], float[n, 11]."""
    empty, capsule = planes[:, 0], planes[:, 4] > 0
    games = torch.arange(len(planes))
    rotation = (planes[:, 5].flatten(1).amax(1) * ROTATIONS).round().long().sub(1).clamp(min=0)
    x = capsule.any(1).to(torch.uint8).argmax(1)
    row = ROWS - 1 - capsule.any(2).flip(1).to(torch.uint8).argmax(1)
    beside = pad(empty, (1, 2))[games, row]  # [n, 11]: column c is at c + 1, walls are not empty
    right = x + 2 - rotation % 2
    room = torch.stack([beside[games, x], beside[games, right + 1]], 1)

    tops = _tops(empty)  # [n, 8]
    flat_rest = torch.minimum(tops[:, :-1], tops[:, 1:]) - 1
    flat_rest = torch.cat([flat_rest, flat_rest.new_full((len(planes), 1), -1)], 1)  # none in the last column
    rests = torch.stack([flat_rest, tops - 1], 1)
    first, second = _colours(hand)
    twins = (first * second).sum(1) > 0  # turned around, a capsule of one colour is the same
    fits = rests >= 0
    possible = torch.cat([fits, fits & ~twins[:, None, None]], 1).flatten(1)
    return Outlook(x, row, rotation, room, rests, possible)


def target_views(planes: Tensor, features: Tensor, hand: Tensor, rests: Tensor) -> Tensor:
    """float[n, 32, VIEW + ABOUT]: what can be seen of each target."""
    first, second = _colours(hand)
    seen = _views(planes, first, second, rests)  # [n, 2, 8, cells, kinds]: flat, upright; first half in the base
    views = torch.cat([seen, seen[..., [1, 0, 2, 3]]], 1).flatten(3).flatten(1, 2)
    return torch.cat([views, _about(features, first, second, rests)], 2)


def _colours(hand: Tensor) -> tuple[Tensor, Tensor]:
    return hand[:, -2 * COLOUR_COUNT : -COLOUR_COUNT], hand[:, -COLOUR_COUNT:]


def _tops(empty: Tensor) -> Tensor:
    """long[n, 8]: the row of each column's highest piece, 16 in an empty column."""
    occupied = empty < 1
    return torch.where(occupied.any(1), occupied.to(torch.uint8).argmax(1), ROWS)


def _views(planes: Tensor, first: Tensor, second: Tensor, rests: Tensor) -> Tensor:
    colours = planes[:, 1 : 1 + COLOUR_COUNT]
    like_base = (colours * first[:, :, None, None]).sum(1)
    like_partner = (colours * second[:, :, None, None]).sum(1)
    others = (colours * ((1 - first) * (1 - second))[:, :, None, None]).sum(1)
    cells = torch.stack([like_base, like_partner, others, planes[:, 0]], 3)  # [n, 16, 8, kinds]
    cells = pad(cells, (0, 0, LEFT_OF, RIGHT_OF, ABOVE + 1, BELOW)).flatten(1, 2)
    offsets = torch.tensor([down * _WIDE + right for down, right in TEMPLATE])
    columns = torch.arange(COLUMNS) + LEFT_OF
    bases = (rests + ABOVE + 1) * _WIDE + columns  # a rest of -1 (no room) is inside, too
    where = bases[..., None] + offsets  # [n, 2, 8, cells]
    return cells[torch.arange(len(planes))[:, None], where.flatten(1)].view(*where.shape, KINDS)


def _about(features: Tensor, first: Tensor, second: Tensor, rests: Tensor) -> Tensor:
    viruses, next_first, next_second = features[:, 0], features[:, 1:4], features[:, 4:7]
    alike = [(upcoming * half).sum(1) for upcoming in (next_first, next_second) for half in (first, second)]
    n = len(features)
    about = rests.new_zeros((n, ROTATIONS, COLUMNS, ABOUT), dtype=features.dtype)
    about[..., 0] = torch.cat([rests, rests], 1) / ROWS
    about[..., 1] = viruses[:, None, None]
    about[:, :2, :, 2:6] = torch.stack(alike, 1)[:, None, None]
    about[:, 2:, :, 2:6] = torch.stack([alike[1], alike[0], alike[3], alike[2]], 1)[:, None, None]
    about[..., 6:] = torch.eye(COLUMNS)
    return about.flatten(1, 2)
