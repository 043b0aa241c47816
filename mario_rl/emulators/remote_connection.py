"""A connection that is kept open, for many small HTTP requests one after the other.

A request leaves in one packet and the answer is read with as few calls as it takes; that is a third of what http.client
costs. It understands the answers of our own server: a status, headers, and a body whose length they tell.
"""

from __future__ import annotations

import select
import socket
import ssl
from urllib.parse import SplitResult

TIMEOUT_SECONDS = 90.0  # longer than the server takes to say that it is busy
LARGEST_HEAD = 64 * 1024
LARGEST_ANSWER = 16 * 1024 * 1024
_READ_AT_ONCE = 64 * 1024


class ConnectionLost(OSError):
    """The other side ended the connection, or does not speak HTTP as we know it."""


class KeptConnection:
    """One connection to a server, opened when it is needed."""

    def __init__(self, address: SplitResult):
        assert address.hostname is not None
        self._secure = address.scheme == "https"
        self._to = (address.hostname, address.port or (443 if self._secure else 80))
        self._host = address.netloc.rpartition("@")[2]
        self._socket: socket.socket | None = None

    @property
    def is_open(self) -> bool:
        """There is a connection, as far as we know."""
        return self._socket is not None

    def open(self) -> None:
        """Connect, unless there is a living connection. The server ends those that are idle for long."""
        if self._socket is not None:
            if not select.select([self._socket], [], [], 0)[0]:  # between requests there is nothing to read but the end
                return
            self.close()
        plain = socket.create_connection(self._to, TIMEOUT_SECONDS)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._secure:
                plain = ssl.create_default_context().wrap_socket(plain, server_hostname=self._to[0])
        except BaseException:
            plain.close()
            raise
        self._socket = plain

    def ask(self, method: str, path: str, headers: str, body: bytes = b"") -> tuple[int, bytes]:
        """Send a request (`headers`: lines that end in CRLF); the status and the body of the answer."""
        assert self._socket is not None, "open it first"
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        try:
            self._socket.sendall(head.encode("ascii") + body)
            return self._answer(self._socket)
        except BaseException:
            self.close()  # what is still on its way would be taken for the next answer
            raise

    def close(self) -> None:
        """Disconnect. Idempotent."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _answer(self, stream: socket.socket) -> tuple[int, bytes]:
        received = b""
        while (end := received.find(b"\r\n\r\n")) < 0:
            if len(received) > LARGEST_HEAD:
                raise ConnectionLost("it does not speak HTTP")
            received += _some(stream)
        status, length = _understood(received[:end])
        body = bytearray(received[end + 4 :])
        while len(body) < length:
            body += _some(stream)
        if len(body) > length:
            raise ConnectionLost("it sends more than it said")
        return status, bytes(body)


def _some(stream: socket.socket) -> bytes:
    data = stream.recv(_READ_AT_ONCE)
    if not data:
        raise ConnectionLost("it ended the connection")
    return data


def _understood(head: bytes) -> tuple[int, int]:
    """The status and the length of the body."""
    lines = head.split(b"\r\n")
    try:
        version, status = lines[0].split(b" ", 2)[:2]
        length = 0
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not version.startswith(b"HTTP/1.") or not 0 <= length <= LARGEST_ANSWER:
            raise ValueError
        return int(status), length
    except ValueError:
        raise ConnectionLost("it does not speak HTTP") from None
