"""A scripted assistant plays, over both transports, with the SDK's own client."""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from PIL import Image

from .running_server import TOKEN, RunningServer, until

TOOLS = {
    "launch", "connect", "status", "game_state", "read_memory", "write_memory", "press", "step", "screenshot",
    "save_state", "load_state", "list_states", "reset", "shutdown",
}  # fmt: skip
LOOKING = {"status", "game_state", "read_memory", "screenshot", "list_states"}
LOSING = {"write_memory", "save_state", "load_state", "reset", "shutdown"}

Connect = Callable[[], AbstractAsyncContextManager[Client]]


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, mednafen: None, tmp_path: Path) -> Iterator[Connect]:
    """A client of either transport, both with Mednafen."""
    if request.param == "http":
        server: RunningServer = request.getfixturevalue("_mednafen")
        yield lambda: Client(f"{server.url}/mcp")
        server.clear()
        return
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mario_rl", "serve", "--mcp-stdio"],
        env={"MARIO_RL_DATA_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
    )

    @asynccontextmanager
    async def by_stdio() -> AsyncIterator[Client]:
        before = set(psutil.Process().children())
        async with Client(command) as client:
            yield client
            (started,) = set(psutil.Process().children()) - before
            family = [started, *started.children(recursive=True)]
        until(lambda: not any(process.is_running() for process in family))

    yield by_stdio


async def use(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def fail(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return " ".join(content.text for content in result.content)  # type: ignore[union-attr]


@pytest.mark.asyncio
async def test_an_assistant_plays(connect: Connect) -> None:
    async with connect() as client:
        assert (await use(client, "status"))["state"] == "stopped"
        assert "launch" in await fail(client, "game_state")
        report = await use(client, "launch")
        assert report["success"] and report["in_gameplay"] and report["pid"]
        await use(client, "step", frames=60)
        before = (await use(client, "game_state"))["drmario"]["bottles"][0]["capsule"]
        after = await use(client, "press", buttons=["LEFT"], frames=2)
        assert after["game_state"]["drmario"]["bottles"][0]["capsule"]["x"] == before["x"] - 1
        shown = await client.call_tool("screenshot", {})
        (image,) = shown.content
        assert image.type == "image" and image.mime_type == "image/png"
        assert Image.open(io.BytesIO(base64.b64decode(image.data))).size == (256, 240)

        await use(client, "save_state", name="here")
        await use(client, "write_memory", address=0x0305, data=[7])
        assert (await use(client, "read_memory", address=0x0305))["hex"] == "07"
        assert [state["name"] for state in (await use(client, "list_states"))["result"]] == ["here"]
        loaded = await use(client, "load_state", name="here")
        assert loaded["drmario"]["bottles"][0]["capsule"]["x"] == before["x"] - 1
        assert (await use(client, "reset"))["in_gameplay"]
        assert (await use(client, "connect"))["pid"] == report["pid"]
        assert not (await use(client, "shutdown"))["managed"]


@pytest.mark.asyncio
async def test_every_tool_says_what_it_does_and_returns(embedded: RunningServer) -> None:
    async with Client(f"{embedded.url}/mcp") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert client.instructions and "launch" in client.instructions
    assert set(tools) == TOOLS
    for name, tool in tools.items():
        assert tool.description and tool.annotations is not None
        assert tool.annotations.read_only_hint is (name in LOOKING)
        assert bool(tool.annotations.destructive_hint) is (name in LOSING)
        assert tool.annotations.idempotent_hint is (name not in ("press", "step"))
        assert (tool.output_schema is None) is (name == "screenshot"), "a picture is content, all else is typed"
        assert all(
            field.get("description") or field.get("type") or "anyOf" in field
            for field in tool.input_schema["properties"].values()
        )


@pytest.mark.asyncio
async def test_errors_tell_an_assistant_what_to_do(embedded: RunningServer) -> None:
    async with Client(f"{embedded.url}/mcp") as client:
        assert "launch" in await fail(client, "step")
        assert "launch" in await fail(client, "status", session="nobody")
        assert "ROM folders" in await fail(client, "launch", rom_path="/etc/passwd")
        await use(client, "launch")
        assert "600" in await fail(client, "step", frames=601)
        assert "JUMP" in await fail(client, "press", buttons=["JUMP"])
        assert "2048" in await fail(client, "write_memory", address=0x0800, data=[1])
        assert "no saved state" in await fail(client, "load_state", name="nothing")
        assert "pattern" in await fail(client, "save_state", name="../x")
        key = embedded.post("/connect", {"writer": True})["writer"]
        assert "another session" in await fail(client, "step")
        embedded.post("/disconnect", status=204, headers={"X-Writer": key})
        await use(client, "step")


@pytest.mark.asyncio
async def test_the_guard_stands_before_mcp_too(public: RunningServer) -> None:
    with pytest.raises(Exception):  # noqa: B017  the SDK has its own, in groups
        async with Client(f"{public.url}/mcp") as client:
            await client.list_tools()
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http,
        Client(streamable_http_client(f"{public.url}/mcp", http_client=http)) as client,
    ):
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
