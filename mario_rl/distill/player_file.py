"""A distilled player in a file: JSON that says what it is, how it came about, and how well it played on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from mario_rl.atomic_file import write_atomically
from mario_rl.distill.binary import Binary
from mario_rl.distill.form import Form
from mario_rl.distill.half_tree import HalfTree
from mario_rl.distill.linear import Linear
from mario_rl.distill.lookup import Lookup
from mario_rl.distill.tables import Tables
from mario_rl.distill.tiny import Tiny
from mario_rl.distill.tree import Tree
from mario_rl.runs.directory import RunError

FORMAT = "mario-rl cartridge player"
SUFFIX = ".json"
FORMS: dict[str, type[Form]] = {form.kind: form for form in (Tree, HalfTree, Tables, Linear, Binary, Lookup, Tiny)}


@dataclass(frozen=True)
class DistilledPlayer:
    """A form, and its card."""

    form: Form
    card: Mapping[str, Any] = field(default_factory=dict)
    """How it was distilled, and what each stage came to in play."""


def save_player_file(file: Path, player: DistilledPlayer) -> None:
    """Write it, whole or not at all."""
    found = {
        "format": FORMAT,
        "kind": player.form.kind,
        "form": player.form.as_values(),
        "card": dict(player.card),
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
    write_atomically(file, ("{\n " + ",\n ".join(lines) + "\n}\n").encode())


def packaged_distilled() -> dict[str, Path]:
    """The distilled players that come with the package, by name."""
    folder = Path(str(files("mario_rl.distill").joinpath("players")))
    return {file.stem: file for file in sorted(folder.glob(f"*{SUFFIX}"))}


def distilled_file(name: str | Path) -> Path:
    """The file of a distilled player: a packaged one by its name, or itself."""
    return packaged_distilled().get(str(name), Path(name).expanduser())


def load_player_file(file: Path) -> DistilledPlayer:
    """The player in a file; a RunError says what is wrong."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as problem:
        raise RunError(f"{file}: no such file; `mario-rl distill` makes players") from problem
    except (OSError, ValueError, RecursionError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise RunError(f"{file} cannot be read as a player: {reason}; `mario-rl distill` makes players") from problem
    if not isinstance(found, dict) or found.get("format") != FORMAT or str(found.get("kind")) not in FORMS:
        raise RunError(f"{file} is no player for a cartridge: `mario-rl distill` makes them")
    try:
        form = FORMS[found["kind"]].from_values(found["form"])
        form.compile()  # what can be read can be burned
        card = dict(found.get("card") or {})
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
        said = " ".join(str(problem).split())
        raise RunError(f"{file} is no whole player: {said:.120}") from problem
    return DistilledPlayer(form, card)
