"""A video of a route: what the screen shows from just before the level's start until Mario is in the castle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.runs.video import AFTER_THE_FLAG_FRAMES
from mario_rl.runs.video_file import video_file
from mario_rl.snapshots.routes import Route, frame_by_frame

BEFORE_THE_START_FRAMES = 30


def record_route(file: Path, route: Route, rom: bytes, between: Callable[[], None] = lambda: None) -> None:
    """Write the video; the file appears when it is complete. `between` is called after every frame."""
    console = EmbeddedEmulator(rom)
    with video_file(file) as video:
        for number in frame_by_frame(route, console, render=True):
            between()
            if number >= route.start_frame - BEFORE_THE_START_FRAMES:
                video.add(console.frame())
        for _ in range(AFTER_THE_FLAG_FRAMES):
            between()
            console.step(render=True)
            video.add(console.frame())
