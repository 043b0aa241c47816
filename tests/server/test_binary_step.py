"""Steps as bytes: the format itself, and the server against anything that could be sent in its place."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.emulators import remote_step
from mario_rl.emulators.remote_step import StepAnswer, StepFormatError, StepRequest

from .running_server import RunningServer

BINARY = {"Content-Type": "application/octet-stream"}
BYTE = st.integers(0, 255)
REQUESTS = st.builds(
    StepRequest,
    st.tuples(BYTE, BYTE),
    st.integers(0, remote_step.LONGEST_STEP),
    st.integers(0, 15),
    st.lists(st.tuples(st.integers(0, 2047), BYTE), max_size=20),
)
ANSWERS = st.builds(
    StepAnswer,
    st.none() | st.binary(min_size=2048, max_size=2048),
    st.none() | st.just(bytes(range(256)) * (remote_step.FRAME_SIZE // 256)),
    st.none() | st.binary(max_size=100),
)


@given(REQUESTS)
def test_requests_survive_the_way(request: StepRequest) -> None:
    packed = remote_step.pack_request(request)
    assert remote_step.unpack_request(packed) == request
    # the documented layout, read by hand
    version, wanted, pad1, pad2, frames, pokes = struct.unpack_from("<BBBBHH", packed)
    assert (version, wanted, pad1, pad2, frames, pokes) == (
        1,
        request.wanted,
        *request.pads,
        request.frames,
        len(request.pokes),
    )
    assert [struct.unpack_from("<HB", packed, 8 + 3 * n) for n in range(pokes)] == list(request.pokes)


@given(ANSWERS)
def test_answers_survive_the_way(answer: StepAnswer) -> None:
    packed = remote_step.pack_answer(answer)
    assert remote_step.unpack_answer(packed) == answer
    for torn in (packed[:-1], packed + b"\0", packed[:5], b""):
        with pytest.raises(StepFormatError):
            remote_step.unpack_answer(torn)


@given(st.binary(max_size=64))
def test_bytes_are_a_request_or_refused(body: bytes) -> None:
    """Whatever is accepted is exactly what it would be packed to."""
    try:
        request = remote_step.unpack_request(body)
    except StepFormatError:
        return
    assert remote_step.pack_request(request) == body


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "at least 8 bytes"),
        (struct.pack("<BBBBHH", 2, 0, 0, 0, 1, 0), "version 2"),
        (struct.pack("<BBBBHH", 1, 16, 0, 0, 1, 0), "unknown bits"),
        (struct.pack("<BBBBHH", 1, 0, 0, 0, 601, 0), "at most 600 frames"),
        (struct.pack("<BBBBHH", 1, 0, 0, 0, 1, 2049) + bytes(3 * 2049), "at most 2048 pokes"),
        (struct.pack("<BBBBHH", 1, 0, 0, 0, 1, 2) + bytes(3), "make 14 bytes, not 11"),
        (struct.pack("<BBBBHH", 1, 0, 0, 0, 1, 0) + bytes(1), "make 8 bytes, not 9"),
        (struct.pack("<BBBBHHHB", 1, 0, 0, 0, 1, 1, 2048, 0), "addresses 0 to 2047"),
    ],
)
def test_what_is_wrong_is_told(body: bytes, words: str) -> None:
    with pytest.raises(StepFormatError, match=words):
        remote_step.unpack_request(body)


def test_a_step(server: RunningServer) -> None:
    server.post("/launch")
    wanted = remote_step.RAM | remote_step.FRAME | remote_step.STATE
    body = remote_step.pack_request(StepRequest((2, 0), 5, wanted, [(0x0305, 4)]))
    answer = server.ask("POST", "/step", data=body, headers=BINARY)
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/octet-stream"
    got = remote_step.unpack_answer(answer.content)
    assert got.ram is not None and got.ram[0x0305] in (3, 4), "poked, and perhaps moved since"
    assert got.ram.hex() == server.get("/memory?address=0&length=2048")["hex"]
    assert got.frame == server.ask("GET", "/frame").content
    assert got.state == server.ask("GET", "/state").content
    assert server.get("/status")["frames"] == 5
    nothing = remote_step.pack_request(StepRequest((0, 0), 0, 0))
    assert server.ask("POST", "/step", data=nothing, headers=BINARY).content == struct.pack("<BBHI", 1, 0, 0, 0)
    assert server.get("/status")["frames"] == 5


@pytest.mark.parametrize(
    "query", ["?session=a/b", "?session=%00", "?" + "&".join("x=1" for _ in range(20)), "?session=é"]
)
def test_bad_sessions(embedded: RunningServer, query: str) -> None:
    body = remote_step.pack_request(StepRequest((0, 0), 1, 0))
    refused = embedded.ask("POST", f"/step{query}", data=body, headers=BINARY)
    assert (refused.status_code, refused.json()["error"]) == (422, "invalid")


def test_refusals_are_told_in_json(embedded: RunningServer) -> None:
    body = remote_step.pack_request(StepRequest((0, 0), 1, 0))
    assert embedded.ask("POST", "/step", data=body, headers=BINARY).json()["error"] == "not_running"
    assert embedded.ask("POST", "/step?session=none", data=body, headers=BINARY).status_code == 404
    key = embedded.post("/connect", {"writer": True})["writer"]
    assert embedded.ask("POST", "/step", data=body, headers=BINARY).json()["error"] == "locked"
    assert embedded.ask("POST", "/step", data=body, headers={**BINARY, "X-Writer": key}).status_code == 200
    embedded.post("/disconnect", status=204, headers={"X-Writer": key})
    too_long = embedded.ask("POST", "/step", data=bytes(remote_step.LARGEST_REQUEST + 1), headers=BINARY)
    assert too_long.status_code == 422


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good request with a byte changed, cut out or added."""
    body = bytearray(remote_step.pack_request(draw(REQUESTS)))
    place = draw(st.integers(0, len(body) - 1))
    body[place : place + 1] = draw(st.binary(max_size=2))
    return bytes(body)


def test_the_server_under_fuzz(embedded: RunningServer) -> None:
    """Anything is a step, or refused with 422; never another error, and the server plays on."""
    embedded.post("/launch")

    @settings(max_examples=200, deadline=None)
    @given(st.binary(max_size=64) | REQUESTS.map(remote_step.pack_request) | damaged())
    def send(body: bytes) -> None:
        answer = embedded.ask("POST", "/step", data=body, headers=BINARY)
        try:
            request = remote_step.unpack_request(body)
        except StepFormatError:
            assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
            return
        assert answer.status_code == 200
        ram = remote_step.unpack_answer(answer.content).ram
        assert (ram is not None) == bool(request.wanted & remote_step.RAM)
        if ram is not None and request.frames == 0:
            assert all(ram[address] == value for address, value in dict(request.pokes).items())

    send()
