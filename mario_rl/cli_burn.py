"""The command that puts a distilled player into a cartridge: `mario-rl burn`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mario_rl.cli_selfplay_evaluate import check_directory_of
from mario_rl.mistake import Mistake, mistakes_in_one_line, signals_as_ctrl_c

if TYPE_CHECKING:
    from mario_rl.distill.burn import Burned

ANTIDOTE = "antidote"
HOW_TO_PLAY = {
    True: "To play against it choose 2 PLAYER GAME: player 2 is the cartridge, and pad 1 chooses the level of both.",
    False: "To play against it choose VS CPU on the title.",
}
"""In the original, and in Antidote."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("burn")(burn)


def burn(
    player: Annotated[
        Path,
        typer.Argument(
            metavar="PLAYER.json",
            help="A player that `mario-rl distill` made, or one of the package: tiny, small, large.",
            show_default=False,
        ),
    ],
    rom: Annotated[
        str,
        typer.Option(
            metavar="antidote|FILE",
            help="Cartridge to burn into: antidote, or your own dump of the original (Japan/USA, first revision "
            "or revision A).",
        ),
    ] = ANTIDOTE,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File for the cartridge with the player inside (.nes).",
            show_default="named after the player; none if --ips or --bps is given",
        ),
    ] = None,
    ips: Annotated[
        Path | None, typer.Option(help="Write an IPS patch: it has only what changes, nothing of the cartridge.")
    ] = None,
    bps: Annotated[
        Path | None, typer.Option(help="The same as a BPS patch, which also knows which cartridge it is for.")
    ] = None,
    source: Annotated[Path | None, typer.Option(help="Write the player's code as source for ca65.")] = None,
    listing: Annotated[Path | None, typer.Option(help="Write it with addresses, bytes and cycles.")] = None,
) -> None:
    """Put a player into a cartridge, for any NES emulator or console.

    In Antidote it becomes the opponent of VS CPU, in place of the one that is built in. In the original it plays the
    second seat of every 2 PLAYER GAME; you need a dump of your own cartridge, and that file stays as it is.
    """
    if output is None and ips is None and bps is None:
        output = Path(player.with_suffix(".nes").name)
    with mistakes_in_one_line(), signals_as_ctrl_c():
        from mario_rl.atomic_file import write_atomically
        from mario_rl.distill.burn import BurnError
        from mario_rl.distill.burn import burn as burn_into
        from mario_rl.distill.patches import PatchError, make_bps, make_ips
        from mario_rl.distill.player_file import distilled_file, load_player_file
        from mario_rl.roms import antidote

        player = distilled_file(player)
        found = load_player_file(player)
        cartridge = antidote() if rom == ANTIDOTE else Path(rom).expanduser()
        _check_outputs([output, ips, bps, source, listing], [player, cartridge])
        before = _read(cartridge)
        try:
            burned = burn_into(found, before)
            title = f"{player.name}, burned into {burned.title} by mario-rl."
            written = [
                (output, burned.rom),
                (ips, b"" if ips is None else make_ips(before, burned.rom)),
                (bps, b"" if bps is None else make_bps(before, burned.rom)),
                (source, burned.made.source(title).encode()),
                (listing, burned.made.listing().encode()),
            ]
        except (BurnError, PatchError) as problem:
            raise Mistake(f"{cartridge}: {problem}") from problem
        print(_report(burned, player))
        for file, content in written:
            if file is not None:
                try:
                    write_atomically(file, content)
                except OSError as problem:
                    raise Mistake(f"{file}: {problem.strerror or problem}") from problem
                print(f"{file}: {len(content):,} bytes")
        print(HOW_TO_PLAY[burned.hook is not None])


def _check_outputs(outputs: list[Path | None], inputs: list[Path]) -> None:
    """A Mistake if a file could not be written, or would be written over another one that is needed."""
    taken = [file.resolve() for file in inputs]
    for file in outputs:
        if file is None:
            continue
        check_directory_of(str(file))
        if file.is_dir():
            raise Mistake(f"{file} is a directory: give the name of a file")
        if file.resolve() in taken:
            whose = "is read" if file.resolve() in taken[: len(inputs)] else "is written already"
            raise Mistake(f"{file} {whose}: give another name")
        taken.append(file.resolve())


def _read(cartridge: Path) -> bytes:
    if not cartridge.is_file():
        raise Mistake(f"{cartridge}: no such ROM file; --rom takes {ANTIDOTE} or a file")
    return cartridge.read_bytes()


def _report(burned: Burned, player: Path) -> str:
    """What is where."""
    lines = [f"{player.name} in {burned.title}: {burned.used:,} bytes, {burned.free:,} are free"]
    lines += [f"  ${part.origin:04X}-${part.end - 1:04X}: {len(part.code):,} bytes" for part in burned.made.parts]
    if burned.hook is not None:
        before, after = burned.hook.before.hex(" ").upper(), burned.hook.after.hex(" ").upper()
        lines.append(f"  ${burned.hook.address:04X}: {after} in place of {before}, the hook")
    return "\n".join(lines)
