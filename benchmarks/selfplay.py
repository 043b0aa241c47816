"""How good a finished run of self-play is, how fast it learned, and where it stands among all who play Dr. Mario.

`python -m benchmarks.selfplay --run RUN --json benchmarks/results/selfplay.json` plays on the rules engine, with the
game's own random numbers and gravity: alone, against the bots, and against every past self in the run's pool; then the
same boards once more on the cartridge, on our console and in Mednafen. `--frames` adds the player that presses buttons,
`--beside` others to compare it with; `--package` makes the run's player and that one those that come with the package.
"""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.measurement import machine, say
from benchmarks.selfplay_buttons import buttons_figures, load_beside
from benchmarks.selfplay_card import CHAMPIONS, package
from benchmarks.selfplay_report import tables
from benchmarks.selfplay_speed import speeds
from benchmarks.training import check_json_directory, exit_with_status, write_report
from benchmarks.worker import SOURCE_TREE
from mario_rl.emulators.mednafen import MednafenError
from mario_rl.emulators.mednafen_build import installed_build
from mario_rl.environment.drmario.bots import Bot
from mario_rl.environment.drmario.memory import Mask
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.runs.directory import RunError
from mario_rl.selfplay import evaluation
from mario_rl.selfplay.config import COMMAND, PRESETS, SelfPlayConfig, build
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.ladder import Ladder, round_robin
from mario_rl.selfplay.ladder_entries import Entry, identity
from mario_rl.selfplay.ladder_picture import draw_ladder
from mario_rl.selfplay.match import Conditions, GameRecord, play_match
from mario_rl.selfplay.player_file import load_player
from mario_rl.selfplay.players import CHECKPOINTS, make_player
from mario_rl.selfplay.run_directory import SelfPlayDirectory
from mario_rl.settings import flag

PACKAGED = "champion"  # what the packaged player is called
PICTURE = SOURCE_TREE / "docs" / "pictures" / "ladder.png"
BOTS = ("random", "greedy", "search")
RIVAL = "search"  # whom it meets on the consoles, too
FIRST_BOARD = 0
MEMBERS_ON_THE_LADDER = 4
FRAME_MS = 1000 / evaluation.FRAMES_PER_SECOND
TIMED_GAMES = 4  # the first one is the warm-up


@dataclass(frozen=True)
class Program:
    """What is played, and how often."""

    games: int = 400
    """Of every pair, and of the player alone."""
    console_games: int = 50
    ladder_games: int = 100
    buttons_games: int = 100
    solo: tuple[tuple[int, str], ...] = ((10, "med"), (15, "med"), (20, "med"), (20, "hi"))
    """Levels and speeds of the games for one."""
    level: int = 10
    """Of the games for two, and of those on consoles; at medium speed."""
    backends: tuple[str, ...] = ("embedded", "mednafen")
    buttons_levels: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 10)
    speed_rounds: int = 5
    two_processes: bool = True


FULL = Program()
QUICK = Program(games=20, console_games=4, ladder_games=10, buttons_games=10, speed_rounds=1, two_processes=False)


