"""The command line as a tree of commands: to ask whether words would be understood, and what it says about itself."""

from __future__ import annotations

import contextlib
import functools
import shlex
from collections.abc import Iterator
from typing import Any

import typer
from typer.main import get_command

from mario_rl.cli import app


@functools.cache
def _all() -> Any:
    """The tree, which takes a third of a second to build."""
    return get_command(app)


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with its words, groups such as `rom` and the whole (no words) among them."""
    command = command or _all()
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


def parse(line: str) -> None:
    """Raise typer's own exception if a line that begins with `mario-rl` would be refused before anything is done."""
    words = shlex.split(line)[1:]
    command: Any = _all()
    path = ["mario-rl"]
    while words and words[0] in getattr(command, "commands", {}):
        path.append(words[0])
        command = command.commands[words.pop(0)]
    with contextlib.suppress(typer.Exit):  # --help, --version
        command.make_context(" ".join(path), words)
