"""Checkpoints that are whole or not there: atomic to write, verified to read.

A file is a small header (magic, version, environment steps, length of the rest, SHA-256 of all that) and then what
`torch.save` writes. A cut or flipped file is found before torch looks at it, and loading runs no code
(`weights_only=True`). `checkpoint.pt`, its numbered predecessors, `weights.pt` and `best.pt` all are such files.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import struct
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from mario_rl.atomic_file import prepared, take_name
from mario_rl.runs.directory import RunDirectory, RunError

__all__ = [
    "CheckpointError",
    "load_checkpoint",
    "load_newest_good",
    "save_checkpoint",
    "save_run_checkpoint",
    "state_in",
]

MAGIC = b"MARIO-RL"
VERSION = 1
_FACTS = struct.Struct("<8sIQQ")  # magic, version, environment steps, length of the body
_DIGEST_SIZE = hashlib.sha256().digest_size  # bytes; of facts and body, between the two
_HEADER_SIZE = _FACTS.size + _DIGEST_SIZE

# What `torch.load(weights_only=True)` gives back. It refuses a NumPy scalar, which is a float to Python, and bytes.
_LEAVES = (type(None), bool, int, float, complex, str, torch.Size, torch.dtype, torch.device)


class CheckpointError(RunError):
    """A checkpoint that cannot be written or read; the message says why and what to do."""


@dataclass(frozen=True)
class _Header:
    steps: int
    length: int
    digest: bytes


def save_checkpoint(path: Path, state: Mapping[str, Any]) -> None:
    """Write a checkpoint. If that fails (a full disk), the file that was there before is untouched."""
    _save(path, state, keep_old_as=None)


def save_run_checkpoint(run: RunDirectory, state: Mapping[str, Any], keep: int) -> None:
    """Write the run's checkpoint.pt; the one it replaces becomes checkpoint-<its steps>.pt, and `keep` of those stay.

    Those of as many steps or more are of a future that was given up by resuming from before it: they go, too.
    """
    steps = _steps_of(state)
    predecessor = _header_if_good(run.checkpoint_pt)
    kept_as = run.numbered_checkpoint(predecessor.steps) if predecessor and predecessor.steps < steps else None
    _save(run.checkpoint_pt, state, keep_old_as=kept_as)
    numbered = run.numbered_checkpoints()
    future = [file for file in numbered if _number(file) >= steps]
    past = numbered[len(future) :]
    for file in future + past[keep:]:
        file.unlink(missing_ok=True)


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint, on the CPU; a CheckpointError says why one cannot be trusted."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise CheckpointError(f"cannot read {path}: {problem.strerror}") from problem
    return state_in(content, path)


def state_in(content: bytes, path: Path | str) -> dict[str, Any]:
    """What a checkpoint of this content holds; `path` is what it is called in a CheckpointError."""
    header = _parsed(path, content[:_HEADER_SIZE])
    body = memoryview(content)[_HEADER_SIZE:]
    if len(body) != header.length:
        raise CheckpointError(f"{path} is damaged: it is {len(body)} bytes long instead of {header.length}")
    if _digest(content[: _FACTS.size], body) != header.digest:
        raise CheckpointError(f"{path} is damaged: its content does not match its checksum")
    try:
        state = torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, ValueError, EOFError) as problem:
        raise CheckpointError(f"{path} is not ours: it holds more than tensors and plain values") from problem
    if not isinstance(state, dict):
        raise CheckpointError(f"{path} holds a {type(state).__name__} instead of a checkpoint's dictionary")
    return state


def load_newest_good(run: RunDirectory) -> tuple[dict[str, Any], Path, list[str]]:
    """The newest checkpoint of a run that is whole, its file, and a sentence about each one that was skipped.

    If the user named one checkpoint file, it is that one or an error.
    """
    if run.chosen_file is not None:
        return load_checkpoint(run.chosen_file), run.chosen_file, []
    warnings: list[str] = []
    candidates = [file for file in (run.checkpoint_pt, *run.numbered_checkpoints()) if file.exists()]
    for file in candidates:
        try:
            return load_checkpoint(file), file, warnings
        except CheckpointError as problem:
            warnings.append(f"skipped a checkpoint: {problem}")
    if not candidates:
        raise CheckpointError(f"the run {run.path} has no checkpoint yet; start a new one with another --name")
    raise CheckpointError(f"no checkpoint of {run.path} can be read: {'; '.join(warnings)}")


def _save(path: Path, state: Mapping[str, Any], keep_old_as: Path | None) -> None:
    _check_plain(state, "state")
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    body = buffer.getbuffer()
    facts = _FACTS.pack(MAGIC, VERSION, _steps_of(state), len(body))
    try:
        with prepared(path, (facts, _digest(facts, body), body)) as temporary:
            if keep_old_as is not None:
                _name_twice(path, keep_old_as)
            take_name(temporary, path)
    except OSError as problem:
        advice = "the one before it is untouched; make room or give --checkpoints another disk"
        raise CheckpointError(f"cannot save {path}: {problem.strerror}; {advice}") from problem


def _name_twice(path: Path, name: Path) -> None:
    """Give a file a second name, so that readers find it under the first at any moment."""
    name.unlink(missing_ok=True)
    try:
        os.link(path, name)
    except OSError:  # a file system without links: killed now, the run still has the numbered one
        take_name(path, name)


def _digest(facts: bytes, body: memoryview) -> bytes:
    digest = hashlib.sha256(facts)
    digest.update(body)
    return digest.digest()


def _check_plain(value: Any, where: str) -> None:
    """Complain now about what could be saved but never loaded."""
    if isinstance(value, torch.Tensor) or type(value) in _LEAVES:
        return
    if type(value) in (dict, OrderedDict):
        for key, entry in value.items():
            _check_plain(key, f"a key of {where}")
            _check_plain(entry, f"{where}[{key!r}]")
    elif type(value) in (list, tuple):
        for index, entry in enumerate(value):
            _check_plain(entry, f"{where}[{index}]")
    else:
        raise TypeError(
            f"{where} is a {type(value).__module__}.{type(value).__qualname__}: it could not be loaded again"
        )


def _steps_of(state: Mapping[str, Any]) -> int:
    """The environment steps a state was made at."""
    steps = state["steps"] if "steps" in state else state.get("counters", {}).get("steps", 0)
    return int(steps)


def _number(numbered: Path) -> int:
    return int(numbered.stem.removeprefix("checkpoint-"))


def _header_if_good(path: Path) -> _Header | None:
    """The header of a file, if it has one of ours (only `load_checkpoint` looks at the rest)."""
    try:
        with path.open("rb") as file:
            return _parsed(path, file.read(_HEADER_SIZE))
    except (OSError, CheckpointError):
        return None


def _parsed(path: Path | str, start: bytes) -> _Header:
    if len(start) < _HEADER_SIZE or not start.startswith(MAGIC):
        raise CheckpointError(f"{path} is not a checkpoint of mario-rl, or was cut short")
    _, version, steps, length = _FACTS.unpack(start[: _FACTS.size])
    if version != VERSION:
        raise CheckpointError(f"{path} is of format {version}, this version of mario-rl reads format {VERSION}")
    return _Header(steps, length, start[_FACTS.size :])
