"""What tests of Mednafen have in common. Without it they are skipped, which is a failure in CI."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mario_rl.emulators.mednafen import MednafenEmulator
from mario_rl.emulators.mednafen_build import Build, MednafenError, installed_build

PATIENCE = 60.0  # seconds until something counts as hung; nothing is asserted about how long things take

Opener = Callable[..., MednafenEmulator]


def mednafen_or_skip() -> Build:
    """The installed Mednafen."""
    try:
        return installed_build()
    except MednafenError as missing:
        pytest.skip(str(missing))
