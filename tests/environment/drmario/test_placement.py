"""The environment in which a step is a capsule: what can be chosen, that it gets there, and what a step counts."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import mario_rl.environment
from mario_rl.environment.drmario.placement import DrMarioPlacementEnv
from mario_rl.environment.drmario.placements import PLACEMENT_FEATURES
from mario_rl.environment.drmario.rules import IMAGE
from tests.environment.drmario.plain_games import Chronicle, fill
from tests.environment.drmario.reference import EMPTY, Seat


def ram_of(env: DrMarioPlacementEnv) -> np.ndarray:
    return env.lanes.game.ram[0]


def legal(env: DrMarioPlacementEnv, random: np.random.Generator) -> int:
    return int(random.choice(np.flatnonzero(env.action_masks())))


def written(ram: np.ndarray, placement: int, seat: int = 0) -> list[int]:
    """The cells the reference would fill if the capsule locked there."""
    game = Chronicle(bytes(ram))
    own = game.seats[seat]
    own[5], own[6], own[0x25] = placement % 8, placement // 8 % 16, placement // 128
    before = bytes(game.ram)
    own.write_capsule()
    return [index for index in range(0x400, 0x600) if game.ram[index] != before[index]]


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"tucks": True, "features": True},
        {"observation": "placements"},
        {"observation": "flat", "opponent": "greedy"},
    ],
)
def test_gymnasium_s_checker_is_content(form: dict[str, Any]) -> None:
    env = gymnasium.make(mario_rl.environment.DRMARIO_PLACEMENT, render_mode="rgb_array", **form)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=False)


def drops(ram: np.ndarray) -> dict[int, int]:
    """By plain loops: where a capsule dropped straight down from the top lands, by action."""
    seat = Seat(bytearray(bytes(ram)), 0)
    landings = {}
    for rotation in range(4):
        for column in range(8):
            y = 16
            while y > 0 and seat.fits(column, y - 1, rotation):
                y -= 1
            if y < 16:
                landings[8 * rotation + column] = y
    return landings


def test_actions_are_straight_drops() -> None:
    """While the top rows are free, every column can be reached, and nothing but drops is the highest."""
    env = DrMarioPlacementEnv(level=9, speed="low")
    random = np.random.default_rng(0)
    checked = 0
    for seed in range(8):
        _, info = env.reset(seed=seed)
        for _ in range(6):
            if (ram_of(env)[0x400:0x418] != EMPTY).any():
                break
            landings = drops(ram_of(env))
            np.testing.assert_array_equal(info["action_mask"], [action in landings for action in range(32)])
            np.testing.assert_array_equal(env.action_masks(), info["action_mask"].astype(bool))
            action = legal(env, random)
            before = ram_of(env).copy()
            *_, terminated, _, info = env.step(action)
            assert info["placement"] == (action // 8) * 128 + landings[action] * 8 + action % 8
            assert info["landed"] and not info["illegal"] and info["missed"] == 0
            if terminated:
                break
            if info["lines"] == 0:
                changed = np.flatnonzero((before != ram_of(env))[0x400:0x480]) + 0x400
                assert set(changed) >= set(written(before, info["placement"])), "the halves lie there"
            checked += 1
    assert checked > 15


def overhang(env: DrMarioPlacementEnv) -> None:
    """A roof over the two leftmost columns, with room to slide in under it from the right."""
    ram = ram_of(env)
    ram[0x400:0x480] = EMPTY
    ram[0x400 + 8 * 10 : 0x400 + 8 * 10 + 2] = (0xD0, 0xD1)
    ram[0x400 + 8 * 15 + 7] = 0xD2
    ram[0x324] = 3
    env.lanes.choices[0].look()


@pytest.mark.parametrize("backend", ["rules", "embedded"])
def test_tucks(backend: str) -> None:
    plain = DrMarioPlacementEnv(speed="low", backend=backend)
    plain.reset(seed=1)
    overhang(plain)
    env = DrMarioPlacementEnv(speed="low", tucks=True, backend=backend)
    env.reset(seed=1)
    overhang(env)
    masks = env.action_masks()
    assert env.action_space.n == len(masks) == 512  # type: ignore[attr-defined]
    under = 0 * 128 + 0 * 8 + 0  # flat on the floor in the corner, under the roof
    on_top = 0 * 128 + 6 * 8 + 0
    assert masks[under] and masks[on_top] and not masks[8 + 0], "not in mid-air"
    cells = written(ram_of(env), under)
    *_, info = env.step(under)
    assert info["landed"] and info["placement"] == under
    assert [ram_of(env)[cell] & 0xF0 for cell in cells] == [0x60, 0x70]
    *_, info = plain.step(0)
    assert info["landed"] and info["placement"] == on_top, "without tucks the same action stays on the roof"


def test_distinct_leaves_out_what_looks_the_same() -> None:
    env = DrMarioPlacementEnv(tucks=True)
    distinct = DrMarioPlacementEnv(tucks=True, distinct=True)
    seen = set()
    for seed in range(12):
        env.reset(seed=seed)
        distinct.reset(seed=seed)
        one_colour = bool(ram_of(env)[0x301] == ram_of(env)[0x302])
        masks, fewer = env.action_masks(), distinct.action_masks()
        assert not (fewer & ~masks).any()
        looks = {tuple(_look_of(ram_of(env), placement)) for placement in np.flatnonzero(masks)}
        assert fewer.sum() == len(looks)
        assert (len(looks) < masks.sum()) == one_colour
        seen.add(one_colour)
    assert seen == {True, False}


def _look_of(ram: np.ndarray, placement: int) -> bytes:
    game = Chronicle(bytes(ram))
    own = game.seats[0]
    own[5], own[6], own[0x25] = placement % 8, placement // 8 % 16, placement // 128
    own.write_capsule()
    return bytes(game.ram[0x400:0x480])


def test_a_forbidden_action_lets_the_capsule_fall() -> None:
    env = DrMarioPlacementEnv()
    _, info = env.reset(seed=3)
    forbidden = 7  # flat in the rightmost column
    assert not info["action_mask"][forbidden]
    landing = drops(ram_of(env))[3]
    *_, info = env.step(forbidden)
    assert info["illegal"] and info["landed"] and info["placement"] == landing * 8 + 3
    with pytest.raises(ValueError, match="0 to 31"):
        env.step(32)


class Recorder:
    """Writes down every frame's pads on their way to the games."""

    def __init__(self, env: DrMarioPlacementEnv):
        self.pads: list[tuple[int, int]] = []
        self._step = env.lanes.games.step
        env.lanes.games.step = self.step  # type: ignore[method-assign]

    def step(self, pads: np.ndarray, frames: Any = 1, lanes: Any = None) -> None:
        count = int(np.broadcast_to(frames, 1)[0]) if lanes is None or lanes[0] else 0
        self.pads += [(int(pads[0, 0]), int(pads[0, 1]))] * count
        self._step(pads, frames, lanes)


