"""`mario-rl selfplay`: train Dr. Mario agents against themselves; who is better, say evaluate and ladder."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mario_rl import cli_selfplay_evaluate
from mario_rl.cli_settings import names_of, with_settings
from mario_rl.cli_train import EXIT_CODES
from mario_rl.mistake import ctrl_c_ends_at_once, endings_call, mistakes_in_one_line
from mario_rl.selfplay.config import PRESETS, SelfPlayConfig
from mario_rl.selfplay.frames.config import FramesConfig
from mario_rl.settings import ConfigError, flag
from mario_rl.sign_of_life import sign_of_life

if TYPE_CHECKING:
    from mario_rl.runs.status import State
    from mario_rl.selfplay.sessions import Session

FIRST = ("env", "level", "speed", "steps", "minutes", "envs", "workers", "name", "seed")

app = typer.Typer(help="Train and rate agents that play against themselves.", rich_markup_mode=None)


def register(root: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("train")(with_settings(train, SelfPlayConfig, FIRST, _elsewhere, {"frames": FramesConfig}))
    cli_selfplay_evaluate.register(app)
    root.add_typer(app, name="selfplay")


def train(
    resume: Annotated[
        str | None, typer.Option(help="Go on with a run: its directory, name, or one of its checkpoint files.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help=f"Measured settings: {', '.join(PRESETS)} (docs/results.md).")
    ] = None,
    **settings: Any,
) -> None:
    """Train an agent by self-play.

    Dr. Mario: alone first, then against itself and its past. Ctrl-C stops cleanly and says how to go on.
    """
    chosen = {name: value for name, value in settings.items() if value is not None}
    with mistakes_in_one_line():
        with ctrl_c_ends_at_once():
            from mario_rl.selfplay import sessions

        if preset is not None and preset not in PRESETS:
            raise ConfigError(f"unknown preset {preset!r}; use one of {', '.join(PRESETS)}")
        checkpoints = chosen.get("checkpoints", SelfPlayConfig.checkpoints)
        env = chosen.get("env") or (SelfPlayConfig.env if resume is None else sessions.env_of(resume, checkpoints))
        check_options(env, chosen)
        session = sessions.open_session(env, chosen, preset, resume)
        for warning in session.warnings:
            print(f"mario-rl: {warning}", file=sys.stderr)
        state = _train(session)
    _say_how_it_ended(session)
    raise typer.Exit(EXIT_CODES[state])


def check_options(env: str, chosen: Mapping[str, Any]) -> None:
    """A ConfigError about the first option that means nothing to this kind of agent."""
    kinds: dict[str, type] = {"placement": SelfPlayConfig, "frames": FramesConfig}
    if env not in kinds:
        raise ConfigError(f"--env is one of {', '.join(kinds)}, not {env!r}")
    for name in chosen:
        if name not in names_of(kinds[env]):
            others = [kind for kind, config in kinds.items() if name in names_of(config)]
            where = f"for --env {others[0]}" if env == "placement" else f"not for --env {env}"
            raise ConfigError(f"{flag(name)} is {where}")


def _train(session: Session) -> State:
    """Train to the end, or until the user wants it to end: once in good order, twice at once."""
    asked = 0

    def end() -> None:
        nonlocal asked
        asked += 1
        if asked > 1:
            raise KeyboardInterrupt

    with endings_call(end), sign_of_life() as tell, session.run.training_log.open("a", encoding="utf-8") as log_file:

        def log(text: str) -> None:
            with contextlib.suppress(OSError):  # a full disk does not end a run
                print(text, file=log_file, flush=True)
            print(f"\r\x1b[K{text}" if sys.stderr.isatty() else text, file=sys.stderr, flush=True)

        return session.train(lambda: asked > 0, tell, log)


def _say_how_it_ended(session: Session) -> None:
    run = session.run
    status, where = run.status(), run.path
    print(
        f"{status.state}: {status.why} ({status.steps:,} {session.unit}, {status.minutes_trained:.1f} min of training)"
    )
    print(f"run          {where}")
    if status.state != "SUCCESS":
        print(f"go on        {run.resume_command} {where}")
    print(f"evaluate     mario-rl selfplay evaluate {where} {session.rival}")
    print(f"rate         mario-rl selfplay ladder random greedy search {where}")
    print(f"watch        mario-rl watch drmario --agent {where} --opponent {session.rival}")
    print(f"curves       tensorboard --logdir {where / 'tensorboard'}")


def _elsewhere(name: str) -> list[str]:
    """What presets and the agent of frames set instead, for the help."""
    found = [f"{preset} {values[name]}" for preset, values in PRESETS.items() if name in values]
    default = getattr(FramesConfig, name, None)
    differs = default is not None and default != getattr(SelfPlayConfig, name)
    return [*found, f"frames {default}"] if differs else found