def main() -> int:
    """Measure, print, write, package; return the exit code: 1 if a console played other games than the engine."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selfplay", description=__doc__)
    parser.add_argument("--run", required=True, help="a finished run of self-play: its directory, or its name")
    parser.add_argument("--frames", type=Path, metavar="PLAYER.pt", help="a player that presses buttons")
    parser.add_argument(
        "--beside", action="append", default=[], metavar="NAME=PLAYER.pt", help="another one, to compare it with"
    )
    parser.add_argument("--quick", action="store_true", help="fewer games, less exact")
    parser.add_argument("--json", metavar="FILE", help="where the figures go; - is stdout")
    parser.add_argument("--picture", type=Path, default=PICTURE, metavar="FILE", help="where the ladder is drawn")
    parser.add_argument("--package", action="store_true", help="make them the players that come with the package")
    options = parser.parse_args()
    check_json_directory(parser, options.json)
    program = QUICK if options.quick else FULL
    try:
        installed_build()
    except MednafenError as problem:
        say(str(problem))
        return 2

    run = SelfPlayDirectory.open(options.run)
    report: dict[str, Any] = {"benchmark": "selfplay", "quick": options.quick, "machine": machine()}
    report |= measure(run, options.frames, options.beside, program, options.picture, packaged=options.package)
    if options.package:
        package(run, options.frames, report, CHAMPIONS)
        say(f"packaged in {CHAMPIONS.relative_to(SOURCE_TREE)}")
    write_report(report, tables(report), options.json)
    different = [console for console in report["consoles"] if console["identical"] < console["games"]]
    return 1 if different else 0


def measure(
    run: SelfPlayDirectory,
    buttons: Path | None,
    beside: list[str],
    program: Program,
    picture: Path,
    packaged: bool = False,
) -> dict[str, Any]:
    """Everything, for the JSON object; a RunError if the run or the player cannot be used.

    Commands name the player as anybody can play it: "champion" if it is packaged afterwards, else by its run.
    """
    if run.status().state == "RUNNING":
        raise RunError(f"{run.path} is still running: measure it when it has ended")
    presser = None if buttons is None else FramesPlayer.load(buttons)
    others = load_beside(beside)
    name = PACKAGED if packaged else str(CHECKPOINTS / run.name)
    trial = Trial(run, program, name)
    return {
        "program": dataclasses.asdict(program) | {"first_board": FIRST_BOARD},
        "training": training(run),
        "solo": [trial.play(None, level, speed) for level, speed in program.solo],
        "versus": [trial.play(bot, program.level) for bot in BOTS],
        "pool": [trial.play(str(file), program.level) for file in run.pool_members()],
        "candidate": None if (file := run.candidate()) is None else trial.play(str(file), program.level),
        "consoles": [trial.replay(rival, backend) for backend in program.backends for rival in (None, RIVAL)],
        "decision": decision_times(run, program.level),
        "speed": speeds(run, program.speed_rounds, program.two_processes),
        "ladder": ladder(run, buttons, program, picture, name),
        "buttons": None
        if presser is None
        else buttons_figures(presser, others, program.buttons_levels, program.buttons_games, FIRST_BOARD),
    }


# --- how it was trained -------------------------------------------------------------------------------------------


def training(run: SelfPlayDirectory) -> dict[str, Any]:
    """What the run says of itself."""
    status, config = run.status(), run.config()
    return {
        "command": training_command(config),
        "ended": status.why,
        "minutes": round(status.minutes_trained, 1),
        "decisions": status.steps,
        "seed": config.seed,
        "pool_members": len(run.pool_members()),
        "player_bytes": run.player_pt.stat().st_size,
        "settings": {
            name: value for name, value in dataclasses.asdict(config).items() if name not in ("name", "checkpoints")
        },
    }


def training_command(config: SelfPlayConfig) -> str:
    """The shortest command line that trains with these settings, wherever the run is kept."""
    wanted = {name: value for name, value in dataclasses.asdict(config).items() if name not in ("name", "checkpoints")}
    commands = []
    for preset in (None, *PRESETS):
        start = dataclasses.asdict(build({}, preset))
        changed = {name: value for name, value in wanted.items() if value != start[name]}
        if None not in changed.values():  # no option takes back what a preset has set
            words = [word for name, value in changed.items() for word in (flag(name), str(value))]
            commands.append([*([] if preset is None else ["--preset", preset]), *words])
    return shlex.join([*COMMAND.split(), *min(commands, key=len)])


# --- how well it plays --------------------------------------------------------------------------------------------


class Trial:
    """A run's player, put to the test."""

    def __init__(self, run: SelfPlayDirectory, program: Program, name: str):
        self._run = run
        self._program = program
        self._name = name
        self._records: dict[tuple[str | None, int, str], list[GameRecord]] = {}

    def play(self, opponent: str | None, level: int, speed: str = "med") -> dict[str, Any]:
        """Games on the rules engine: alone, or against a bot or a player file."""
        conditions = Conditions(level, speed, first_seed=FIRST_BOARD)
        records = self._match(opponent, self._program.games, conditions)
        self._records[opponent, level, speed] = records
        return self._figures(opponent, records, conditions)

    def replay(self, opponent: str | None, backend: str) -> dict[str, Any]:
        """The first boards once more, on a console, beside what came of the same boards on the rules engine."""
        program = self._program
        known = self._records.get((opponent, program.level, "med"))
        if known is None:
            self.play(opponent, program.level)
            known = self._records[opponent, program.level, "med"]
        conditions = Conditions(program.level, backend=backend, first_seed=FIRST_BOARD)
        records = self._match(opponent, min(program.console_games, len(known)), conditions)
        same_boards = known[: len(records)]
        found = self._figures(opponent, records, conditions)
        engine = evaluation.figures("", opponent, same_boards, conditions)
        of_all_boards = evaluation.figures("", opponent, known, conditions)
        identical = sum(outcome(one) == outcome(other) for one, other in zip(records, same_boards, strict=True))
        say(f"  {identical} of {len(records)} boards as on the rules engine")
        return found | {
            "identical": identical,
            "engine_rate": engine["rate"],
            "engine_low": engine["low"],
            "engine_high": engine["high"],
            "within": engine["low"] <= found["rate"] <= engine["high"],
            "engine_low_all_boards": of_all_boards["low"],
            "engine_high_all_boards": of_all_boards["high"],
        }

    def _match(self, opponent: str | None, games: int, conditions: Conditions) -> list[GameRecord]:
        # Seeds as `mario-rl selfplay evaluate` has them, so that its games are these.
        player = load_player(self._run.player_pt, self._name)
        other = None if opponent is None else make_player(opponent, conditions.first_seed + 1)
        return play_match(player, other, games, conditions)

    def _figures(self, opponent: str | None, records: list[GameRecord], conditions: Conditions) -> dict[str, Any]:
        if opponent is not None and opponent not in BOTS:
            opponent = public(self._run, Path(opponent))
        found = evaluation.figures(self._name, opponent, records, conditions)
        against = "alone" if opponent is None else f"against {opponent}"
        say(
            f"{against}, L{conditions.level} {conditions.speed}, {conditions.backend}: {found['rate']:.1%} "
            f"({found['low']:.1%} to {found['high']:.1%}) of {found['games']}"
        )
        return {name: value for name, value in found.items() if name != "seeds"}  # they follow `seed`