@pytest.mark.parametrize("opponent", [None, "greedy", "nobody"])
@pytest.mark.parametrize("speed", ["low", "hi"])
def test_a_step_counts_what_happened_in_its_frames(opponent: str | None, speed: str) -> None:
    """The pads of all frames of a console, played again by the plain reference, which counts events where they happen.

    The rules engine, which follows scripts in one call, comes to the same.
    """
    settings: dict[str, Any] = {"opponent": opponent} if opponent != "nobody" else {"players": 2}
    events = 0
    for seed in range(5):
        engine = DrMarioPlacementEnv(level=8, speed=speed, **settings)
        console = DrMarioPlacementEnv(level=8, speed=speed, backend="embedded", **settings)
        engine.reset(seed=seed)
        game, played = Chronicle(bytes(ram_of(engine))), 0
        fill(game, seed)
        console.reset(seed=seed)
        for env in (engine, console):
            ram_of(env)[IMAGE] = np.frombuffer(game.ram, np.uint8)[IMAGE]
            env.lanes.choices[0].look()
            env.lanes.rounds.begin(np.ones(1, np.bool_), env.lanes.game)
        recorder = Recorder(console)
        random = np.random.default_rng(seed)
        for number in range(30):
            action = legal(engine, random)
            _, reward, terminated, _, info = engine.step(action)
            _, other_reward, *_ = console.step(action)
            assert reward == other_reward
            assert info["capsules"] == number + 2 or terminated, "a step is a capsule: none passes unasked"
            assert info["frame"] == len(recorder.pads)
            for both in recorder.pads[played:]:
                game.step(*both)
            played = len(recorder.pads)
            for env in (engine, console):
                assert bytes(ram_of(env)[IMAGE]) == bytes(np.frombuffer(game.ram, np.uint8)[IMAGE])
                for name, counted in game.counts.items():
                    assert getattr(env.lanes.rounds.tally, name)[0].tolist() == counted, name
            assert info["viruses_cleared"] == game.counts["viruses"][0]
            if terminated:
                break
        events += game.counts["links"][0] + game.counts["viruses"][0]
    assert events > 20


