"""Starts all over an archive, and backwards along a route: where they lie, what moves them, and going on exactly."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.environment.smb.settings import SmbSettings
from mario_rl.environment.smb.starts import Starts
from mario_rl.environment.smb.vector import SmbVectorEnv
from mario_rl.snapshots.curricula import BACK, FORWARD, STEPS_BETWEEN, WINDOW, ArchiveStarts, BackwardStarts
from mario_rl.snapshots.demonstration import Demonstration, demonstrate
from mario_rl.snapshots.routes import packaged_route
from mario_rl.snapshots.store import Snapshot, SnapshotStore
from tests.snapshots.lives import assert_same, steps_of, through_a_file

LANES = 4


def lanes_of(*levels: str, lanes: int = LANES) -> Any:
    """As much of an environment's lanes as the choice of a start looks at."""
    return SimpleNamespace(
        settings=SimpleNamespace(levels=levels), episodes=SimpleNamespace(level=np.full(lanes, levels[0], "<U3"))
    )


def all_lanes(lanes: int = LANES) -> np.ndarray:
    return np.ones(lanes, np.bool_)


def outcome(*flags: bool) -> Any:
    return SimpleNamespace(flag=np.array(flags), terminated=np.ones(len(flags), np.bool_))


def demonstration(level: str, steps: int) -> Demonstration:
    """A straight way; the state before step n is named n."""
    names = tuple(f"{step}".encode() for step in range(steps))
    places = tuple((1, 40 + 10 * step, 176) for step in range(steps))
    return Demonstration(level, np.zeros((steps, 1)), np.zeros(steps, np.int64), names, places)


def turn(starts: Starts, ends: Any, *levels: str) -> list[tuple[str, str] | None]:
    """All lanes end their episodes and begin the next: level and state of each, None for a fresh start."""
    lanes = lanes_of(*levels)
    chosen = starts.choose(lanes, all_lanes(), ends)
    for lane, start in chosen.items():
        lanes.episodes.level[lane] = start.level
    starts.began(lanes, all_lanes())
    return [(chosen[n].level, chosen[n].state.decode()) if n in chosen else None for n in range(LANES)]


def drawn(starts: Starts, levels: tuple[str, ...], times: int) -> list[tuple[str, str] | None]:
    """So many starts."""
    return [start for _ in range(times // LANES) for start in turn(starts, None, *levels)]


# --- archive ------------------------------------------------------------------------------------------------------


def store() -> SnapshotStore:
    """Level 1-2 has three buckets with 1, 2 and 3 snapshots in two areas, level 1-1 has one."""
    kept = SnapshotStore(per_bucket=3)
    for level, area, x, count in (("1-2", 1, 100, 1), ("1-2", 1, 500, 2), ("1-2", 2, 100, 3), ("1-1", 9, 40, 1)):
        for number in range(count):
            kept.add(Snapshot(level, area, x, x, f"{level}/{area}/{x}/{number}".encode()))
    return kept


def test_every_bucket_of_an_archive_is_as_likely() -> None:
    starts = ArchiveStarts(store(), fresh=0.25, seed=1)
    found = drawn(starts, ("1-2",), 12_000)
    assert found.count(None) / len(found) == pytest.approx(0.25, abs=0.02)
    practice = [state for level, state in filter(None, found)]
    buckets = Counter(state.rsplit("/", 1)[0] for state in practice)
    assert set(buckets) == {"1-2/1/100", "1-2/1/500", "1-2/2/100"}
    for count in buckets.values():
        assert count / len(practice) == pytest.approx(1 / 3, abs=0.02)
    in_one_bucket = Counter(state for state in practice if state.startswith("1-2/2/100"))
    assert len(in_one_bucket) == 3
    for count in in_one_bucket.values():
        assert count / len(practice) == pytest.approx(1 / 9, abs=0.02)


def test_an_archive_of_many_levels() -> None:
    found = Counter(filter(None, drawn(ArchiveStarts(store(), fresh=0.0, seed=1), ("1-1", "1-2"), 4000)))
    assert sum(count for (level, _), count in found.items() if level == "1-1") / 4000 == pytest.approx(0.5, abs=0.03)
    assert all(state.startswith(level) for level, state in found)


@pytest.mark.parametrize("fresh", [-0.1, 1.5, float("nan")])
def test_the_share_of_fresh_starts_is_a_share(fresh: float) -> None:
    for create in (lambda: ArchiveStarts(store(), fresh, 0), lambda: BackwardStarts([], LANES, fresh, 0)):
        with pytest.raises(ValueError, match="share of fresh starts is between 0 and 1"):
            create()


# --- backwards along a route --------------------------------------------------------------------------------------


def test_half_of_practice_begins_at_the_point_and_half_anywhere() -> None:
    steps = 400
    starts = BackwardStarts([demonstration("1-1", steps)], LANES, fresh=0.25, seed=2)
    states = steps // STEPS_BETWEEN
    assert starts.point == {"1-1": states - WINDOW} and starts.progress == 0
    at_the_point: list[int] = []
    anywhere: list[int] = []
    for _ in range(3000):
        for lane, start in enumerate(turn(starts, None, "1-1")):
            if start is not None:
                (at_the_point if starts._at_point[lane] else anywhere).append(int(start[1]))
    assert (len(at_the_point) + len(anywhere)) / 12_000 == pytest.approx(0.75, abs=0.02)
    assert len(at_the_point) / 9_000 == pytest.approx(0.5, abs=0.03)
    assert set(at_the_point) == set(range((states - WINDOW) * STEPS_BETWEEN, steps, STEPS_BETWEEN))
    assert set(anywhere) <= set(range(0, steps, STEPS_BETWEEN)) and len(set(anywhere)) > 0.9 * states


def test_a_route_shorter_than_the_window() -> None:
    starts = BackwardStarts([demonstration("1-1", 3 * STEPS_BETWEEN)], LANES, fresh=0.0, seed=2)
    assert starts.point == {"1-1": 0} and starts.progress == 1
    assert {state for _, state in filter(None, drawn(starts, ("1-1",), 200))} == {"0", "4", "8"}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.lists(st.booleans(), min_size=LANES, max_size=LANES), st.booleans()), max_size=80))
