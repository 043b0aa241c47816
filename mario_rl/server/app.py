"""The whole server as one ASGI application: the guard, binary steps, HTTP, MCP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi import Request as HttpRequest
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from mcp.server.transport_security import TransportSecuritySettings
from starlette.exceptions import HTTPException

from mario_rl import __version__
from mario_rl.server.binary_step import BinarySteps
from mario_rl.server.errors import Refusal
from mario_rl.server.mcp import make_mcp
from mario_rl.server.metrics import Metrics
from mario_rl.server.routes import make_router
from mario_rl.server.security import Guard, HostNames
from mario_rl.server.service import Service

DESCRIPTION = """NES consoles, managed: launched, played, watched, recovered. MCP is at /mcp.

Every address means the session `default` unless `?session=NAME` says otherwise.
"""
# The guard in front has checked Host and Origin before anything gets to the MCP server.
_CHECKED_BY_THE_GUARD = TransportSecuritySettings(enable_dns_rebinding_protection=False)


def make_app(service: Service, hosts: HostNames, token: str | None = None, origins: Iterable[str] = ()) -> Guard:
    """The server; when it ends, so do the service's consoles."""
    http, counters = make_http(service)
    return Guard(BinarySteps(http, service, counters), hosts, token, origins)


def make_http(service: Service) -> tuple[FastAPI, Metrics]:
    """HTTP and MCP, without the guard; and what counts its requests."""
    assistants = make_mcp(service)
    assistants_app = assistants.streamable_http_app(transport_security=_CHECKED_BY_THE_GUARD)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with assistants.session_manager.run():
            yield
        await service.close()

    counters = Metrics(service)
    app = FastAPI(title="mario-rl", version=__version__, description=DESCRIPTION, lifespan=lifespan)
    app.include_router(make_router(service, counters))
    app.router.routes.extend(assistants_app.routes)

    @app.exception_handler(Refusal)
    async def refused(_: HttpRequest, refusal: Refusal) -> JSONResponse:
        return JSONResponse(refusal.body(), refusal.status)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: HttpRequest, mistake: RequestValidationError) -> JSONResponse:
        return JSONResponse({"error": "invalid", "detail": _in_words(mistake)}, 422)

    @app.exception_handler(HTTPException)
    async def unknown(_: HttpRequest, problem: HTTPException) -> JSONResponse:
        named = {400: "invalid", 404: "not_there", 405: "wrong_method"}.get(problem.status_code, "refused")
        return JSONResponse(
            {"error": named, "detail": f"{problem.detail}; see /docs"}, problem.status_code, problem.headers
        )

    return app, counters


def _in_words(mistake: RequestValidationError) -> str:
    """What is wrong with which fields, in one line."""
    found = [f"{'.'.join(str(part) for part in error['loc'])}: {error['msg']}" for error in mistake.errors()]
    return "; ".join(found[:5])
