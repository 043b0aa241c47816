"""A node of the cluster as an actor on it finds it: what it is, what is installed, a directory to work in."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import ray

from mario_rl.config import TrainingConfig
from mario_rl.runs.directory import RunError

ROM = "rom.nes"
"""The ROM among the files of an actor: nodes need none of their own."""

_SCRATCH = "mario-rl-node-"


@dataclass(frozen=True)
class Whereabouts:
    """Where an actor is, and what is installed there."""

    node: str  # Ray's identifier
    address: str
    pid: int
    version: str  # of mario-rl
    python: str

    def __str__(self) -> str:
        return f"node {self.address} ({self.node[:8]})"


def whereabouts() -> Whereabouts:
    """Those of this process."""
    return Whereabouts(
        ray.get_runtime_context().get_node_id(),
        ray.util.get_node_ip_address(),  # type: ignore[no-untyped-call]
        os.getpid(),
        importlib.metadata.version("mario-rl"),
        platform.python_version(),
    )


def check_version(here: Whereabouts, installed: str) -> None:
    """A RunError if a node does not have the mario-rl that the parent has."""
    if here.version != installed:
        raise RunError(f"{here} has mario-rl {here.version}, this machine {installed}: install the same on both")


def config_here(config: TrainingConfig, directory: Path) -> TrainingConfig:
    """The run's configuration with the ROM that came along."""
    return dataclasses.replace(config, rom=str(directory / ROM))


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """A directory for this process, laid out as the run's; those of processes that were killed are removed, too."""
    place = Path(tempfile.gettempdir())
    for left in place.glob(f"{_SCRATCH}*"):
        owner = re.match(rf"{_SCRATCH}(\d+)-", left.name)
        if owner and not Path(f"/proc/{owner[1]}").exists() and left.stat().st_uid == os.getuid():
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{_SCRATCH}{os.getpid()}-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)
