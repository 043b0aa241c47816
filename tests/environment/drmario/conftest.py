"""The tests of Dr. Mario need no ROM: the cartridge is our own."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _the_game() -> None:
    """Instead of the one of the tests beside this folder, which asks for Super Mario Bros."""
