"""Nobody gets in who should not: addresses, tokens, names, origins, files, sizes, slowness."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import string
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st

from mario_rl.emulators.remote import RemoteEmulator, RemoteError
from mario_rl.roms import antidote
from mario_rl.server import punctual, security, writers
from mario_rl.server.errors import Invalid, Locked, NotThere, Refusal
from mario_rl.server.rom_folders import RomFolders
from mario_rl.server.security import HostNames, UnsafeSetting, check_binding, is_loopback
from mario_rl.server.state_files import StateFiles
from mario_rl.server.writers import Writers

from .running_server import TOKEN, RunningServer


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost", "LOCALHOST"])
def test_this_machine_needs_no_token(host: str) -> None:
    check_binding(host, None)
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "127.0.0.1.example.org", ""])
def test_any_other_address_needs_one(host: str) -> None:
    for token in (None, "short", "with a space in it, which no header has"):
        with pytest.raises(UnsafeSetting, match="token"):
            check_binding(host, token)
    check_binding(host, TOKEN)


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("localhost:8000", True),
        ("LocalHost", True),
        ("127.0.0.1:1", True),
        ("[::1]:8000", True),
        ("evil.example:8000", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("evil.example#localhost", False),
        ("user@localhost", False),
        ("localhost:8000:8000", False),
        ("10.0.0.1", False),
        ("", False),
    ],
)
def test_names_of_a_local_server(host: str, known: bool) -> None:
    assert HostNames("127.0.0.1").know(host) is known


def test_names_of_a_public_server() -> None:
    names = HostNames("0.0.0.0", ["games.example"])
    assert names.know("10.1.2.3:8000") and names.know("[fe80::1]:8000") and names.know("games.example")
    assert names.know(socket.gethostname())
    assert not names.know("evil.example") and not names.know("10.1.2.3.evil.example")
    assert not HostNames("192.168.1.5").know("10.1.2.3")


@given(st.text())
def test_only_a_plain_name_is_a_host(authority: str) -> None:
    """A slow and obvious reading of what a known authority is."""
    name = re.sub(r":[0-9]{1,5}\Z", "", authority).lower()
    assert HostNames("127.0.0.1").know(authority) == (name in ("localhost", "127.0.0.1", "[::1]"))


def test_strangers_names_and_pages(embedded: RunningServer) -> None:
    own = urlsplit(embedded.url).netloc
    port = own.rpartition(":")[2]
    for path in ("/status", "/mcp", "/docs", "/step"):
        for method in ("GET", "POST"):
            refused = embedded.ask(method, path, headers={"Host": f"evil.example:{port}"})
            assert (refused.status_code, refused.json()["error"]) == (421, "wrong_host")
            for origin in (
                "http://evil.example",
                "null",
                f"http://{own}.evil.example",
                "http://127.0.0.1:1",
                "file://",
            ):
                refused = embedded.ask(method, path, headers={"Origin": origin})
                assert (refused.status_code, refused.json()["error"]) == (403, "wrong_origin")
    assert embedded.ask("GET", "/status", headers={"Origin": embedded.url}).status_code == 200
    assert embedded.ask("GET", "/status", headers={"Host": f"localhost:{port}"}).status_code == 200


def test_the_token(public: RunningServer) -> None:
    for path in ("/status", "/docs", "/openapi.json", "/mcp", "/metrics", "/nowhere"):
        wrong = ["", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer é"]
        for headers in ({}, *({"Authorization": offered.encode()} for offered in wrong)):
            refused = public.ask("GET", path, headers=headers)
            assert (refused.status_code, refused.json()["error"]) == (401, "no_token"), (path, headers)
            assert refused.headers["www-authenticate"] == "Bearer" and TOKEN not in refused.text
    right = {"Authorization": f"Bearer {TOKEN}"}
    for more in ({}, {"Host": "games"}, {"Host": "10.1.2.3"}, {"Origin": "http://page"}, {"Origin": public.url}):
        assert public.ask("GET", "/status", headers={**right, **more}).status_code == 200, more
    assert public.ask("GET", "/status", headers={**right, "Host": "evil.example"}).status_code == 421
    assert public.ask("GET", "/status", headers={**right, "Origin": "http://evil.example"}).status_code == 403


def test_a_remote_console_shows_the_token(public: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RemoteError, match="Authorization"):
        RemoteEmulator(public.url)
    for token in (TOKEN, None):
        console = RemoteEmulator(public.url, token=token)
        console.step(render=True)
        assert console.frame().shape == (240, 256, 3)
        console.close()
        monkeypatch.setenv("MARIO_RL_TOKEN", TOKEN)
    with pytest.raises(ValueError, match="token"):
        RemoteEmulator(public.url, token="two\r\nlines")


# --- ROM files and states ------------------------------------------------------------------------------------------


def test_roms_come_from_the_folders_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARIO_RL_DATA_DIR", str(tmp_path / "data"))
    folder, outside = tmp_path / "roms", tmp_path / "outside"
    for directory in (folder / "inner", outside):
        directory.mkdir(parents=True)
    cartridge = antidote().read_bytes()
    for file in (folder / "inner" / "game.nes", outside / "game.nes"):
        file.write_bytes(cartridge)
    (folder / "out.nes").symlink_to(outside / "game.nes")
    (folder / "away").symlink_to(outside)
    (folder / "round").symlink_to(folder / "round")
    (folder / "in.nes").symlink_to(folder / "inner" / "game.nes")
    os.mkfifo(folder / "pipe.nes")
    (folder / "large.nes").write_bytes(b"NES\x1a" + bytes(5 * 1024 * 1024))
    (folder / "letter.nes").write_text("Dear console,")
    roms = RomFolders([folder])
    for good in (
        "inner/game.nes",
        "in.nes",
        "inner/../inner/game.nes",
        str(folder / "inner" / "game.nes"),
        "antidote.nes",
    ):
        assert roms.cartridge("drmario", good) == cartridge
    for bad, kind in {
        "../outside/game.nes": "forbidden",
        str(outside / "game.nes"): "forbidden",
        "/etc/passwd": "forbidden",
        "/no/such/file": "forbidden",
        "inner/../../outside/game.nes": "forbidden",
        "out.nes": "not_there",
        "away/game.nes": "not_there",
        "round": "not_there",
        "pipe.nes": "not_there",
        "inner": "not_there",
        ".": "not_there",
        "x" * 500: "not_there",
        "nul\0byte": "invalid",
        "large.nes": "invalid",
        "letter.nes": "invalid",
    }.items():
        with pytest.raises(Refusal) as refused:
            roms.cartridge("drmario", bad)
        assert refused.value.name == kind, bad


@given(st.text(string.ascii_letters + string.digits + "._-/\\ \0\n%~é", max_size=70))
def test_names_of_states(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "states"
    files = StateFiles(folder)
    good = (
        1 <= len(name) <= 64 and name[0].isalnum() and all(c.isalnum() or c in "._-" for c in name) and name.isascii()
    )
    if not good:
        for attempt in (lambda: files.keep(name, b"x"), lambda: files.state(name), lambda: files.delete(name)):
            with pytest.raises(Invalid):
                attempt()
        return
    files.keep(name, name.encode())
    assert files.state(name) == name.encode()
    assert [file.parent for file in folder.rglob("*")] == [folder]
    assert [kept.name for kept in files.all()] == [name]
    files.delete(name)
    with pytest.raises(NotThere):
        files.state(name)


# --- writers --------------------------------------------------------------------------------------------------------


def test_a_reservation_lapses_only_for_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(writers.time, "monotonic", lambda: now)
    reservation = Writers()
    reservation.check(None)
    first = reservation.claim()
    now += writers.LEASE_SECONDS - 1
    reservation.check(first)
    now += writers.LEASE_SECONDS - 1
    with pytest.raises(Locked):
        reservation.check(None)
    with pytest.raises(Locked):
        reservation.claim()
    now += 1
    reservation.check(first)  # nobody came in between
    now += writers.LEASE_SECONDS
    second = reservation.claim()
    with pytest.raises(Locked):
        reservation.check(first)
    reservation.release(first)
    reservation.check(second)
    now += writers.LEASE_SECONDS
    reservation.check(None)
    with pytest.raises(Locked):
        reservation.check(second)


# --- sizes and slowness ---------------------------------------------------------------------------------------------


def _connected(server: RunningServer) -> socket.socket:
    address = urlsplit(server.url)
    return socket.create_connection((address.hostname, address.port), 60)


def test_bodies_are_bounded(embedded: RunningServer) -> None:
    for path in ("/step", "/launch", "/state", "/mcp"):
        method = "PUT" if path == "/state" else "POST"
        too_large = embedded.ask(method, path, data=bytes(security.LARGEST_BODY + 1))
        assert (too_large.status_code, too_large.json()["error"]) == (413, "too_large")
        chunks = (bytes(65536) for _ in range(17))
        assert embedded.ask(method, path, data=chunks).status_code == 413
    with _connected(embedded) as promise:
        promise.sendall(b"POST /step HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n")
        assert promise.recv(12) in (b"HTTP/1.1 413", b"HTTP/1.1 400")


def test_stuck_clients_block_nobody(embedded: RunningServer) -> None:
    """One sends half a request, one asks for much and never reads it; others do not notice."""
    embedded.post("/launch")
    with _connected(embedded) as half, _connected(embedded) as deaf:
        half.sendall(b"POST /step HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        deaf.sendall(b"GET /memory?address=0&length=65536 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
        for _ in range(20):
            assert embedded.post("/step")["frames"] == 1


def test_a_slow_request_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, with less patience: the body that never comes, and the answer that never comes."""

    async def never(*_: object) -> None:
        await asyncio.sleep(3600)

    async def ask(first: dict[str, object] | None) -> list[dict[str, object]]:
        sent: list[dict[str, object]] = []
        waiting = [first] if first else []

        async def receive() -> dict[str, object]:
            if waiting:
                return waiting.pop()
            await never()
            raise AssertionError

        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        guard = security.Guard(never, HostNames("127.0.0.1"))
        await guard({"type": "http", "headers": [(b"host", b"localhost")]}, receive, send)
        return sent

    monkeypatch.setattr(security, "BODY_SECONDS", 0.01)
    monkeypatch.setattr(security, "ANSWER_SECONDS", 0.01)
    assert asyncio.run(ask(None))[0]["status"] == 408
    assert asyncio.run(ask({"type": "http.request", "body": b"", "more_body": False}))[0]["status"] == 503


@pytest.mark.asyncio
async def test_a_client_that_never_comes_to_the_point_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(punctual, "HEAD_SECONDS", 0.2)

    async def hello(scope: object, receive: object, send: Any) -> None:
        await asyncio.sleep(0.4)  # an answer may take longer than that
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"hi"})

    config = uvicorn.Config(
        hello, port=0, http=punctual.PunctualProtocol, lifespan="off", log_level="error", timeout_keep_alive=1
    )
    server = uvicorn.Server(config)
    monkeypatch.setattr(server, "capture_signals", contextlib.nullcontext)
    serving_it = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]

    async def read_to_the_end(sent: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        received = await asyncio.wait_for(reader.read(), 60)
        writer.close()
        return received

    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    assert await read_to_the_end(b"") == b"" == await read_to_the_end(request)
    answered = await read_to_the_end(request + b"\r\n" + request)  # a whole one, and half of another
    assert answered.startswith(b"HTTP/1.1 200") and answered.endswith(b"hi")
    server.should_exit = True
    await serving_it
