"""Who may write to a console: the client that reserved it, or everybody while nobody has."""

from __future__ import annotations

import secrets
import time

from mario_rl.server.errors import Locked

LEASE_SECONDS = 30.0  # a reservation that is not used for so long yields to the next who wants to write


class Writers:
    """A console's reservation. Readers need none."""

    def __init__(self) -> None:
        self._key: str | None = None
        self._last_used = 0.0

    @property
    def reserved(self) -> bool:
        """Somebody holds a reservation that has not lapsed."""
        return self._key is not None and time.monotonic() - self._last_used < LEASE_SECONDS

    def claim(self) -> str:
        """Reserve writing; the key proves it."""
        self._refuse_if_reserved()
        self._key = secrets.token_urlsafe(16)
        self._last_used = time.monotonic()
        return self._key

    def check(self, key: str | None) -> None:
        """Let the holder of `key` (None: any client) write now, or raise Locked."""
        if key is None:
            self._refuse_if_reserved()
            self._key = None  # it has lapsed
        elif self._key is not None and secrets.compare_digest(key.encode(), self._key.encode()):
            self._last_used = time.monotonic()
        else:
            raise Locked("this reservation has lapsed and another client may have written since: connect again")

    def release(self, key: str) -> None:
        """Give the reservation back; a key that is not the current one gives back nothing."""
        if self._key is not None and secrets.compare_digest(key.encode(), self._key.encode()):
            self._key = None

    def _refuse_if_reserved(self) -> None:
        if self.reserved:
            raise Locked(
                "another client has reserved writing to this session: use another session, "
                f"or wait until it has been idle for {LEASE_SECONDS:.0f} s"
            )
