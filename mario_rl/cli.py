"""The `mario-rl` command.

A mistake of the user ends in one line on stderr and exit code 2; a traceback is always a bug of ours.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from mario_rl import (
    __version__,
    cli_burn,
    cli_distill,
    cli_explore,
    cli_export,
    cli_play,
    cli_runs,
    cli_selfplay,
    cli_serve,
    cli_train,
    doctor,
)
from mario_rl.emulators import rom as roms
from mario_rl.mistake import Mistake, check_file

app = typer.Typer(
    help="Teach agents to play NES games.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
rom_app = typer.Typer(help="Import ROM files of your own, and list what is there.", rich_markup_mode=None)
bench_app = typer.Typer(help="Measure our speed beside that of others.", rich_markup_mode=None)
cli_train.register(app)
cli_explore.register(app)
cli_runs.register(app)
cli_export.register(app)
cli_play.register(app)
cli_serve.register(app)
cli_selfplay.register(app)
cli_distill.register(app)
cli_burn.register(app)
app.add_typer(rom_app, name="rom")
app.add_typer(bench_app, name="bench")

RomOption = Annotated[Path | None, typer.Option("--rom", help="ROM file to use instead of the one that is found.")]
QuickOption = Annotated[bool, typer.Option("--quick", help="Fewer and shorter rounds: under 60 s, less exact.")]
JsonOption = Annotated[
    str | None, typer.Option("--json", help="Write the figures as one JSON object to this file; - is stdout.")
]


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line (`sys.argv` by default) and exit with its status."""
    try:
        status = app(args=arguments, prog_name="mario-rl", standalone_mode=False)
    except typer.TyperException as mistake:
        context = getattr(mistake, "ctx", None)
        command = "mario-rl" if context is None else context.command_path
        advice = "" if isinstance(mistake, Mistake) else f" Try `{command} --help`."
        one_line = " ".join(mistake.format_message().split()).replace(": Value error, ", ": ")  # a library's own words
        print(f"mario-rl: {one_line}{advice}", file=sys.stderr)
        sys.exit(2)
    sys.exit(status or 0)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"mario-rl {__version__}")
        raise typer.Exit


@app.callback()
def _options_of_every_command(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command("doctor")
def examine(
    rom: RomOption = None,
    clean: Annotated[bool, typer.Option("--clean", help="Remove what killed runs left behind, and only that.")] = False,
) -> None:
    """Check this machine: versions, core, ROMs, Mednafen, speed.

    Exit code 1 if the core or a ROM is missing.
    """
    if clean and rom is not None:
        raise Mistake("--clean looks at no ROM: leave --rom out")
    healthy = True
    for finding in doctor.clean() if clean else doctor.findings(rom):
        print(finding.line(), flush=True)
        healthy = healthy and (finding.ok or not finding.required)
    raise typer.Exit(0 if healthy else 1)


@rom_app.command("import")
def import_rom(
    file: Annotated[Path, typer.Argument(help="An iNES file (.nes).")],
    game: Annotated[
        str | None, typer.Option(help=f"Which game an unknown dump is: {', '.join(roms.GAMES)}.", show_default=False)
    ] = None,
) -> None:
    """Check a ROM file and keep it where every command finds it.

    That is the user data directory.
    """
    if not doctor.core_is_built():
        raise Mistake(f"the native core is not built: {doctor.HOW_TO_BUILD}")
    try:
        imported = roms.import_rom(file, game)
    except (OSError, ValueError) as problem:  # RomError is a ValueError
        raise Mistake(f"cannot import {file}: {problem}") from problem
    print(f"imported {imported.title} [{imported.game}] as {imported.path}")
    if imported.game == roms.UNKNOWN_GAME:
        print(
            f"its hash is not known; if it is one of {', '.join(roms.GAMES)}, import it again with --game",
            file=sys.stderr,
        )


@rom_app.command("list")
def list_roms() -> None:
    """List the ROMs of this machine in lookup order.

    The first of each game is the one that is used.
    """
    try:
        found = [rom for game in roms.GAMES for rom in roms.located_roms(game)] + roms.imported_roms(roms.UNKNOWN_GAME)
    except OSError as problem:
        raise Mistake(str(problem)) from problem
    for rom in found:
        print(f"{rom.game}\t{rom.sha256[:12]}\t{rom.source}\t{rom.title}\t{rom.path}")
    if not found:
        print("no ROMs found; `mario-rl rom import FILE` adds one", file=sys.stderr)


@bench_app.command("emulators")
def bench_emulators(
    quick: QuickOption = False,
    json: JsonOption = None,
    rom: RomOption = None,
    reference: Annotated[
        Literal["mednafen"] | None,
        typer.Option(help="Compare our core with this one instead, frame by frame, and say how fast it is held."),
    ] = None,
) -> None:
    """Measure frames a second of one console on one core.

    Ours, cynes, stable-retro and nes-py take turns.
    """
    _run_benchmark("emulators" if reference is None else "reference", quick, json, rom)


@bench_app.command("environment")
def bench_environment(quick: QuickOption = False, json: JsonOption = None, rom: RomOption = None) -> None:
    """Measure steps a second of vectorised environments.

    Super Mario Bros., ours and stable-retro's.
    """
    _run_benchmark("environment", quick, json, rom)


@bench_app.command("gradients")
def bench_gradients(quick: QuickOption = False, json: JsonOption = None, rom: RomOption = None) -> None:
    """Measure what moving gradients costs.

    Beside gloo and a pipe; its share of training; and two workers against one.
    """
    _run_benchmark("gradients", quick, json, rom)


@bench_app.command("cluster")
def bench_cluster(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer runs, fewer and shorter rounds: under two minutes, less exact.")
    ] = False,
    json: JsonOption = None,
    rom: RomOption = None,
) -> None:
    """Measure training on a Ray cluster.

    Beside processes with shared memory; the gradients that a coordinator takes; what a network has to carry.
    """
    _run_benchmark("cluster", quick, json, rom)


