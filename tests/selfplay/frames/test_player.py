"""The player and its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.frames.measure import main, measure, wilson
from mario_rl.selfplay.frames.network import FramesNetwork
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.players import ButtonPlayer
from tests.selfplay.frames.conftest import games_played_by_teacher


def test_round_trip_through_a_small_file(tmp_path: Path) -> None:
    env = games_played_by_teacher(24, 50, players=2)
    player = FramesPlayer(FramesNetwork(), "mine", frame_skip=5, card={"steps": 3})
    assert isinstance(player, ButtonPlayer)
    player.save(tmp_path / "mine.pt")
    assert (tmp_path / "mine.pt").stat().st_size < 2_000_000
    again = FramesPlayer.load(tmp_path / "mine.pt")
    assert (again.name, again.frame_skip, again.card) == ("mine", 5, {"steps": 3})
    for seat in (0, 1):
        pads = again.hold(env.lanes.game, seat)
        assert pads.dtype == np.uint8 and np.isin(pads, DISCRETE).all()
        assert np.array_equal(pads, player.hold(env.lanes.game, seat))


def test_a_damaged_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "player.pt"
    FramesPlayer(FramesNetwork()).save(file)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(RunError, match="damaged"):
        FramesPlayer.load(file)
    assert main([str(file)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_what_is_no_player_of_this_kind() -> None:
    state = FramesPlayer(FramesNetwork()).state()
    with pytest.raises(RunError, match="'placements'"):
        FramesPlayer.from_state(state | {"kind": "placements"}, "other")
    for change in ({"width": 32}, {"frame_skip": 99}, {"weights": {}}, {"weights": 3}, {"certainty": None}):
        with pytest.raises(RunError) as problem:
            FramesPlayer.from_state(state | change, "other")
        assert "\n" not in str(problem.value)


class Dropper:
    """Holds down, whatever comes."""

    frame_skip = 4

    def act(self, game: GameMemory, seat: int) -> npt.NDArray[np.int64]:
        return np.full(len(game.ram), 3)


def test_measures_every_game_once() -> None:
    solo = measure(Dropper(), level=0, games=6, seed=11)
    assert (solo.games, solo.level, solo.seed, solo.cleared) == (6, 0, 11, 0)
    assert solo.low == 0 < solo.high < 0.5
    assert solo.capsules_per_clear is None and solo.truncated == 0
    assert solo == measure(Dropper(), level=0, games=6, seed=11)


def test_interval_of_a_rate() -> None:
    low, high = wilson(200, 200)
    assert low == pytest.approx(0.9812, abs=1e-3) and high == pytest.approx(1)
    low, high = wilson(50, 100)
    assert low == pytest.approx(0.4038, abs=1e-3) and high == pytest.approx(0.5962, abs=1e-3)
