"""The features of a placement, counted plainly: what native/drmario/placement_features.hpp says in words."""

from __future__ import annotations

import numpy as np

PIECES = {0: (0x60, 0x70), 1: (0x50, 0x40)}  # low and high half, lying and upright


def describe(field: np.ndarray, at: tuple[int, int, int], colours: list[int]) -> dict[str, int]:
    """By name."""
    x, y, rotation = at
    upright, row = rotation & 1, 15 - y
    low_colour, high_colour = colours if rotation < 2 else colours[::-1]
    halves = [(row, x, low_colour), (row - upright, x + 1 - upright, high_colour)]
    board = {(r, c): int(field[r, c]) for r in range(16) for c in range(8) if field[r, c] < 0xF0}
    for (r, c, colour), kind in zip(halves, PIECES[upright], strict=True):
        if r >= 0:
            board[r, c] = kind + colour

    def run(r: int, c: int, down: int, right: int, colour: int) -> list[int]:
        """The cells of a colour that follow on a cell in one direction."""
        cells = []
        while (r := r + down, c := c + right) in board and board[r, c] & 3 == colour:
            cells.append(board[r, c])
        return cells

    def is_virus(cell: int) -> bool:
        return cell & 0xF0 == 0xD0

    features = {"upright": upright, "top_row": min(y + 1 + upright, 16)}
    for name, (r, c, colour) in zip(("low", "high"), halves, strict=True):
        below = run(r, c, 1, 0, colour)[:3]
        under = board.get((r + 1, c))
        if r < 0:
            below, contact, beside = [], 0, 0
        else:
            beside = min(len(run(r, c, 0, -1, colour)) + len(run(r, c, 0, 1, colour)), 3)
            if r == 15:
                contact = 1
            elif under is None:
                contact = 0
            elif under & 3 == colour:
                contact = 4
            else:
                contact = 2 if is_virus(under) else 3
        features |= {
            f"run_{name}": len(below),
            f"run_viruses_{name}": sum(map(is_virus, below)),
            f"contact_{name}": contact,
            f"beside_{name}": beside,
        }
    columns = {c for _, c, _ in halves}
    features["from_wall"] = min(min(columns), 7 - max(columns))
    features["gap"] = 0
    if not upright:
        for c in columns:
            below_it = [r for r in range(row + 1, 16) if (r, c) in board]
            features["gap"] += min([*below_it, 16]) - row - 1
    features["gap"] = min(features["gap"], 15)

    gone = set()
    for r, c, colour in halves:
        if r < 0:
            continue
        for down, right in ((1, 0), (0, 1)):
            before, after = run(r, c, -down, -right, colour), run(r, c, down, right, colour)
            if len(before) + len(after) >= 3:
                gone |= {(r + i * down, c + i * right) for i in range(-len(before), len(after) + 1)}
    features["clears"] = int(bool(gone))
    features["viruses_gone"] = min(sum(is_virus(board[cell]) for cell in gone), 7)
    features["one_colour"] = int(colours[0] == colours[1])
    features["column_viruses"] = min(sum(is_virus(cell) for (_, c), cell in board.items() if c in columns), 7)
    top = min(r for r, _, _ in halves)
    features["tucked"] = int(any((r, c) in board for r in range(top) for c in columns))
    return features
