"""Many clients of a server at once, in one process: each asks, waits for the answer, and asks again.

Run as `python -m benchmarks.workers.http_clients URL CLIENTS SECONDS`; prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections import Counter
from urllib.parse import urlsplit

from mario_rl.emulators import remote_step
from mario_rl.emulators.remote_step import CONTENT_TYPE, StepRequest

STEP = remote_step.pack_request(StepRequest((0, 0), 1, remote_step.RAM))
READ_EVERY = 4  # one request in so many only looks


async def run(url: str, clients: int, seconds: float) -> dict[str, object]:
    """Let them all go; what came of it."""
    address = urlsplit(url)
    host, port = address.hostname or "", address.port or 80
    step = _request("POST", "/step", host, STEP, CONTENT_TYPE)
    look = _request("GET", "/status", host, b"", "")
    statuses: Counter[str] = Counter()
    delays: list[float] = []
    until = time.monotonic() + seconds

    async def client(number: int) -> None:
        try:
            reader, writer = await asyncio.open_connection(host, port)
            turn = number
            while time.monotonic() < until:
                begin = time.perf_counter()
                writer.write(look if turn % READ_EVERY == 0 else step)
                statuses[await _answered(reader)] += 1
                delays.append(time.perf_counter() - begin)
                turn += 1
            writer.close()
            await writer.wait_closed()
        except (OSError, EOFError, ValueError) as problem:
            statuses[repr(problem)] += 1

    await asyncio.gather(*(client(number) for number in range(clients)))
    good = statuses.pop("200", 0)
    return {
        "clients": clients,
        "seconds": seconds,
        "requests": good + statuses.total(),
        "errors": statuses.total(),
        "which": dict(statuses.most_common(5)),
        "requests_per_s": round(good / seconds),
        "p99_ms": round(1000 * statistics.quantiles(delays, n=100)[-1], 1) if len(delays) > 1 else None,
    }


def _request(method: str, path: str, host: str, body: bytes, content_type: str) -> bytes:
    typed = f"Content-Type: {content_type}\r\n" if content_type else ""
    head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{typed}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _answered(reader: asyncio.StreamReader) -> str:
    """The status of an answer, read to its end."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    return head.split(b" ", 2)[1].decode()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))))
