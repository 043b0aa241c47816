"""The environment in which an agent presses buttons: contracts, steps, what is paid and told, on all backends."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import mario_rl.environment
from mario_rl.emulators.base import DOWN, LEFT, RIGHT, A, B
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.environment.drmario.env import DrMarioEnv
from mario_rl.environment.drmario.reward import TERMS, RewardWeights
from mario_rl.environment.drmario.rules import IMAGE
from mario_rl.environment.factory import make_env
from mario_rl.roms import antidote
from tests.emulators.test_rom import cartridge
from tests.environment.drmario.plain_games import begin, fill

FORMS: tuple[dict[str, Any], ...] = (
    {},
    {"features": True, "players": 2},
    {"observation": "flat", "actions": "multidiscrete"},
)
INFO = {
    *("frame", "episode_length", "seed", "level", "speed", "viruses", "viruses_opponent", "capsules"),
    *("capsules_opponent", "score", "combo", "lines", "viruses_cleared", "garbage_sent", "garbage_received"),
    *("pad", "pad_opponent", "interrupted", "result", "reward_terms"),
}


def ram_of(env: DrMarioEnv) -> np.ndarray:
    return env.lanes.game.ram[0]


# --- contracts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_gymnasium_s_checker_is_content(form: dict[str, Any]) -> None:
    env = gymnasium.make(mario_rl.environment.DRMARIO, render_mode="rgb_array", **form)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=False)


@pytest.mark.parametrize("form", FORMS)
def test_stable_baselines3_s_checker_is_content(form: dict[str, Any]) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for planes_are_no_image in ("Your observation", "It seems that your observation", "The minimal resolution"):
            warnings.filterwarnings("ignore", message=planes_are_no_image)
        checker.check_env(DrMarioEnv(**form))


def test_the_twelve_actions() -> None:
    """In the order of the table in docs/drmario.md."""
    expected = [0, LEFT, RIGHT, DOWN, A, B, LEFT | A, RIGHT | A, LEFT | B, RIGHT | B, DOWN | LEFT, DOWN | RIGHT]
    assert list(DISCRETE) == expected
    env = DrMarioEnv()
    env.reset(seed=0)
    for action, pad in enumerate(expected):
        assert env.step(action)[4]["pad"] == pad == ram_of(env)[0xF7]


def test_the_multidiscrete_actions() -> None:
    env = DrMarioEnv(actions="multidiscrete")
    env.reset(seed=0)
    for d_pad, left_or_right in enumerate((0, LEFT, RIGHT)):
        for rotate, a_or_b in enumerate((0, A, B)):
            for drop, down in enumerate((0, DOWN)):
                assert env.step([d_pad, rotate, drop])[4]["pad"] == left_or_right | a_or_b | down


# --- steps, episodes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [1, 2])
@pytest.mark.parametrize("speed", ["low", "med", "hi"])
def test_a_reset_ends_where_the_first_capsule_can_be_moved(players: int, speed: str) -> None:
    env = DrMarioEnv(level=4, speed=speed, players=players, frame_skip=1)
    _, info = env.reset(seed=3)
    ram = ram_of(env)
    assert (ram[0x46], ram[0x317], ram[0x312], ram[0x306], ram[0x305]) == (4, 0, 0, 15, 3)
    assert (info["frame"], info["capsules"], info["viruses"], info["level"]) == (0, 1, 20, 4)
    env.step(1)  # left
    assert ram[0x305] == 2, "the very next frame moves it"


@pytest.mark.parametrize("players", [1, 2])
def test_a_step_is_what_the_reference_does_and_pays_what_happened_there(players: int) -> None:
    """Random buttons in lock-step with the plain reference, which counts what happens where it happens."""
    weights = RewardWeights()
    cleared = 0
    for number, frame_skip in enumerate((4, 6, 7, 16)):
        env = DrMarioEnv(level=3 * number, speed=number % 3, players=players, frame_skip=frame_skip)
        _, info = env.reset(seed=number)
        game = begin(info["seed"], 3 * number, players, number % 3)
        while game.seats[0][0x17] != 0:
            game.step(0)
        fill(game, number)
        ram_of(env)[:] = np.frombuffer(game.ram, np.uint8)
        env.lanes.rounds.begin(np.ones(1, np.bool_), env.lanes.game)
        random = np.random.default_rng(number)
        for _ in range(9000 // frame_skip):
            action = int(random.integers(12))
            counted = {name: value[0] for name, value in game.counts.items()}
            before = game.seats[0][0x24]
            for _ in range(frame_skip):
                game.step(DISCRETE[action], 0)
            _, reward, terminated, _, info = env.step(action)
            assert bytes(ram_of(env)[IMAGE]) == bytes(np.frombuffer(game.ram, np.uint8)[IMAGE])
            events = {name: value[0] - counted[name] for name, value in game.counts.items()}
            terms = info["reward_terms"]
            assert terms["virus"] == pytest.approx(weights.virus * events["viruses"])
            assert terms["pills"] == pytest.approx(weights.pills * events["pieces"])
            assert terms["combo"] == pytest.approx(weights.combo * events["links"])
            assert reward == pytest.approx(sum(terms.values()), rel=1e-6)
            cleared += events["viruses"]
            assert info["viruses"] == int(f"{game.seats[0][0x24]:x}") and before >= game.seats[0][0x24]
            assert (info["garbage_sent"], info["garbage_received"]) == (
                game.counts["sent"][0],
                game.counts["received"][0],
            )
            if terminated:
                break
        assert terminated and info["result"] in ("top_out", "win")
        assert terms["top_out"] == (weights.top_out if info["result"] == "top_out" else 0)
    assert cleared > 5


def test_a_cleared_bottle_is_won() -> None:
    env = DrMarioEnv(level=0)
    env.reset(seed=1)
    ram = ram_of(env)
    ram[0x400:0x480] = 0xFF
    ram[0x400 + 8 * 15 : 0x400 + 8 * 15 + 5] = [0xD0, 0xD0, 0xD0, 0x80, 0xFF]  # four yellow ones side by side
    ram[0x324] = 3
    won = None
    for _ in range(200):
        _, reward, terminated, truncated, info = env.step(3)
        if terminated:
            won = (reward, info)
            break
    assert won is not None and not truncated
    reward, info = won
    assert info["result"] == "win" and info["viruses"] == 0
    assert info["reward_terms"]["win"] == 1000 and info["reward_terms"]["virus"] == 300
    assert info["reward_terms"]["pills"] == 5 and info["reward_terms"]["top_out"] == 0


def test_a_long_step_counts_a_match_that_comes_right_after_another() -> None:
    """The counter of matched cells stands at 4 before and after: the old four are forgotten, and four are matched."""
    env = DrMarioEnv(level=0, frame_skip=16)
    env.reset(seed=1)
    ram = ram_of(env)
    ram[0x400:0x480] = 0xFF
    ram[0x400:0x408] = [0xFF, 0xFF, 0x80, 0xFF, 0xFF, 0x80, 0xFF, 0xFF]
    ram[0x408:0x410] = [0xD1, 0xD2] * 4  # the capsule, yellow, locks in the top row between two yellow pieces
    ram[0x301] = ram[0x302] = 0
    ram[0x324], ram[0x321] = 8, 4
    env.lanes.rounds.begin(np.ones(1, np.bool_), env.lanes.game)
    *_, info = env.step(3)
    assert ram[0x321] == 4
    assert info["reward_terms"]["pills"] == 20 and info["lines"] == 1


def test_truncation_by_frames() -> None:
    env = DrMarioEnv(max_frames=10, frame_skip=4)
    env.reset(seed=0)
    ends = [env.step(0)[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_levels_and_speeds_are_drawn_and_can_be_changed_between_episodes() -> None:
    env = DrMarioEnv(level=range(3, 6), speed=["low", "hi"])
    drawn = [env.reset(seed=seed)[1] for seed in range(40)]
    assert {info["level"] for info in drawn} == {3, 4, 5}
    assert {info["speed"] for info in drawn} == {0, 2}
    assert len({info["seed"] for info in drawn}) > 35
    assert env.reset(options={"level": 20, "speed": "med", "game_seed": 0x8988})[1]["seed"] == 0x8988
    assert (env.lanes.game.level[0, 0], env.lanes.game.speed[0, 0]) == (20, 1)
    assert env.reset()[1]["level"] in (3, 4, 5), "the options were for one episode"
    env.draw_from([9, 10], "hi")
    later = [env.reset()[1] for _ in range(20)]
    assert {info["level"] for info in later} == {9, 10} and {info["speed"] for info in later} == {2}


def test_a_seed_is_the_whole_episode() -> None:
    env, other = DrMarioEnv(level=range(21)), DrMarioEnv(level=range(21))
    for seed in (5, None, None):
        (first, told), (second, told_other) = env.reset(seed=seed), other.reset(seed=seed)
        np.testing.assert_array_equal(first, second)
        assert told == told_other
    assert not np.array_equal(env.reset(seed=5)[0], env.reset(seed=6)[0])


# --- two players ----------------------------------------------------------------------------------------------------


def test_the_second_player_sees_and_plays_its_own_side() -> None:
    env = DrMarioEnv(players=2, player_id=2, opponent_level=9, level=2, frame_skip=1)
    seen, info = env.reset(seed=1)
    assert (info["viruses"], info["viruses_opponent"]) == (12, 40)
    assert seen[1:4].sum() == 12 and seen[7:10].sum() == 40
    env.step(2)
    assert (ram_of(env)[0x385], ram_of(env)[0x305]) == (4, 3)
    assert (ram_of(env)[0xF8], ram_of(env)[0xF7]) == (RIGHT, 0)


def test_a_policy_in_the_other_seat_sees_its_own_side_and_presses_its_own_pad() -> None:
    asked = []

    def policy(observation: np.ndarray) -> int:
        asked.append(observation.copy())
        return 1

    env = DrMarioEnv(opponent=policy, level=3, opponent_level=6)
    seen, _ = env.reset(seed=0)
    _, _, _, _, info = env.step(2)
    assert (info["pad"], info["pad_opponent"]) == (RIGHT, LEFT)
    np.testing.assert_array_equal(asked[0][:6], seen[6:])
    np.testing.assert_array_equal(asked[0][6:], seen[:6])
    assert (ram_of(env)[0x305], ram_of(env)[0x385]) == (4, 2)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(ConnectionError, match="nobody answers at http://localhost:1"):
        DrMarioEnv("http://localhost:1")


def test_a_policy_that_returns_nonsense_is_named() -> None:
    env = DrMarioEnv(opponent=lambda observation: 12)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="0 to 11"):
        env.step(0)


class LastPlacement:
    """A bot that takes the last placement in the engine's list."""

    def __init__(self) -> None:
        self.chose: list[int] = []

    def choose(self, games: Any, lanes: np.ndarray, seat: int) -> np.ndarray:
        counts, ids, _, _ = games.placements(seat, lanes)
        last = ids[np.arange(len(counts)), np.maximum(counts - 1, 0)]
        self.chose += last[lanes].tolist()
        return last


