"""Players for inside the cartridge: every form in every size, distilled, burned, and judged by playing as the ROM.

`python -m benchmarks.distill --json benchmarks/results/distill.json` distils what is missing in `--players`, burns
each player into Antidote and lets the ROM play alone on our console; the best of each size also against others, in
Mednafen, and as its mirror on the ladder. `--package` makes those the players that come with the package.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.distill_report import tables
from benchmarks.measurement import machine, say
from benchmarks.training import check_json_directory, exit_with_status, write_report
from benchmarks.worker import SOURCE_TREE
from mario_rl.distill.burn import burn
from mario_rl.distill.config import DistillConfig
from mario_rl.distill.distillation import School, graduate, school_of
from mario_rl.distill.drops import DROP_COLUMNS, DROP_ROTATIONS
from mario_rl.distill.form import Form
from mario_rl.distill.lessons import bottles_of
from mario_rl.distill.machine import CYCLES_A_CALL, ThinkingMachine
from mario_rl.distill.mirror import CartridgeMirror
from mario_rl.distill.player_file import DistilledPlayer, load_player_file, save_player_file
from mario_rl.distill.teacher import teacher_of
from mario_rl.distill.tiny import Tiny
from mario_rl.emulators.mednafen import MednafenError
from mario_rl.emulators.mednafen_build import installed_build
from mario_rl.roms import antidote
from mario_rl.selfplay import evaluation
from mario_rl.selfplay.ladder import Ladder, round_robin
from mario_rl.selfplay.ladder_entries import Entry, identity
from mario_rl.selfplay.ladder_picture import draw_ladder
from mario_rl.selfplay.match import Conditions, GameRecord, play_match
from mario_rl.selfplay.players import make_player
from mario_rl.settings import flag

PLAYERS = SOURCE_TREE / "checkpoints" / "distilled"
PACKAGED = SOURCE_TREE / "mario_rl" / "distill" / "players"
PICTURE = SOURCE_TREE / "docs" / "pictures" / "ladder_cartridge.png"
TEACHER = "champion"
LEVELS = (5, 10, 15)
ALL_LEVELS = (*LEVELS, 20)
OTHER_BOARDS = 1000
"""The first board on which the best of a size is chosen: it is not to be measured on boards that chose it."""


@dataclass(frozen=True)
class Size:
    """A class of players."""

    name: str
    """What the best of them is called in the package."""
    bytes: int
    forms: tuple[str, ...]


FORMS = ("tree", "table", "linear", "binary", "lookup")
SIZES = (Size("tiny", 160, ("tiny",)), Size("small", 512, FORMS), Size("large", 6144, FORMS))


@dataclass(frozen=True)
class Program:
    """What is played, and how often."""

    polish_minutes: float = 12.0
    games: int = 400
    """Of the best of each size, alone, at each level."""
    other_games: int = 100
    """Of the others."""
    mirror_games: int = 100
    """Of each level: the same boards played by the mirror."""
    versus_games: int = 100
    mednafen_games: int = 10
    ladder_games: int = 60
    boards: int = 2000
    """On which the compiled player is compared with its mirror, bottle by bottle."""
    level: int = 10
    """Of the games for two."""


FULL = Program()
QUICK = Program(0.02, 4, 2, 2, 2, 1, ladder_games=2, boards=50)


def main() -> int:
    """Distil, measure, print, write, package; the exit code is 1 if a ROM played other games than its mirror."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distill", description=__doc__)
    parser.add_argument("--players", type=Path, default=PLAYERS, help="where the distilled players are kept")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="players distilled or judged at a time")
    parser.add_argument("--quick", action="store_true", help="next to no polishing and few games, less exact")
    parser.add_argument("--json", metavar="FILE", help="where the figures go; - is stdout")
    parser.add_argument("--picture", type=Path, default=PICTURE, metavar="FILE", help="where the ladder is drawn")
    parser.add_argument("--package", action="store_true", help="make the best those that come with the package")
    options = parser.parse_args()
    check_json_directory(parser, options.json)
    program = QUICK if options.quick else FULL
    try:
        installed_build()
    except MednafenError as problem:
        say(str(problem))
        return 2
    report: dict[str, Any] = {"benchmark": "distill", "quick": options.quick, "machine": machine()}
    report |= measure(options.players, program, options.jobs, options.picture)
    if options.package:
        for found in report["best"]:
            PACKAGED.mkdir(exist_ok=True)
            save_player_file(PACKAGED / f"{found['size']}.json", with_figures(options.players, found))
        say(f"packaged in {PACKAGED.relative_to(SOURCE_TREE)}")
    write_report(report, tables(report), options.json)
    different = [found for found in report["best"] if found["differences"] or found["alike"] < found["games"]]
    return 1 if different else 0


