"""What `mario-rl watch` and `mario-rl record` do when the RUN is the word drmario.

Any Dr. Mario player can be shown: a bot, a packaged player, one that self-play has trained here, one inside a
cartridge; alone or against another.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mario_rl.mistake import Mistake

if TYPE_CHECKING:
    from mario_rl.runs.bot_round import Contest
    from mario_rl.runs.watch import Display

RUN = "drmario"
HIGHEST_LEVEL = 20

DEFAULT_AGENT = "champion"
AgentOption = Annotated[
    str | None,
    typer.Option(
        help="drmario: Who plays: random, greedy, search, a packaged player, a self-play run or a player file; "
        "cart:FILE.nes (the player inside a cartridge) alone.",
        show_default=DEFAULT_AGENT,
    ),
]
OpponentOption = Annotated[
    str | None,
    typer.Option(
        help="drmario: Who plays in the second seat; two bottles. Also cart:FILE.nes, the player inside a cartridge.",
        show_default=False,
    ),
]
PlayersOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=2, help="drmario: Players; with 2 the agent plays itself, or --opponent.", show_default=False
    ),
]
SpeedOption = Annotated[
    Literal["low", "med", "hi"] | None, typer.Option(help="drmario: Speed of the capsules.", show_default="med")
]
BackendOption = Annotated[
    str | None,
    typer.Option(
        help="drmario: What it runs on: rules (our engine), embedded (our console), mednafen, or the http:// address "
        "of a server.",
        show_default="rules; embedded if a cartridge plays",
    ),
]
RomOption = Annotated[
    Path | None,
    typer.Option("--rom", help="drmario: ROM file for --backend embedded or mednafen.", show_default="Antidote"),
]


def contest(
    level: str | None,
    agent: str | None,
    opponent: str | None,
    players: int | None,
    speed: str | None,
    backend: str | None,
    rom: Path | None,
    checkpoints: Path | None = None,
) -> Contest:
    """What the options ask for; a Mistake if they contradict each other."""
    from mario_rl.runs.bot_round import Contest
    from mario_rl.selfplay.cartridge_player import default_backend
    from mario_rl.selfplay.players import CHECKPOINTS

    number = 10 if level is None else int(level) if level.isdecimal() else -1
    if not 0 <= number <= HIGHEST_LEVEL:
        raise Mistake(f"drmario's --level is a number from 0 to {HIGHEST_LEVEL}, not {level!r}")
    if players == 1 and opponent is not None:
        raise Mistake("--opponent needs two players: leave --players 1 out")
    plays = agent or DEFAULT_AGENT
    against = plays if opponent is None and players == 2 else opponent
    runs_on = backend or default_backend((plays, against))
    if rom is not None and runs_on == "rules":
        raise Mistake("--rom needs a console: add --backend embedded or mednafen")
    return Contest(plays, against, number, speed or "med", runs_on, rom, checkpoints or CHECKPOINTS)


def watch(contest: Contest, episodes: int | None, fps: float, seed: int, display: Display) -> None:
    """Show rounds until all are played or somebody has seen enough."""
    from mario_rl.runs.bot_panel import lines
    from mario_rl.runs.bot_round import BotRounds
    from mario_rl.runs.watch import Pace, open_screen, show_at_pace

    played = won = 0
    with contextlib.closing(BotRounds(contest)) as rounds, open_screen(display, "mario-rl: drmario") as screen:
        pace = Pace(fps)
        for number in count() if episodes is None else range(episodes):
            for moment in rounds.play(seed + number):
                assert moment.picture is not None
                if not show_at_pace([moment.picture], lines(contest, moment, number + 1, won), screen, pace):
                    break
            if not moment.ended:
                break
            played += 1
            won += moment.won
    print(f"{'cleared' if contest.opponent is None else 'won'}: {won}, rounds played to their end: {played}")


def record(contest: Contest, files: list[Path], episodes: int, seed: int, progress: Callable[[int, int], None]) -> None:
    """Make a video of the best of several rounds."""
    from mario_rl.emulators.base import SCREEN_WIDTH
    from mario_rl.runs import video
    from mario_rl.runs.bot_panel import WIDTH, ending, lines, with_panel
    from mario_rl.runs.bot_round import BotRounds
    from mario_rl.runs.video_file import video_file

    for file in files:
        video.check_video_file(file)
    with contextlib.closing(BotRounds(contest)) as rounds, contextlib.ExitStack() as stack:
        best = _best_seed(contest, episodes, seed, progress)
        writers = [stack.enter_context(video_file(file, SCREEN_WIDTH + WIDTH)) for file in files]
        for moment in rounds.play(best):
            assert moment.picture is not None
            picture = with_panel(moment.picture, lines(contest, moment, 1, 0))
            for writer in writers:
                writer.add(picture)
    print(f"level {contest.level}: {ending(moment) or 'not over'}, {moment.frame} frames (seed {best})")
    for file in files:
        print(f"{file} ({file.stat().st_size / 1e6:.1f} MB)")


def default_files(contest: Contest) -> list[Path]:
    """Where a video goes that nobody has named."""
    from mario_rl.selfplay.cartridge_player import file_of

    players = "_".join(file_of(name).stem for name in contest.names)
    return [Path(f"drmario_{players}_level{contest.level}.mp4")]


def _best_seed(contest: Contest, episodes: int, seed: int, progress: Callable[[int, int], None]) -> int:
    from mario_rl.runs.bot_round import BotRounds

    if episodes == 1:
        return seed
    merits = {}
    with contextlib.closing(BotRounds(contest, drawn=False)) as rounds:
        for number in range(episodes):
            *_, last = rounds.play(seed + number)
            merits[seed + number] = last.merit
            progress(number + 1, episodes)
    return max(merits, key=lambda one: merits[one])


def only_for_drmario(run: str, **options: object) -> None:
    """Complain about options that mean nothing to a trained model."""
    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given:
        raise Mistake(f"{', '.join(given)}: only for `drmario`, not for the run {run!r}")


def not_for_drmario(**options: object) -> None:
    """Complain about options that mean nothing to a player of Dr. Mario."""
    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given:
        raise Mistake(f"{', '.join(given)}: not for `drmario`, which has players of its own")
