"""Where Mario dies: counting, fading, what it suggests, and files that are missing, damaged or full."""

from __future__ import annotations

import json
import logging
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.metrics import DeathHotspotAggregate
from mario_rl.snapshots.hotspots import BUCKET, HotspotFileError


@pytest.fixture
def example() -> DeathHotspotAggregate:
    """The worked example of the documentation."""
    hotspots = DeathHotspotAggregate()
    for x, deaths in ((500, 47), (525, 23), (775, 12)):
        hotspots.record_deaths_batch("1-1", [x + 7] * deaths)
    return hotspots


def test_the_worked_example(example: DeathHotspotAggregate) -> None:
    assert example.get_hotspots("1-1") == [(500, 47), (525, 23), (775, 12)]
    assert example.suggest_snapshot_positions("1-1", count=3, min_spacing=100) == [475, 750]
    assert example.suggest_restore_position("1-1", death_x=530) == 450


def test_few_deaths_are_chance(example: DeathHotspotAggregate) -> None:
    example.record_deaths_batch("1-1", [1000, 1010])
    assert (1000, 2) not in example.get_hotspots("1-1")
    assert (1000, 2) in example.get_hotspots("1-1", min_deaths=2)
    assert example.get_hotspots("1-2") == []
    assert example.suggest_snapshot_positions("1-2") == []


def test_without_a_hotspot_one_goes_back_before_the_death_itself(example: DeathHotspotAggregate) -> None:
    assert example.suggest_restore_position("1-1", death_x=2010) == 1950
    assert example.suggest_restore_position("1-1", death_x=630) == 575  # 525 is 105 px before, too far
    assert example.suggest_restore_position("1-1", death_x=20) == 0


def test_areas_have_their_own_positions() -> None:
    hotspots = DeathHotspotAggregate()
    hotspots.record_deaths_batch("8-4", [300] * 5, area=0xAEC2)
    hotspots.record_deaths_batch("8-4", [300] * 4, area=0xA000)
    assert hotspots.get_hotspots("8-4", area=0xAEC2) == [(300, 5)]
    assert hotspots.get_hotspots("8-4") == [(300, 9)]
    assert hotspots.places == [("8-4", 0xA000), ("8-4", 0xAEC2)]


def test_mastered_places_stop_being_hotspots(example: DeathHotspotAggregate) -> None:
    example.half_life = 1000
    example.advance(1000)
    assert example.get_hotspots("1-1") == [(500, 24), (525, 12), (775, 6)]
    example.advance(500)  # time does not go back
    assert example.get_hotspots("1-1")[0] == (500, 24)
    example.record_death("1-1", 100)
    example.advance(6000)
    assert example.get_hotspots("1-1", min_deaths=1) == [(500, 1)]
    example.advance(100_000)
    assert example.places == []


@given(st.lists(st.tuples(st.integers(-3000, 9000), st.integers(1, 20)), max_size=30), st.integers(1, 400))
def test_suggestions_lie_before_hotspots_and_apart(deaths: list[tuple[int, int]], spacing: int) -> None:
    hotspots = DeathHotspotAggregate()
    for x, count in deaths:
        hotspots.record_deaths_batch("4-4", [x] * count)
    spots = [bucket for bucket, _ in hotspots.get_hotspots("4-4")]
    counts = [count for _, count in hotspots.get_hotspots("4-4")]
    assert counts == sorted(counts, reverse=True) and all(bucket % BUCKET == 0 for bucket in spots)
    positions = hotspots.suggest_snapshot_positions("4-4", count=4, min_spacing=spacing)
    assert len(positions) <= 4 and positions == sorted(positions)
    chosen = hotspots.separate_hotspots("4-4", 4, spacing)
    assert all(later - earlier >= spacing for earlier, later in pairwise(chosen))
    assert set(chosen) <= set(spots) and (not spots or spots[0] in chosen)
    assert positions == [max(bucket - BUCKET, 0) for bucket in chosen]


def test_files(tmp_path: Path, example: DeathHotspotAggregate) -> None:
    file = tmp_path / "death_hotspots.json"
    hotspots = DeathHotspotAggregate.load_or_create(file)
    assert hotspots.places == [] and not file.exists()
    example.advance(5000)
    example.record_death("4-4", -30, area=0xABCD)
    example.save(file)
    hotspots.reload()
    assert hotspots.state_dict() == example.state_dict() and hotspots.steps == 5000
    assert [path.name for path in tmp_path.iterdir()] == ["death_hotspots.json"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"version": 99}',
        b'{"version": 1, "bucket": 25, "steps": "x"}',
        b'{"version": 1, "bucket": 25, "steps": Infinity, "deaths": {}}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_set_aside(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "death_hotspots.json"
    file.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        hotspots = DeathHotspotAggregate.load_or_create(file)
    assert hotspots.places == [] and "does not hold hotspots" in caplog.text
    assert not file.exists() and (tmp_path / "death_hotspots.json.damaged").read_bytes() == content
    hotspots.save()
    assert json.loads(file.read_text())["deaths"] == {}


def test_a_reload_of_a_torn_file_changes_nothing(tmp_path: Path, example: DeathHotspotAggregate) -> None:
    file = tmp_path / "death_hotspots.json"
    example.save(file)
    hotspots = DeathHotspotAggregate.load_or_create(file)
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(HotspotFileError):
        hotspots.reload()
    assert hotspots.get_hotspots("1-1") == example.get_hotspots("1-1")


def test_nonsense_counts_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "death_hotspots.json"
    for count in ("NaN", "-1", "Infinity", "1" + "0" * 400):
        places = f'{{"1-1": {{"0000": {{"500": {count}}}}}}}'
        file.write_text(f'{{"version": 1, "bucket": 25, "steps": 0, "deaths": {places}}}')
        with pytest.raises(HotspotFileError):
            DeathHotspotAggregate(file).reload()
    with pytest.raises(ValueError, match="half_life"):
        DeathHotspotAggregate(half_life=0)
    with pytest.raises(ValueError, match="no file"):
        DeathHotspotAggregate().save()
