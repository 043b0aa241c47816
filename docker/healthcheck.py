"""Is the container well? Exit code 0 and a line that says so, or 1 and a line that says what is wrong.

`entrypoint.sh` has written down what the container is there for. A server and TensorBoard must answer. A trainer must
have written something into its run of late, or have finished it. Whatever else a container does is well while it runs.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROLE_FILE = Path(os.environ.get("ROLE_FILE") or "/tmp/mario-rl.role")
# A run saves itself every minute; evaluations, and exploring before it begins, may take some.
QUIET_SECONDS = float(os.environ.get("HEALTH_QUIET_SECONDS") or 900)
ANSWER_SECONDS = 8.0


class Unwell(Exception):
    """What is wrong, in a line."""


def main() -> int:
    """Look, say, and return the exit code."""
    try:
        print(examine())
    except Unwell as problem:
        print(problem)
        return 1
    return 0


def examine() -> str:
    """What is well; Unwell if it is not."""
    try:
        role, *arguments = ROLE_FILE.read_text(encoding="utf-8").splitlines() or [""]
    except OSError as problem:
        raise Unwell(f"it has not begun: no {ROLE_FILE} ({problem.strerror})") from problem
    if role == "train":
        return examine_run(Path(arguments[0]))
    if role == "serve":
        return ask(arguments, "8000", "/sessions")
    if role == "tensorboard":
        return ask(arguments, "6006", "/")
    return f"{role or 'mario-rl'} is running"


def examine_run(run: Path) -> str:
    """A run is well if it is finished, or was written to of late."""
    try:
        state = json.loads((run / "status.json").read_text(encoding="utf-8"))["state"]
        newest = max(file.stat().st_mtime for file in run.iterdir())
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise Unwell(f"{run} cannot be read yet: {problem}") from problem
    quiet = time.time() - newest
    if state == "SUCCESS":
        return f"{run} is finished"
    if quiet > QUIET_SECONDS:
        raise Unwell(f"{run} ({state}) has been silent for {quiet:.0f} s, longer than {QUIET_SECONDS:.0f} s")
    return f"{run} ({state}) was written to {max(quiet, 0):.0f} s ago"


def ask(arguments: list[str], port: str, path: str) -> str:
    """Whether what listens there answers a GET."""
    host = option(arguments, "--host", "127.0.0.1")
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    url = f"http://{host}:{option(arguments, '--port', port)}{path}"
    token = option(arguments, "--token", os.environ.get("MARIO_RL_TOKEN", ""))
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:  # without the proxies of the environment: it is this container that is asked
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=ANSWER_SECONDS) as answer:
            return f"{url} answers {answer.status}"
    except (OSError, ValueError) as problem:  # refused, too late, an error of the server
        raise Unwell(f"{url}: {problem}") from problem


def option(arguments: list[str], name: str, default: str) -> str:
    """The value of an option on a command line, as `--name VALUE` or `--name=VALUE`."""
    value = default
    for place, argument in enumerate(arguments):
        if argument == name and place + 1 < len(arguments):
            value = arguments[place + 1]
        elif argument.startswith(f"{name}="):
            value = argument.removeprefix(f"{name}=")
    return value


if __name__ == "__main__":
    sys.exit(main())
