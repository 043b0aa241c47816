"""The command that trains. Its options are the settings of `config.TrainingConfig`, with their field docs as help."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mario_rl import config as configuration
from mario_rl.cli_settings import with_settings
from mario_rl.config import TrainingConfig
from mario_rl.mistake import INTERRUPTED, ctrl_c_ends_at_once, endings_call, mistakes_in_one_line
from mario_rl.presets import PRESETS
from mario_rl.sign_of_life import sign_of_life

if TYPE_CHECKING:
    from mario_rl.distributed.coordinator import Totals
    from mario_rl.runs.directory import RunDirectory
    from mario_rl.runs.session import Session
    from mario_rl.runs.status import State

EXIT_CODES = {"SUCCESS": 0, "FAILED": 1, "INTERRUPTED": INTERRUPTED}


def register(app: typer.Typer) -> None:
    """Add the command, with an option for every setting."""
    app.command("train")(with_settings(train, TrainingConfig, FIRST, _of_presets))


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
            with sign_of_life() as tell:
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


FIRST = ("model", "level", "steps", "workers", "lanes", "observation", "name", "seed")


def _of_presets(name: str) -> list[str]:
    """What the presets set instead, for the help."""
    return [
        f"{preset} {model} {values[name]}"
        for preset, models in PRESETS.items()
        for model, values in models.items()
        if name in values
    ]