@pytest.mark.parametrize("backend", ["rules", "embedded"])
def test_a_bot_in_the_other_seat_puts_its_capsules_where_it_chose(backend: str) -> None:
    bot = LastPlacement()
    env = DrMarioEnv(opponent=bot, level=0, backend=backend)
    env.reset(seed=2)
    while len(bot.chose) < 2:
        _, _, terminated, _, info = env.step(0)
        assert not terminated
    placement = bot.chose[0]
    rotation, y, x = placement // 128, placement // 8 % 16, placement % 8
    cell = ram_of(env)[0x500 + 8 * (15 - y) + x]
    assert cell & 0xF0 == (0x50 if rotation % 2 else 0x60)
    assert info["capsules_opponent"] == 2


@pytest.mark.parametrize("bot", ["random", "greedy", "search"])
def test_named_bots(bot: str) -> None:
    env = DrMarioEnv(opponent=bot, level=0, frame_skip=16)
    env.reset(seed=0)
    for _ in range(60):
        _, _, terminated, _, info = env.step(0)
        if terminated:
            break
    assert info["capsules_opponent"] > 3


# --- backends -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"level": 5},
        {"level": 12, "speed": "low", "players": 2, "player_id": 2},
        {"level": 20, "speed": 2, "players": 2},
    ],
)
def test_every_backend_plays_the_same_game(settings: dict[str, Any]) -> None:
    backends = ("rules", "embedded", EmbeddedEmulator(antidote()))
    envs = [DrMarioEnv(backend=backend, **settings) for backend in backends]
    firsts = [env.reset(seed=8) for env in envs]
    random = np.random.default_rng(1)
    for _ in range(120):
        action = int(random.integers(12))
        steps = [env.step(action) for env in envs]
        for env, first, step in zip(envs[1:], firsts[1:], steps[1:], strict=True):
            np.testing.assert_array_equal(first[0], firsts[0][0])
            np.testing.assert_array_equal(step[0], steps[0][0])
            assert step[1:] == steps[0][1:]
            np.testing.assert_array_equal(ram_of(env)[IMAGE], ram_of(envs[0])[IMAGE])
        if steps[0][2]:
            break


