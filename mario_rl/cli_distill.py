"""The command that makes a player for the cartridge out of a trained one: `mario-rl distill`."""

from __future__ import annotations

import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from mario_rl.cli_selfplay_evaluate import CheckpointsOption
from mario_rl.cli_settings import with_settings
from mario_rl.distill.config import DistillConfig
from mario_rl.mistake import INTERRUPTED, Mistake, check_file, mistakes_in_one_line, signals_as_ctrl_c
from mario_rl.settings import ConfigError, flag

FIRST = ("teacher", "form", "bytes")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("distill")(with_settings(distill, DistillConfig, FIRST, lambda setting: []))


def distill(
    player: Annotated[
        Path | None,
        typer.Argument(
            metavar="PLAYER.json",
            help="With --explain: a player that was distilled before, or one of the package: tiny, small, large.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the player.", show_default="FORM-BYTES.json"),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say in words how the player decides.")] = False,
    checkpoints: CheckpointsOption = Path("checkpoints"),
    **settings: Any,
) -> None:
    """Make a player small enough for the cartridge.

    It plays as a trained one would, if it saw no more. Every stage is judged in play: games alone at levels 5, 10 and
    15, MED. `mario-rl burn` puts the player into a ROM.
    """
    chosen = {name: value for name, value in settings.items() if value is not None}
    if player is not None:
        _explain(player, explain, chosen)
        return
    try:
        config = DistillConfig(**chosen)
    except ConfigError as problem:
        raise Mistake(str(problem)) from problem
    file = output or Path(f"{config.form}-{config.bytes}.json")
    check_file(file, "--output")
    with mistakes_in_one_line(), signals_as_ctrl_c():
        import torch

        from mario_rl.distill.distillation import distill as distil
        from mario_rl.distill.player_file import save_player_file
        from mario_rl.distill.teacher import teacher_of
        from mario_rl.selfplay.players import make_player

        torch.set_num_threads(1)  # the networks are small: more threads only wait for each other
        made = distil(teacher_of(make_player(config.teacher, config.seed, checkpoints)), config, _say)
        try:
            save_player_file(file, made)
        except OSError as problem:  # minutes of work: not lost because a disk is full
            kept = Path(tempfile.mkdtemp(prefix="mario-rl-")) / file.name
            save_player_file(kept, made)
            raise Mistake(f"{file}: {problem.strerror or problem}; the player is in {kept} instead") from problem
    if explain:
        print(made.form.explain())
    interrupted = bool(made.card.get("interrupted"))
    print(f"{file}: {made.form.kind}, {len(made.form.compile().code)} bytes")
    print(f"burn it: mario-rl burn {shlex.quote(str(file))} -o {shlex.quote(str(file.with_suffix('.nes')))}")
    if interrupted:
        again = shlex.join(["mario-rl", "distill", *(w for n, v in chosen.items() for w in (flag(n), str(v)))])
        print(f"mario-rl: interrupted: polished only so far; to polish longer: {again}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


def _explain(player: Path, explain: bool, chosen: dict[str, Any]) -> None:
    if not explain or chosen:
        raise Mistake(f"{player} is distilled already: `mario-rl distill {player} --explain` says how it decides")
    with mistakes_in_one_line():
        from mario_rl.distill.player_file import distilled_file, load_player_file

        print(load_player_file(distilled_file(player)).form.explain())


_BEGUN = time.monotonic()


def _say(line: str) -> None:
    """Progress, with the seconds it took."""
    print(f"[{time.monotonic() - _BEGUN:5.0f} s] {line}", file=sys.stderr, flush=True)
