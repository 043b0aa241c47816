"""The commands that look at a run: evaluate, watch, record, plot.

What they need (torch, matplotlib, ...) is imported when one of them runs, so that `mario-rl --help` stays quick.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mario_rl import cli_drmario
from mario_rl.cli_drmario import AgentOption, BackendOption, OpponentOption, PlayersOption, RomOption, SpeedOption
from mario_rl.mistake import Mistake, check_file, mistakes_in_one_line, signals_as_ctrl_c

if TYPE_CHECKING:
    from mario_rl.runs.directory import RunDirectory
    from mario_rl.runs.evaluate import Outcome, Protocol
    from mario_rl.runs.trained_model import TrainedModel

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A run: its directory, its name, or a checkpoint file in it.")
]
RunOrBotsArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="A run: its directory, its name, or a checkpoint file in it; or drmario, where bots play."
    ),
]
CheckpointsOption = Annotated[Path, typer.Option(help="Directory that holds the runs, for a RUN given by its name.")]
LevelOption = Annotated[
    str | None,
    typer.Option(help="Play this level (1-1, several as 1-1,1-2, or random) instead of the one trained on."),
]
LevelOfEitherOption = Annotated[
    str | None,
    typer.Option(
        help="Play this level (1-1, several as 1-1,1-2, or random) instead of the one trained on; drmario: 0 to 20."
    ),
]
WeightsOption = Annotated[
    Literal["best", "latest"] | None,
    typer.Option(
        help="Weights to play: best.pt or weights.pt; by default the best if there are any.", show_default=False
    ),
]
StickyOption = Annotated[
    float | None,
    typer.Option(help="Play greedily while actions stick with this chance, instead of the stochastic policy."),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of the episodes: the same seed plays the same ones.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (evaluate, watch, record, plot):
        app.command(command.__name__)(command)


def evaluate(
    run: RunArgument,
    level: LevelOption = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each protocol.")] = 100,
    sticky: Annotated[float, typer.Option(help="Chance that an action sticks in the third protocol.")] = 0.25,
    weights: WeightsOption = None,
    seed: SeedOption = 0,
    json: Annotated[
        str | None, typer.Option("--json", help="Write the figures as one JSON object to this file; - is stdout.")
    ] = None,
    checkpoints: CheckpointsOption = Path("checkpoints"),
) -> None:
    """Measure how often a run's model reaches the flag.

    By its stochastic policy, greedily, and greedily with sticky actions. The figures are also saved in the run, as
    evaluation.json.
    """
    with mistakes_in_one_line():
        from mario_rl.runs import report
        from mario_rl.runs.evaluate import PROTOCOLS

        check_file(json, "--json")
        found, trained = _load(run, checkpoints, weights, level, sticky)
        played_level = level or trained.config.level
        outcomes: dict[Protocol, Outcome] = {}
        for protocol in PROTOCOLS:
            outcomes[protocol] = _evaluate(trained, episodes, protocol, seed, level, sticky)
        figures = report.report(found, trained, played_level, outcomes)
        saved = report.report_file(found, trained, played_level)
        report.write_report(saved, figures)
        if json == "-":
            print(report.as_json(figures), end="")
            return
        if json is not None:
            report.write_report(Path(json), figures)
        print(f"{found.path}: {trained.config.model}, {trained.file.name} after {trained.steps:,} steps")
        print(report.table(figures, sticky))
        print(f"saved as {saved}")


def watch(
    run: RunOrBotsArgument,
    level: LevelOfEitherOption = None,
    episodes: Annotated[
        int | None, typer.Option(min=1, help="Episodes to show; without end if not set.", show_default=False)
    ] = None,
    fps: Annotated[
        float, typer.Option(min=0, max=1000, help="Frames a second; the console has 60, 0 is as fast as it goes.")
    ] = 60,
    sticky: StickyOption = None,
    weights: WeightsOption = None,
    seed: SeedOption = 0,
    display: Annotated[
        Literal["auto", "window", "terminal"], typer.Option(help="Where: auto takes a window if there is a screen.")
    ] = "auto",
    checkpoints: CheckpointsOption = Path("checkpoints"),
    agent: AgentOption = None,
    opponent: OpponentOption = None,
    players: PlayersOption = None,
    speed: SpeedOption = None,
    backend: BackendOption = None,
    rom: RomOption = None,
) -> None:
    """Watch a run's model play.

    Beside the picture: what it thinks of each action, and the buttons it presses.
    """
    with mistakes_in_one_line(), signals_as_ctrl_c():
        from mario_rl.runs.player import Player
        from mario_rl.runs.watch import Pace, open_screen
        from mario_rl.runs.watch import watch as show

        if run == cli_drmario.RUN:
            cli_drmario.not_for_drmario(sticky=sticky, weights=weights)
            contest = cli_drmario.contest(level, agent, opponent, players, speed, backend, rom, checkpoints)
            cli_drmario.watch(contest, episodes, fps, seed, display)
            return
        cli_drmario.only_for_drmario(
            run, agent=agent, opponent=opponent, players=players, speed=speed, backend=backend, rom=rom
        )
        found, trained = _load(run, checkpoints, weights, level, sticky)
        protocol, chance = _protocol(sticky)
        player = Player(trained, protocol, level, chance)
        with contextlib.closing(player), open_screen(display, f"mario-rl: {found.name}") as screen:
            played = show(player, screen, Pace(fps), seed, episodes, f"{found.name} · {trained.config.model}")
        flags = sum(episode.flag for episode in played)
        print(f"flags: {flags}, episodes played to their end: {len(played)}")


def record(
    run: RunOrBotsArgument,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Video file, .mp4 or .gif; may be repeated. By default both, in the run."),
    ] = None,
    level: LevelOfEitherOption = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes to choose the best of.")] = 10,
    sticky: StickyOption = None,
    weights: WeightsOption = None,
    seed: SeedOption = 0,
    checkpoints: CheckpointsOption = Path("checkpoints"),
    agent: AgentOption = None,
    opponent: OpponentOption = None,
    players: PlayersOption = None,
    speed: SpeedOption = None,
    backend: BackendOption = None,
    rom: RomOption = None,
) -> None:
    """Make a video of a run's model.

    The best of several episodes, every frame of it.
    """
    with mistakes_in_one_line(), signals_as_ctrl_c():
        from mario_rl.runs import video
        from mario_rl.runs.player import Player

        if run == cli_drmario.RUN:
            cli_drmario.not_for_drmario(sticky=sticky, weights=weights)
            contest = cli_drmario.contest(level, agent, opponent, players, speed, backend, rom, checkpoints)
            with _progress("choosing the best of") as progress:
                cli_drmario.record(contest, output or cli_drmario.default_files(contest), episodes, seed, progress)
            return
        cli_drmario.only_for_drmario(
            run, agent=agent, opponent=opponent, players=players, speed=speed, backend=backend, rom=rom
        )
        found, trained = _load(run, checkpoints, weights, level, sticky)
        name = (level or trained.config.level).replace(",", "_")
        files = output or [found.videos / f"{name}.mp4", found.videos / f"{name}.gif"]
        if not output:
            found.videos.mkdir(exist_ok=True)
        for file in files:
            video.check_video_file(file)
        protocol, chance = _protocol(sticky)
        with contextlib.closing(Player(trained, protocol, level, chance)) as player:
            with _progress("choosing the best of") as progress:
                take = video.best_take(player, episodes, seed, progress)
            video.record(player, take, files)
        end = "at the flag" if take.episode.flag else f"not at the flag, x {take.episode.x}"
        print(f"level {take.episode.level}: {end}, after {take.episode.steps} steps (seed {take.seed})")
        for file in files:
            print(f"{file} ({file.stat().st_size / 1e6:.1f} MB)")


def plot(
    run: RunArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="PNG file for the curves (or the dreams) alone; by default all of it, in the run's plots/.",
        ),
    ] = None,
    dreams: Annotated[
        bool,
        typer.Option("--dreams", help="Draw what a dreamer recalls and imagines beside what happened, nothing else."),
    ] = False,
    level: Annotated[str | None, typer.Option(help="Dream of this level instead of the one trained on.")] = None,
    weights: WeightsOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the episode that is dreamt of.")] = 0,
    checkpoints: CheckpointsOption = Path("checkpoints"),
) -> None:
    """Draw a run's curves, and where Mario died.

    Reward, x, flag rate, loss and more; deaths in each level, early and late.
    """
    with mistakes_in_one_line():
        from mario_rl.runs.directory import RunDirectory, RunError
        from mario_rl.runs.hotspot_picture import plot_deaths
        from mario_rl.runs.plots import plot_run

        if output is not None and output.suffix.lower() != ".png":
            raise RunError(f"the picture is a PNG: its name ends in .png, unlike {output.name!r}")
        check_file(output, "--output")
        if dreams:
            from mario_rl.runs.dream_picture import plot_dreams

            found, trained = _load(run, checkpoints, weights, level, None)
            print(plot_dreams(found, trained, output, level, seed))
            return
        if level is not None or weights is not None:
            raise RunError("--level and --weights are for --dreams: the other pictures are of the whole run")
        found = RunDirectory.open(run, checkpoints)
        _check_game(found)
        print(plot_run(found, output))
        if output is None:
            for file, missing in plot_deaths(found):
                print(file if missing is None else f"{file}, without the picture of the level: {missing}", flush=True)


# --- what they share ----------------------------------------------------------------------------------------------


def _load(
    run: str, checkpoints: Path, weights: Literal["best", "latest"] | None, level: str | None, sticky: float | None
) -> tuple[RunDirectory, TrainedModel]:
    """The run and its model, once it is clear that it can be played like that."""
    import torch

    from mario_rl.environment.smb.settings import SmbSettings
    from mario_rl.runs.directory import RunDirectory, RunError
    from mario_rl.runs.evaluate import evaluation_settings
    from mario_rl.runs.trained_model import load_trained_model

    torch.set_num_threads(1)  # the models are small: more threads only wait for each other
    found = RunDirectory.open(run, checkpoints)
    _check_game(found)
    try:
        protocol, chance = _protocol(sticky)
        SmbSettings(**evaluation_settings(found.config(), protocol, level, chance))
    except ValueError as problem:
        raise RunError(str(problem)) from problem
    trained = load_trained_model(found, weights)
    for warning in trained.warnings:
        print(f"mario-rl: {warning}", file=sys.stderr)
    return found, trained


def _evaluate(
    trained: TrainedModel, episodes: int, protocol: Protocol, seed: int, level: str | None, sticky: float
) -> Outcome:
    from mario_rl.runs.evaluate import evaluate as play

    threads = min(os.cpu_count() or 1, 4)
    with _progress(f"{protocol}:") as progress:
        return play(
            trained.model, trained.config, episodes, protocol, seed, level, sticky, threads=threads, progress=progress
        )


def _protocol(sticky: float | None) -> tuple[Protocol, float]:
    return ("stochastic", 0.0) if sticky is None else ("sticky", sticky)


def _check_game(run: RunDirectory) -> None:
    """Refuse a run of self-play with a word about who knows it."""
    from mario_rl.selfplay.player_file import PLAYER_FILE

    if (run.path / PLAYER_FILE).exists():
        raise Mistake(
            f"{run.path} is a run of self-play: `mario-rl selfplay evaluate {run.path}` and "
            f"`mario-rl watch drmario --agent {run.path}` know it"
        )


@contextlib.contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A line on stderr that counts, if somebody is there to read it; it goes when the work is done."""
    visible = sys.stderr.isatty()

    def show(done: int, all_of_them: int) -> None:
        if visible:
            print(f"\r\x1b[K{what} {done} of {all_of_them} episodes", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if visible:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
