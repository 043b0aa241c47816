"""The store of snapshots: bounded, the newest and most useful kept, and files that travel or are damaged."""

from __future__ import annotations

import base64
import json
import zlib
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl._native import Rom
from mario_rl.emulators.embedded import EmbeddedBatch
from mario_rl.snapshots.store import Snapshot, SnapshotFileError, SnapshotStore


def snapshot(x: int, name: str = "state", level: str = "1-1", area: int = 1, **counts: int) -> Snapshot:
    return Snapshot(level, area, x, progress=x, state=name.encode(), **counts)


def names(store: SnapshotStore) -> list[str]:
    return [kept.state.decode() for kept in store]


# --- what is kept -------------------------------------------------------------------------------------------------


def test_a_bucket_keeps_the_newest_and_the_most_useful() -> None:
    store = SnapshotStore(per_bucket=2)
    store.add(snapshot(100, "leads on", restores=4, advances=4))
    store.add(snapshot(110, "leads nowhere", restores=4, advances=0))
    store.add(snapshot(124, "new"))
    assert names(store) == ["leads on", "new"]
    store.add(snapshot(125, "next bucket"))
    assert len(store) == 3


def test_without_practice_the_oldest_goes() -> None:
    store = SnapshotStore(per_bucket=2)
    for number in range(5):
        store.add(snapshot(100, f"{number}"))
    assert names(store) == ["3", "4"]


def test_a_full_store_makes_room_in_its_fullest_buckets() -> None:
    store = SnapshotStore(per_bucket=3, capacity=4)
    store.add(snapshot(0, "alone", restores=9))  # of no use, but all there is of its place
    for number in range(3):
        store.add(snapshot(100, f"{number}"))
    store.add(snapshot(200, "new"))
    assert names(store) == ["alone", "1", "2", "new"]


def test_a_full_store_of_single_snapshots_keeps_the_new_one() -> None:
    store = SnapshotStore(capacity=2)
    for x, restores in ((0, 0), (100, 5), (200, 0)):
        store.add(snapshot(x, f"{x}", restores=restores))
    assert names(store) == ["0", "200"]


places = st.tuples(st.sampled_from(["1-1", "4-4"]), st.integers(1, 2), st.integers(-60, 120), st.integers(0, 3))


