"""Surveys: what is found does not depend on the processes, and nothing of them is left behind."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from mario_rl.runs.route_video import record_route
from mario_rl.snapshots import survey as survey_module
from mario_rl.snapshots.replayers import installed_oracles
from mario_rl.snapshots.routes import Route, RouteError, packaged_route
from mario_rl.snapshots.survey import Check, Finding, Sign, Stopped, Survey, Task, carry_out
from tests.emulators.mednafen_here import mednafen_or_skip


def nobody_listens(doing: str, frames: int) -> None:
    pass


def task(level: str, rom: Path, directory: Path, **changes: object) -> Task:
    return dataclasses.replace(Task(level, 0, rom, directory, pictures=False), **changes)


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]


@pytest.fixture(scope="module")
def alone(smb_rom: Path, tmp_path_factory: pytest.TempPathFactory) -> Finding:
    """1-4, with its map, found in this process."""
    directory = tmp_path_factory.mktemp("alone")
    with pytest.MonkeyPatch.context() as patch:  # a video takes long, and has a test of its own
        patch.setattr("mario_rl.runs.route_video.record_route", lambda file, *_: file.write_bytes(b"video"))
        return carry_out(task("1-4", smb_rom, directory, pictures=True), nobody_listens)


def test_a_finding_says_what_is_true(alone: Finding, smb_rom: Path) -> None:
    assert alone.found and alone.verified_on == ["embedded"]
    assert not alone.verified  # nobody asked the other emulator
    assert alone.route is not None
    route = Route.load(Path(alone.route))
    assert (route.level, route.steps, route.frames) == ("1-4", alone.route_steps, alone.route_frames)
    assert route.found == {"seed": 0, "frames": alone.frames, "actions": "complex"}
    assert alone.first_route_steps is not None and alone.route_steps is not None
    assert alone.route_steps <= alone.first_route_steps
    assert 0 < alone.clock_left < 300
    assert alone.cells > 100 and alone.cpu_s > 0


def test_the_map_shows_the_level_the_cells_and_the_route(alone: Finding) -> None:
    assert alone.map is not None
    with Image.open(alone.map) as image:
        assert image.width == 1792  # the castle is longer than a strip
        pixels = np.asarray(image)
    white, red = (255, 255, 255), (200, 0, 60)
    assert (pixels == white).all(axis=2).sum() > 1500  # 2200 pixels long, two wide, dots
    assert (pixels == red).all(axis=2).sum() > 1500
    colours = np.unique(pixels.reshape(-1, 3), axis=0)
    assert len(colours) > 100  # every cell has its own


def test_several_processes_find_the_same_and_leave_nothing(alone: Finding, smb_rom: Path, tmp_path: Path) -> None:
    survey = Survey([task("1-4", smb_rom, tmp_path), task("3-4", smb_rom, tmp_path)], processes=2)
    try:
        events = list(survey.events())
    finally:
        assert survey.stop() == []
    assert children() == []
    findings = {event.level: event for event in events if isinstance(event, Finding)}
    assert findings.keys() == {"1-4", "3-4"} and all(finding.found for finding in findings.values())
    assert any(isinstance(event, Sign) and event.doing == "exploring" for event in events)
    assert (tmp_path / "1-4.json").read_bytes() == Path(alone.route or "").read_bytes()
    changed = {"cpu_s", "route", "video", "map"}
    one, other = (
        {name: value for name, value in finding.as_dict().items() if name not in changed}
        for finding in (alone, findings["1-4"])
    )
    assert one == other


def test_after_the_deadline_nothing_is_found(smb_rom: Path, tmp_path: Path) -> None:
    finding = carry_out(task("1-4", smb_rom, tmp_path, deadline=time.time() - 1), nobody_listens)
    assert not finding.found and not finding.verified and finding.frames < 1_000
    assert list(tmp_path.iterdir()) == []


def test_who_stops_while_pictures_are_drawn_keeps_the_route(
    smb_rom: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopping(doing: str, frames: int) -> None:
        if doing == "drawing":
            raise Stopped

    finding = carry_out(task("1-4", smb_rom, tmp_path, pictures=True, shorten=0.0), stopping)
    assert finding.found and finding.map is not None and finding.video is None
    assert sorted(file.name for file in tmp_path.iterdir()) == ["1-4.json", "1-4.png"]


def test_who_stops_while_exploring_has_nothing(smb_rom: Path, tmp_path: Path) -> None:
    def stopping(doing: str, frames: int) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        carry_out(task("1-4", smb_rom, tmp_path), stopping)
    assert list(tmp_path.iterdir()) == []


def test_a_video_of_a_route_is_as_long_as_the_level(smb_rom: Path, tmp_path: Path) -> None:
    route = packaged_route("1-4")
    short = dataclasses.replace(route, inputs=(*route.inputs[:3], (0, 20)))
    frames = 0

    def count() -> None:
        nonlocal frames
        frames += 1

    record_route(tmp_path / "1-4.mp4", short, smb_rom.read_bytes(), count)
    assert frames == short.frames + 240
    assert (tmp_path / "1-4.mp4").read_bytes()[4:8] == b"ftyp"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_process_that_is_killed_is_named(smb_rom: Path, tmp_path: Path) -> None:
    survey = Survey([task("8-4", smb_rom, tmp_path)], processes=1)
    try:
        with pytest.raises(RouteError, match=r"8-4 was killed by SIGKILL"):
            for event in survey.events():
                assert isinstance(event, Sign)
                os.kill(children()[0].pid, signal.SIGKILL)
    finally:
        assert survey.stop() == []
    assert children() == []


def test_a_survey_that_is_stopped_ends_its_processes(smb_rom: Path, tmp_path: Path) -> None:
    survey = Survey([task("8-4", smb_rom, tmp_path), task("8-1", smb_rom, tmp_path)], processes=2)
    assert isinstance(next(survey.events()), Sign)
    assert len(children()) == 2
    assert survey.stop() == []
    assert children() == []
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_in_a_process_arrives_as_it_is(smb_rom: Path, tmp_path: Path) -> None:
    (tmp_path / "1-1.json").write_text("{}")
    survey = Survey([Check("1-1", tmp_path / "1-1.json", smb_rom)], processes=1)
    try:
        with pytest.raises(RouteError, match=r"1-1\.json is no route"):
            list(survey.events())
    finally:
        survey.stop()


def test_a_packaged_route_is_verified_on_all_emulators(smb_rom: Path, tmp_path: Path) -> None:
    pytest.importorskip("cynes")
    mednafen_or_skip()
    packaged_route("1-4").save(tmp_path / "1-4.json")
    check = Check("1-4", tmp_path / "1-4.json", smb_rom, installed_oracles())
    finding = carry_out(check, nobody_listens)
    assert finding.found and finding.verified and finding.verified_on == ["embedded", "cynes", "mednafen"]


def test_a_route_that_does_not_arrive_is_not_verified(smb_rom: Path, tmp_path: Path) -> None:
    route = packaged_route("1-4")
    dataclasses.replace(route, inputs=route.inputs[:-1]).save(tmp_path / "1-4.json")
    finding = carry_out(Check("1-4", tmp_path / "1-4.json", smb_rom), nobody_listens)
    assert finding.verified_on == [] and not finding.verified


def test_a_route_of_another_rom_is_refused(smb_rom: Path, tmp_path: Path) -> None:
    dataclasses.replace(packaged_route("1-4"), rom="ab" * 32).save(tmp_path / "1-4.json")
    with pytest.raises(RouteError, match="another ROM"):
        carry_out(Check("1-4", tmp_path / "1-4.json", smb_rom), nobody_listens)


def test_signs_come_now_and_then_and_stop_when_they_should(monkeypatch: pytest.MonkeyPatch) -> None:
    class Line:
        sent: list[Sign] = []  # noqa: RUF012

        def send(self, sign: Sign) -> None:
            self.sent.append(sign)

    class Flag:
        up = False

        def is_set(self) -> bool:
            return self.up

    clock = [10.0]
    monkeypatch.setattr(survey_module.time, "monotonic", lambda: clock[0])
    line, flag = Line(), Flag()
    tell = survey_module._Signs("1-1", line, flag)  # type: ignore[arg-type]
    tell("exploring", 1)
    tell("exploring", 2)
    clock[0] += survey_module.SECONDS_BETWEEN_SIGNS
    tell("exploring", 3)
    assert [sign.frames for sign in line.sent] == [1, 3]
    flag.up = True
    with pytest.raises(Stopped):
        tell("exploring", 4)
