"""The player and its file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.frames.config import NETWORKS
from mario_rl.selfplay.frames.landing_network import LandingNetwork
from mario_rl.selfplay.frames.network import make_network
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.players import ButtonPlayer
from tests.selfplay.frames.conftest import games_played_by_teacher


@pytest.mark.parametrize("kind", NETWORKS)
def test_round_trip_through_a_small_file(tmp_path: Path, kind: str) -> None:
    env = games_played_by_teacher(24, 50, players=2)
    player = FramesPlayer(make_network(kind, 64, 8.0), "mine", frame_skip=5, card={"steps": 3})
    assert isinstance(player, ButtonPlayer)
    player.save(tmp_path / "mine.pt")
    assert (tmp_path / "mine.pt").stat().st_size < 2_000_000
    again = FramesPlayer.load(tmp_path / "mine.pt")
    assert (again.name, again.frame_skip, again.card) == ("mine", 5, {"steps": 3})
    for seat in (0, 1):
        pads = again.hold(env.lanes.game, seat)
        assert pads.dtype == np.uint8 and np.isin(pads, DISCRETE).all()
        assert np.array_equal(pads, player.hold(env.lanes.game, seat))


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "player.pt"
    FramesPlayer(LandingNetwork()).save(file)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(RunError, match="damaged"):
        FramesPlayer.load(file)


def test_what_is_no_player_of_this_kind() -> None:
    state = FramesPlayer(LandingNetwork()).state()
    with pytest.raises(RunError, match="'placements'"):
        FramesPlayer.from_state(state | {"kind": "placements"}, "other")
    for change in (
        {"width": 32},
        {"network": "mlp"},
        {"network": "cnn"},
        {"frame_skip": 99},
        {"weights": {}},
        {"weights": 3},
        {"certainty": None},
    ):
        with pytest.raises(RunError) as problem:
            FramesPlayer.from_state(state | change, "other")
        assert "\n" not in str(problem.value)
