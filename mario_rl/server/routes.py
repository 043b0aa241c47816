"""The addresses of the HTTP server. The simple ones mean the session "default"; ?session=NAME means another one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from mario_rl.emulators.remote_step import CONTENT_TYPE
from mario_rl.server import metrics as prometheus
from mario_rl.server.schemas import (
    BUS_SIZE,
    Address,
    ConnectAnswer,
    ConnectRequest,
    GameState,
    LaunchAnswer,
    LaunchRequest,
    Memory,
    Name,
    Problem,
    ResetRequest,
    SavedState,
    SavedStates,
    SessionName,
    Sessions,
    Status,
    StepAnswer,
    StepRequest,
    WriteRequest,
)
from mario_rl.server.service import DEFAULT_SESSION, Service

EVENT_SECONDS = 0.1  # how often a live status looks for news
HEARTBEAT_SECONDS = 15.0

SessionQuery = Annotated[SessionName, Query()]
WriterHeader = Annotated[
    str | None, Header(alias="X-Writer", max_length=64, description="The key POST /connect gave, if it gave one.")
]
StateName = Annotated[Name, Path(description="A name of one's own.", examples=["before-the-boss"])]


@dataclass(frozen=True)
class Target:
    """What a request that writes is about: whose console, with what right."""

    session: str
    key: str | None


def _target(session: SessionQuery = DEFAULT_SESSION, x_writer: WriterHeader = None) -> Target:
    return Target(session, x_writer or None)


Writing = Annotated[Target, Depends(_target)]

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The request cannot be read."},
    404: {"model": Problem, "description": "No session, ROM or state of that name."},
    409: {"model": Problem, "description": "The console does not run (not_running), or was lost and is back (reset)."},
    422: {"model": Problem, "description": "The request makes no sense; the detail says what is wrong."},
}
_WRITING = _PROBLEMS | {423: {"model": Problem, "description": "Another client has reserved writing."}}
_LAUNCHING = _WRITING | {
    403: {"model": Problem, "description": "The ROM is not in one of the server's folders."},
    429: {"model": Problem, "description": "As many sessions as there may be."},
}
_KEEPING: dict[int | str, dict[str, Any]] = {
    429: {"model": Problem, "description": "As many states as there may be."},
    507: {"model": Problem, "description": "The server's disk is full, or cannot be written."},
}
_ANY_BYTES = {"schema": {"type": "string", "format": "binary"}}


def _file(content_type: str, description: str) -> dict[int | str, dict[str, Any]]:
    return _PROBLEMS | {200: {"description": description, "content": {content_type: _ANY_BYTES}}}


def make_router(service: Service, counters: prometheus.Metrics) -> APIRouter:
    """All of them."""
    router = APIRouter()
    _add_sessions(router, service)
    _add_play(router, service)
    _add_states(router, service)
    _add_watching(router, service, counters)
    return router


def _add_sessions(router: APIRouter, service: Service) -> None:
    @router.post("/launch", responses=_LAUNCHING, tags=["sessions"])
    async def launch(session: SessionQuery = DEFAULT_SESSION, request: LaunchRequest | None = None) -> LaunchAnswer:
        """Start a console and bring it into play. One that runs the same cartridge already is left as it is."""
        return LaunchAnswer(**await service.launch(session, request or LaunchRequest()))

    @router.post("/shutdown", responses=_WRITING, tags=["sessions"])
    async def shutdown(target: Writing) -> Status:
        """End the console and forget the session."""
        return await service.shutdown(target.session, target.key)

    @router.post("/restart", responses=_WRITING, tags=["sessions"])
    async def restart(target: Writing) -> LaunchAnswer:
        """End the console's process and start another one, in play again."""
        return LaunchAnswer(**await service.restart(target.session, target.key))

    @router.post("/connect", responses=_LAUNCHING, tags=["sessions"])
    async def connect(session: SessionQuery = DEFAULT_SESSION, request: ConnectRequest | None = None) -> ConnectAnswer:
        """Attach to a console (launched if need be), perhaps as its only writer."""
        return await service.connect(session, request or ConnectRequest())

    @router.post("/disconnect", responses=_PROBLEMS, status_code=204, tags=["sessions"])
    async def disconnect(target: Writing) -> None:
        """Give the right to write back."""
        if target.key is not None:
            service.session(target.session).writers.release(target.key)

    @router.get("/sessions", tags=["sessions"])
    async def sessions() -> Sessions:
        """All consoles."""
        return service.sessions()

    @router.get("/status", responses=_PROBLEMS, tags=["sessions"])
    async def status(session: SessionQuery = DEFAULT_SESSION) -> Status:
        """How a console is."""
        return service.status(session)