@pytest.mark.parametrize("settings", [{"level": 5}, {"level": 10, "speed": "hi", "opponent": "greedy"}])
def test_consoles_play_the_same_and_the_capsules_land(settings: dict[str, Any]) -> None:
    rules, console = DrMarioPlacementEnv(**settings), DrMarioPlacementEnv(backend="embedded", **settings)
    np.testing.assert_array_equal(rules.reset(seed=6)[0], console.reset(seed=6)[0])
    random = np.random.default_rng(0)
    for _ in range(25):
        action = legal(rules, random)
        (seen, *rest, info), (other_seen, *other_rest, other_info) = rules.step(action), console.step(action)
        np.testing.assert_array_equal(seen, other_seen)
        np.testing.assert_array_equal(info.pop("action_mask"), other_info.pop("action_mask"))
        assert (rest, info) == (other_rest, other_info)
        assert other_info["landed"] and other_info["missed"] == 0
        if rest[1]:
            break


def test_a_capsule_that_went_astray_is_reported() -> None:
    """A console on which, for once, the pad is not heard."""
    env = DrMarioPlacementEnv(backend="embedded", level=0)
    env.reset(seed=0)
    step = env.lanes.games.step
    env.lanes.games.step = lambda pads, frames=1, lanes=None: step(pads * 0, frames, lanes)  # type: ignore[method-assign]
    *_, info = env.step(8 * 1 + 7)
    assert not info["landed"] and info["missed"] == 1
    env.lanes.games.step = step  # type: ignore[method-assign]
    *_, info = env.step(8 * 1 + 7)
    assert info["landed"] and info["missed"] == 1
    assert env.reset()[1]["missed"] == 0


def test_a_capsule_that_locked_in_another_column_is_reported() -> None:
    """A console on which left and right are exchanged: it locks in time, but elsewhere."""
    env = DrMarioPlacementEnv(level=0, backend="embedded")
    env.reset(seed=0)
    ram_of(env)[0x400:0x480] = EMPTY
    env.lanes.choices[0].look()
    step = env.lanes.games.step

    def exchanged(pads: np.ndarray, frames: Any = 1, lanes: Any = None) -> None:
        step((pads & 0xFC) | (pads & 1) << 1 | (pads & 2) >> 1, frames, lanes)

    env.lanes.games.step = exchanged  # type: ignore[method-assign]
    *_, info = env.step(5)
    assert not info["landed"] and info["missed"] == 1
    assert (ram_of(env)[0x400 + 8 * 15 + 1] & 0xF0) == 0x60


def test_features_of_placements() -> None:
    env = DrMarioPlacementEnv(observation="placements", level=12)
    seen, info = env.reset(seed=0)
    assert seen.shape == (32, len(PLACEMENT_FEATURES))
    assert (seen.any(axis=1) == info["action_mask"]).all()
    upright = seen[:, PLACEMENT_FEATURES.index("upright")]
    for action in np.flatnonzero(info["action_mask"]):
        assert upright[action] == action // 8 % 2
    landings = drops(ram_of(env))
    top = seen[:, PLACEMENT_FEATURES.index("top_row")] * 16
    for action, y in landings.items():
        assert top[action] == y + 1 + action // 8 % 2


def test_a_policy_in_the_other_seat() -> None:
    asked = []

    def policy(observation: np.ndarray, mask: np.ndarray) -> int:
        asked.append((observation, mask))
        return int(np.flatnonzero(mask)[-1])

    env = DrMarioPlacementEnv(opponent=policy, level=1)
    seen, _ = env.reset(seed=0)
    for _ in range(4):
        *_, info = env.step(0)
    np.testing.assert_array_equal(asked[0][0][6:], seen[:6])
    assert asked[0][1].shape == (32,) and asked[0][1].dtype == np.bool_
    assert len(asked) >= 3 and info["capsules_opponent"] >= 3
    env = DrMarioPlacementEnv(opponent=lambda observation, mask: 99)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="the opponent's policy returned"):
        env.step(0)


def test_mistakes_in_settings_are_one_line() -> None:
    for settings, says in (
        ({"observation": "pixels"}, "unknown observation 'pixels'"),
        ({"observation": "placements", "features": True}, "features=True goes with"),
    ):
        with pytest.raises(ValueError, match=says):
            DrMarioPlacementEnv(**settings)
