"""What a form is made of, for a number of bytes: the features and tables to try, those with the most in them first."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mario_rl.distill.config import KINDS
from mario_rl.distill.fit_additive import fit_linear, fit_tables
from mario_rl.distill.fit_binary import fit_binary
from mario_rl.distill.fit_tree import fit_half_tree, fit_tree
from mario_rl.distill.form import Form
from mario_rl.distill.lessons import Lessons
from mario_rl.distill.lookup import SIZES, fit_lookup
from mario_rl.distill.tables import named
from mario_rl.distill.tiny import Tiny

# Features by their cost in code; "upright" alone says nothing, but what a half lies on means more with it.
_TABLES = (
    "upright*wanted*ground wanted*ground*run_viruses ground*beside clears viruses_gone top_row gap column_viruses whim",
    "upright*wanted*ground wanted*ground*run_viruses ground*beside clears viruses_gone top_row whim",
    "upright*wanted*ground ground*beside run_viruses clears viruses_gone top_row whim",
    "upright*wanted*ground beside run_viruses top_row whim",
    "upright*wanted*ground beside run_viruses whim",
    "upright*wanted*ground beside whim",
    "wanted*ground beside whim",
    "ground beside whim",
    "ground whim",
)
_FEATURES = (
    "upright wanted ground run_viruses beside clears viruses_gone top_row gap column_viruses whim",
    "upright wanted ground run_viruses beside clears viruses_gone top_row whim",
    "upright wanted ground run_viruses beside whim",
    "wanted ground run_viruses beside whim",
    "wanted ground beside whim",
    "ground beside whim",
    "ground whim",
)
_ASKED = ("upright wanted ground run_viruses beside", "wanted ground beside", "ground beside")
"""Of halves."""
_INPUTS = ("wanted ground run_viruses beside", "wanted ground beside", "ground beside", "ground")
_UNITS = (16, 8, 4, 2)


class Recipe(NamedTuple):
    """A way to make a form."""

    name: str
    make: Callable[[Lessons, int, int], Form]
    """Of lessons, columns a frame and a seed; a ValueError if it cannot be."""


def recipes(kind: str, most_bytes: int) -> Iterator[Recipe]:
    """Those for a kind of form, the one with the most in it first; whether it fits shows when it is made."""
    if kind == "table":
        yield from map(_tables, _TABLES)
    elif kind == "linear":
        yield from map(_linear, _FEATURES)
    elif kind == "tree":
        for asked, features in itertools.zip_longest(_ASKED, _FEATURES):
            if asked is not None:
                yield _half_tree(asked, most_bytes)
            yield _tree(features, most_bytes)
    elif kind == "binary":
        yield from (_binary(text, units) for text in _INPUTS for units in _UNITS)
    elif kind == "lookup":
        yield from map(_lookup, SIZES)
    elif kind == "tiny":
        yield Recipe("two numbers", lambda lessons, columns, seed: Tiny())
    else:
        raise ValueError(f"unknown form {kind!r}; use one of {', '.join(KINDS)}")


def _tables(text: str) -> Recipe:
    tables = named(text.split())
    return Recipe(text, lambda lessons, columns, seed: fit_tables(lessons, tables, columns, seed))


def _linear(text: str) -> Recipe:
    return Recipe(text, lambda lessons, columns, seed: fit_linear(lessons, text.split(), columns, seed))


def _tree(text: str, most_bytes: int) -> Recipe:
    return Recipe(text, lambda lessons, columns, seed: fit_tree(lessons, text.split(), most_bytes, columns, seed))


def _half_tree(text: str, most_bytes: int) -> Recipe:
    name = f"{text}, each half by itself"
    return Recipe(name, lambda lessons, columns, seed: fit_half_tree(lessons, text.split(), most_bytes, columns, seed))


def _binary(text: str, units: int) -> Recipe:
    name = f"{text}, {units} units"
    return Recipe(name, lambda lessons, columns, seed: fit_binary(lessons, text.split(), units, columns, seed))


def _lookup(size: int) -> Recipe:
    return Recipe(f"{size} entries", lambda lessons, columns, seed: fit_lookup(lessons.drops, lessons.ratings, size))
