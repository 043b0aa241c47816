"""`--help` in one voice: what a command does in a short order, what an option means in a short sentence."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.docs.command_line import commands

VERBS = {"Check", "Compare", "Draw", "Export", "Find", "Import", "List", "Make", "Measure", "Play", "Put", "Rate"}
VERBS |= {"Serve", "Teach", "Train", "Watch"}
"""What a command's help may begin with; a new verb is welcome."""

SAME_WORDS = {
    "seed": "Seed of ",
    "episodes": "Episodes ",
    "checkpoints": "Directory that holds the runs",
    "resume": "Go on with a run: ",
}
"""How the help of an option begins, whatever the command."""

WIDTH = 80
LABEL = re.compile(r"(drmario|frames): ")  # for whom an option is
DEFAULTS = re.compile(r" \[[^\]]*\]$")  # of a setting, and what presets make of it

ALL = dict(commands())
ANY = pytest.mark.parametrize("path", ALL, ids=lambda path: " ".join(path) or "mario-rl")


def _first_sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


@ANY
def test_a_command_says_what_it_does(path: tuple[str, ...]) -> None:
    text = ALL[path].help or ""
    assert text.split()[0] in VERBS, f"it begins with an order: {text!r}"
    assert _first_sentence(text).endswith("."), text
    assert all(paragraph.strip().endswith((".", ":")) for paragraph in text.strip().split("\n\n")), text


@ANY
def test_the_overview_is_not_cut_short(path: tuple[str, ...]) -> None:
    """The list of commands shows what comes before the first full stop, in one line."""
    below = getattr(ALL[path], "commands", {})
    room = WIDTH - 6 - max(map(len, below), default=0)
    for name, command in below.items():
        shown = command.get_short_help_str(room)
        assert not shown.endswith("...") and len(shown.split()) > 3, f"{name}: {shown}"


def _options(path: tuple[str, ...]) -> list[tuple[str, str]]:
    own: list[Any] = [parameter for parameter in ALL[path].params if parameter.name != "help"]
    return [(parameter.name, parameter.help or "") for parameter in own]


@ANY
def test_an_option_is_a_short_sentence(path: tuple[str, ...]) -> None:
    for name, text in _options(path):
        sentence = DEFAULTS.sub("", LABEL.sub("", text))
        assert sentence, f"{name} has no help"
        assert sentence.endswith("."), f"{name}: {text}"
        assert sentence[0].isupper(), f"{name}: {text}"
        assert len(sentence) < 180, f"{name} is long: {text}"


@ANY
def test_the_same_thing_has_the_same_name(path: tuple[str, ...]) -> None:
    for name, text in _options(path):
        begins = SAME_WORDS.get(name, "")
        assert LABEL.sub("", text).startswith(begins), f"{name}: {text}"
        assert "folder" not in text, f"{name} speaks of a folder: it is a directory elsewhere"
    assert "folder" not in (ALL[path].help or "")
