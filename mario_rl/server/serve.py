"""Runs the server: binds, says where, serves until it is told to end, and leaves no console behind."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType

import uvicorn

from mario_rl.server.app import make_app
from mario_rl.server.mcp import make_mcp
from mario_rl.server.punctual import PunctualProtocol
from mario_rl.server.security import HostNames, check_binding
from mario_rl.server.service import Service, ServiceSettings

KEEP_ALIVE_SECONDS = 75  # a training client may learn for a while between two steps
DRAIN_SECONDS = 5  # for requests that are being answered when the end comes
BACKLOG = 1024  # connections that wait to be accepted
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class AddressTaken(OSError):
    """The server cannot listen there; the message says what to do."""


@dataclass(frozen=True)
class ServerSettings:
    """Where to serve, and whom."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()


def serve_http(settings: ServerSettings, service_settings: ServiceSettings) -> None:
    """Serve HTTP and MCP until a signal ends it; UnsafeSetting or AddressTaken if it cannot begin."""
    check_binding(settings.host, settings.token)
    with _listening(settings.host, settings.port) as listener:
        service = Service(service_settings)
        hosts = HostNames(settings.host, settings.allowed_hosts)
        app = make_app(service, hosts, settings.token, settings.allowed_origins)
        config = uvicorn.Config(
            app,
            http=PunctualProtocol,
            ws="none",
            log_level="error",  # what a stranger sends is no news
            access_log=False,
            proxy_headers=False,  # nobody may say on whose behalf they come
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=DRAIN_SECONDS,
        )
        says = f"serving {_url(listener)} ({service_settings.emulator}); /docs explains it, Ctrl-C ends it"
        _DrainingServer(config, service, says).run(sockets=[listener])


def serve_stdio(service_settings: ServiceSettings) -> None:
    """Serve MCP on stdin and stdout until stdin ends, or a signal."""
    asyncio.run(_serve_stdio(Service(service_settings)))


async def _serve_stdio(service: Service) -> None:
    loop = asyncio.get_running_loop()
    serving = asyncio.ensure_future(make_mcp(service).run_stdio_async())
    for number in ENDINGS:
        loop.add_signal_handler(number, serving.cancel)
    try:
        await serving
    except asyncio.CancelledError:
        pass
    finally:
        await service.close()


class _DrainingServer(uvicorn.Server):
    """Ends without an error when it is told to: requests are answered, streams end, consoles are shut down."""

    def __init__(self, config: uvicorn.Config, service: Service, says: str):
        super().__init__(config)
        self._service = service
        self._says = says

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ours instead of uvicorn's, which ends the process by the signal once more after everything is done."""
        before = {number: signal.signal(number, self.handle_exit) for number in ENDINGS}
        try:
            print(self._says, flush=True)  # not before: who reads it may end the server at once
            yield
        finally:
            for number, previous in before.items():
                signal.signal(number, previous)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end."""
        self._service.draining = True
        super().handle_exit(sig, frame)


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    # With its protocol named: asyncio turns Nagle's algorithm off only then, and with it every answer takes 40 ms.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen(BACKLOG)
        except OSError as problem:
            reason = problem.strerror or problem
            raise AddressTaken(
                f"cannot listen at {host}:{port} ({reason}): choose another --host or --port"
            ) from problem
        yield listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
