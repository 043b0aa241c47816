"""Video files, written picture by picture; one appears under its name only when it is complete."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import imageio_ffmpeg  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt
from PIL import Image

from mario_rl.atomic_file import take_name
from mario_rl.emulators.base import SCREEN_HEIGHT, SCREEN_WIDTH
from mario_rl.environment.rendering import FRAMES_PER_SECOND
from mario_rl.runs.directory import RunError

Picture = npt.NDArray[np.uint8]

MP4_SCALE = 3  # 768 x 720; a whole number, so that all pixels are the same size
MP4_QUALITY = 18  # x264's constant rate factor; nobody sees a difference below
GIF_EVERY = 4  # frames; with all of them it would be several times as large
MOST_GIF_COLOURS = 256


class VideoFile(Protocol):
    """A video that is being written."""

    def __init__(self, file: Path, width: int = SCREEN_WIDTH) -> None: ...

    def add(self, picture: Picture) -> None:
        """The next frame, uint8[240, width, 3]: the console's picture, and what may stand beside it."""

    def finish(self) -> None:
        """Complete the file; an OSError says why that is not possible."""

    def abandon(self) -> None:
        """Stop; nobody wants the file any more."""


class Mp4:
    """H.264 in yuv420p, which every player plays: all frames, enlarged without smoothing."""

    def __init__(self, file: Path, width: int = SCREEN_WIDTH):
        size = f"{width * MP4_SCALE}:{SCREEN_HEIGHT * MP4_SCALE}"
        source = f"-f rawvideo -pix_fmt rgb24 -s {width}x{SCREEN_HEIGHT} -r {FRAMES_PER_SECOND} -i -"
        # Without the colour tags players guess how to turn yuv into colours, and disagree.
        picture = f"-vf scale={size}:flags=neighbor:out_color_matrix=bt709 -pix_fmt yuv420p"
        colours = "-colorspace bt709 -color_primaries bt709 -color_trc bt709"
        # faststart puts the index first: a browser can begin before it has everything.
        coding = f"-c:v libx264 -crf {MP4_QUALITY} -preset veryfast -movflags +faststart -f mp4"
        options = f"-y -loglevel error {source} {picture} {colours} {coding}".split()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  open as long as ffmpeg runs
        self._ffmpeg = subprocess.Popen(
            [imageio_ffmpeg.get_ffmpeg_exe(), *options, str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._complaints,
            start_new_session=True,  # Ctrl-C is for us, and we stop it
        )

    def add(self, picture: Picture) -> None:
        """See `VideoFile`."""
        assert self._ffmpeg.stdin is not None
        try:
            self._ffmpeg.stdin.write(picture.tobytes())
        except BrokenPipeError:
            self.finish()  # says why ffmpeg has gone

    def finish(self) -> None:
        """See `VideoFile`."""
        with contextlib.suppress(BrokenPipeError):
            self._ffmpeg.communicate()
        self._complaints.seek(0)
        complaints = self._complaints.read().decode(errors="replace").splitlines()
        self._complaints.close()
        if self._ffmpeg.returncode != 0:
            raise OSError(complaints[0] if complaints else f"ffmpeg ended with {self._ffmpeg.returncode}")

    def abandon(self) -> None:
        """See `VideoFile`."""
        self._ffmpeg.kill()
        with contextlib.suppress(BrokenPipeError, ValueError):  # ValueError: closed by finish already
            self._ffmpeg.communicate()
        self._complaints.close()


class Gif:
    """The console's own size and colours (it has 64, so nothing is lost), and some of its frames."""

    def __init__(self, file: Path, width: int = SCREEN_WIDTH):
        self._file = file
        self._images: list[Image.Image] = []
        self._numbers: dict[int, int] = {}  # of the colours met so far, 0xRRGGBB
        self._pictures = 0

    def add(self, picture: Picture) -> None:
        """See `VideoFile`."""
        if self._pictures % GIF_EVERY == 0:
            self._images.append(self._indexed(picture))
        self._pictures += 1

    def finish(self) -> None:
        """See `VideoFile`."""
        palette = b"".join(colour.to_bytes(3, "big") for colour in self._numbers)
        for image in self._images:
            image.putpalette(palette)
        # A GIF counts hundredths of a second: rounding the moments, not the durations, keeps it in time.
        begins = [round(100 * GIF_EVERY * number / FRAMES_PER_SECOND) for number in range(len(self._images) + 1)]
        milliseconds = [10 * (end - begin) for begin, end in pairwise(begins)]
        first, *others = self._images
        first.save(self._file, "GIF", save_all=True, append_images=others, duration=milliseconds, loop=0)

    def abandon(self) -> None:
        """See `VideoFile`."""
        self._images.clear()

    def _indexed(self, picture: Picture) -> Image.Image:
        red, green, blue = np.moveaxis(picture.astype(np.int32), 2, 0)
        colours, indices = np.unique(red << 16 | green << 8 | blue, return_inverse=True)
        numbers = np.array([self._number(int(colour)) for colour in colours], np.uint8)
        return Image.fromarray(numbers[indices].reshape(picture.shape[:2])).convert("P")

    def _number(self, colour: int) -> int:
        """The colour's number in the palette; once that is full, the number of the nearest one."""
        if colour not in self._numbers and len(self._numbers) == MOST_GIF_COLOURS:
            return min(self._numbers.items(), key=lambda known: _distance(known[0], colour))[1]
        return self._numbers.setdefault(colour, len(self._numbers))


def _distance(one: int, other: int) -> int:
    return sum((a - b) ** 2 for a, b in zip(one.to_bytes(3, "big"), other.to_bytes(3, "big"), strict=True))


VIDEO_FORMATS: dict[str, type[VideoFile]] = {".mp4": Mp4, ".gif": Gif}


@contextlib.contextmanager
def video_file(file: Path, width: int = SCREEN_WIDTH) -> Iterator[VideoFile]:
    """A video, so many pixels wide, of the format that the name ends in. If the block fails, nothing is left of it."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        video = VIDEO_FORMATS[file.suffix.lower()](temporary, width)
        try:
            yield video
            video.finish()
        except BaseException:
            video.abandon()
            raise
        take_name(temporary, file)
    except OSError as problem:
        raise RunError(f"cannot write {file}: {problem}") from problem
    finally:
        temporary.unlink(missing_ok=True)