@pytest.mark.parametrize("backend", ["rules", "embedded"])
def test_pictures(backend: str) -> None:
    env = DrMarioEnv(backend=backend, render_mode="rgb_array", level=10)
    env.reset(seed=0)
    first = env.render()
    for _ in range(20):
        env.step(3)
    second = env.render()
    assert first is not None and second is not None
    assert first.shape == second.shape == (240, 256, 3) and first.dtype == np.uint8
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 4
    assert (first != second).any()
    assert DrMarioEnv(backend=backend).render() is None


# --- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"level": 21}, "level is a whole number from 0 to 20, not 21"),
        ({"level": []}, "level is an empty list"),
        ({"level": [3, "4"]}, "level is a whole number from 0 to 20, not '4'"),
        ({"speed": "fast"}, "unknown speed 'fast'; use one of low, med, hi"),
        ({"players": 3}, "players is a whole number from 1 to 2"),
        ({"player_id": 2}, "player_id=2, needs players=2"),
        ({"players": 1, "opponent": "greedy"}, "needs players=2"),
        ({"opponent": "nobody"}, "unknown bot 'nobody'; use one of random"),
        ({"opponent": 5}, "opponent is a bot or its name, a function or None, not 5"),
        ({"frame_skip": 0}, "frame_skip is a whole number from 1 to 16"),
        ({"actions": "all"}, "unknown actions 'all'; use one of discrete, multidiscrete"),
        ({"observation": "pixels"}, "unknown observation 'pixels'"),
        ({"max_frames": 0}, "max_frames is a whole number"),
        ({"rewards": "none"}, "unknown rewards 'none'"),
        ({"render_mode": "human"}, "unknown render_mode 'human'"),
        ({"backend": "snes"}, "unknown backend 'snes'; use rules, embedded"),
        ({"backend": object()}, "each lane needs an object that keeps the Emulator contract"),
        ({"backend": []}, "each lane needs an object that keeps the Emulator contract"),
    ],
)
def test_mistakes_in_settings_are_one_line(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says) as error:
        DrMarioEnv(**settings)
    assert "\n" not in str(error.value)


