"""Draws the pictures of the observations: `python docs/pictures/make_pictures.py [target directory]`.

Each row of a picture is one moment of a recorded game (tests/environment/recordings): the screen with the tile planes
drawn over it as coloured frames, the newest 84x84 frame of the "pixels" observation, and the seven tile planes.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from mario_rl.environment.smb import tiles
from mario_rl.environment.smb.env import SmbEnv

HERE = Path(__file__).parent
COLOURS = {
    "solid": (255, 255, 255),
    "blocks": (255, 160, 0),
    "coins": (255, 255, 0),
    "enemies": (255, 0, 0),
    "platforms": (0, 255, 255),
    "powerups": (255, 0, 255),
    "mario": (0, 255, 0),
}
PICTURES = {
    "smb_observations": [("1-1_finish", 142), ("2-2_finish", 213), ("1-4_finish", 109)],
    "smb_platforms": [("1-3_finish", 139), ("4-3_finish", 84), ("2-4_finish", 123)],
    "smb_enemies": [("8-3_finish", 211), ("8-4_finish", 801), ("3-1_finish", 298)],
    "smb_ends": [("1-1_finish", 322), ("1-4_finish", 200), ("1-1_grow", 226)],
}


def recordings():
    """The tests' reader of recordings."""
    spec = importlib.util.spec_from_file_location("recordings", HERE.parent.parent / "tests/environment/conftest.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["recordings"] = module
    spec.loader.exec_module(module)
    return module


def play_to(recording, steps: int, observation: str) -> tuple[SmbEnv, np.ndarray]:
    """The environment after that many steps of the recording, and what the agent sees there."""
    env = recording.environment(observation=observation, render_mode="rgb_array")
    seen, _ = env.reset()
    for action in recording.actions[:steps]:
        seen = env.step(np.int64(action))[0]
    return env, seen


def screen_with_tiles(env: SmbEnv, planes: np.ndarray, scale: int) -> Image.Image:
    """The screen, and around every cell that is set a frame in its plane's colour."""
    game = env.lanes.game
    first_column = ((int(game.x[0]) + 8) >> 4) - tiles.MARIO_COLUMN
    left = first_column * tiles.TILE - int(game.screen_left[0])
    # the window may reach beyond the screen: show it whole, the screen in its middle
    margin = 64
    canvas = Image.new("RGB", ((256 + 2 * margin) * scale, 240 * scale), (30, 30, 30))
    frame = Image.fromarray(env.render()).resize((256 * scale, 240 * scale), Image.Resampling.NEAREST)
    canvas.paste(frame, (margin * scale, 0))
    pen = ImageDraw.Draw(canvas)
    for plane, name in enumerate(tiles.PLANES):
        for row, column in np.argwhere(planes[plane] > 0):
            x = (margin + left + column * tiles.TILE) * scale
            y = (tiles.STATUS_BAR + row * tiles.TILE) * scale
            inset = 1 + plane
            size = tiles.TILE * scale - 1 - inset
            pen.rectangle((x + inset, y + inset, x + size, y + size), outline=COLOURS[name], width=2)
    window = ((margin + left) * scale, tiles.STATUS_BAR * scale)
    pen.rectangle((*window, window[0] + 256 * scale, window[1] + 208 * scale), outline=(255, 255, 255))
    return canvas


def plane_sheet(planes: np.ndarray, cell: int) -> Image.Image:
    """The seven planes, one below the other in two columns, with their names."""
    width, height, gap = tiles.COLUMNS * cell, tiles.ROWS * cell, 16
    sheet = Image.new("RGB", (2 * (width + gap), 4 * (height + gap)), (0, 0, 0))
    pen = ImageDraw.Draw(sheet)
    for plane, name in enumerate(tiles.PLANES):
        x, y = plane % 2 * (width + gap) + gap // 2, plane // 2 * (height + gap)
        pen.text((x, y + 2), name, fill=COLOURS[name])
        pen.rectangle((x, y + gap, x + width, y + gap + height - 1), fill=(40, 40, 40))
        for row, column in np.argwhere(planes[plane] > 0):
            colour = tuple(int(part * planes[plane, row, column]) for part in COLOURS[name])
            at = (x + column * cell, y + gap + row * cell)
            pen.rectangle((*at, at[0] + cell - 2, at[1] + cell - 2), fill=colour)
    return sheet


def moment(recording, steps: int) -> Image.Image:
    """One row of a picture."""
    env, flat = play_to(recording, steps, "tiles")
    planes = flat[: len(tiles.PLANES) * tiles.CELLS].reshape(len(tiles.PLANES), tiles.ROWS, tiles.COLUMNS)
    screen = screen_with_tiles(env, planes, 2)
    _, stack = play_to(recording, steps, "pixels")
    pixels = Image.fromarray(stack[-1]).resize((336, 336), Image.Resampling.NEAREST).convert("RGB")
    sheet = plane_sheet(planes, 8)
    row = Image.new("RGB", (screen.width + 16 + 336 + 16 + sheet.width, max(screen.height, sheet.height)), (0, 0, 0))
    row.paste(screen, (0, 0))
    row.paste(pixels, (screen.width + 16, 72))
    row.paste(sheet, (screen.width + 16 + 336 + 16, 0))
    return row


def main(target: Path) -> None:
    """Draw all pictures."""
    read_recording = recordings().read_recording
    for name, moments in PICTURES.items():
        rows = [moment(read_recording(recording), steps) for recording, steps in moments]
        picture = Image.new("RGB", (max(row.width for row in rows), sum(row.height + 8 for row in rows)), (0, 0, 0))
        y = 0
        for row in rows:
            picture.paste(row, (0, y))
            y += row.height + 8
        picture.save(target / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
