"""The terminal dashboard: five pages, a line above that says what the run does, the keys below."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from typing import Any, ClassVar, TextIO

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Footer, RichLog, Static, TabbedContent, TabPane

from mario_rl.dashboard.hotspots import hotspots_page
from mario_rl.dashboard.learner import learner_page
from mario_rl.dashboard.lines import log_line
from mario_rl.dashboard.overview import overview
from mario_rl.dashboard.session import TrainingSession
from mario_rl.dashboard.workers import workers_table

__all__ = ["TrainingUI"]

TICKS_PER_SECOND = 4
PAGES = ("overview", "workers", "learner", "hotspots", "log")


class Page(Static):
    """Text that is drawn anew for the size it has; nothing is sent to the terminal while it stays the same."""

    def __init__(self, draw: Callable[[int, int], Text], id: str | None = None, classes: str | None = None):
        super().__init__(markup=False, id=id, classes=classes)
        self._draw = draw
        self._drawn = Text()

    def redraw(self) -> None:
        """Show the state of now."""
        text = self._draw(self.size.width, self.size.height)
        if (text.plain, text.spans) != (self._drawn.plain, self._drawn.spans):
            self._drawn = text
            self.update(text)

    def on_resize(self) -> None:
        """Another size needs another drawing, at once."""
        self.redraw()


class StderrWithFile:
    """Textual's capture of stderr, with the file descriptor it lacks: processes started meanwhile inherit one."""

    def __init__(self, captured: TextIO):
        self._captured = captured

    def __getattr__(self, name: str) -> Any:
        return getattr(self._captured, name)

    def fileno(self) -> int:
        """The process's own stderr."""
        return 2


class TrainingUI(App[None]):
    """Shows a session and drives it to its end: `session.tick` is called a few times a second from here."""

    CSS = """
    #headline { height: 1; padding: 0 1; background: $panel; }
    TabbedContent { height: 1fr; }
    TabPane { padding: 0 0 0 1; }
    .fill { height: 1fr; }
    RichLog { background: $background; scrollbar-size-vertical: 1; }
    VerticalScroll { scrollbar-size-vertical: 1; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pause", "Pause"),
        Binding("s", "save", "Save"),
        Binding("q", "stop", "Quit"),
        Binding("ctrl+c,ctrl+q", "interrupt", "Quit", show=False, priority=True),
        Binding("up", "scroll(-1)", "Up", show=False),
        Binding("down", "scroll(1)", "Down", show=False),
        Binding("pageup", "scroll(-10)", "Page up", show=False),
        Binding("pagedown", "scroll(10)", "Page down", show=False),
        *(Binding(str(n), f"page('{page}')", page, show=False) for n, page in enumerate(PAGES, start=1)),
    ]

    def __init__(self, session: TrainingSession):
        super().__init__()
        self.animation_level = "none"  # every frame of one would travel over ssh
        self.session = session
        self.failure: Exception | None = None
        self._paused = False
        self._stopping = False
        self._began = time.monotonic()
        self._logged = 0

    def run(self, **options: Any) -> None:
        """Show the session until it is over. A failure of `session.tick` is raised when the screen is restored."""
        super().run(**options)
        if self.failure is not None:
            raise self.failure

    def compose(self) -> ComposeResult:
        """The line above, the pages, the keys."""
        session = self.session
        yield Page(lambda width, _: self._headline(width), id="headline")
        with TabbedContent(initial="overview"):
            with TabPane("1 Overview", id="overview"):
                yield Page(lambda w, h: overview(session, self._seconds(), w, h, self._paused), classes="fill")
            with TabPane("2 Workers", id="workers"), VerticalScroll():
                yield Page(lambda width, _: workers_table(session, time.time(), width, self._paused))
            with TabPane("3 Learner", id="learner"), VerticalScroll():
                yield Page(lambda width, _: learner_page(session, width))
            with TabPane("4 Hotspots", id="hotspots"), VerticalScroll():
                yield Page(lambda width, _: hotspots_page(session, width))
            with TabPane("5 Log", id="log"):
                yield RichLog(wrap=True, max_lines=1000, min_width=20)
        yield Footer()

    def on_mount(self) -> None:
        """Start to drive the session."""
        self.set_interval(1 / TICKS_PER_SECOND, self._tick)

    def on_tabbed_content_tab_activated(self) -> None:
        """A page that was hidden shows the state of now."""
        self._redraw()

    def _tick(self) -> None:
        try:
            with redirect_stderr(StderrWithFile(sys.stderr)):
                running = self.session.tick()
        except Exception as failure:  # whatever it is, the terminal must be restored before it is told
            self.failure = failure
            running = False
        if not running:
            self.exit()
            return
        self._redraw()

    def _redraw(self) -> None:
        for page in self.query(Page):
            if page.is_on_screen:
                page.redraw()
        self._write_log()

    def _write_log(self) -> None:
        aggregator = self.session.aggregator
        new = min(aggregator.log_count - self._logged, len(aggregator.log))
        self._logged = aggregator.log_count
        for line in list(aggregator.log)[len(aggregator.log) - new :]:
            self.query_one(RichLog).write(log_line(line))

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _headline(self, width: int) -> Text:
        """Left the run, right what it does."""
        config = self.session.config
        status = "stopping, saving" if self._stopping else "paused" if self._paused else ""
        status = (status or self.session.aggregator.learner.status).upper()
        name = f"mario-rl  {config.model} on {config.level}  {self.session.run_directory}"
        room = max(width - len(status) - 1, 0)
        left = name if len(name) <= room else name[: max(room - 1, 0)] + "…"
        return Text(left.ljust(room) + " ", no_wrap=True).append(status, "bold reverse")

    # --- keys -----------------------------------------------------------------------------------------------------

    def action_page(self, page: str) -> None:
        """Show a page."""
        self.query_one(TabbedContent).active = page

    def action_scroll(self, rows: int) -> None:
        """Move the page, if it is longer than the screen."""
        for page in self.query("VerticalScroll, RichLog").results(Widget):
            if page.is_on_screen:
                page.scroll_relative(y=rows, animate=False)

    def action_pause(self) -> None:
        """Pause, or go on."""
        if not self._stopping:
            self._paused = not self._paused
            self.session.pause(self._paused)
            self._redraw()

    def action_save(self) -> None:
        """Ask for a checkpoint."""
        if not self._stopping:
            self.session.save()
            self.notify("a checkpoint is being saved", timeout=2)

    def action_interrupt(self) -> None:
        """Ctrl-C: stop cleanly; the second time, at once."""
        if self._stopping:
            self.session.stop_at_once()
        else:
            self.action_stop()

    def action_stop(self) -> None:
        """Stop cleanly; the dashboard stays until the run is saved."""
        if not self._stopping:
            self._stopping = True
            self.session.stop()
            self._redraw()
