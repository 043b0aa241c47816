"""What a mistake on the command line must look like."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest


def assert_one_clear_line(capfd: pytest.CaptureFixture[str], words: Iterable[str], folder: Path) -> None:
    """One line on stderr with these words in it, nothing on stdout, and nothing left in the folder."""
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1, shown.err
    for word in ("mario-rl: ", *words):
        assert word in shown.err
    assert not list(folder.iterdir()), "a mistake leaves nothing behind"
