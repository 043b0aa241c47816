"""The dashboard under Textual's pilot: pages, keys, sizes, and how it ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from mario_rl.dashboard import terminal
from mario_rl.dashboard.terminal import PAGES, Page, TrainingUI


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    """Ticks come faster than for people."""
    monkeypatch.setattr(terminal, "TICKS_PER_SECOND", 10)


def screen_text(ui):
    """What is on the screen, row by row, from Textual's own screenshot."""
    rows = {}
    texts = re.findall(r'<text[^>]* x="([\d.]+)"[^>]*-line-(\d+)\)">([^<]*)</text>', ui.export_screenshot())
    for x, row, text in texts:
        rows.setdefault(int(row), []).append((float(x), unescape(text).replace("\xa0", " ").strip("\n")))
    return "\n".join("".join(text for _, text in sorted(rows[row])) for row in sorted(rows))


async def settle(pilot):
    """Until what the session says is on the screen."""
    seen = pilot.app.session.ticks
    while pilot.app.is_running and pilot.app.session.ticks < seen + 2:
        await pilot.pause(0.01)
    await pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.asyncio
async def test_every_page_shows_its_own(session, size):
    session.go_on()
    ui = TrainingUI(session)
    async with ui.run_test(size=size) as pilot:
        await settle(pilot)
        for key, words in (
            ("1", ["181k of 400k steps", "flag rate of the latest", "12.3k", "worker 2 was killed"]),
            ("2", ["episodes", "restores", "health", "ok", "45.2k"]),
            ("3", ["learning rate", "Q mean", "TD error", "updates/s"]),
            ("4", ["1-1", "24 deaths", "1125"]),
            ("5", ["first flag after 12345 steps", "warning: worker 2 was killed by signal 9"]),
        ):
            await pilot.press(key)
            await settle(pilot)
            text = screen_text(ui)
            for word in ["ddqn on 1-1", "LEARNING", "Pause", "Save", "Quit", *words]:
                assert word in text, f"{word!r} is not on page {key}:\n{text}"
    assert session.ticks > 3


@pytest.mark.asyncio
async def test_numbers_move_and_a_still_screen_is_left_alone(session):
    session.go_on(steps=100_000)
    ui = TrainingUI(session)
    async with ui.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("3")
        await settle(pilot)
        page = ui.query_one("#learner").query_one(Page)
        drawn = page.visual
        await settle(pilot)
        assert page.visual is drawn  # nothing new: nothing drawn
        session.events("coordinator").metrics({"loss": 123.4})
        await settle(pilot)
        assert "123.4" in screen_text(ui)


@pytest.mark.asyncio
async def test_a_resize_is_survived_on_every_page(session):
    session.go_on()
    ui = TrainingUI(session)
    async with ui.run_test(size=(120, 40)) as pilot:
        for key in "12345":
            await pilot.press(key)
            for size in ((30, 8), (10, 3), (200, 60)):
                await pilot.resize_terminal(*size)
                await pilot.pause()
        await pilot.press("1")
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        rows = screen_text(ui).split("\n")
        assert len(rows) <= 24 and max(len(row.rstrip()) for row in rows) <= 80
        assert any(row.rstrip().endswith("45 %") for row in rows)


@pytest.mark.asyncio
async def test_pause_and_go_on(session):
    ui = TrainingUI(session)
    async with ui.run_test(size=(80, 24)) as pilot:
        await pilot.press("p")
        await pilot.pause()
        assert session.asked == [("pause", True)] and "PAUSED" in screen_text(ui)
        await pilot.press("p")
        await pilot.pause()
        assert session.asked == [("pause", True), ("pause", False)] and "PAUSED" not in screen_text(ui)


@pytest.mark.asyncio
async def test_save(session):
    ui = TrainingUI(session)
    async with ui.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("s")
        await pilot.pause()
        assert session.asked == ["save"] and "a checkpoint is being saved" in screen_text(ui)


@pytest.mark.asyncio
async def test_a_second_ctrl_c_does_not_wait(session):
    ui = TrainingUI(session)
    async with ui.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+c", "ctrl+c")
        await pilot.pause()
        assert session.asked == ["stop", "stop at once"]


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
@pytest.mark.asyncio
async def test_quit_waits_for_a_clean_end(session, key):
    ui = TrainingUI(session)
    async with ui.run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert session.asked == ["stop"] and ui.is_running and "STOPPING, SAVING" in screen_text(ui)
        await pilot.press("q", "p", "s")  # once is enough, and nothing else is asked for now
        session.ticks_left = 2
        while ui.is_running:
            await pilot.pause(0.01)
    assert session.asked == ["stop"] and session.ticks_left == 0
    assert ui.return_code == 0 and ui.failure is None


@pytest.mark.asyncio
async def test_a_run_that_ends_closes_the_dashboard(session):
    session.ticks_left = 2
    ui = TrainingUI(session)
    async with ui.run_test(size=(80, 24)) as pilot:
        while ui.is_running:
            await pilot.pause(0.01)
    assert session.asked == [] and ui.failure is None


@pytest.mark.asyncio
async def test_a_failure_of_the_run_ends_the_dashboard_and_is_kept(session):
    session.failure = RuntimeError("worker 1 died 5 times in a minute")
    ui = TrainingUI(session)
    async with ui.run_test(size=(80, 24)) as pilot:
        while ui.is_running:
            await pilot.pause(0.01)
    assert ui.failure is session.failure


@pytest.mark.asyncio
async def test_a_long_page_can_be_scrolled_and_stays_where_it_is(session):
    for world in range(1, 9):
        session.events("worker_0").deaths([(f"{world}-1", 37, 100 * world)] * (20 - world))
    ui = TrainingUI(session)
    async with ui.run_test(size=(80, 24)) as pilot:
        await pilot.press("4")
        await settle(pilot)
        assert "1-1" in screen_text(ui) and "8-1  12" not in screen_text(ui)
        await pilot.press(*["pagedown"] * 5)
        await settle(pilot)
        assert "8-1  12 deaths" in screen_text(ui)


def test_run_raises_the_failure_after_the_screen_is_restored(session):
    session.failure = RuntimeError("worker 1 died 5 times in a minute")
    with pytest.raises(RuntimeError, match="worker 1 died 5 times"):
        TrainingUI(session).run(headless=True)


STARTS_A_PROCESS = """
import importlib, multiprocessing
from mario_rl.dashboard.terminal import TrainingUI

class Session(importlib.import_module("conftest").FakeSession):
    def tick(self):
        process = multiprocessing.get_context("spawn").Process(target=print, args=("from the child",))
        process.start()
        process.join()
        return False

if __name__ == "__main__":
    TrainingUI(Session()).run(headless=True)
"""


def test_processes_can_be_started_from_a_tick(tmp_path):
    """Textual's stderr has no file descriptor, for which multiprocessing asks when it starts its first process."""
    script = tmp_path / "starts_a_process.py"
    script.write_text(STARTS_A_PROCESS)
    here = Path(__file__).parent
    environment = os.environ | {"PYTHONPATH": f"{here}:{here.parents[1]}"}
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "from the child\n", "")


def test_every_page_has_a_key():
    keys = {binding.key: binding.action for binding in TrainingUI.BINDINGS}
    assert [keys[str(number)] for number in range(1, 6)] == [f"page('{page}')" for page in PAGES]
