"""Videos: complete files or none, and every frame in them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import psutil
import pytest
from PIL import Image, ImageSequence

from mario_rl.runs.directory import RunError
from mario_rl.runs.evaluate import Episode
from mario_rl.runs.player import Picture, Player
from mario_rl.runs.video import AFTER_ANYTHING_ELSE_FRAMES, Take, best_take, check_video_file, record
from mario_rl.runs.video_file import Gif, video_file
from tests.runs.players import Chooser, Walker, trained


@pytest.fixture
def walker(smb_rom: Path) -> Iterator[Player]:
    with closing(Player(trained(Walker()))) as player:
        yield player


def frames_of_mp4(file: Path) -> tuple[np.ndarray, str]:
    """The frames as a player decodes them, in the console's size again, and what ffmpeg says of the file."""
    ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
    command = [
        ffmpeg,
        "-i",
        str(file),
        "-vf",
        "scale=256:240:flags=neighbor",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-",
    ]
    decoded = subprocess.run(command, capture_output=True, check=True)
    return np.frombuffer(decoded.stdout, np.uint8).reshape(-1, 240, 256, 3), decoded.stderr.decode()


def test_an_episode_as_mp4_and_gif(walker: Player, tmp_path: Path) -> None:
    take = best_take(walker, 1, seed=5)
    expected = [frame for moment in walker.play(take.seed) for frame in moment.frames]
    expected += list(walker.afterwards(AFTER_ANYTHING_ELSE_FRAMES))
    files = [tmp_path / "death.mp4", tmp_path / "death.gif"]
    record(walker, take, files)
    assert sorted(tmp_path.iterdir()) == sorted(files), "nothing else is left"

    shown, description = frames_of_mp4(files[0])
    assert "h264" in description
    assert "yuv420p" in description
    assert "768x720" in description
    assert "60 fps" in description
    assert len(shown) == len(expected)
    for number in range(0, len(expected), 37):
        difference = np.abs(shown[number].astype(int) - expected[number]).mean()
        assert difference < 5, f"frame {number} is not the same but for the coding"

    with Image.open(files[1]) as gif:
        hundredths = 0
        pictures: dict[int, Picture] = {}
        for frame in ImageSequence.Iterator(gif):
            for moment in range(hundredths, hundredths + frame.info["duration"] // 10):
                pictures[moment] = np.asarray(frame.convert("RGB"))
            hundredths += frame.info["duration"] // 10
    assert hundredths == pytest.approx(len(expected) / 60 * 100, abs=8), "as long as the game, within one picture"
    for number in range(0, len(expected), 4):
        np.testing.assert_array_equal(pictures[round(number / 60 * 100)], expected[number])


def test_the_best_of_several(smb_rom: Path) -> None:
    with closing(Player(trained(Chooser()))) as player:
        ends = {}
        for seed in range(10, 16):
            *_, last = player.play(seed, drawn=False)
            ends[seed] = last.episode
        counted: list[tuple[int, int]] = []
        take = best_take(player, 6, seed=10, progress=lambda *numbers: counted.append(numbers))
    assert take.episode == ends[take.seed]
    assert take.episode.x == max(end.x for end in ends.values())
    assert counted == [(number, 6) for number in range(1, 7)]


def test_the_flag_comes_before_distance_before_speed() -> None:
    in_order = [
        Take(0, Episode("1-2", True, 3000, 400)),
        Take(1, Episode("1-2", True, 2900, 100)),
        Take(2, Episode("1-2", False, 3100, 90)),
        Take(3, Episode("1-2", False, 3100, 95)),
        Take(4, Episode("1-2", False, 40, 1)),
    ]
    assert sorted(in_order, key=lambda take: take.merit) == in_order[::-1]


@pytest.mark.parametrize("name", ["x.mp4", "x.gif"])
def test_an_interrupted_video_leaves_nothing(name: str, tmp_path: Path) -> None:
    before = {child.pid for child in psutil.Process().children()}
    with pytest.raises(KeyboardInterrupt), video_file(tmp_path / name) as video:
        video.add(np.zeros((240, 256, 3), np.uint8))
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
    assert {child.pid for child in psutil.Process().children()} <= before, "ffmpeg has ended"


@pytest.mark.parametrize("name", ["x.mp4", "x.gif"])
def test_a_full_disk_is_one_clear_error(name: str, tmp_path: Path, full_disk) -> None:
    (tmp_path / name).write_text("the video before")
    noise = np.random.default_rng(0).integers(0, 2, (60, 240, 256, 3), np.uint8) * np.uint8(255)
    complaint = pytest.raises(RunError, match=f"cannot write .*{name}")
    with full_disk(20_000), complaint, video_file(tmp_path / name) as video:
        for picture in noise:
            video.add(picture)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "the video before"


def test_colours_beyond_the_palette_become_the_nearest(tmp_path: Path) -> None:
    """The console has 64 colours; should a picture have more than 256, it is still written."""
    picture = np.zeros((240, 256, 3), np.uint8)
    picture[..., 0] = np.arange(240)[:, None]
    picture[..., 1] = np.arange(256)[None] // 128
    gif = Gif(tmp_path / "x.gif")
    gif.add(picture)
    gif.finish()
    with Image.open(tmp_path / "x.gif") as written:
        difference = np.abs(np.asarray(written.convert("RGB")).astype(int) - picture)
    assert difference.max() > 0
    assert np.median(difference) == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.avi", r"ends in \.mp4 or \.gif"),
        ("nowhere/x.mp4", "nowhere: no such directory"),
        ("taken.gif", "is a directory"),
    ],
)
def test_files_that_cannot_be(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "taken.gif").mkdir()
    with pytest.raises(RunError, match=words):
        check_video_file(tmp_path / name)