def outcome(record: GameRecord) -> tuple[int, str, int, int]:
    """What two games share if they are the same game."""
    return record.seed, record.result, record.capsules, record.frames


def decision_times(run: SelfPlayDirectory, level: int) -> dict[str, Any]:
    """How long it takes to choose a placement in a single game, beside the time a frame lasts."""
    player = load_player(run.player_pt, run.name)
    assert not isinstance(player, FramesPlayer)
    timed = TimedPlayer(player)
    for board in range(TIMED_GAMES):
        play_match(timed, None, 1, Conditions(level, first_seed=FIRST_BOARD + board))
        if board == 0:
            timed.milliseconds.clear()
    found = {
        "decisions": len(timed.milliseconds),
        "median_ms": round(statistics.median(timed.milliseconds), 3),
        "longest_ms": round(max(timed.milliseconds), 3),
        "frame_ms": round(FRAME_MS, 3),
    }
    say(f"a decision takes {found['median_ms']} ms, at most {found['longest_ms']} ms")
    return found


class TimedPlayer:
    """A player, and how long each of its choices took."""

    def __init__(self, player: Any):
        self.name = player.name
        self.milliseconds: list[float] = []
        self._player: Bot = player

    def choose(self, games: RulesBatch, lanes: Mask, seat: int) -> npt.NDArray[Any]:
        """See `Bot.choose`."""
        begin = time.perf_counter()
        chosen = self._player.choose(games, lanes, seat)
        self.milliseconds.append(1000 * (time.perf_counter() - begin))
        return chosen

    def ratings(self, games: RulesBatch, lane: int, seat: int) -> list[Any]:
        """See `Bot.ratings`."""
        return self._player.ratings(games, lane, seat)


# --- where it stands ----------------------------------------------------------------------------------------------


def ladder(
    run: SelfPlayDirectory, buttons: Path | None, program: Program, picture: Path, champion: str
) -> dict[str, Any]:
    """Everybody against everybody, as the ladder keeps it, and drawn; commands know the run's player by that name."""
    entries = [Entry(bot, bot, identity(bot)) for bot in BOTS]
    entries.append(Entry("champion", str(run.player_pt), identity(str(run.player_pt))))
    known_as = [*BOTS, champion]
    for file in spread(run.pool_members(), MEMBERS_ON_THE_LADDER):
        name = f"self at {int(file.stem.removeprefix('step-')):,}"
        entries.append(Entry(name, str(file), identity(str(file))))
        known_as.append(public(run, file))
    if buttons is not None:
        entries.append(Entry("buttons", str(buttons), identity(str(buttons))))
        known_as.append("buttons" if champion == PACKAGED else buttons.name)
    climbed = Ladder(entries, Conditions(program.level, first_seed=FIRST_BOARD), program.ladder_games)
    for pair in round_robin(climbed):
        climbed.play(pair)
        say(f"ladder: {' against '.join(pair)} {climbed.results[pair]['rate']:.1%}")
    draw_ladder(climbed, picture)
    stored = climbed.as_dict()
    # The commands of pairs name files as they are called here; one that plays the whole ladder again is enough.
    stored["pairs"] = [{name: value for name, value in pair.items() if name != "command"} for pair in stored["pairs"]]
    words = ["mario-rl", "selfplay", "ladder", *known_as, "--games", str(program.ladder_games)]
    words += ["--level", str(program.level), "--seed", str(FIRST_BOARD)]
    return stored | {"command": shlex.join(words)}


def public(run: SelfPlayDirectory, file: Path) -> str:
    """A file of the run by the name it has where runs are usually kept."""
    return str(CHECKPOINTS / run.name / file.relative_to(run.path))


def spread(files: Sequence[Path], count: int) -> list[Path]:
    """So many of them, from the first to the last."""
    chosen = np.unique(np.linspace(0, len(files) - 1, min(count, len(files))).round().astype(int))
    return [files[number] for number in chosen.tolist()]


if __name__ == "__main__":
    exit_with_status(main, can_go_on=False)
