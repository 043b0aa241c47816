"""A mistake of the user ends in one line on stderr and exit code 2; a traceback is always a bug of ours."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from mario_rl import doctor

INTERRUPTED = 130  # the exit code of a shell's command after Ctrl-C


class Mistake(typer.TyperException):
    """Something the user can put right; the message says how."""

    exit_code = 2


@contextmanager
def mistakes_in_one_line() -> Iterator[None]:
    """Turn what the user can put right into a `Mistake`, and Ctrl-C into a quiet end.

    The body imports what it needs (torch, ...), so that other commands stay quick and run without the extra [train].
    """
    if not doctor.core_is_built():
        raise Mistake(f"the native core is not built: {doctor.HOW_TO_BUILD}")
    try:
        yield
    except (ValueError, OSError) as problem:
        if not isinstance(problem, _errors_for_users()):
            raise
        raise Mistake(_in_words(problem)) from problem
    except ModuleNotFoundError as missing:
        package = (missing.name or "").split(".")[0]
        of_extras = {"selfplay": ("sb3_contrib", "stable_baselines3", "scipy"), "distill": ("sklearn", "cma", "py65")}
        extra = next((extra for extra, packages in of_extras.items() if package in packages), "train")
        raise Mistake(f"{missing.name} is not installed: pip install 'mario-rl[{extra}]'") from missing
    except KeyboardInterrupt:
        print("mario-rl: interrupted", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


def check_file(file: Path | str | None, option: str) -> None:
    """A Mistake if a file could not be written, before the work begins and not after it; - is stdout."""
    if file is None or str(file) == "-":
        return
    directory = Path(file).resolve().parent
    if not directory.is_dir():
        raise Mistake(f"{directory}: no such directory for {option}")
    if Path(file).is_dir():
        raise Mistake(f"{file} is a directory: {option} takes the name of a file")
    if not os.access(directory, os.W_OK):
        raise Mistake(f"{directory} cannot be written to: choose another directory for {option}")


def _in_words(problem: Exception) -> str:
    """What is wrong, without the operating system's number for it."""
    if isinstance(problem, OSError) and problem.filename is not None and problem.strerror:
        return f"{problem.filename2 or problem.filename}: {problem.strerror}"
    return str(problem)


def _errors_for_users() -> tuple[type[Exception], ...]:
    from mario_rl._native import RomError
    from mario_rl.config import ConfigError
    from mario_rl.distributed.shared_memory import SharedMemoryError
    from mario_rl.runs.checkpoint import CheckpointError
    from mario_rl.runs.directory import RunError
    from mario_rl.snapshots.routes import RouteError
    from mario_rl.snapshots.store import SnapshotFileError

    of_files = (RomError, CheckpointError, RunError, RouteError, SnapshotFileError)
    return ConfigError, SharedMemoryError, *of_files, OSError


@contextmanager
def signals_as_ctrl_c() -> Iterator[None]:
    """A command that is terminated, or whose terminal goes away, ends as cleanly as by Ctrl-C."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    with _handling((signal.SIGTERM, signal.SIGHUP), interrupt):
        yield


@contextmanager
def ctrl_c_ends_at_once() -> Iterator[None]:
    """For imports, which fail in strange ways when an exception comes out of nowhere. Nothing must have begun yet."""

    def leave(number: int, frame: object) -> None:
        os.write(2, b"mario-rl: interrupted\n")
        os._exit(INTERRUPTED)

    with _handling(ENDINGS, leave):
        yield


@contextmanager
def endings_call(react: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C, a termination or a closed terminal call `react`; what is being done meanwhile is not broken off."""
    with _handling(ENDINGS, lambda number, frame: react()):
        yield


ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def _handling(numbers: tuple[signal.Signals, ...], handler: Callable[[int, Any], None]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
