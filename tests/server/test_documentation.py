"""docs/server.md and the files that start a server: every line there works."""

from __future__ import annotations

import json
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.main import get_command

from mario_rl import cli_serve

from .running_server import RunningServer

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "server.md").read_text()
ADDRESS = "localhost:8000"
ENDED_BY_TIME = 28  # curl's exit code when --max-time is over


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_lines_for_curl(_mednafen: RunningServer, smb_rom: Path, tmp_path: Path) -> None:
    server = _mednafen
    (block,) = _blocks("sh")
    lines = block.splitlines()
    asked = set()
    for line in lines:
        assert line.startswith("curl ") and ADDRESS in line
        command = shlex.split(line.replace(ADDRESS, server.url.removeprefix("http://")))
        done = subprocess.run([*command, "--silent", "--fail-with-body"], cwd=tmp_path, capture_output=True, timeout=60)
        streamed = "--max-time" in command and done.returncode == ENDED_BY_TIME
        assert done.returncode == 0 or streamed, (line, done.stdout, done.stderr)
        asked.add(re.search(rf"{ADDRESS}/(\w+)", line)[1])  # type: ignore[index]
        if line.endswith(("/status", "/game_state")):
            assert json.loads(done.stdout)["in_gameplay"], line
        if streamed:
            assert done.stdout.startswith(b"event: status\ndata: {")
    assert (tmp_path / "screen.png").read_bytes().startswith(b"\x89PNG")
    assert server.get("/sessions")["sessions"] == []
    # What the page leaves out is named here, so that a new address is not forgotten there.
    known = {path.split("/")[1].removesuffix(".png") for path in server.get("/openapi.json")["paths"]}
    assert known - asked == {"disconnect", "frame"}


def test_the_python_lines(_mednafen: RunningServer) -> None:
    (block,) = _blocks("py")
    exec(block.replace(ADDRESS, _mednafen.url.removeprefix("http://")), {})
    _mednafen.clear()


def _command() -> Any:
    app = typer.Typer()
    cli_serve.register(app)
    return get_command(app)


def _options(command: list[str]) -> None:
    """A command line that the CLI understands."""
    assert Path(command[0]).name == "mario-rl" and command[1] == "serve"
    known = {name for parameter in _command().params for name in parameter.opts}
    assert {option for option in command if option.startswith("--")} <= known


def test_the_unit_the_container_and_the_assistants() -> None:
    docker = DOCS.parent / "docker"
    unit = (docker / "systemd" / "mario-rl-server.service").read_text()
    _options(shlex.split(re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1]))  # type: ignore[index]
    container = yaml.safe_load((docker / "compose.yaml").read_text())["services"]["server"]
    _options(["mario-rl", *container["command"]])  # docker/entrypoint.sh
    assert "MARIO_RL_TOKEN" in container["environment"]
    for block in _blocks("json"):
        (assistant,) = json.loads(block)["mcpServers"].values()
        if "command" in assistant:
            _options([assistant["command"], *assistant["args"]])
        else:
            assert assistant["url"] == f"http://{ADDRESS}/mcp"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], ["0.0.0.0", "--token", "127.0.0.1"]),
        (["--host", "0.0.0.0", "--token", "short"], ["16"]),
        (["--host", "no.such.host.invalid", "--token", "x" * 16], ["no.such.host.invalid", "--host"]),
        (["--token", "with space"], ["visible ASCII"]),
        (["--roms", "/no/such/folder"], ["/no/such/folder", "--roms"]),
        (["--port", "70000"], ["--port"]),
        (["--emulator", "other"], ["--emulator"]),
    ],
)
def test_mistakes_say_what_to_do(options: list[str], words: list[str]) -> None:
    with pytest.raises(typer.TyperException) as mistake:
        _command().main(["--port", "0", *options], standalone_mode=False)
    said = mistake.value.format_message()
    assert all(word in said for word in words) and "\n" not in said, said


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(typer.TyperException, match="--port"):
        _command().main(["--port", str(taken.getsockname()[1])], standalone_mode=False)


def test_a_mistake_is_one_line_and_exit_code_2() -> None:
    command = [sys.executable, "-m", "mario_rl", "serve", "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
