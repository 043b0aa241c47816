"""The HTTP server as its clients meet it, on both emulators."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from mario_rl.emulators.base import LEFT
from mario_rl.emulators.embedded import EmbeddedEmulator
from mario_rl.emulators.navigation import game_of
from mario_rl.roms import antidote

from .running_server import RunningServer, until


def test_nothing_runs_at_first(server: RunningServer) -> None:
    status = server.get("/status")
    assert (status["managed"], status["alive"], status["state"]) == (False, False, "stopped")
    assert server.post("/step", status=409)["error"] == "not_running"
    assert server.ask("GET", "/game_state").status_code == 409
    assert server.ask("GET", "/status?session=other").status_code == 404


def test_launch_gets_into_play(server: RunningServer) -> None:
    report = server.post("/launch")
    assert report["success"] and report["in_gameplay"] and report["game_mode"] == "play"
    status = server.get("/status")
    assert status["managed"] and status["alive"] and status["in_gameplay"]
    assert status["game"] == "drmario" and status["restarts"] == 0
    assert status["pid"] == report["pid"] and status["nes_ram_base"] == report["nes_ram_base"]
    if status["emulator"] == "mednafen":
        assert [console.pid for console in server.consoles()] == [status["pid"]]
    again = server.post("/launch")
    assert again["pid"] == report["pid"] and "already" in again["message"]
    assert server.post("/launch", {"game": "smb"}, 409)["error"] == "not_running"
    ended = server.post("/shutdown")
    assert (ended["managed"], ended["state"]) == (False, "stopped")
    assert server.consoles() == []


def test_both_emulators_play_the_same(server: RunningServer) -> None:
    """The oracle is our own core, driven directly: the same buttons after the same walk through the menus."""
    here = EmbeddedEmulator(antidote())
    game = game_of(antidote().read_bytes())
    assert game is not None
    game.into_play(here)
    server.post("/launch")
    for frames, pad in ((40, 0), (3, LEFT), (200, 0)):
        here.step((pad, 0), frames)
        answer = server.post("/step", {"pads": [pad], "frames": frames, "return": "ram"})
        there = np.frombuffer(base64.b64decode(answer["ram"]), np.uint8)
        # the generator ($17, $18) is seeded by what RAM held at power-on
        assert [int(there[at]) for at in (0x43, 0x46, 0x0305, 0x0306)] == [
            int(here.ram[at]) for at in (0x43, 0x46, 0x0305, 0x0306)
        ]


def test_the_decoded_state(server: RunningServer) -> None:
    server.post("/launch")
    server.post("/step", {"frames": 60})
    state = server.get("/game_state")
    bottle = state["drmario"]["bottles"][0]
    assert state["smb"] is None and state["drmario"]["players"] == 1
    assert bottle["viruses"] == 4 == sum(cell.isupper() for row in bottle["field"] for cell in row)
    assert len(bottle["field"]) == 16 and {len(row) for row in bottle["field"]} == {8}
    x = bottle["capsule"]["x"]
    moved = server.post("/step", {"pads": [["LEFT"]], "frames": 2})["game_state"]["drmario"]["bottles"][0]
    assert moved["capsule"]["x"] == x - 1
    server.post("/memory", {"address": "0x0305", "data": [6]}, 204)
    assert server.get("/game_state")["drmario"]["bottles"][0]["capsule"]["x"] == 6
    assert server.get("/memory?address=0x0305")["hex"] == "06"


def test_super_mario(server: RunningServer, smb_rom: Path) -> None:
    report = server.post("/launch?session=mario", {"game": "smb"})
    assert report["in_gameplay"] and report["game_mode"] == "play"
    before = server.get("/game_state?session=mario")["smb"]
    after = server.post("/step?session=mario", {"pads": [["RIGHT", "B"]], "frames": 60})["game_state"]["smb"]
    assert (before["world"], before["stage"], before["lives"]) == (1, 1, 3)
    assert after["x"] > before["x"] and not after["dead"]


def test_what_a_step_returns(server: RunningServer) -> None:
    server.post("/launch")
    state = server.post("/step", {"return": "state"})["state"]
    ram = server.post("/step", {"frames": 30, "return": "ram"})["ram"]
    answer = server.ask(
        "PUT", "/state", data=base64.b64decode(state), headers={"content-type": "application/octet-stream"}
    )
    assert answer.status_code == 204, answer.text
    assert server.post("/step", {"frames": 30, "return": "ram"})["ram"] == ram
    picture = server.post("/step", {"return": "frame"})["frame"]
    assert Image.open(io.BytesIO(base64.b64decode(picture))).size == (256, 240)
    nothing = server.post("/step", {"return": "none"})
    assert [nothing[key] for key in ("ram", "frame", "state", "game_state")] == [None] * 4


def test_looking_changes_nothing(server: RunningServer) -> None:
    server.post("/launch")
    assert server.ask("GET", "/frame").status_code == 422, "no step has drawn yet"
    drawn = server.post("/step", {"frames": 50, "return": "frame"})["frame"]
    server.post("/step", {"frames": 50})
    state, frames = server.ask("GET", "/state").content, server.get("/status")["frames"]
    first, second = (server.ask("GET", "/screenshot.png").content for _ in range(2))
    assert first == second
    assert server.ask("GET", "/state").content == state and server.get("/status")["frames"] == frames
    kept = np.frombuffer(server.ask("GET", "/frame").content, np.uint8).reshape(240, 256, 3)
    assert np.array_equal(kept, np.asarray(Image.open(io.BytesIO(base64.b64decode(drawn)))))
    shown = np.asarray(Image.open(io.BytesIO(first)))
    next_frame = server.post("/step", {"return": "frame"})["frame"]
    assert np.array_equal(shown, np.asarray(Image.open(io.BytesIO(base64.b64decode(next_frame)))))
    assert np.array_equal(shown, np.asarray(Image.open(io.BytesIO(server.ask("GET", "/screenshot.png").content))))
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) > 4, "it shows something"


def test_named_states(server: RunningServer) -> None:
    server.post("/launch")
    server.post("/step", {"frames": 60})
    saved = server.ask("PUT", "/states/here.1")
    assert saved.status_code == 200 and saved.json()["name"] == "here.1"
    state = server.ask("GET", "/state").content
    assert [kept["name"] for kept in server.get("/states")["states"]] == ["here.1"]
    server.post("/step", {"frames": 60})
    assert server.ask("GET", "/state").content != state
    server.post("/states/here.1/load")
    assert server.ask("GET", "/state").content == state
    assert server.ask("DELETE", "/states/here.1").status_code == 204
    assert server.ask("DELETE", "/states/here.1").status_code == 404
    assert server.post("/states/here.1/load", status=404)["error"] == "not_there"


def test_a_disk_that_takes_nothing_is_told_of(tmp_path: Path) -> None:
    """A file where the folder should be: nothing can be written there, not even by root."""
    (tmp_path / "file").write_text("in the way")
    server = RunningServer("--emulator", "embedded", "--states", str(tmp_path / "file" / "states"))
    try:
        server.post("/launch")
        answer = server.ask("PUT", "/states/here")
        assert (answer.status_code, answer.json()["error"]) == (507, "not_kept") and "make room" in answer.json()[
            "detail"
        ]
        assert server.ask("POST", "/states/here/load").status_code == 404
        assert server.ask("DELETE", "/states/here").status_code == 404
        assert server.get("/states") == {"states": []} and server.get("/status")["alive"]
    finally:
        server.end()


def test_a_bad_state_is_refused_and_changes_nothing(server: RunningServer) -> None:
    server.post("/launch")
    good = server.ask("GET", "/state").content
    binary = {"content-type": "application/octet-stream"}
    for bad in (b"", b"\0" * len(good), good[:-1], bytes([good[0] ^ 1]) + good[1:], b"x" * 300_000):
        refused = server.ask("PUT", "/state", data=bad, headers=binary)
        assert (refused.status_code, refused.json()["error"]) == (422, "invalid"), refused.text
    assert server.ask("GET", "/state").content == good


def test_reset_and_restart(server: RunningServer) -> None:
    report = server.post("/launch")
    begun = server.ask("GET", "/state").content
    server.post("/step", {"frames": 100})
    assert server.post("/reset")["in_gameplay"]
    assert server.ask("GET", "/state").content == begun
    assert not server.post("/reset", {"play": False})["in_gameplay"]
    again = server.post("/restart")
    assert again["success"] and again["in_gameplay"]
    assert server.ask("GET", "/state").content == begun
    if report["pid"] is not None:
        assert again["pid"] != report["pid"]


def test_sessions_side_by_side(server: RunningServer) -> None:
    for name in ("one", "two"):
        assert server.post(f"/launch?session={name}")["success"]
    server.post("/step?session=one", {"pads": [["LEFT"]], "frames": 90})
    first, second = (server.ask("GET", f"/state?session={name}").content for name in ("one", "two"))
    assert first != second
    server.post("/step?session=two", {"pads": [["LEFT"]], "frames": 90})
    assert server.ask("GET", "/state?session=two").content == first
    assert [status["session"] for status in server.get("/sessions")["sessions"]] == ["one", "two"]
    for number in range(6):
        assert server.post(f"/launch?session=more{number}", {"play": False})["success"]
    assert server.post("/launch?session=ninth", status=429)["error"] == "too_many"
    assert server.ask("GET", "/status").json()["state"] == "stopped"


def test_a_session_that_ends_leaves_nothing(server: RunningServer) -> None:
    process = psutil.Process(server.process.pid)

    def used() -> tuple[int, int, int]:
        return process.num_threads(), process.num_fds(), len(process.children(recursive=True))

    def launch_and_end() -> None:
        for name in ("one", "two", "three"):
            server.post(f"/launch?session={name}", {"play": False})
            server.post(f"/shutdown?session={name}")

    launch_and_end()  # what is opened once stays
    before = used()
    launch_and_end()
    until(lambda: all(now <= then for now, then in zip(used(), before, strict=True)))


def test_one_writer_and_many_readers(embedded: RunningServer) -> None:
    answer = embedded.post("/connect", {"writer": True})
    key = {"X-Writer": answer["writer"]}
    assert answer["status"]["in_gameplay"], "connecting launches"
    assert embedded.get("/status")["has_writer"]
    for path in ("/step", "/reset", "/restart", "/shutdown"):
        assert embedded.post(path, status=423)["error"] == "locked"
    assert embedded.post("/connect", {"writer": True}, 423)["error"] == "locked"
    assert embedded.post("/step", status=423, headers={"X-Writer": "guess"})["error"] == "locked"
    assert embedded.ask("GET", "/screenshot.png").status_code == 200
    assert embedded.post("/connect")["writer"] is None
    assert embedded.post("/step", headers=key)["frames"] == 1
    embedded.post("/disconnect", status=204, headers=key)
    assert embedded.post("/step")["frames"] == 1
    assert embedded.post("/step", status=423, headers=key)["error"] == "locked"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/step", {"frames": 0}),
        ("/step", {"frames": 601}),
        ("/step", {"pads": [256]}),
        ("/step", {"pads": [0, 0, 0]}),
        ("/step", {"pads": [["JUMP"]]}),
        ("/step", {"frame": 1}),
        ("/step", {"return": "everything"}),
        ("/step?session=..", {}),
        ("/memory", {"address": 0x800, "data": [1]}),
        ("/memory", {"address": 0x7FF, "data": [1, 2]}),
        ("/memory", {"address": 0, "data": []}),
        ("/memory", {"address": -1, "data": [1]}),
        ("/launch", {"display": ":0; rm"}),
        ("/launch", {"rom_path": ""}),
    ],
)
def test_bounds(embedded: RunningServer, path: str, body: dict[str, object]) -> None:
    embedded.post("/launch")
    refused = embedded.post(path, body, 422)
    assert refused["error"] == "invalid" and refused["detail"] and "\n" not in refused["detail"]


def test_memory_bounds(embedded: RunningServer) -> None:
    embedded.post("/launch")
    assert len(embedded.get("/memory?address=0&length=65536")["hex"]) == 2 * 65536
    for query in ("address=65536", "address=65535&length=2", "address=0&length=0", "address=0x", "length=1"):
        assert embedded.ask("GET", f"/memory?{query}").status_code == 422, query


def test_events_tell_of_changes(embedded: RunningServer) -> None:
    with embedded.http.get(embedded.url + "/events", stream=True, timeout=60) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        told = (json.loads(line[6:]) for line in stream.iter_lines() if line.startswith(b"data: "))
        assert next(told)["state"] == "stopped"
        embedded.post("/launch")
        assert any(status["in_gameplay"] for status in told)
        embedded.post("/shutdown")
        assert any(status["state"] == "stopped" for status in told)


def test_metrics_count(embedded: RunningServer) -> None:
    embedded.post("/launch")
    embedded.post("/step", {"frames": 7})
    lines = embedded.ask("GET", "/metrics").text.splitlines()
    assert 'mario_rl_console_up{session="default"} 1.0' in lines
    assert 'mario_rl_frames_total{session="default"} 7.0' in lines
    assert 'mario_rl_console_restarts_total{session="default"} 0.0' in lines
    assert any(line.startswith('mario_rl_requests_total{status="200"}') for line in lines)


def test_the_api_is_described(embedded: RunningServer) -> None:
    described = embedded.get("/openapi.json")["paths"]
    for path in (
        "/launch",
        "/shutdown",
        "/restart",
        "/connect",
        "/status",
        "/game_state",
        "/memory",
        "/step",
        "/reset",
    ):
        assert path in described
    assert embedded.ask("GET", "/docs").status_code == 200
    assert embedded.ask("GET", "/nowhere").json()["error"] == "not_there"
    assert embedded.ask("DELETE", "/status").json()["error"] == "wrong_method"
