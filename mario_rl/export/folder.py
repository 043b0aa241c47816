"""The folder of an export: it is there whole or not at all, and it never takes the place of anybody else's.

It is built beside its place, under a name that begins with a dot, and renamed when it is complete.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

from mario_rl.runs.directory import RunError

FACTS_FILE = "export.json"
FORMAT = "mario-rl export"


def check_place(folder: Path) -> None:
    """A RunError if an export cannot be put there; nothing is touched."""
    place = folder.resolve()
    if not place.parent.is_dir():
        raise RunError(f"{place.parent}: no such directory for the folder {place.name}")
    if not place.exists():
        return
    if not place.is_dir():
        raise RunError(f"{folder} is a file: name a folder for --hub-folder")
    if not any(place.iterdir()):
        return
    files = read_facts(place).get("files")
    if not isinstance(files, list):
        raise RunError(f"{folder} is not empty and no export of mario-rl: choose another --hub-folder")
    others = sorted({file.name for file in place.iterdir()} - {FACTS_FILE, *files})
    if others:
        raise RunError(f"{folder} holds {others[0]}, which is not of an export: move it away, or choose another folder")


def read_facts(folder: Path) -> dict[str, Any]:
    """What an export says about itself; nothing if the folder is none."""
    try:
        facts = json.loads((folder / FACTS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) and facts.get("format") == FORMAT else {}


def write_facts(folder: Path, facts: Mapping[str, Any]) -> None:
    """Say what the folder is, and which files belong to it: the last step before it is complete."""
    files = sorted(file.name for file in folder.iterdir())
    content = {"format": FORMAT, **facts, "files": files}
    (folder / FACTS_FILE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Where to write; after the block it is `folder`. If the block fails, or is broken off, nothing is left."""
    check_place(folder)
    place = folder.resolve()
    _remove_leftovers(place)
    building = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        building.mkdir()
        yield building
        _take_place(building, place)
    except OSError as problem:
        raise RunError(f"cannot write {folder}: {problem.strerror or problem}") from problem
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _take_place(building: Path, place: Path) -> None:
    if not place.exists() or not any(place.iterdir()):
        building.rename(place)
        return
    before = place.with_name(f".{place.name}.{os.getpid()}.old")
    place.rename(before)
    try:
        building.rename(place)
    except OSError:
        before.rename(place)
        raise
    shutil.rmtree(before, ignore_errors=True)


def _remove_leftovers(place: Path) -> None:
    """Remove what an export that was killed has left beside the folder."""
    for left in place.parent.glob(f".{place.name}.*.tmp"):
        builder = re.fullmatch(r"(\d+)\.tmp", left.name.removeprefix(f".{place.name}."))
        if builder and not psutil.pid_exists(int(builder[1])):
            shutil.rmtree(left, ignore_errors=True)
