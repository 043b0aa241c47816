"""The handler of a lane: what it saves and where it goes back, without an emulator."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.snapshots.handler import KnownHotspots, Place, SnapshotHandler
from mario_rl.snapshots.hotspots import DeathHotspotAggregate
from mario_rl.snapshots.state_machine import SnapshotRules, SnapshotState
from mario_rl.snapshots.store import SnapshotStore

AREA = 0xA000
RULES = SnapshotRules()


def handler_of(*deaths: int, area: int = AREA, rules: SnapshotRules = RULES) -> SnapshotHandler:
    """With five deaths at each of these x."""
    hotspots = DeathHotspotAggregate()
    for x in deaths:
        hotspots.record_deaths_batch("1-1", [x] * 5, area)
    return SnapshotHandler(KnownHotspots(hotspots, rules.approach), SnapshotStore(), rules)


def place(x: int, tick: int = 10, distance: int | None = None, steady: bool = True, area: int = AREA) -> Place:
    return Place("1-1", area, x, x - 40 if distance is None else distance, tick, steady)


def saves(handler: SnapshotHandler, where: Place) -> bool:
    return handler.step(where, lambda: f"state at {where.x}".encode())


def test_saves_before_a_hotspot_and_goes_back_there() -> None:
    handler = handler_of(510)
    handler.begin(0)
    assert [x for x in range(300, 520, 8) if saves(handler, place(x))] == [452]
    back = handler.died(place(516, tick=99))
    assert back is not None and (back.x, back.progress, back.state) == (452, 412, b"state at 452")
    handler.restored(10)
    assert (handler.total_saves, handler.total_restores) == (1, 1)
    assert not any(saves(handler, place(x, distance=x - 452)) for x in range(454, 520, 8)), "it has its snapshot"


def test_a_hotspot_of_another_area_is_not_ours() -> None:
    handler = handler_of(510, area=AREA + 1)
    handler.begin(0)
    assert not any(saves(handler, place(x)) for x in range(300, 520, 8))


def test_lives_add_up_to_progress() -> None:
    """460 pixels, then from 452 on (412 behind it): less, as much, more."""
    handler = handler_of(510)
    handler.begin(0)
    saves(handler, place(400))
    assert saves(handler, place(452))
    stuck = []
    for distance in (None, 20, 48, 60, 60):
        assert handler.died(place(500, distance=distance)) is not None
        stuck.append(handler.machine.restores_without_progress)
        handler.restored(10)
    assert stuck == [0, 1, 2, 0, 1]


def test_practice_is_booked_for_the_snapshot_it_began_with() -> None:
    handler = handler_of(510)
    handler.begin(0)
    saves(handler, place(400))
    saves(handler, place(452))
    used = handler.died(place(500))
    assert used is not None and (used.restores, used.advances) == (0, 0)
    handler.restored(10)
    handler.died(place(500, distance=20))  # no further than before
    assert (used.restores, used.advances) == (1, 0)
    handler.restored(10)
    handler.finished(place(3161, distance=2700))
    assert (used.restores, used.advances) == (2, 1)
    handler.begin(0)
    handler.finished(place(3161))
    assert (used.restores, used.advances) == (2, 1), "that life began at the level's start"


def test_gives_up_with_no_snapshot_or_only_one_too_close() -> None:
    handler = handler_of(510)
    handler.begin(0)
    assert handler.died(place(500)) is None and handler.machine.state is SnapshotState.GIVE_UP
    handler.begin(0)
    assert saves(handler, place(490))
    assert handler.died(place(514)) is None
    handler.begin(0)
    assert handler.died(place(515)) is not None


def test_unexplored_ground_is_saved_every_500_ticks_but_not_twice_in_a_place() -> None:
    handler = handler_of()
    handler.begin(1000)
    walked = [(x, 1000 + 4 * number) for number, x in enumerate(range(40, 3000, 2))]
    saved = [(x, tick) for x, tick in walked if saves(handler, place(x, tick))]
    assert [tick for _, tick in saved] == list(range(1500, walked[-1][1], 500))
    handler.begin(1000)
    saved += [(x + 90, tick) for x, tick in walked if saves(handler, place(x + 90, tick))]
    apart = sorted(x for x, _ in saved)
    assert len(apart) > 20 and all(later - earlier > 100 for earlier, later in pairwise(apart))


def test_where_many_died_is_not_unexplored() -> None:
    """A checkpoint there would lie in the midst of what kills."""
    handler = handler_of(500)
    handler.begin(0)
    assert not saves(handler, place(510, tick=600))  # beyond the place where its snapshot would be
    handler.begin(0)
    assert saves(handler, place(700, tick=600))


@pytest.mark.parametrize("end", ["died", "finished"])
def test_a_saved_handler_goes_on(end: str) -> None:
    """In another process, with the store of that one loaded: practice counts for the snapshot in there."""
    handler = handler_of(510)
    handler.begin(0)
    saves(handler, place(400))
    saves(handler, place(452))
    handler.died(place(500))
    handler.restored(10)
    text = json.dumps([handler._store.state_dict(), handler.state_dict()])
    other = handler_of(510)
    store, state = json.loads(text)
    other._store.load_state_dict(store)
    other.load_state_dict(state)
    for one in (handler, other):
        getattr(one, end)(place(540, distance=100))
    assert list(other._store) == list(handler._store)
    assert next(iter(other._store)).restores == 1
    assert other.state_dict() == handler.state_dict()


walks = st.lists(
    st.tuples(
        st.integers(-40, 40),  # pixels
        st.booleans(),  # steady
        st.sampled_from(["walk"] * 40 + ["die", "pipe", "hotspots"]),
    ),
    max_size=250,
)


@settings(max_examples=60, deadline=None)
@given(walks, st.integers(1, 200))
def test_a_handler_may_be_left_alone_while_it_is_quiet(walk: list[tuple[int, bool, str]], interval: int) -> None:
    """One is asked in every step, the other only when its quiet is over: both save and know the same."""
    rules = SnapshotRules(checkpoint_interval=interval)
    asked, left_alone = (handler_of(200, 480, 700, rules=rules) for _ in range(2))
    for handler in (asked, left_alone):
        handler.begin(0)
    skipped, saved = 0, 0
    x, tick, area = 40, 0, AREA
    quiet: tuple[Any, ...] | None = None
    for moved, steady, event in walk:
        x, tick = x + moved, tick + 4
        if event == "pipe":
            area, x = 2 * AREA + 1 - area, 300
        if event == "hotspots":
            for handler in (asked, left_alone):
                handler._hotspots.aggregate.record_deaths_batch("1-1", [x + 60] * 9, area)
                handler._hotspots.refresh()
            quiet = None
        here = place(x, tick, steady=steady, area=area)
        if event == "die":
            backs = [handler.died(here) for handler in (asked, left_alone)]
            assert backs[0] == backs[1]
            for handler, back in zip((asked, left_alone), backs, strict=True):
                handler.begin(tick) if back is None else handler.restored(tick)
            x, area = (40, AREA) if backs[0] is None else (backs[0].x, backs[0].area)
            quiet = None
            continue
        wanted = saves(asked, here)
        saved += wanted
        if quiet is not None and quiet[0] == area and quiet[1] < x < quiet[2] and tick < quiet[3]:
            skipped += 1
            assert not wanted
        else:
            assert saves(left_alone, here) == wanted
            quiet = (area, *left_alone.quiet(here))
        assert left_alone.state_dict() == asked.state_dict()
    assert list(asked._store) == list(left_alone._store)
