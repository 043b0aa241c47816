"""Real runs on a real Ray, in places that are looked at afterwards (tests/faults)."""

from __future__ import annotations

import pytest

from tests.faults.conftest import place

__all__ = ["place"]


@pytest.fixture(autouse=True)
def _a_token_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray's clusters are closed to strangers; without this it would leave a token in the user's home."""
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef0123456789abcdef")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