def test_the_point_moves_back_after_flags_from_there_and_never_off_the_route(
    ends: list[tuple[list[bool], bool]],
) -> None:
    starts = BackwardStarts([demonstration("1-1", 200)], LANES, fresh=0.3, seed=3)
    last = point = 200 // STEPS_BETWEEN - WINDOW
    turn(starts, None, "1-1")
    for flags, from_outside in ends:
        began_there = starts._at_point.copy()
        for flag, judged in zip(flags, began_there.tolist(), strict=True):
            if judged and not from_outside:
                point = min(max(point - BACK if flag else point + FORWARD, 0), last)
        began = turn(starts, None if from_outside else outcome(*flags), "1-1")
        assert starts.point == {"1-1": point} and 0 <= point <= last
        assert starts.progress == pytest.approx(1 - point / last)
        for start, at_point in zip(began, starts._at_point.tolist(), strict=True):
            assert start is not None or not at_point, "a fresh start is judged by nobody"
            if start is not None and at_point:
                assert point <= int(start[1]) // STEPS_BETWEEN < point + WINDOW


def test_without_flags_the_point_stays_and_with_flags_only_it_reaches_the_start() -> None:
    starts = BackwardStarts([demonstration("1-1", 200)], LANES, fresh=0.25, seed=4)
    last = starts.point["1-1"]
    for _ in range(50):
        turn(starts, outcome(*[False] * LANES), "1-1")
    assert starts.point["1-1"] == last
    for _ in range(50):
        turn(starts, outcome(*[True] * LANES), "1-1")
    assert starts.point["1-1"] == 0 and starts.progress == 1


def test_every_level_has_its_own_point() -> None:
    starts = BackwardStarts([demonstration("1-1", 200), demonstration("1-2", 400)], LANES, fresh=0.0, seed=5)
    before = dict(starts.point)
    for _ in range(20):
        turn(starts, outcome(*[True] * LANES), "1-2")
    assert starts.point["1-1"] == before["1-1"] and starts.point["1-2"] < before["1-2"]


