"""Let no one in: the outermost layer of the server, in front of everything, HTTP and MCP alike.

Three checks on every request. *Host*: a page of a stranger, whose name was made to point at this machine (DNS
rebinding), gives itself away by that name. *Origin*: a page in the user's browser may only talk to the server it came
from. *Token*: where other machines can connect, only who knows it gets further. Then the body is read, up to a size and
for a time, and the answer has to begin within a time; so nobody's slowness keeps anything occupied.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import re
import socket
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1024 * 1024  # bytes
BODY_SECONDS = 10.0
ANSWER_SECONDS = 60.0
SHORTEST_TOKEN = 16
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_TOKEN = re.compile(r"[\x21-\x7e]+")
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?")

_Refusal = tuple[int, str, str, dict[bytes, bytes]]  # status, name, sentence, headers
_TOO_LARGE: _Refusal = (413, "too_large", f"a request has at most {LARGEST_BODY} bytes", {})
_SLOW: _Refusal = (408, "slow", f"the request took more than {BODY_SECONDS:.0f} s to arrive", {})
_BUSY: _Refusal = (
    503, "busy", f"no answer within {ANSWER_SECONDS:.0f} s: the console is busy, try later", {b"retry-after": b"5"}
)  # fmt: skip


class UnsafeSetting(ValueError):
    """A way to serve that would let anybody in; the message says what to do."""


def check_binding(host: str, token: str | None) -> None:
    """Refuse to listen where others can connect without a token that keeps them out."""
    if token is not None and not _TOKEN.fullmatch(token):
        raise UnsafeSetting("a token consists of visible ASCII characters: try `openssl rand -hex 16`")
    if is_loopback(host):
        return
    if token is None:
        raise UnsafeSetting(
            f"{host} can be reached from other machines: that needs a token (--token, or MARIO_RL_TOKEN in the "
            "environment); without one, use 127.0.0.1"
        )
    if len(token) < SHORTEST_TOKEN:
        raise UnsafeSetting(
            f"{host} can be reached from other machines: a token for that has at least {SHORTEST_TOKEN} characters "
            "(`openssl rand -hex 16`)"
        )


def is_loopback(host: str) -> bool:
    """Only this machine can connect to that address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class HostNames:
    """The names under which a server that listens at `address` may be asked for."""

    def __init__(self, address: str, more: Iterable[str] = ()):
        self._names = LOOPBACK_NAMES | {address.lower(), *(name.lower() for name in more)}
        # Rebinding needs a name. So where every address of the machine is served, all addresses are fine as hosts.
        self._any_address = not is_loopback(address) and address in ("0.0.0.0", "::")
        if self._any_address:
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    @lru_cache(256)  # noqa: B019  there is one of these for the time of the server
    def know(self, authority: str) -> bool:
        """Whether `authority` (the header Host: a name and perhaps a port) is one of them."""
        parts = _AUTHORITY.fullmatch(authority.lower())
        if parts is None:
            return False
        name = parts[1].strip("[]")
        return name in self._names or (self._any_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """The ASGI application in front of the others."""

    def __init__(self, app: ASGIApp, hosts: HostNames, token: str | None = None, origins: Iterable[str] = ()):
        self._app = app
        self._hosts = hosts
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)
        self._credentials = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer why not."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope["headers"])
        if refusal is not None:
            await answer(send, *refusal)
            return
        begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal begun
            if not begun:
                begun = True
                limit.reschedule(None)  # from here on it is the client's speed that counts
            await send(message)

        body = None
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(BODY_SECONDS) as limit:
                body = await _whole_body(receive)
                if body is None:
                    return  # the client left
                if len(body) > LARGEST_BODY:
                    await answer(send_and_note, *_TOO_LARGE)
                    return
                limit.reschedule(loop.time() + ANSWER_SECONDS)
                await self._app(scope, _received(body, receive), send_and_note)
        except TimeoutError:
            if not limit.expired() or begun:
                raise
            await answer(send, *(_SLOW if body is None else _BUSY))

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> _Refusal | None:
        """The answer to a request that must not pass, or None."""
        host = origin = authorization = length = None
        for name, value in headers:
            if name == b"host":
                host = value if host is None else b""  # two of them are none
            elif name == b"origin":
                origin = value
            elif name == b"authorization":
                authorization = value
            elif name == b"content-length":
                length = value
        authority = (host or b"").decode("latin-1")
        if not self._hosts.know(authority):
            return (
                421,
                "wrong_host",
                "this server is not asked for by that name (`mario-rl serve --allow-host NAME`)",
                {},
            )
        if origin is not None and not self._is_own(origin.decode("latin-1"), authority):
            return 403, "wrong_origin", "pages of other sites may not use this server (`--allow-origin URL`)", {}
        if self._credentials is not None and not hmac.compare_digest(authorization or b"", self._credentials):
            return 401, "no_token", "send the header `Authorization: Bearer TOKEN`", {b"www-authenticate": b"Bearer"}
        if length is not None and (not length.isdigit() or len(length) > 9 or int(length) > LARGEST_BODY):
            return _TOO_LARGE
        return None

    def _is_own(self, origin: str, authority: str) -> bool:
        origin = origin.lower()
        return origin in (f"http://{authority.lower()}", f"https://{authority.lower()}") or origin in self._origins


def _received(body: bytes, receive: Receive) -> Receive:
    """What receives the body that has been read, and then what comes after it."""
    waiting: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def receive_again() -> Message:
        nonlocal waiting
        message, waiting = waiting, None
        return message if message is not None else await receive()

    return receive_again


async def _whole_body(receive: Receive) -> bytes | None:
    """The request's body, not read further once it is too large; None if the client left before it was whole."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_BODY or not message.get("more_body"):
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def answer(
    send: Send, status: int, name: str, detail: str, headers: dict[bytes, bytes] | None = None, **more: Any
) -> None:
    """A refusal in JSON."""
    body = json.dumps({"error": name, "detail": detail, **more}).encode()
    sent = {b"content-type": b"application/json", b"content-length": str(len(body)).encode(), **(headers or {})}
    await send({"type": "http.response.start", "status": status, "headers": list(sent.items())})
    await send({"type": "http.response.body", "body": body})
