"""Consoles in Mednafen for the tests of this directory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mario_rl.emulators.mednafen import MednafenEmulator
from tests.emulators.mednafen_here import Opener


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Opens consoles, and closes them afterwards."""
    consoles: list[MednafenEmulator] = []

    def build(*arguments: object, **settings: object) -> MednafenEmulator:
        consoles.append(MednafenEmulator(*arguments, **settings))  # type: ignore[arg-type]
        return consoles[-1]

    yield build
    for console in consoles:
        console.close()
