"""A console that is lost and comes back somewhere else: the episode is cut off, the next one is as good as any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mario_rl.emulators.base import EmulatorReset
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.environment.drmario.env import DrMarioEnv
from mario_rl.environment.drmario.lanes import MOST_LOSSES
from mario_rl.environment.drmario.placement import DrMarioPlacementEnv
from mario_rl.environment.drmario.vector import DrMarioVectorEnv
from mario_rl.roms import antidote
from tests.snapshots.lives import assert_same


class Losable(EmbeddedEmulator):
    """A console that can be lost, as one in a process of its own can: then it is back at power-on, and says so once."""

    def __init__(self) -> None:
        super().__init__(antidote())
        self.calls_to_live: int | None = None  # until it is lost
        self.losses = 0

    def step(self, pads: tuple[int, int] = (0, 0), frames: int = 1, render: bool = False) -> None:
        self._live()
        super().step(pads, frames, render)

    def load(self, state: bytes) -> None:
        self._live()
        super().load(state)

    def _live(self) -> None:
        if self.calls_to_live is None:
            return
        self.calls_to_live -= 1
        if self.calls_to_live < 0:
            self.calls_to_live = None
            self.losses += 1
            self.power()
            raise EmulatorReset(self.losses)


@pytest.mark.parametrize("kind", [DrMarioEnv, DrMarioPlacementEnv])
def test_the_episode_is_cut_off_and_the_next_one_is_like_any(kind: Any) -> None:
    console = Losable()
    env = kind(console, level=3)
    env.reset(seed=1)
    action = 3
    assert not env.step(action)[4]["interrupted"]
    console.calls_to_live = 1 if kind is DrMarioPlacementEnv else 0
    _, reward, terminated, truncated, info = env.step(action)
    assert (terminated, truncated, info["interrupted"], info["result"]) == (False, True, True, "")
    assert reward == info["reward_terms"]["survival"], "nothing else is paid for what was lost"

    fresh = kind(EmbeddedEmulator(antidote()), level=3)
    assert_same(env.reset(seed=7), fresh.reset(seed=7))
    assert_same(env.step(action), fresh.step(action))


@pytest.mark.parametrize("calls", [0, 1, 2, 5, 10])
def test_a_loss_on_the_way_into_a_round_only_takes_longer(calls: int) -> None:
    console = Losable()
    env = DrMarioEnv(console, level=3)
    env.reset(seed=0)
    console.calls_to_live = calls
    first = env.reset(seed=7)
    assert console.losses == 1, "it was on the way"
    assert_same(first, DrMarioEnv(EmbeddedEmulator(antidote()), level=3).reset(seed=7))


def test_a_console_that_is_lost_again_and_again_is_given_up() -> None:
    class Hopeless(Losable):
        def load(self, state: bytes) -> None:
            raise EmulatorReset(1)

    with pytest.raises(RuntimeError, match=f"lost {MOST_LOSSES} times") as error:
        DrMarioEnv(Hopeless()).reset(seed=0)
    assert "\n" not in str(error.value)


def test_the_other_lanes_play_on() -> None:
    consoles = [Losable(), Losable()]
    env = DrMarioVectorEnv(2, backend=consoles, level=3)
    env.reset(seed=1)
    consoles[1].calls_to_live = 0
    _, _, terminated, truncated, infos = env.step(np.array([0, 0]))
    assert not terminated.any() and truncated.tolist() == [False, True]
    assert infos["final_info"]["interrupted"].tolist() == [False, True]
    assert infos["interrupted"].tolist() == [False, False] and infos["episode_length"].tolist() == [1, 0]