def _add_play(router: APIRouter, service: Service) -> None:
    @router.post(
        "/step",
        responses=_WRITING,
        tags=["play"],
        openapi_extra={"requestBody": {"content": {CONTENT_TYPE: _ANY_BYTES}}},
    )
    async def step(target: Writing, request: StepRequest | None = None) -> StepAnswer:
        """Hold buttons for some frames. As application/octet-stream it is thousands a second: see docs/server.md."""
        return await service.step(target.session, target.key, request or StepRequest())

    @router.post("/reset", responses=_WRITING, tags=["play"])
    async def reset(target: Writing, request: ResetRequest | None = None) -> Status:
        """Switch the console off and on, and bring it into play."""
        await service.session(target.session).power(target.key, (request or ResetRequest()).play)
        return service.status(target.session)

    @router.get("/game_state", responses=_PROBLEMS, tags=["play"])
    async def game_state(session: SessionQuery = DEFAULT_SESSION) -> GameState:
        """The game, decoded."""
        return await service.session(session).game_state()

    @router.get("/memory", responses=_PROBLEMS, tags=["play"])
    async def read_memory(
        address: Annotated[Address, Query()],
        length: Annotated[int, Query(ge=1, le=BUS_SIZE)] = 1,
        session: SessionQuery = DEFAULT_SESSION,
    ) -> Memory:
        """Bytes of the CPU's bus, cartridge included, without side effects."""
        data = await service.session(session).memory(address, length)
        return Memory(address=address, length=len(data), hex=data.hex())

    @router.post("/memory", responses=_WRITING, status_code=204, tags=["play"])
    async def write_memory(target: Writing, request: WriteRequest) -> None:
        """Write RAM."""
        await service.write_memory(target.session, target.key, request)


def _add_states(router: APIRouter, service: Service) -> None:
    @router.get("/state", responses=_file(CONTENT_TYPE, "The state."), response_class=Response, tags=["states"])
    async def state(session: SessionQuery = DEFAULT_SESSION) -> Response:
        """The console's whole state."""
        return Response(await service.session(session).state(), media_type=CONTENT_TYPE)

    @router.put(
        "/state",
        responses=_WRITING,
        status_code=204,
        tags=["states"],
        openapi_extra={"requestBody": {"required": True, "content": {CONTENT_TYPE: _ANY_BYTES}}},
    )
    async def load_bytes(target: Writing, request: Request) -> None:
        """Restore a state that GET /state gave."""
        await service.load_bytes(target.session, target.key, await request.body())

    @router.get("/states", tags=["states"])
    async def saved_states() -> SavedStates:
        """The states kept under names."""
        return SavedStates(states=await asyncio.to_thread(service.state_files.all))

    @router.put("/states/{name}", responses=_PROBLEMS | _KEEPING, tags=["states"])
    async def save_state(name: StateName, session: SessionQuery = DEFAULT_SESSION) -> SavedState:
        """Keep the console's state under a name."""
        return await service.save_state(session, name)

    @router.post("/states/{name}/load", responses=_WRITING, tags=["states"])
    async def load_state(name: StateName, target: Writing) -> Status:
        """Put a kept state into the console."""
        await service.load_state(target.session, target.key, name)
        return service.status(target.session)

    @router.delete("/states/{name}", responses=_PROBLEMS, status_code=204, tags=["states"])
    async def delete_state(name: StateName) -> None:
        """Forget a kept state."""
        await asyncio.to_thread(service.state_files.delete, name)


def _add_watching(router: APIRouter, service: Service, counters: prometheus.Metrics) -> None:
    @router.get(
        "/screenshot.png", responses=_file("image/png", "256 x 240."), response_class=Response, tags=["watching"]
    )
    async def screenshot(session: SessionQuery = DEFAULT_SESSION) -> Response:
        """What the screen shows now."""
        picture = await service.screenshot(session)
        return Response(picture, media_type="image/png", headers={"cache-control": "no-store"})

    @router.get("/frame", responses=_file(CONTENT_TYPE, "240 x 256 x RGB."), response_class=Response, tags=["watching"])
    async def frame(session: SessionQuery = DEFAULT_SESSION) -> Response:
        """The last frame that a step drew."""
        return Response((await service.session(session).drawn()).tobytes(), media_type=CONTENT_TYPE)

    @router.get(
        "/events", responses=_file("text/event-stream", "A stream."), response_class=Response, tags=["watching"]
    )
    async def events(session: SessionQuery = DEFAULT_SESSION) -> Response:
        """The status, now and whenever it changes, as server-sent events."""
        service.status(session)  # a session that is not there is a mistake, one that ends later is news
        return StreamingResponse(_news(service, session), media_type="text/event-stream")

    @router.get(
        "/metrics", responses=_file("text/plain", "For Prometheus."), response_class=Response, tags=["watching"]
    )
    async def metrics() -> Response:
        """Counters for Prometheus."""
        return Response(counters.text(), media_type=prometheus.CONTENT_TYPE)


async def _news(service: Service, session: str) -> AsyncIterator[str]:
    told: Status | None = None
    last = time.monotonic()
    while not service.draining:
        status = service.status_or_stopped(session)
        # What changes all the time is no news by itself.
        if told is None or status != told.model_copy(update={"uptime": status.uptime, "frames": status.frames}):
            told, last = status, time.monotonic()
            yield f"event: status\ndata: {status.model_dump_json()}\n\n"
        elif time.monotonic() - last > HEARTBEAT_SECONDS:
            last = time.monotonic()
            yield ": still here\n\n"
        await asyncio.sleep(EVENT_SECONDS)
