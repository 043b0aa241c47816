"""The processes that Ray runs actors in."""

from __future__ import annotations

import psutil

from tests.faults.runs import Place


def actors(place: Place, kind: str) -> list[psutil.Process]:
    """The processes of the actors that run. Ray names them, over what a test has marked its processes with."""
    of_the_nodes = [process for process in place.processes() if "raylet" in process.name()]
    found = [child for node in of_the_nodes for child in node.children(recursive=True)]
    return [process for process in found if _title(process).startswith(f"ray::{kind}")]


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has just ended
        return ""