def measure(folder: Path, program: Program, jobs: int, picture: Path) -> dict[str, Any]:
    """Everything, for the JSON object."""
    configs = [config_of(form, size.bytes, program) for size in SIZES for form in size.forms]
    folder.mkdir(parents=True, exist_ok=True)
    distil_missing(configs, folder, jobs)
    with ProcessPoolExecutor(jobs, initializer=take_a_core) as pool:
        players = list(
            pool.map(judge, [file_of(folder, config) for config in configs], [program.other_games] * len(configs))
        )
        best = [max((p for p in players if p["budget"] == size.bytes), key=skill) for size in SIZES]
        chosen = [
            found | {"size": size.name, "file": str(folder / found["file"])}
            for size, found in zip(SIZES, best, strict=True)
        ]
        proofs = list(pool.map(prove, chosen, [program] * len(chosen)))
    return {
        "program": dataclasses.asdict(program) | {"other_boards": OTHER_BOARDS},
        "teacher": TEACHER,
        "players": players,
        "best": proofs,
        "ladder": ladder(proofs, folder, program, picture),
    }


def take_a_core() -> None:
    """For a process of several that play at the same time: more threads than cores only get into each other's way."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})


def config_of(form: str, most_bytes: int, program: Program) -> DistillConfig:
    """How a player is distilled; those with few numbers are polished for a shorter time."""
    minutes = program.polish_minutes / (1 if form in ("tree", "table") else 4)
    return DistillConfig(teacher=TEACHER, form=form, bytes=most_bytes, polish_minutes=minutes)


def file_of(folder: Path, config: DistillConfig) -> Path:
    """Where its player is kept."""
    return folder / f"{config.form}-{config.bytes}.json"


def command_of(config: DistillConfig) -> str:
    """What distils it again."""
    changed = {
        field.name: getattr(config, field.name)
        for field in dataclasses.fields(config)
        if field.name in ("teacher", "form", "bytes") or getattr(config, field.name) != field.default
    }
    words = [
        word
        for name, setting in changed.items()
        for word in (flag(name), f"{setting:g}" if isinstance(setting, float) else str(setting))
    ]
    return shlex.join(["mario-rl", "distill", *words])


# --- distilled ----------------------------------------------------------------------------------------------------


def distil_missing(configs: list[DistillConfig], folder: Path, jobs: int) -> None:
    """Distil the players that are not there yet; those that are stay as they are."""
    missing = [config for config in configs if not file_of(folder, config).exists()]
    if not missing:
        return
    say(f"{len(missing)} players to distil, {jobs} at a time")
    school = school_of(teacher_of(make_player(TEACHER)), missing[0], say)
    with ProcessPoolExecutor(jobs) as pool:
        order = sorted(missing, key=lambda config: -config.polish_minutes)  # the longest first
        for done in as_completed([pool.submit(distil, school, config, folder) for config in order]):
            say(done.result())


def distil(school: School, config: DistillConfig, folder: Path) -> str:
    """In a process of its own; says what came of it."""
    import torch

    torch.set_num_threads(1)
    begin = time.monotonic()
    label = f"{config.form}-{config.bytes}"
    made = graduate(school, config, lambda line: print(f"{label}: {line}", file=sys.stderr, flush=True))
    made = DistilledPlayer(made.form, {**made.card, "minutes": round((time.monotonic() - begin) / 60, 1)})
    save_player_file(file_of(folder, config), made)
    return f"{label}: {len(made.form.compile().code)} bytes, {made.card['minutes']} minutes"


# --- judged -------------------------------------------------------------------------------------------------------


def judge(file: Path, games: int) -> dict[str, Any]:
    """How well a player plays alone, as a ROM."""
    player = load_player_file(file)
    with tempfile.TemporaryDirectory() as folder:
        rom = burned(player, Path(folder))
        levels = [alone(rom, file.stem, level, games, first_board=OTHER_BOARDS)[0] for level in ALL_LEVELS]
    settings = player.card["settings"]
    size = len(player.form.compile().code)
    found = {
        "file": file.name,
        "form": settings["form"],
        "kind": player.form.kind,
        "budget": settings["bytes"],
        "bytes": size,
        "frames_of_thought": player.form.thinks,
        "recipe": player.card["recipe"],
        "stages": player.card["stages"],
        "minutes": player.card.get("minutes"),
        "command": command_of(DistillConfig(**settings)),
        "levels": levels,
    }
    rates = ", ".join(f"L{level['level']} {level['rate']:.1%}" for level in levels)
    say(f"{file.stem}: {size} bytes, {rates}")
    return found


def skill(found: dict[str, Any]) -> float:
    """Clear rates at three levels added up; of two that are alike, the one that takes fewer capsules is ahead."""
    levels = [level for level in found["levels"] if level["level"] in LEVELS]
    capsules = sum(level["capsules_per_clear"] or 1000 for level in levels)
    return sum(level["rate"] for level in levels) - capsules / 1e5


def burned(player: DistilledPlayer, folder: Path) -> Path:
    """A cartridge with the player inside."""
    rom = folder / "vs.nes"
    rom.write_bytes(burn(player, antidote().read_bytes()).rom)
    return rom


def alone(
    rom: Path, name: str, level: int, games: int, backend: str = "embedded", first_board: int = 0
) -> tuple[dict[str, Any], list[GameRecord]]:
    """The ROM plays games by itself: figures, and what became of each."""
    conditions = Conditions(level, backend=backend, first_seed=first_board)
    records = play_match(make_player(f"cart:{rom}"), None, games, conditions)
    return without_seeds(evaluation.figures(f"cart:{name}.nes", None, records, conditions)), records


def without_seeds(found: dict[str, Any]) -> dict[str, Any]:
    """They follow `seed`."""
    return {name: figure for name, figure in found.items() if name != "seeds"}


# --- proven -------------------------------------------------------------------------------------------------------


def prove(found: dict[str, Any], program: Program) -> dict[str, Any]:
    """The best of a size: more games, others to play against, Mednafen, and its mirror game by game."""
    player, name = load_player_file(Path(found["file"])), found["size"]
    mirror = CartridgeMirror(player.form, name)
    with tempfile.TemporaryDirectory() as folder:
        rom = burned(player, Path(folder))
        levels, identical, alike, games = [], 0, 0, 0
        for level in LEVELS:
            figures, records = alone(rom, name, level, program.games)
            first = min(program.mirror_games, program.games)
            in_python = play_match(mirror, None, first, Conditions(level))
            identical += same(records[:first], in_python)
            alike += sum(one.result == other.result for one, other in zip(records[:first], in_python, strict=True))
            games += first
            levels.append(figures)
            say(f"{name}: L{level} {figures['rate']:.1%} of {figures['games']}")
        versus = [against(rom, name, rival, program) for rival in ("greedy", "search", TEACHER)]
        in_mednafen, records = alone(rom, name, program.level, program.mednafen_games, "mednafen")
        same_in_mednafen = same(records, play_match(mirror, None, program.mednafen_games, Conditions(program.level)))
    differences, cycles = compared(player.form, program.boards)
    on_console = [*levels, *versus]
    return {key: value for key, value in found.items() if key != "file"} | {
        "file": Path(found["file"]).name,
        "levels": levels,
        "versus": versus,
        "mednafen": in_mednafen | {"identical": same_in_mednafen},
        "games": games,
        "identical": identical,
        "alike": alike,
        "boards": program.boards,
        "differences": differences,
        "cycles": cycles,
        "cycles_limit": CYCLES_A_CALL,
        "frames": sum(part["frames"] for part in on_console),
        "late_frames": max(part["late_frames"] for part in on_console),
    }


def same(some: list[GameRecord], others: list[GameRecord]) -> int:
    """How many games are the same on both sides, to the frame."""
    return sum(
        (one.seed, one.result, one.capsules, one.frames) == (other.seed, other.result, other.capsules, other.frames)
        for one, other in zip(some, others, strict=True)
    )


def against(rom: Path, name: str, rival: str, program: Program) -> dict[str, Any]:
    """The ROM in seat 2, somebody else with pad 1."""
    conditions = Conditions(program.level, backend="embedded")
    players = make_player(f"cart:{rom}"), make_player(rival, conditions.first_seed + 1)
    records = play_match(*players, program.versus_games, conditions)
    found = without_seeds(evaluation.figures(f"cart:{name}.nes", rival, records, conditions))
    say(f"{name} against {rival}: {found['rate']:.1%}")
    return found


def compared(form: Form, boards: int) -> tuple[int, int]:
    """Bottles of its own games on which the compiled player chooses otherwise than its mirror, and the most cycles that
    a call took."""

    drops = bottles_of(form, boards, seed=11)
    console, chosen = ThinkingMachine(form), form.choose(drops)
    differences, cycles = 0, 0
    for game in range(len(drops.ids)):
        thought = console.think(drops, game)
        turned = thought.rotation - isinstance(form, Tiny)  # which keeps it plus one
        differences += (thought.column, turned) != (DROP_COLUMNS[chosen[game]], DROP_ROTATIONS[chosen[game]])
        cycles = max(cycles, *thought.cycles)
    return differences, cycles


def ladder(proofs: list[dict[str, Any]], folder: Path, program: Program, picture: Path) -> dict[str, Any]:
    """The mirrors among everybody else; seats change on a ladder, so cartridges themselves cannot be on it."""
    entries = [Entry(name, name, identity(name)) for name in ("random", "greedy", "search", TEACHER)]
    for found in proofs:
        file = str(folder / found["file"])
        entries.append(Entry(found["size"], file, identity(file)))
    climbed = Ladder(entries, Conditions(program.level), program.ladder_games)
    for pair in round_robin(climbed):
        climbed.play(pair)
        say(f"ladder: {' against '.join(pair)} {climbed.results[pair]['rate']:.1%}")
    draw_ladder(climbed, picture)
    stored = climbed.as_dict()
    stored["pairs"] = [{name: value for name, value in pair.items() if name != "command"} for pair in stored["pairs"]]
    names = [entry.name for entry in entries]
    words = [
        "mario-rl",
        "selfplay",
        "ladder",
        *names,
        "--games",
        str(program.ladder_games),
        "--level",
        str(program.level),
    ]
    return stored | {"command": shlex.join(words)}


def with_figures(folder: Path, found: dict[str, Any]) -> DistilledPlayer:
    """A player with what was measured of it in its card."""
    player = load_player_file(folder / found["file"])
    rated = {f"L{level['level']} med": [level["rate"], level["low"], level["high"]] for level in found["levels"]}
    return DistilledPlayer(
        player.form, {**player.card, "rated": {"games": found["levels"][0]["games"], "alone": rated}}
    )


if __name__ == "__main__":
    exit_with_status(main)
