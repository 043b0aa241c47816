"""Dreams as a picture: what really happened, what the model recalls of it, what it imagined without looking."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mario_rl.atomic_file import write_atomically
from mario_rl.environment.smb import tiles
from mario_rl.runs.directory import RunDirectory
from mario_rl.runs.dreams import Dream, Floats, dream
from mario_rl.runs.trained_model import TrainedModel

SHOWN = 8  # moments of a dream that are drawn, the first and the last among them
CELL_INCHES = 1.25
DOTS_PER_INCH = 120
ROWS = ("real", "recalled", "imagined")

SKY = (0.80, 0.90, 1.0)
COLOURS = {  # of the planes, from the one that lies behind to the one in front
    "solid": (0.55, 0.36, 0.20),
    "blocks": (0.93, 0.60, 0.20),
    "coins": (0.98, 0.85, 0.15),
    "platforms": (0.45, 0.45, 0.55),
    "powerups": (0.25, 0.65, 0.30),
    "enemies": (0.80, 0.10, 0.15),
    "mario": (0.10, 0.20, 0.75),
}


def plot_dreams(run: RunDirectory, trained: TrainedModel, file: Path | None, level: str | None, seed: int) -> Path:
    """Draw plots/dreams.png (or `file`)."""
    figure = draw_dreams(dream(trained, level, seed), _heading(run, trained, level))
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=DOTS_PER_INCH)
    if file is None:
        run.plots.mkdir(exist_ok=True)
    target = file or run.plots / "dreams.png"
    write_atomically(target, picture.getbuffer())
    return target


def draw_dreams(dreams: Sequence[Dream], heading: str) -> Figure:
    """Three rows a dream, one column a moment."""
    columns = min(SHOWN, len(dreams[0].real))
    height = CELL_INCHES * 0.82 if _are_tiles(dreams[0].real) else CELL_INCHES
    size = (CELL_INCHES * columns + 0.9, len(dreams) * (len(ROWS) * height + 0.55) + 0.45)
    figure = Figure(size, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.01, h_pad=0.01, wspace=0.01, hspace=0.01)  # type: ignore[union-attr, call-arg]
    figure.suptitle(heading, x=0.01, ha="left", fontsize=12, fontweight="bold")
    for part, one in zip(np.atleast_1d(figure.subfigures(len(dreams), 1)), dreams, strict=True):  # type: ignore[arg-type]
        part.suptitle(caption(one), x=0.01, ha="left", fontsize=9)
        axes = part.subplots(len(ROWS), columns, squeeze=False)
        for name, row, pictures in zip(ROWS, axes, (one.real, one.recalled, one.imagined), strict=True):
            _draw_row(row, name, pictures, first=name == ROWS[0])
    return figure


def caption(one: Dream) -> str:
    """What a dream is about, in figures."""
    recalled, imagined = (float(np.square(some - one.real).mean()) for some in (one.recalled, one.imagined))
    return (
        f"from step {one.step}, x {one.x}: mean squared error recalled {recalled:.4f}, imagined {imagined:.4f}; "
        f"paid {one.paid:.1f}, imagined {one.imagined_reward:.1f}; goes on with {one.goes_on:.0%}"
    )


def _draw_row(axes: Sequence[Axes], name: str, pictures: Floats, first: bool) -> None:
    for axis, moment in zip(axes, np.linspace(0, len(pictures) - 1, len(axes)).astype(int).tolist(), strict=True):
        axis.imshow(as_picture(pictures[moment]), cmap="gray", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
        axis.set_xticks([])
        axis.set_yticks([])
        if first:
            axis.set_title(f"+{moment + 1}", fontsize=8, pad=2)
    axes[0].set_ylabel(name, fontsize=9)


def as_picture(observation: Floats) -> npt.NDArray[np.float32]:
    """A grey frame as it is; of tiles every plane in its colour, as far as the model believes in it."""
    if not _are_tiles(observation[None]):
        return observation
    picture = np.empty((tiles.ROWS, tiles.COLUMNS, 3), np.float32)
    picture[:] = SKY
    for plane, colour in COLOURS.items():
        cells = observation[tiles.LAYOUT[plane]].reshape(tiles.ROWS, tiles.COLUMNS, 1).clip(0, 1)
        picture = picture * (1 - cells) + np.array(colour, np.float32) * cells
    return picture


def _are_tiles(observations: Floats) -> bool:
    return observations.shape[1:] == (tiles.SIZE,)


def _heading(run: RunDirectory, trained: TrainedModel, level: str | None) -> str:
    config = trained.config
    return f"{run.name}: dreams of {level or config.level} from {config.observation}, after {trained.steps:,} steps"
