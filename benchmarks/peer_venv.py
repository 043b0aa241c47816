"""The peers' own virtual environment, .venv-peers: their pinned packages never meet ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.worker import SOURCE_TREE

FOLDER = SOURCE_TREE / ".venv-peers"
REQUIREMENTS = SOURCE_TREE / "benchmarks" / "peers.txt"

# Built from source on installation, and its Python side wants packages we do not need: a peer we can do without.
OPTIONAL_PEER = "nes-py==8.2.1"


class PeersNotInstalled(RuntimeError):
    """The peers could not be installed; pip's own words precede this on stderr."""


def peers_python() -> Path:
    """The peers' Python, installed first if it is not there or benchmarks/peers.txt has changed."""
    python = FOLDER / "bin" / "python"
    stamp = FOLDER / "installed.txt"
    wanted = f"{REQUIREMENTS.read_text()}{OPTIONAL_PEER}\n"
    if stamp.is_file() and stamp.read_text() == wanted:
        return python

    print(f"installing the peers into {FOLDER.name} (once)", file=sys.stderr, flush=True)
    _run(sys.executable, "-m", "venv", "--clear", str(FOLDER))
    _run(str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--requirement", str(REQUIREMENTS))
    try:
        _run(str(python), "-m", "pip", "install", "--quiet", "--no-deps", OPTIONAL_PEER)
    except PeersNotInstalled:
        print(f"going on without {OPTIONAL_PEER}", file=sys.stderr)
    stamp.write_text(wanted)
    return python


def _run(*command: str) -> None:
    # pip's stdout joins our stderr: our stdout carries one JSON object and nothing else.
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode != 0:
        raise PeersNotInstalled(f"failed: {' '.join(command)}")
