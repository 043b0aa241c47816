"""The command that trains. Its options are the settings of `config.TrainingConfig`, with their field docs as help."""

from __future__ import annotations

import dataclasses
import inspect
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mario_rl import config as configuration
from mario_rl.config import TrainingConfig
from mario_rl.mistake import INTERRUPTED, ctrl_c_ends_at_once, endings_call, mistakes_in_one_line
from mario_rl.presets import PRESETS

if TYPE_CHECKING:
    from mario_rl.distributed.coordinator import Totals
    from mario_rl.runs.directory import RunDirectory
    from mario_rl.runs.session import Session
    from mario_rl.runs.status import State

SECONDS_BETWEEN_LINES = 5.0
EXIT_CODES = {"SUCCESS": 0, "FAILED": 1, "INTERRUPTED": INTERRUPTED}


def register(app: typer.Typer) -> None:
    """Add the command, with an option for every setting."""
    app.command("train")(_with_settings(train))


def train(
    resume: Annotated[
        str | None, typer.Option(help="Go on with a run: its directory, name, or one of its checkpoint files.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help=f"Measured settings: {', '.join(PRESETS)} (docs/results.md).")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file with settings, such as a run's config.yaml.")] = None,
    no_ui: Annotated[bool, typer.Option("--no-ui", help="One progress line instead of the dashboard.")] = False,
    **settings: Any,
) -> None:
    """Train an agent on Super Mario Bros. Ctrl-C (or q) stops cleanly and says how to go on."""
    chosen = {name: value for name, value in settings.items() if value is not None}
    with mistakes_in_one_line():
        with ctrl_c_ends_at_once():
            from mario_rl.runs.directory import RunDirectory
            from mario_rl.runs.training import begin
            from mario_rl.runs.training import resume as make_ready

        if resume is None:
            run, before = begin(configuration.build(chosen, preset, config))
            warnings: list[str] = []
        else:
            run = RunDirectory.open(resume, chosen.get("checkpoints", TrainingConfig.checkpoints))
            wanted = configuration.build(chosen, preset, config, base=run.config())
            before, warnings = make_ready(run, wanted)
        for warning in warnings:
            print(f"mario-rl: {warning}", file=sys.stderr)
        # Textual reads stdin and draws on stderr
        on_terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
        state = _train(run, resume is None, before, warnings, dashboard=on_terminal and not no_ui)
    _say_how_it_ended(run, state)
    raise typer.Exit(EXIT_CODES[state])


def _train(run: RunDirectory, new: bool, before: Totals, warnings: list[str], dashboard: bool) -> State:
    """Train to the end, or until the user wants it to end: once in good order, twice at once."""
    from mario_rl.runs.training import open_session, prepare
    from mario_rl.snapshots.preparation import PreparationBrokenOff

    session: Session | None = None
    asked = 0

    def end() -> None:
        nonlocal asked
        asked += 1
        if session is not None:
            session.stop() if asked == 1 else session.stop_at_once()

    with endings_call(end):
        try:
            with _sign_of_life() as tell:
                before = prepare(run, before, lambda text: tell(text) or not asked)
            session = open_session(run, run.config(), before)
        except PreparationBrokenOff:
            run.finish("INTERRUPTED", "stopped while it looked for the way")
            return "INTERRUPTED"
        except BaseException:
            if new:  # nothing has begun: nothing stays
                shutil.rmtree(run.path, ignore_errors=True)
            raise
        try:
            for warning in warnings:
                session.log("warning", warning)
            if new and before.steps:
                session.log("info", f"found the way: exploring took {before.steps:,} of the run's steps")
            if asked:
                session.stop()
            _show(session, dashboard)
        finally:
            state = session.close()
    return state


@contextmanager
def _sign_of_life() -> Iterator[Callable[[str], None]]:
    """What is done before a run begins, on one line that goes away again; now and then where none can be rewritten."""
    if not sys.stderr.isatty():
        told = -SECONDS_BETWEEN_LINES

        def tell(text: str) -> None:
            nonlocal told
            if time.monotonic() - told >= SECONDS_BETWEEN_LINES:
                told = time.monotonic()
                print(text, file=sys.stderr, flush=True)

        yield tell
        return
    try:
        yield lambda text: print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _show(session: Session, dashboard: bool) -> None:
    """Let people watch until the run is over."""
    if dashboard:
        from mario_rl.dashboard.terminal import TrainingUI

        TrainingUI(session).run()
    else:
        from mario_rl.dashboard.progress import run_with_progress

        run_with_progress(session)


def _say_how_it_ended(run: RunDirectory, state: State) -> None:
    status = run.status()
    where = run.path
    minutes = f"{status.minutes_trained:.1f} min"
    print(f"{state}: {status.why} ({status.steps:,} steps, {minutes} of training)")
    print(f"run          {where}")
    if state != "SUCCESS":
        print(f"go on        mario-rl train --resume {where}")
    if not run.weights_pt.exists():  # stopped before there was anything to look at
        return
    print(f"evaluate     mario-rl evaluate {where}")
    print(f"watch        mario-rl watch {where}")
    print(f"video        mario-rl record {where} -o flag.mp4")
    print(f"curves       mario-rl plot {where}      tensorboard --logdir {where / 'tensorboard'}")


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Replace `**settings` in a command's signature by one option per setting."""
    docs = configuration.docs()
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.kind is not p.VAR_KEYWORD]
    fields = {field.name: field for field in dataclasses.fields(TrainingConfig)}
    in_parts = [field.name for part in TrainingConfig.__bases__ for field in dataclasses.fields(part)]
    parameters = [_option(fields[name], docs[name]) for name in FIRST] + own
    parameters += [_option(fields[name], docs[name]) for name in in_parts if name not in FIRST]
    ordered = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]

    def with_settings(**arguments: Any) -> None:
        command(**arguments)

    with_settings.__doc__ = command.__doc__
    with_settings.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
    with_settings.__annotations__ = {p.name: p.annotation for p in ordered}
    return with_settings


FIRST = ("model", "level", "steps", "workers", "lanes", "observation", "name", "seed")


def _option(field: dataclasses.Field[Any], help: str) -> inspect.Parameter:
    """The option of one setting; not given means not chosen, so that presets and files can speak."""
    kind = next(kind for kind in configuration.kinds_of(field.name) if kind is not type(None))
    settings = ([] if field.default is None else [str(field.default)]) + _of_presets(field.name)
    default = f" [{'; '.join(settings)}]" if settings else ""
    flags = configuration.flag(field.name)
    if kind is bool:
        flags = f"{flags}/--no-{flags[2:]}"
    annotation = Annotated[kind | None, typer.Option(flags, help=help + default, show_default=False)]  # type: ignore[valid-type]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _of_presets(name: str) -> list[str]:
    """What the presets set instead, for the help."""
    return [
        f"{preset} {model} {values[name]}"
        for preset, models in PRESETS.items()
        for model, values in models.items()
        if name in values
    ]
