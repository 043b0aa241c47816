"""The features of a drop in words, for those who want to know what a player has learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """A feature in words."""

    title: str
    value: Callable[[int], str]
    """What it means that the feature has this value."""


def _counted(one: str, many: str) -> Callable[[int], str]:
    return lambda number: f"no {one}" if number == 0 else f"1 {one}" if number == 1 else f"{number} {many}"


def _listed(*names: str) -> Callable[[int], str]:
    return lambda number: names[number]


_YES_NO = _listed("no", "yes")
_GROUNDS = _listed(
    "another colour", "a virus of another colour", "nothing", "the floor", "1 cell of its colour",
    "2 cells of its colour", "3 cells of its colour",
)  # fmt: skip

WORDS = {
    "upright": Word("the capsule stands upright", _YES_NO),
    "top_row": Word("how high its upper edge is", lambda number: f"row {number}"),
    "run_viruses": Word("viruses among those below", _counted("virus", "viruses")),
    "ground": Word("what it lies on", _GROUNDS),
    "beside": Word("cells of its colour beside it", _counted("cell", "cells")),
    "from_wall": Word("columns to the nearer wall", _counted("column", "columns")),
    "gap": Word("empty cells below the capsule", _counted("cell", "cells")),
    "clears": Word("completes a line", _YES_NO),
    "viruses_gone": Word("viruses that go", _counted("virus", "viruses")),
    "one_colour": Word("both halves have one colour", _YES_NO),
    "column_viruses": Word("viruses in its columns", _counted("virus", "viruses")),
    "wanted": Word("the highest virus of its column", _listed("none", "another colour", "its own colour")),
    "whim": Word("the whim of the moment", lambda number: f"{number}"),
}


def case(name: str, number: int) -> str:
    """What it means that a feature, or a half's, has this value; to be read among others."""
    return _CASES[name][number] if name in _CASES else WORDS[name].value(number) + _BEHIND.get(name, "")


_CASES = {
    "upright": ("flat", "upright"),
    "wanted": ("no virus in its column", "its highest virus of another colour", "its highest virus of the same colour"),
    "ground": tuple(f"on {_GROUNDS(number)}" for number in range(7)),
}
_BEHIND = {"beside": " beside it", "run_viruses": " below"}


def question(feature: str, threshold: int) -> str:
    """Whether a feature is at least a threshold, as a question."""
    name = feature.removesuffix("_low").removesuffix("_high")
    half = _half(feature)
    word = WORDS[name]
    if word.value is _YES_NO:
        return f"{word.title}?"
    if name == "ground":
        better = "" if threshold == 6 else " or better"
        return f"it lies on {_GROUNDS(threshold)}{better}{half}?"
    if name == "wanted":
        meant = ("there is one", "it has the same colour")[threshold - 1]
        return f"{word.title}{half}: {meant}?"
    return f"{word.title}{half}: at least {threshold}?"


def title_of(feature: str) -> str:
    """A feature, of whichever half."""
    name = feature.removesuffix("_low").removesuffix("_high")
    return WORDS[name].title + _half(feature)


def _half(feature: str) -> str:
    if feature.endswith("_low"):
        return " (left or lower half)"
    return " (right or upper half)" if feature.endswith("_high") else ""
