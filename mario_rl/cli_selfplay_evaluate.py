"""The commands that say who plays better: `mario-rl selfplay evaluate` and `mario-rl selfplay ladder`."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mario_rl.mistake import INTERRUPTED, Mistake, mistakes_in_one_line, signals_as_ctrl_c

if TYPE_CHECKING:
    from mario_rl.cluster.connection import Connection
    from mario_rl.selfplay.ladder import Ladder, Pair
    from mario_rl.selfplay.match import Progress

LevelOption = Annotated[int, typer.Option(min=0, max=20, help="Virus level of both bottles.")]
SpeedOption = Annotated[Literal["low", "med", "hi"], typer.Option(help="The speed.")]
BACKEND_HELP = "Where: rules (our engine), embedded (our console), mednafen, or the http:// address of a server."
BackendOption = Annotated[str, typer.Option(help=BACKEND_HELP)]
RomOption = Annotated[
    Path | None,
    typer.Option("--rom", help="ROM file for --backend embedded or mednafen.", show_default="Antidote"),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of the first board; the others follow it.")]
CheckpointsOption = Annotated[Path, typer.Option(help="Directory that holds the runs, for players given by a name.")]
ClusterOption = Annotated[
    str,
    typer.Option(help="Where the games are played: off (this process), local (Ray, here), auto, or ray://host:port."),
]
JsonOption = Annotated[
    str | None, typer.Option("--json", help="Write the figures as one JSON object to this file; - is stdout.")
]

GAMES_OF_A_PAIR = 100
GAMES_OF_A_PAIR_QUICKLY = 20
SECONDS_BETWEEN_LINES = 30.0  # of progress, if nobody sits at the terminal


def register(app: typer.Typer) -> None:
    """Add the commands to `mario-rl selfplay`."""
    app.command("evaluate")(evaluate)
    app.command("ladder")(ladder)


def evaluate(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="Who plays: random, greedy, search, a packaged player (champion), a run, a player file, or "
            "cart:FILE.nes (inside a cartridge, always in seat 2).",
        ),
    ],
    b: Annotated[str | None, typer.Argument(metavar="B", help="Who plays against A; nobody: A plays alone.")] = None,
    games: Annotated[
        int, typer.Option(min=1, help="Games to play; with two players that change seats an even number.")
    ] = 400,
    level: LevelOption = 10,
    speed: SpeedOption = "med",
    backend: Annotated[
        str | None, typer.Option(help=BACKEND_HELP, show_default="rules; embedded if a cartridge plays")
    ] = None,
    seed: SeedOption = 0,
    twice: Annotated[
        bool, typer.Option("--twice", help="Play every board twice, the seats swapped, not a new one in every game.")
    ] = False,
    rom: RomOption = None,
    checkpoints: CheckpointsOption = Path("checkpoints"),
    cluster: ClusterOption = "off",
    json: JsonOption = None,
) -> None:
    """Measure how often A beats B.

    Or how often A alone clears its bottle; with a 95 % interval. The players change seats after every game, but for
    cartridges; both always have the same viruses and capsules.
    """
    check_directory_of(json)
    check_cluster(cluster)
    if b is None and twice:
        raise Mistake("--twice swaps seats: it needs two players")
    with mistakes_in_one_line(), signals_as_ctrl_c():
        from mario_rl.atomic_file import write_atomically
        from mario_rl.selfplay import evaluation
        from mario_rl.selfplay.cartridge_player import default_backend, is_cartridge
        from mario_rl.selfplay.match import Conditions, play_match
        from mario_rl.selfplay.players import make_player

        change_seats = b is not None and not (is_cartridge(a) or is_cartridge(b))
        if change_seats and games % 2:
            raise Mistake(
                f"--games {games} is odd: with two players it is even, so that both sit in each seat as often"
            )
        conditions = Conditions(level, speed, backend or default_backend((a, b)), rom, seed, twice)
        first = make_player(a, seed, checkpoints)
        second = None if b is None else make_player(b, seed + 1, checkpoints)
        with on_cluster(cluster) as connection, progress_line("games") as progress:
            if connection is None:
                records = play_match(first, second, games, conditions, progress)
            else:
                from mario_rl.cluster.matches import play_on, shares_of

                shares = shares_of([name for name in (a, b) if name is not None], games, conditions, checkpoints)
                records = play_on(connection, shares, progress)
        found = evaluation.figures(a, b, records, conditions, checkpoints, cluster)
        if json == "-":
            print(evaluation.as_json(found), end="")
            return
        if json is not None:
            write_atomically(Path(json), evaluation.as_json(found).encode())
        print(evaluation.table(found))


def ladder(
    players: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLAYERS",
            help="Who is on it; by default the bots and every packaged player.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", help="Add the latest player of this self-play run, and its pool.")
    ] = None,
    games: Annotated[
        int | None, typer.Option(min=2, help="Games of each pair, an even number.", show_default=str(GAMES_OF_A_PAIR))
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help=f"Only {GAMES_OF_A_PAIR_QUICKLY} games of each pair.")] = False,
    swiss: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="ROUNDS", help="A Swiss system of so many rounds, not everybody against everybody."
        ),
    ] = None,
    level: LevelOption = 10,
    speed: SpeedOption = "med",
    backend: BackendOption = "rules",
    seed: SeedOption = 0,
    rom: RomOption = None,
    checkpoints: CheckpointsOption = Path("checkpoints"),
    cluster: ClusterOption = "off",
    json: Annotated[
        str | None,
        typer.Option(
            "--json",
            help="Keep the ladder in this file, and go on from it if it is there; - is stdout.",
            show_default="a name that says what is played",
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", help="PNG file for the drawing.", show_default="beside the JSON file"),
    ] = None,
) -> None:
    """Rate players on one ladder.

    They play each other in pairs, and all results together give ratings with 95 % intervals.
    """
    count = games or (GAMES_OF_A_PAIR_QUICKLY if quick else GAMES_OF_A_PAIR)
    if count % 2:
        raise Mistake(f"--games {count} is odd: it is even, so that both of a pair sit in each seat as often")
    if quick and games is not None:
        raise Mistake("--quick says how many games are played: leave --games out")
    file = None if json == "-" else Path(json or f"ladder_level{level}_{speed}_{count}games.json")
    drawing = picture if file is None else picture or file.with_suffix(".png")
    if drawing is not None and drawing.suffix.lower() != ".png":
        raise Mistake(f"the picture is a PNG: its name ends in .png, unlike {drawing.name!r}")
    check_directory_of(None if file is None else str(file))
    check_directory_of(None if drawing is None else str(drawing))
    check_cluster(cluster)
    with mistakes_in_one_line(), signals_as_ctrl_c():
        from mario_rl.selfplay.ladder import Ladder, as_json
        from mario_rl.selfplay.ladder_entries import enter
        from mario_rl.selfplay.ladder_picture import draw_ladder
        from mario_rl.selfplay.ladder_table import table
        from mario_rl.selfplay.match import Conditions

        conditions = Conditions(level, speed, backend, rom, seed)
        climbed = Ladder(enter(players or [], run, checkpoints), conditions, count, checkpoints)
        if file is not None and file.exists():
            known = climbed.take_over(file)
            print(f"{file}: pairs played already: {known}", file=sys.stderr)
        with on_cluster(cluster) as connection:
            complete = _climb(climbed, swiss, file, connection)
        if climbed.results and drawing is not None:
            draw_ladder(climbed, drawing)
        print(as_json(climbed.as_dict()) if file is None else table(climbed), end="")
        for written in (file, drawing):
            if written is not None and written.exists():
                print(written, file=sys.stderr if file is None else sys.stdout)
    if not complete:
        goes_on = "" if file is None else "; the same command goes on from there"
        print(f"mario-rl: interrupted, pairs played: {len(climbed.results)}{goes_on}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


def _climb(ladder: Ladder, rounds: int | None, file: Path | None, connection: Connection | None) -> bool:
    """Play what is missing, and save after every pair; False if somebody broke it off."""
    from mario_rl.selfplay.ladder import round_robin, swiss

    try:
        for drawn in [list(round_robin(ladder))] if rounds is None else swiss(ladder, rounds):
            missing = [pair for pair in drawn if pair not in ladder.results]
            for _ in _meet(ladder, missing, connection):
                if file is not None:
                    ladder.save(file)
    except KeyboardInterrupt:
        return False
    if file is not None:
        ladder.save(file)
    return True


def _meet(ladder: Ladder, pairs: list[Pair], connection: Connection | None) -> Iterator[Pair]:
    """Let these meet: one pair after the other, or as many at once as a cluster has room for."""
    if connection is None:
        for pair in pairs:
            with progress_line(f"pair {len(ladder.results) + 1}, {' against '.join(pair)}, games") as progress:
                ladder.play(pair, progress)
            yield pair
    elif pairs:
        from mario_rl.cluster.matches import meet_on

        with progress_line("pairs") as progress:
            for number, pair in enumerate(meet_on(connection, ladder, pairs), 1):
                progress(number, len(pairs))
                yield pair


# --- what the commands share --------------------------------------------------------------------------------------


def check_directory_of(file: str | None) -> None:
    """A Mistake if a file could not be written, before the work begins and not after it."""
    if file in (None, "-"):
        return
    directory = Path(file).resolve().parent
    if not directory.is_dir():
        raise Mistake(f"{directory}: no such directory for {Path(file).name}")


def check_cluster(cluster: str) -> None:
    """A Mistake if this names no place to play."""
    from mario_rl.config import CLUSTERS, is_cluster

    if not is_cluster(cluster):
        raise Mistake(f"--cluster is {CLUSTERS}, not {cluster!r}")


@contextlib.contextmanager
def on_cluster(cluster: str) -> Iterator[Connection | None]:
    """A place in a cluster; None if the games are played here."""
    if cluster == "off":
        yield None
        return
    from mario_rl.cluster.connection import connected

    with connected(cluster) as connection:
        yield connection


@contextlib.contextmanager
def progress_line(what: str) -> Iterator[Progress]:
    """Counts on stderr: a line that changes in a terminal, one now and then elsewhere."""
    visible = sys.stderr.isatty()
    told = time.monotonic()

    def show(done: int, all_of_them: int) -> None:
        nonlocal told
        if visible:
            print(f"\r\x1b[K{what}: {done} of {all_of_them}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - told > SECONDS_BETWEEN_LINES:
            told = time.monotonic()
            print(f"{what}: {done} of {all_of_them}", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if visible:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
