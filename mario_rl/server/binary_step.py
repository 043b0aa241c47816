"""The quick way in: steps as bytes, straight from the socket to the console's thread and back.

POST /step with the content type application/octet-stream comes here, past the web framework, whose routing,
validation and JSON cost several times what a step does. Everything else goes on to it.
"""

from __future__ import annotations

import re
import time
from functools import lru_cache
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mario_rl.emulators.remote_step import CONTENT_TYPE, LARGEST_REQUEST
from mario_rl.server.errors import Invalid, Refusal
from mario_rl.server.metrics import Metrics
from mario_rl.server.schemas import NAME_PATTERN
from mario_rl.server.security import answer
from mario_rl.server.service import DEFAULT_SESSION, Service

_BINARY = CONTENT_TYPE.encode()
_NAME = re.compile(NAME_PATTERN)


class BinarySteps:
    """The ASGI application in front of the web framework; it counts what both answer."""

    def __init__(self, app: ASGIApp, service: Service, metrics: Metrics):
        self._app = app
        self._service = service
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a binary step, or pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.answered(message["status"])
            await send(message)

        if scope["path"] != "/step" or scope["method"] != "POST":
            await self._app(scope, receive, counted)
            return
        content_type = writer = b""
        for name, value in scope["headers"]:
            if name == b"content-type":
                content_type = value
            elif name == b"x-writer":
                writer = value
        if content_type == _BINARY:
            await self._step(scope["query_string"], writer.decode("latin-1") or None, receive, counted)
        else:
            await self._app(scope, receive, counted)

    async def _step(self, query: bytes, key: str | None, receive: Receive, send: Send) -> None:
        begin = time.perf_counter()
        try:
            body: bytes = (await receive())["body"]
            if len(body) > LARGEST_REQUEST:
                raise Invalid(f"a step has at most {LARGEST_REQUEST} bytes, this has {len(body)}")
            result = await self._service.step_bytes(_session(query), key, body)
        except Refusal as refusal:
            await answer(send, refusal.status, refusal.name, str(refusal), **refusal.details)
            return
        headers = [(b"content-type", _BINARY), (b"content-length", b"%d" % len(result))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": result})
        self._metrics.step_seconds.observe(time.perf_counter() - begin)


@lru_cache(64)
def _session(query: bytes) -> str:
    if not query:
        return DEFAULT_SESSION
    try:
        name = parse_qs(query.decode("ascii"), max_num_fields=8).get("session", [DEFAULT_SESSION])[-1]
    except ValueError:  # not ASCII, or too many fields
        raise Invalid("the query has nothing but ?session=NAME") from None
    if not _NAME.fullmatch(name):
        raise Invalid("a session's name consists of up to 64 letters, digits, dots, - and _")
    return name