@bench_app.command("server")
def bench_server(quick: QuickOption = False, json: JsonOption = None, rom: RomOption = None) -> None:
    """Measure the HTTP server on Mednafen.

    Steps a second, the time to recover from a crash, 200 clients at once.
    """
    _run_benchmark("server", quick, json, rom)


@bench_app.command("drmario")
def bench_drmario(
    quick: QuickOption = False,
    json: JsonOption = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Measure nothing: look for better weights of the bots by CMA-ES.")
    ] = False,
    minutes: Annotated[float, typer.Option(min=0.01, help="Minutes for --tune.")] = 30,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where --tune writes.", show_default="the weights the bots use"),
    ] = None,
) -> None:
    """Measure the rules engine and its bots.

    Dr. Mario: the engine's speed, its lock-step with the cartridge, and how many rounds the bots clear.
    """
    if output is not None and not tune:
        raise Mistake("--output is for --tune; the figures go to --json")
    if tune and (quick or json is not None):
        raise Mistake("--tune measures nothing: leave --quick and --json out")
    check_file(output, "--output")
    if tune:
        where = [] if output is None else ["--output", str(output.resolve())]
        _run_in_the_source_tree("drmario_tuning", ["--minutes", str(minutes), *where])
    _run_in_the_source_tree("drmario", _options(quick, json))


def _run_benchmark(name: str, quick: bool, json: str | None, rom: Path | None) -> None:
    try:
        rom_file = roms.find_rom("smb", rom).resolve()
        if doctor.core_is_built():
            from mario_rl.emulators.embedded import load_rom

            load_rom(rom_file)
    except (OSError, ValueError) as problem:  # RomError is a ValueError
        raise Mistake(str(problem)) from problem
    _run_in_the_source_tree(name, ["--rom", str(rom_file), *_options(quick, json)])


def _options(quick: bool, json: str | None) -> list[str]:
    options = ["--quick"] if quick else []
    if json is None:
        return options
    check_file(json, "--json")
    return [*options, "--json", json if json == "-" else str(Path(json).resolve())]


def _run_in_the_source_tree(name: str, options: list[str]) -> NoReturn:
    # Benchmarks belong to the source tree, not to the installed package: they run from there, in their own process.
    source_tree = Path(__file__).resolve().parents[1]
    if not (source_tree / "benchmarks" / f"{name}.py").is_file():
        raise Mistake("the benchmarks are in the source tree: clone the repository and run `pip install -e .` in it")
    if not doctor.core_is_built():
        raise Mistake(f"the native core is not built: {doctor.HOW_TO_BUILD}")
    command = [sys.executable, "-m", f"benchmarks.{name}", *options]
    # Ctrl-C reaches the benchmark, too, which has processes and memory to give back: it is waited for, not killed.
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        raise typer.Exit(subprocess.run(command, cwd=source_tree, check=False).returncode)
    finally:
        signal.signal(signal.SIGINT, before)