@given(st.lists(places, max_size=60), st.integers(1, 3), st.integers(1, 12))
def test_the_bounds_hold_and_the_newest_is_always_there(
    added: list[tuple[str, int, int, int]], per_bucket: int, capacity: int
) -> None:
    store = SnapshotStore(per_bucket, capacity)
    for number, (level, area, x, advances) in enumerate(added):
        new = snapshot(x, f"{number}", level, area, restores=3, advances=advances)
        store.add(new)
        by_bucket: dict[tuple[str, int, int], int] = defaultdict(int)
        for kept in store:
            by_bucket[kept.level, kept.area, kept.x // 25] += 1
        assert max(by_bucket.values()) <= per_bucket
        assert len(store) == sum(by_bucket.values()) <= capacity
        assert any(kept is new for kept in store)


@given(st.lists(places, max_size=60), st.lists(places, max_size=20))
def test_a_loaded_store_goes_on_as_the_saved_one(
    added: list[tuple[str, int, int, int]], later: list[tuple[str, int, int, int]]
) -> None:
    """Which snapshot goes must not depend on what has been in the store long ago."""
    store = SnapshotStore(per_bucket=2, capacity=8)
    for number, (level, area, x, advances) in enumerate(added):
        store.add(snapshot(x, f"{number}", level, area, restores=3, advances=advances))
    loaded = SnapshotStore(per_bucket=2, capacity=8)
    loaded.load_state_dict(json.loads(json.dumps(store.state_dict())))
    assert list(loaded) == list(store)
    for number, (level, area, x, advances) in enumerate(later):
        for one in (store, loaded):
            one.add(snapshot(x, f"later {number}", level, area, restores=3, advances=advances))
        assert list(loaded) == list(store)
        assert loaded.nearest("1-1", 1, x, x) == store.nearest("1-1", 1, x, x)


# --- what is found ------------------------------------------------------------------------------------------------


def test_nearest_looks_before_the_death_and_prefers_what_leads_on() -> None:
    store = SnapshotStore()
    store.add(snapshot(300, "far"))
    store.add(snapshot(452, "poor", restores=5))
    store.add(snapshot(470, "good", restores=5, advances=4))
    store.add(snapshot(520, "beyond"))
    store.add(snapshot(452, "elsewhere", area=2))

    def found(wanted: int, at_most: int) -> str | None:
        nearest = store.nearest("1-1", 1, wanted, at_most)
        return None if nearest is None else nearest.state.decode()

    assert found(450, 505) == "good"  # both are in the bucket of 450
    assert found(450, 460) == "poor"
    assert found(450, 400) == "far"
    assert found(450, 299) is None
    assert store.nearest("1-1", 3, 450, 505) is None and store.nearest("8-4", 1, 450, 505) is None


def test_near_and_by_level() -> None:
    store = SnapshotStore()
    for x, level, area in ((700, "1-2", 2), (50, "1-2", 2), (60, "1-2", 2), (90, "1-2", 1), (10, "1-1", 9)):
        store.add(snapshot(x, f"{x}", level, area))
    assert store.has_near("1-2", 2, 150, 90) and not store.has_near("1-2", 2, 150, 89)
    assert not store.has_near("1-2", 3, 50, 1000)
    found = {level: [[kept.x for kept in bucket] for bucket in buckets] for level, buckets in store.by_level().items()}
    assert found == {"1-1": [[10]], "1-2": [[90], [50, 60], [700]]}


@pytest.mark.parametrize(("per_bucket", "capacity"), [(0, 10), (3, 0)])
def test_a_store_has_room(per_bucket: int, capacity: int) -> None:
    with pytest.raises(ValueError, match="room for at least one"):
        SnapshotStore(per_bucket, capacity)


# --- files --------------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.binary(max_size=200), st.integers(-1000, 9000), st.integers(0, 9), st.integers(0, 9))
def test_text_and_back(state: bytes, x: int, restores: int, advances: int) -> None:
    original = Snapshot("4-4", 0xAEC2, x, 77, state, restores, advances)
    assert Snapshot.from_text(json.loads(json.dumps(original.as_text()))) == original


def test_a_file_goes_from_worker_to_worker(tmp_path: Path) -> None:
    file = tmp_path / "worker_0.json"
    one, other = SnapshotStore(), SnapshotStore()
    for x in (100, 200, 300):
        one.add(snapshot(x, f"{x}", restores=2, advances=1))
    other.add(snapshot(200, "200"))
    one.save(file)
    assert other.merge(file) == 2 and sorted(names(other)) == ["100", "200", "300"]
    assert other.merge(file) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["worker_0.json"]


GOOD = {"level": "1-1", "area": 1, "x": 100, "progress": 100, "restores": 0, "advances": 0}
STATE = base64.b64encode(zlib.compress(b"state")).decode()


def content(**changed: object) -> bytes:
    return json.dumps({"version": 1, "snapshots": [GOOD | {"state": STATE} | changed]}).encode()


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version": 1}',
        b'{"version": 2, "snapshots": []}',
        b'{"version": 1, "snapshots": [7]}',
        b'{"version": 1, "snapshots": [{}]}',
        content(x="here"),
        content(x=None),
        content(x=float("inf")),
        content(x=float("nan")),
        content(state="***"),
        content(state=7),
        content(state=base64.b64encode(b"not compressed").decode()),
        content(state=STATE[:-8]),
    ],
)
def test_a_damaged_file_is_refused_and_changes_nothing(tmp_path: Path, damaged: bytes) -> None:
    file = tmp_path / "snapshots.json"
    file.write_bytes(damaged)
    store = SnapshotStore()
    store.add(snapshot(1))
    with pytest.raises(SnapshotFileError, match=r"snapshots\.json does not hold snapshots of this version: delete it$"):
        store.merge(file)
    assert len(store) == 1


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SnapshotFileError, match=r"nothing\.json cannot be read: No such file or directory"):
        SnapshotStore().merge(tmp_path / "nothing.json")


def test_snapshots_of_another_cartridge_or_damaged_ones_are_refused(tmp_path: Path, smb_rom: Path) -> None:
    rom = smb_rom.read_bytes()
    console = EmbeddedBatch(rom, lanes=1)
    state = console.save(0)
    changed = bytearray(rom)
    changed[0x2000] ^= 1
    stranger = EmbeddedBatch(bytes(changed), lanes=1)
    torn = bytearray(state)
    torn[len(torn) // 2] ^= 1
    file = tmp_path / "snapshots.json"
    for bad, says in (
        (stranger.save(0), "another ROM"),
        (bytes(torn), "wrong checksum"),
        (state[:-1], "wrong size"),
        (b"", "too short"),
    ):
        source, target = SnapshotStore(), SnapshotStore()
        source.add(Snapshot("1-1", 1, 100, 100, state))
        source.add(Snapshot("1-1", 1, 200, 200, bad))
        source.save(file)
        with pytest.raises(SnapshotFileError, match=rf"snapshots\.json cannot be used here: .*{says}.*; delete it"):
            target.merge(file, Rom(rom))
        assert len(target) == 0
    good = SnapshotStore()
    good.add(Snapshot("1-1", 1, 100, 100, state))
    good.save(file)
    assert SnapshotStore().merge(file, Rom(rom)) == 1
