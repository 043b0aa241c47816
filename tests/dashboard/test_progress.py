"""The line of `--no-ui`: in place on a terminal, now and then elsewhere, and never the end of a run."""

from __future__ import annotations

import fcntl
import io
import os
import struct
import termios

import pytest

from mario_rl.dashboard import progress as module
from mario_rl.dashboard.progress import ProgressLine, run_with_progress


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_elsewhere_a_line_every_five_seconds(session):
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(session, stream, clock)
    line.update()
    session.go_on()
    session.aggregator.log.clear()
    for _ in range(45):
        clock.now += 0.25
        line.update()
    line.finish()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "0/400k steps 0 %  0/4 workers"
    assert (
        lines[1:]
        == ["181k/400k steps 45 %  3616/s  1 m 01 s left  flag 100 %  best x 3161  loss 0.0300  4/4 workers"] * 3
    )  # after 5 and 10 of 11 seconds, and at the end
    assert "\r" not in stream.getvalue() and "\x1b" not in stream.getvalue()


def test_practice_is_kept_apart(practising_session):
    text = ProgressLine(practising_session("demo"), io.StringIO()).text()
    assert "  flag 100 %  practice 14 %  best x 3161  " in text


def test_lines_of_the_log_are_written_once_and_in_order(session):
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(session, stream, clock)
    session.events("coordinator").log("info", "one")
    line.update()
    line.update()
    session.events("supervisor").log("warning", "two\u2026")
    session.events("supervisor").log("error", "th\x1b[2Jree\nfour")
    line.update()
    line.finish()
    logged = [text.split(" ", 1)[1] for text in stream.getvalue().splitlines() if "steps" not in text]
    assert logged == ["coordinator: one", "supervisor: warning: two\u2026", "supervisor: error: th?[2Jree four"]


@pytest.fixture
def terminal():
    """A terminal 44 columns wide: (its stream, what has been written to it)."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 44, 0, 0))
    os.set_blocking(master, False)
    written = b""

    def read():
        nonlocal written
        while True:
            try:
                written += os.read(master, 65536)
            except BlockingIOError:
                return written.decode().replace("\r\n", "\n")

    with os.fdopen(slave, "w", encoding="utf-8") as stream:
        yield stream, read
    os.close(master)


def test_on_a_terminal_the_line_is_rewritten_and_fits(session, terminal):
    stream, read = terminal
    line = ProgressLine(session, stream)
    line.update()
    session.go_on()
    session.aggregator.log.clear()
    line.update()
    line.update()  # nothing new: nothing written
    line.finish()
    texts = read().split("\r\x1b[K")
    assert texts == [
        "",
        "0/400k steps 0 %  0/4 workers",
        "181k/400k steps 45 %  3616/s  1 m 01 s left",
        "181k/400k steps 45 %  3616/s  1 m 01 s left\n",
    ]
    assert all(len(text.strip()) < 44 for text in texts)


def test_a_log_line_pushes_the_progress_down(session, terminal):
    stream, read = terminal
    line = ProgressLine(session, stream)
    line.update()
    session.events("coordinator").log("info", "first flag")
    line.update()
    before, log, after = read().split("\r\x1b[K")[1:]
    assert before == after == "0/400k steps 0 %  0/4 workers"
    assert log.endswith("coordinator: first flag\n")


def test_a_reader_that_went_away_does_not_end_the_run(session, monkeypatch):
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    reader, writer = os.pipe()
    os.close(reader)
    session.ticks_left = 10
    stream = os.fdopen(writer, "w")
    run_with_progress(session, stream)
    assert session.ticks_left == 0
    with pytest.raises(BrokenPipeError):  # what it could not write is still in the stream's buffer
        stream.close()


def test_a_stream_of_ascii_gets_ascii(session):
    raw = io.BytesIO()
    line = ProgressLine(session, io.TextIOWrapper(raw, encoding="ascii"))
    session.events("coordinator").log("info", "größer …")
    line.update()
    assert b"gr??er ?" in raw.getvalue()


def test_a_failure_leaves_the_cursor_on_a_fresh_line(session):
    stream = io.StringIO()
    session.failure = RuntimeError("worker 1 died 5 times in a minute")
    with pytest.raises(RuntimeError, match="worker 1 died"):
        run_with_progress(session, stream)
    assert stream.getvalue().endswith("\n")
