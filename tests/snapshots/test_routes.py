"""Routes: files that survive anything but damage, and those of the package lead to the end on every emulator."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.emulators.base import RIGHT, A
from mario_rl.environment.smb.levels import LEVELS
from mario_rl.snapshots.replayers import CynesReplayer, EmbeddedReplayer
from mario_rl.snapshots.routes import Route, RouteError, packaged_route, replay, route_of

SMALL = Route("1-1", "ab" * 32, 100, ((40, 0x75F, 0),), ((0, 101), (RIGHT, 8), (RIGHT | A, 4)), {"seed": 0})

INPUTS = st.lists(st.tuples(st.integers(0, 255), st.integers(1, 500)), min_size=2, max_size=30)


@settings(deadline=None, max_examples=30)  # a file is forced to the disk each time
@given(st.sampled_from(LEVELS), INPUTS)
def test_a_route_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, level: str, inputs: list[tuple[int, int]]
) -> None:
    route = Route(level, "ab" * 32, inputs[0][1], ((40, 0x75F, 7),), tuple(inputs), {"seed": 3, "frames": 10})
    file = tmp_path_factory.mktemp("routes") / "route.json"
    route.save(file)
    assert Route.load(file) == route
    assert len(list(route.pads())) == route.frames == sum(frames for _, frames in inputs)


def test_the_pads_of_a_route_are_those_it_was_made_of(smb_rom: Path) -> None:
    pads = bytes([RIGHT, RIGHT, 0, A, RIGHT | A])
    route = route_of("1-2", pads, smb_rom.read_bytes(), {})
    assert route.level_pads() == pads
    assert route.steps == len(pads)
    assert bytes(route.pads())[-8:] == bytes([A] * 4 + [RIGHT | A] * 4)


DAMAGE: list[tuple[str, Any]] = [
    ("format", "something else"),
    ("version", 2),
    ("level", "9-1"),
    ("level", 11),
    ("level", ["1-1"]),
    ("start_frame", -1),
    ("start_frame", 113),  # not before the end
    ("start_frame", "100"),
    ("start_frame", 1e300),
    ("start_frame", True),
    ("pokes", [[40, 0x75F]]),
    ("pokes", [[40, 0x800, 0]]),
    ("pokes", [[-1, 0x75F, 0]]),
    ("pokes", [[40, 0x75F, 256]]),
    ("pokes", 7),
    ("inputs", []),
    ("inputs", [[256, 200]]),
    ("inputs", [[1, 0], [1, 200]]),
    ("inputs", [[1, -5], [1, 200]]),
    ("inputs", [[1, 10**6]]),
    ("inputs", [[1, 999_999], [1, 999_999]]),
    ("inputs", [[1.5, 200]]),
    ("inputs", "abc"),
    ("found", 3),
]


@pytest.mark.parametrize(("name", "value"), DAMAGE)
def test_a_damaged_field_is_noticed(name: str, value: object, tmp_path: Path) -> None:
    file = tmp_path / "1-1.json"
    SMALL.save(file)
    assert Route.load(file) == SMALL
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {name: value}))
    with pytest.raises(RouteError, match=r"1-1\.json"):
        Route.load(file)


@pytest.mark.parametrize("name", ["format", "version", *(field.name for field in dataclasses.fields(Route))])
def test_a_missing_field_is_noticed(name: str, tmp_path: Path) -> None:
    file = tmp_path / "1-1.json"
    SMALL.save(file)
    content = json.loads(file.read_text())
    del content[name]
    file.write_text(json.dumps(content))
    with pytest.raises(RouteError, match=r"1-1\.json"):
        Route.load(file)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"3", b"null", b'"text"', b"\xff\xfe", b"[" * 100_000, b'{"start_frame": Infinity}']
)
def test_what_is_no_route_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "1-1.json"
    file.write_bytes(content)
    with pytest.raises(RouteError, match=r"1-1\.json"):
        Route.load(file)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(RouteError, match="No such file"):
        Route.load(tmp_path / "nothing.json")


def test_there_is_no_packaged_route_through_a_level_that_is_none() -> None:
    with pytest.raises(RouteError, match="unknown level"):
        packaged_route("9-9")


@pytest.mark.parametrize("level", LEVELS)
def test_the_packaged_route_leads_to_the_end_on_our_core(level: str, smb_rom: Path) -> None:
    route = packaged_route(level)
    arrival = replay(route, EmbeddedReplayer(smb_rom.read_bytes()))
    assert arrival.arrived
    assert arrival.frames == route.frames
    assert arrival.clock > 0


def test_the_packaged_route_leads_to_the_end_on_an_emulator_that_is_none_of_ours(smb_rom: Path) -> None:
    """A level with a flag; castles are in the tests of surveys. `mario-rl explore --verify` takes all of them."""
    pytest.importorskip("cynes")
    route = packaged_route("4-3")
    arrival = replay(route, CynesReplayer(smb_rom))
    assert arrival.arrived
    assert arrival == replay(route, EmbeddedReplayer(smb_rom.read_bytes()))


def test_a_route_that_was_tampered_with_does_not_arrive(smb_rom: Path) -> None:
    route = packaged_route("1-4")
    rom = smb_rom.read_bytes()
    longest = max(range(3, len(route.inputs)), key=lambda number: route.inputs[number][1])
    without = dataclasses.replace(route, inputs=route.inputs[:longest] + route.inputs[longest + 1 :])
    shorter = dataclasses.replace(route, inputs=route.inputs[:-1])
    other_level = dataclasses.replace(route, level="2-4")
    for tampered in (without, shorter, other_level):
        assert not replay(tampered, EmbeddedReplayer(rom)).arrived


def test_without_cynes_one_line_says_how_to_get_it(smb_rom: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cynes", None)
    with pytest.raises(RouteError, match="pip install cynes"):
        CynesReplayer(smb_rom)
