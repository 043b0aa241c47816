"""Videos of a trained model: the best of several episodes, every frame of it, as MP4 or GIF."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mario_rl.runs.directory import RunError
from mario_rl.runs.evaluate import Episode
from mario_rl.runs.player import Picture, Player
from mario_rl.runs.video_file import VIDEO_FORMATS, video_file

AFTER_THE_FLAG_FRAMES = 240  # slide down, walk into the castle
AFTER_ANYTHING_ELSE_FRAMES = 120


@dataclass(frozen=True)
class Take:
    """An episode that was played, and the seed that plays it again."""

    seed: int
    episode: Episode

    @property
    def merit(self) -> tuple[bool, int, int]:
        """What makes it worth a video: the flag, then the distance, then speed."""
        return self.episode.flag, self.episode.x, -self.episode.steps


def best_take(player: Player, episodes: int, seed: int, progress: Callable[[int, int], None] | None = None) -> Take:
    """Play several episodes without drawing; the one to show."""
    if episodes < 1:
        raise ValueError(f"choosing the best episode needs at least 1, not {episodes}")
    takes = []
    for number in range(episodes):
        *_, last = player.play(seed + number, drawn=False)
        takes.append(Take(seed + number, last.episode))
        if progress is not None:
            progress(number + 1, episodes)
    return max(takes, key=lambda take: take.merit)


def record(player: Player, take: Take, files: Sequence[Path]) -> None:
    """Play a take again and write its video to these files (.mp4 or .gif); each appears when it is complete."""
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(video_file(file)) for file in files]
        for picture in _pictures(player, take):
            for writer in writers:
                writer.add(picture)


def check_video_file(file: Path) -> None:
    """Complain about a file that no video can be written to, before anybody has waited for one."""
    if file.suffix.lower() not in VIDEO_FORMATS:
        raise RunError(f"a video's name ends in {' or '.join(VIDEO_FORMATS)}, unlike {file.name!r}")
    if not file.resolve().parent.is_dir():
        raise RunError(f"{file.resolve().parent}: no such directory for the video")
    if file.is_dir():
        raise RunError(f"{file} is a directory; name a file in it")


def _pictures(player: Player, take: Take) -> Iterator[Picture]:
    for moment in player.play(take.seed):
        yield from moment.frames
    if moment.episode != take.episode:
        raise AssertionError(f"the replay of {take} ended as {moment.episode}")
    yield from player.afterwards(AFTER_THE_FLAG_FRAMES if take.episode.flag else AFTER_ANYTHING_ELSE_FRAMES)
