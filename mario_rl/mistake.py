"""A mistake of the user ends in one line on stderr and exit code 2; a traceback is always a bug of ours."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        raise Mistake(str(problem)) from problem
    except ModuleNotFoundError as missing:
        package = (missing.name or "").split(".")[0]
        of_extras = {"selfplay": ("sb3_contrib", "stable_baselines3", "scipy"), "distill": ("sklearn", "cma", "py65")}
        extra = next((extra for extra, packages in of_extras.items() if package in packages), "train")
        raise Mistake(f"{missing.name} is not installed: pip install 'mario-rl[{extra}]'") from missing
    except KeyboardInterrupt:
        print("mario-rl: interrupted", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


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
