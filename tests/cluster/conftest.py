"""Real runs on a real Ray, in places that are looked at afterwards (tests/faults)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ray._raylet import AuthenticationTokenLoader, Config

from tests.faults.conftest import place

__all__ = ["place"]

OURS = {
    "RAY_AUTH_MODE": "token",  # closed to strangers
    "RAY_AUTH_TOKEN": "0123456789abcdef0123456789abcdef",  # else Ray would leave one in the user's home
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "5",  # at Ray's 15, actors wait until all other tests let them; at 0 those wait for them
    "MARIO_RL_HEAD_SECONDS": "8",
    "GRPC_ENABLE_FORK_SUPPORT": "0",  # with it, one in ten of a head's processes for clients hangs
}


@pytest.fixture(autouse=True)
def _clusters_of_our_own() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        for name, value in OURS.items():
            environment.setenv(name, value)
        _read_environment_again()
        yield
    _read_environment_again()


def _read_environment_again() -> None:
    """Ray has done so when it was imported, which may have been long ago."""
    Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()
