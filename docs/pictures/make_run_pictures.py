"""Takes pictures of a real run for docs/first_run.md and snapshots.md: `python docs/pictures/make_run_pictures.py`.

It trains as `mario-rl train --preset laptop --model ppo` does, with the dashboard on a terminal that nobody sees, and
takes the dashboard's picture once `--steps` are done; then it draws the whole run as `mario-rl plot` does: its curves,
and where Mario died. Minutes on two quiet cores.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

from matplotlib import get_data_path
from PIL import Image, ImageDraw, ImageFont
from rich.color import Color
from textual.strip import Strip

from mario_rl import config
from mario_rl.dashboard.terminal import TrainingUI
from mario_rl.runs import training
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.hotspot_picture import plot_deaths
from mario_rl.runs.plots import plot_run

HERE = Path(__file__).resolve().parent
FONT = ImageFont.truetype(str(Path(get_data_path()) / "fonts" / "ttf" / "DejaVuSansMono.ttf"), 13)
COLUMNS, ROWS = 110, 32
WIDTH, HEIGHT, MARGIN = 8, 16, 8  # of a character, and around all of them
SHADES = 128  # colours of a picture: nobody sees a difference, and the file is a third as large
BLOCKS = "▁▂▃▄▅▆▇█"  # of bars: drawn, because those of the font leave gaps between the rows
INK, PAPER = (224, 224, 224), (18, 18, 18)
EVERY = 20_000  # steps between two lines that say how far it is

Rgb = tuple[int, int, int]


def rgb(colour: Color | None, otherwise: Rgb) -> Rgb:
    """The colour of a character or of what is behind it."""
    return otherwise if colour is None or colour.is_default else tuple(colour.get_truecolor())


def draw(lines: list[Strip]) -> Image.Image:
    """The characters of a terminal as a picture."""
    picture = Image.new("RGB", (COLUMNS * WIDTH + 2 * MARGIN, ROWS * HEIGHT + 2 * MARGIN), PAPER)
    pen = ImageDraw.Draw(picture)
    for row, line in enumerate(lines):
        column = 0
        for segment in line:
            style = segment.style
            ink = rgb(style.color if style else None, INK)
            paper = rgb(style.bgcolor if style else None, PAPER)
            if style and style.reverse:
                ink, paper = paper, ink
            if style and style.dim:
                ink = tuple((2 * a + b) // 3 for a, b in zip(ink, paper, strict=True))
            for character in segment.text:
                x, y = MARGIN + column * WIDTH, MARGIN + row * HEIGHT
                pen.rectangle((x, y, x + WIDTH - 1, y + HEIGHT - 1), fill=paper)
                if character in BLOCKS:
                    top = y + HEIGHT - HEIGHT * (BLOCKS.index(character) + 1) // len(BLOCKS)
                    pen.rectangle((x, top, x + WIDTH - 1, y + HEIGHT - 1), fill=ink)
                else:
                    pen.text((x, y), character, fill=ink, font=FONT)
                column += 1
    return picture


def save(picture: Image.Image, file: Path) -> None:
    """As a small file."""
    picture.convert("RGB").quantize(SHADES).save(file, optimize=True)
    print(f"{file} ({file.stat().st_size / 1e3:.0f} kB)", file=sys.__stdout__, flush=True)


async def train_and_look(steps: int, target: Path) -> RunDirectory:
    """Train below the current directory, to the end, and take the picture on the way."""
    chosen = config.build({"model": "ppo", "name": "first"}, "laptop", None)
    run, before = training.begin(chosen)
    session = training.open_session(run, chosen, before)
    ui = TrainingUI(session)
    taken, told = False, 0
    try:
        async with ui.run_test(size=(COLUMNS, ROWS)) as pilot:
            while ui.is_running:
                await pilot.pause(1.0)
                done = session.aggregator.steps
                if done >= told + EVERY:
                    told = done
                    print(f"{done:,} steps", file=sys.__stdout__, flush=True)  # Textual has taken the other one
                if not taken and done >= steps and ui.is_running:
                    save(draw(ui.screen._compositor.render_strips()), target / "dashboard.png")
                    taken = True
    finally:
        state = session.close()
    if ui.failure is not None:
        raise ui.failure
    if state != "SUCCESS" or not taken:
        sys.exit(f"{state}: {run.status().why}; {'a' if taken else 'no'} picture of the dashboard was taken")
    print(f"{state}: {run.status().why} ({run.status().steps:,} steps)", flush=True)
    return run


def draw_plots(run: RunDirectory, target: Path) -> None:
    """What `mario-rl plot` draws."""
    save(Image.open(plot_run(run)), target / "training_curves.png")
    for file, _ in plot_deaths(run):
        save(Image.open(file), target / file.name)


def main() -> None:
    """Train, and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=110_000, help="when to take the dashboard's picture")
    parser.add_argument("--target", type=Path, default=HERE, help="where the pictures go")
    arguments = parser.parse_args()
    target = arguments.target.resolve()
    with tempfile.TemporaryDirectory(prefix="mario-rl-pictures-") as folder:
        os.chdir(folder)  # the dashboard shows where the run is: checkpoints/first, as a reader will see it
        draw_plots(asyncio.run(train_and_look(arguments.steps, target)), target)


if __name__ == "__main__":
    main()
