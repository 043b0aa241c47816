"""Connections that have to come to the point: a client that connects has to send the head of a request in time.

uvicorn ends connections that are idle between requests. One that never sends a whole head would stay for ever; a few
thousand of them, which need no token, would leave the server no descriptors for others.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 10.0

_Protocol: Any = AutoHTTPProtocol  # its class depends on what is installed


class PunctualProtocol(_Protocol):  # type: ignore[misc]
    """uvicorn's protocol with that limit."""

    _deadline: asyncio.TimerHandle | None = None
    _begun: Any = None  # the request that is being answered; `cycle` is the last one that has arrived

    def connection_made(self, transport: asyncio.Transport) -> None:
        """A client connects."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """It sends something."""
        super().data_received(data)
        request = self.cycle
        if request is None or request.response_complete:
            self._wait_for_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone. Of several requests sent at once uvicorn tells only the last one, and the others would fail."""
        self._stop_waiting()
        if self._begun is not None and not self._begun.response_complete:
            self._begun.disconnected = True
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._begun = cycle
        super()._start_asgi_task(cycle, app)

    def _wait_for_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
