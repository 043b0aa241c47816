"""A console elsewhere: the `Emulator` contract over the HTTP server's binary steps.

RAM is kept here as a copy that every step refreshes. What the caller writes into it is found by comparing it with what
the server sent, and travels with the next request; so a poke costs nothing extra.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

import numpy as np
from numpy.typing import NDArray

from mario_rl._native import StateError
from mario_rl.emulators import remote_step
from mario_rl.emulators.base import RAM_SIZE, SCREEN_HEIGHT, SCREEN_WIDTH, EmulatorReset
from mario_rl.emulators.remote_connection import KeptConnection
from mario_rl.emulators.remote_step import CONTENT_TYPE, LONGEST_STEP, StepRequest

__all__ = ["TOKEN_VARIABLE", "RemoteEmulator", "RemoteError"]

TOKEN_VARIABLE = "MARIO_RL_TOKEN"


class RemoteError(ConnectionError):
    """Nobody answers, or the answer is no; the message says what to do."""


class RemoteEmulator:
    """One console of a server (see `Emulator`). While it is open, no other client can write to that console.

    The session can be part of the address (http://localhost:8000?session=two), the token come from the environment
    (MARIO_RL_TOKEN). A console that does not run yet is launched.
    """

    def __init__(self, url: str, session: str = "default", token: str | None = None):
        address = urlsplit(url)
        query = parse_qs(address.query)
        if not _is_server(address) or set(query) - {"session"}:
            raise ValueError(f"{url!r} is no address of a server: it looks like http://localhost:8000")
        token = token or os.environ.get(TOKEN_VARIABLE)
        if token is not None and not (token.isascii() and token.isprintable()):
            raise ValueError("a token consists of visible ASCII characters")
        self.url = f"{address.scheme}://{address.netloc}"
        self._session = quote(query.get("session", [session])[-1], safe="")
        self._headers = "" if token is None else f"Authorization: Bearer {token}\r\n"
        self._connection = KeptConnection(address)
        self._ram = np.zeros(RAM_SIZE, np.uint8)
        self._ram_there = bytes(RAM_SIZE)
        try:
            connected = self._ask_json("POST", "/connect", {"writer": True})
            self._headers += f"X-Writer: {connected['writer']}\r\n"
            self._refresh()
        except BaseException:
            self._connection.close()
            raise

    @property
    def ram(self) -> NDArray[np.uint8]:
        """The console's RAM; what is written into the array reaches the console with the next call."""
        return self._ram

    def step(self, pads: tuple[int, int] = (0, 0), frames: int = 1, render: bool = False) -> None:
        """Run `frames` frames with both pads held; draw the last one if `render`."""
        while frames > LONGEST_STEP:
            self._step(pads, LONGEST_STEP, 0)
            frames -= LONGEST_STEP
        self._step(pads, frames, remote_step.DRAW if render else 0)

    def frame(self) -> NDArray[np.uint8]:
        """The last drawn frame, uint8[240, 256, 3] RGB."""
        pixels = self._ask("GET", "/frame")
        return np.frombuffer(pixels, np.uint8).reshape(SCREEN_HEIGHT, SCREEN_WIDTH, 3).copy()

    def peek(self, address: int, length: int = 1) -> bytes:
        """The CPU bus without side effects; registers read as 0."""
        self._send_pokes()
        answer = self._ask_json("GET", "/memory", query=f"&address={address}&length={length}")
        return bytes.fromhex(answer["hex"])

    def save(self) -> bytes:
        """The whole state."""
        self._send_pokes()
        return self._ask("GET", "/state")

    def load(self, state: bytes) -> None:
        """Restore a saved state; StateError (a ValueError) if it is not one, and then nothing changed."""
        try:
            self._ask("PUT", "/state", state, CONTENT_TYPE)
        except _Refused as refused:
            if refused.name not in ("invalid", "too_large"):
                raise
            raise StateError(str(refused)) from None
        self._refresh()

    def power(self) -> None:
        """Switch off and on again."""
        self._ask_json("POST", "/reset", {"play": False})
        self._refresh()

    def close(self) -> None:
        """Let other clients write. The console stays with its server. Idempotent."""
        if not self._connection.is_open:
            return
        with contextlib.suppress(RemoteError):  # nobody is left to tell
            self._ask("POST", "/disconnect")
        self._connection.close()

    # --- steps ----------------------------------------------------------------------------------------------------

    def _step(self, pads: tuple[int, int], frames: int, wanted: int) -> None:
        request = StepRequest(pads, frames, wanted | remote_step.RAM, self._pokes())
        body = self._ask("POST", "/step", remote_step.pack_request(request), CONTENT_TYPE)
        ram = remote_step.unpack_answer(body).ram
        assert ram is not None, "it was asked for"
        self._ram_there = ram
        self._ram[:] = np.frombuffer(ram, np.uint8)

    def _pokes(self) -> list[tuple[int, int]]:
        if self._ram.tobytes() == self._ram_there:
            return []
        changed = np.flatnonzero(self._ram != np.frombuffer(self._ram_there, np.uint8)).tolist()
        return [(address, int(self._ram[address])) for address in changed]

    def _send_pokes(self) -> None:
        if self._ram.tobytes() != self._ram_there:
            self._step((0, 0), 0, 0)

    def _refresh(self) -> None:
        """Take the RAM over as it is there; what was written here meanwhile is void."""
        self._ram[:] = np.frombuffer(self._ram_there, np.uint8)
        self._step((0, 0), 0, 0)

    # --- HTTP -----------------------------------------------------------------------------------------------------

    def _ask_json(self, method: str, path: str, body: Any = None, query: str = "") -> Any:
        """The answer to a request, both in JSON."""
        sent = b"" if body is None else json.dumps(body).encode()
        answer = self._ask(method, path, sent, "application/json", query)
        try:
            told = json.loads(answer)
        except ValueError:
            told = None
        if not isinstance(told, dict) or not told:
            raise RemoteError(f"{self.url} is no server of mario-rl: its answer makes no sense")
        return told

    def _ask(self, method: str, path: str, body: bytes = b"", content_type: str = "", query: str = "") -> bytes:
        """The body of the answer; an EmulatorReset or a RemoteError if it is a refusal, or there is none."""
        try:
            self._connection.open()
        except OSError as problem:
            raise RemoteError(
                f"nobody answers at {self.url} ({problem.strerror or problem}): start `mario-rl serve` there, "
                "or correct the address"
            ) from problem
        headers = f"Content-Type: {content_type}\r\n{self._headers}" if content_type else self._headers
        try:
            status, answer = self._connection.ask(method, f"{path}?session={self._session}{query}", headers, body)
        except OSError as problem:
            what = "no answer in time" if isinstance(problem, TimeoutError) else problem
            raise RemoteError(f"lost {self.url} ({what}): is `mario-rl serve` still running there?") from problem
        if status < 300:
            return answer
        raise self._problem(status, answer)

    def _problem(self, status: int, answer: bytes) -> Exception:
        try:
            told: dict[str, Any] = json.loads(answer)
            name, detail = str(told["error"]), str(told["detail"])
        except (ValueError, KeyError, TypeError):
            return RemoteError(f"{self.url} is no server of mario-rl: it answers with status {status}")
        if name == "reset":
            # The server tells of it once, so now RAM can be looked at again.
            self._ram_there = self._ram.tobytes()
            self._refresh()
            return EmulatorReset(int(told.get("restarts", 0)))
        return _Refused(f"{self.url} refuses: {detail}", name)


def _is_server(address: SplitResult) -> bool:
    try:
        port_fits = address.port is None or address.port > 0
    except ValueError:
        return False
    return port_fits and address.scheme in ("http", "https") and bool(address.hostname) and address.path in ("", "/")


class _Refused(RemoteError):
    """The server says no."""

    def __init__(self, message: str, name: str):
        super().__init__(message)
        self.name = name