def test_a_cartridge_that_is_another_game_is_named_at_reset(tmp_path: Any) -> None:
    (tmp_path / "other.nes").write_bytes(cartridge())
    env = DrMarioEnv(backend="embedded", rom=tmp_path / "other.nes")
    with pytest.raises(ValueError, match="check the ROM"):
        env.reset(seed=0)


@pytest.mark.parametrize("action", [-1, 12, 1.5, [0]])
def test_actions_that_are_none(action: Any) -> None:
    env = DrMarioEnv()
    env.reset(seed=0)
    before = ram_of(env).copy()
    with pytest.raises(ValueError, match=r"action"):
        env.step(action)
    np.testing.assert_array_equal(ram_of(env), before)


def test_the_options_of_a_reset_are_checked() -> None:
    env = DrMarioEnv()
    for options, says in (({"level": 99}, "level is"), ({"game_seed": 1}, "game_seed is a whole number from 2")):
        with pytest.raises(ValueError, match=says):
            env.reset(seed=0, options=options)


def test_what_is_told() -> None:
    env = make_env("drmario", level=1)
    _, info = env.reset(seed=0)
    assert set(info) == INFO
    assert set(info["reward_terms"]) == set(TERMS)
    *_, info = env.step(0)
    assert set(info) == INFO and isinstance(info["viruses"], int) and isinstance(info["result"], str)
