"""Mednafen agrees with our core and with the rules engine, frame by frame, and brings the routes to their flags."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks import reference_lockstep
from benchmarks.reference_lockstep import Pair, Tally, compare_antidote, compare_smb
from mario_rl.emulators.mednafen import MednafenEmulator
from mario_rl.environment.drmario.env import DrMarioEnv
from mario_rl.environment.drmario.placement import DrMarioPlacementEnv
from mario_rl.roms import antidote
from mario_rl.snapshots.replayers import MednafenReplayer
from mario_rl.snapshots.routes import packaged_route, replay
from tests.emulators.mednafen_here import mednafen_or_skip
from tests.environment.drmario.beside_engine import play_beside_engine

FRAMES_OF_A_GAME = 1500


@pytest.fixture(autouse=True, scope="module")
def _mednafen() -> None:
    mednafen_or_skip()


@pytest.fixture
def console() -> Iterator[MednafenEmulator]:
    console = MednafenEmulator(antidote())
    yield console
    console.close()


# --- our core -------------------------------------------------------------------------------------------------------


def test_super_mario_bros_is_the_same_on_both(smb_rom: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_lockstep, "QUICK_LEVELS", ("1-1", "2-2"))
    tally = compare_smb(smb_rom, quick=True)
    assert tally.frames > 3900 and tally.runs == 2
    assert tally.mismatches == 0, tally.first
    assert tally.cut <= 4, "frames that end in the middle of the game's work are rare"


def test_antidote_is_the_same_on_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_lockstep, "QUICK_GAMES", 2)
    tally = compare_antidote(antidote(), quick=True)
    assert tally.frames > 3900
    assert (tally.mismatches, tally.cut) == (0, 0), tally.first


def test_a_difference_is_found(smb_rom: Path) -> None:
    """One byte, in one frame in which the game has done its work."""
    tally = Tally()
    pair = Pair(smb_rom, 1, may_be_cut=True)

    def pads() -> Iterator[tuple[int, int]]:
        for frame in range(130):
            if frame in (100, 101):
                pair._theirs.ram[0x0160] ^= 1  # deep in the stack, where the game never gets
            yield (0, 0)

    pair.play("title", pads(), {}, tally)
    pair.close()
    assert (tally.mismatches, tally.cut) == (1, 0)
    assert "title frame 100: $0160 00 not 01" in tally.first[0]


# --- the rules engine -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [1, 2])
def test_the_rules_engine_plays_as_mednafen_does(console: MednafenEmulator, players: int) -> None:
    """Every byte of Dr. Mario's state, after every frame: as tests/cartridge/test_lockstep.py, on another emulator."""
    rng = random.Random(players)
    console.step(frames=11)
    for pad in [0x20, 0] * (players - 1) + [0x10]:
        console.step((pad, 0))
    console.step(frames=20)
    console.ram[[0x316, 0x396]] = 4 * players
    console.step((0x10, 0))
    while console.ram[0x46] != 3:
        console.step()
    for _ in play_beside_engine(console, rng, FRAMES_OF_A_GAME):
        pass


# --- environments ---------------------------------------------------------------------------------------------------


def _same(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return np.array_equal(one, other)  # type: ignore[arg-type]


def test_dr_mario_environments_play_on_it_as_on_the_rules() -> None:
    for kind, steps in ((DrMarioEnv, 250), (DrMarioPlacementEnv, 15)):
        envs = [kind(level=2, opponent="greedy", backend=backend) for backend in ("mednafen", "rules")]
        first, second = (env.reset(seed=5) for env in envs)
        assert _same(first[0], second[0])
        for env in envs:
            env.action_space.seed(1)
        info = first[1]
        for _ in range(steps):
            action = envs[0].action_space.sample(info.get("action_mask"))
            one, other = (env.step(action) for env in envs)
            assert _same(one[0], other[0]) and one[1:4] == other[1:4]
            info = one[4]
            if one[2] or one[3]:
                info, _ = (env.reset()[1] for env in envs)
        for env in envs:
            env.close()


# --- routes ---------------------------------------------------------------------------------------------------------


def test_routes_arrive_on_mednafen(smb_rom: Path) -> None:
    for level in ("1-1", "4-4", "7-2"):
        arrival = replay(packaged_route(level), MednafenReplayer(smb_rom))
        assert arrival.arrived, f"{level}: {arrival}"