def test_a_worker_that_was_killed_goes_on_as_far_back_as_it_was() -> None:
    starts = BackwardStarts([demonstration("1-1", 200), demonstration("1-2", 400)], LANES, fresh=0.0, seed=5)
    for _ in range(20):
        turn(starts, outcome(*[True] * LANES), "1-1")
    other = BackwardStarts([demonstration("1-1", 200), demonstration("1-2", 400)], LANES, fresh=0.0, seed=5)
    other.continue_from({"curriculum_progress": starts.progress})
    assert other.progress == pytest.approx(starts.progress, abs=0.02)
    for nonsense in (-1.0, 2.0):
        other.continue_from({"curriculum_progress": nonsense})
        assert 0 <= other.progress <= 1
    other.continue_from({})
    assert other.progress == 0


# --- in an environment --------------------------------------------------------------------------------------------


def starts_on_1_1(kind: str, shown: Demonstration, seed: int) -> Starts:
    if kind == "backward":
        return BackwardStarts([shown], LANES, fresh=0.2, seed=seed)
    kept = SnapshotStore(capacity=4096)
    for step in range(0, len(shown), 4):
        kept.add(Snapshot("1-1", *shown.places[step][:2], step, shown.states[step]))
    return ArchiveStarts(kept, fresh=0.2, seed=seed)


@pytest.fixture(scope="module")
def shown(smb_rom: object) -> Demonstration:
    return demonstrate(packaged_route("1-1"), SmbSettings(level="1-1", actions="complex"))


def environment(kind: str, shown: Demonstration, seed: int = 0) -> SmbVectorEnv:
    starts = starts_on_1_1(kind, shown, seed)
    return SmbVectorEnv(LANES, level="1-1", actions="complex", starts=starts, max_steps=30, sticky=0.1)


def actions_of(seed: int, steps: int) -> np.ndarray:
    return np.repeat(np.random.default_rng(seed).integers(1, 5, (steps // 4, LANES)), 4, axis=0)


@pytest.mark.parametrize("kind", ["archive", "backward"])
def test_a_saved_environment_goes_on_exactly(kind: str, shown: Demonstration) -> None:
    original = environment(kind, shown)
    original.reset(seed=1)
    list(steps_of(original, actions_of(0, 60)))
    state = through_a_file(original.state_dict())
    actions = actions_of(1, 160)
    expected = list(steps_of(original, actions))
    assert sum(int(step[4]["practice"].sum()) for step in expected) > 100
    knows = original.state_dict()
    elsewhere = environment(kind, shown, seed=8)
    elsewhere.reset(seed=9)
    list(steps_of(elsewhere, actions_of(2, 40)))
    for env in (environment(kind, shown), elsewhere):
        env.load_state_dict(state)
        for step, other in zip(expected, steps_of(env, actions), strict=True):
            assert_same(step, other)
        assert_same(knows, env.state_dict())


@pytest.mark.parametrize("kind", ["archive", "backward"])
def test_what_is_saved_of_starts_is_text_and_numbers(kind: str, shown: Demonstration) -> None:
    starts = starts_on_1_1(kind, shown, 0)
    assert json.loads(json.dumps(starts.state_dict())) == starts.state_dict()


@pytest.mark.parametrize("kind", ["archive", "backward"])
def test_practice_begins_with_the_states_of_the_way(kind: str, shown: Demonstration) -> None:
    """One frame after a state of the route, or of the agent's own way along it; a fresh start does not."""
    env = environment(kind, shown)
    console = SmbVectorEnv(1, level="1-1", actions="complex").lanes.console

    def a_frame_later(states: Iterable[bytes]) -> set[bytes]:
        after = set()
        for state in states:
            console.load(0, state)
            console.step(np.zeros((1, 2), np.uint8), 1)
            after.add(console.ram[0].tobytes())
        return after

    of_the_way, own = a_frame_later(shown.states[::4]), set()
    _, infos = env.reset(seed=0)
    began, on_the_way, on_its_own = all_lanes(), 0, 0
    for row in actions_of(3, 100):
        for lane in np.flatnonzero(began):
            ram = env.lanes.console.ram[lane].tobytes()
            assert (ram in of_the_way or ram in own) == infos["practice"][lane]
            on_the_way += ram in of_the_way
            on_its_own += ram in own
        _, _, terminated, truncated, infos = env.step(row)
        if kind == "backward":
            own |= a_frame_later(state for kept in env.lanes.starts._hard["1-1"]._kept for state in kept[-1:])
        began = terminated | truncated
    assert on_the_way > 5
    assert (on_its_own > 0) == (kind == "backward")
