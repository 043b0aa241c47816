"""The command that finds the way through levels, without learning anything."""

from __future__ import annotations

import json as json_format
import os
import shutil
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from mario_rl.mistake import INTERRUPTED, Mistake, check_file, mistakes_in_one_line, signals_as_ctrl_c

if TYPE_CHECKING:
    from mario_rl.snapshots.survey import Check, Finding, Sign, Task

CLEAR_LINE = "\r\x1b[K"
NOT_ALL_VERIFIED = 1  # exit code


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("explore")(explore)


def explore(
    level: Annotated[str | None, typer.Option(help="A level (8-4) or several (1-1,1-2).", show_default=False)] = None,
    all: Annotated[bool, typer.Option("--all", help="All 32 levels.")] = False,
    verify: Annotated[
        Path | None,
        typer.Option(help="Explore nothing: replay this route, or all of this directory.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the exploration: the same seed finds the same routes.")] = 0,
    minutes: Annotated[
        float | None, typer.Option(min=0.01, help="Give up what is not found by then.", show_default=False)
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Directory for routes (.json), maps (.png) and videos (.mp4).")
    ] = Path("routes"),
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Draw the archive's map and record a video of each route.")
    ] = True,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Levels explored side by side.", show_default="one a core")
    ] = None,
    json: Annotated[
        str | None, typer.Option("--json", help="Write the figures as one JSON object to this file; - is stdout.")
    ] = None,
    rom: Annotated[Path | None, typer.Option("--rom", help="ROM file to use instead of the one that is found.")] = None,
) -> None:
    """Find a way through levels, without learning.

    An archive of places reached, and random steps from there (after Go-Explore). Every route is replayed from power-on,
    on our core and on those emulators beside it that are installed (cynes, Mednafen), and written down as a small file
    of inputs.
    """
    if sum((level is not None, all, verify is not None)) != 1:
        raise Mistake("name a --level such as 8-4, or ask for --all of them, or name routes to --verify")
    check_file(json, "--json")
    if output.exists() and not output.is_dir():
        raise Mistake(f"{output} is a file: --output is a directory")
    with mistakes_in_one_line(), signals_as_ctrl_c():
        from mario_rl.emulators.embedded import load_rom
        from mario_rl.emulators.rom import find_rom
        from mario_rl.snapshots.survey import Survey

        screen = sys.stderr if json == "-" else sys.stdout
        file = find_rom("smb", rom)
        load_rom(file)  # an error says what is wrong with it, before there is anything to leave behind
        tasks: list[Task] | list[Check]
        if verify is not None:
            tasks = _checks(verify, file, _oracles(screen))
        else:
            tasks = _tasks(level, seed, file, minutes, output, pictures and _can_draw(screen), _oracles(screen))
            output.mkdir(parents=True, exist_ok=True)
        count = min(processes or os.cpu_count() or 1, len(tasks))
        progress = _Progress(len(tasks), screen)
        survey = Survey(tasks, count)
        interrupted = False
        try:
            for event in survey.events():
                progress.show(event)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            for finding in survey.stop():
                progress.show(finding)
            progress.clear()
        figures = progress.figures() | {"seed": seed, "processes": count, "interrupted": interrupted}
        _write(figures, json)
        names = [task.level for task in tasks]
        print(_summary(figures, names, None if verify else output, interrupted), file=screen)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(0 if figures["verified"] == len(tasks) else NOT_ALL_VERIFIED)


def _tasks(
    names: str | None,
    seed: int,
    rom: Path,
    minutes: float | None,
    directory: Path,
    pictures: bool,
    oracles: tuple[str, ...],
) -> list[Task]:
    from mario_rl.environment.smb.levels import LEVELS, parse_levels
    from mario_rl.snapshots.survey import Task

    try:
        levels = LEVELS if names is None else parse_levels([name.strip() for name in names.split(",")])
    except ValueError as problem:
        raise Mistake(str(problem)) from problem
    deadline = None if minutes is None else time.time() + 60 * minutes
    # the last levels are the hardest: whoever begins with them is not left waiting for one of them in the end
    hardest_first = sorted(set(levels), reverse=True)
    return [Task(level, seed, rom, directory, deadline, oracles=oracles, pictures=pictures) for level in hardest_first]


def _checks(path: Path, rom: Path, oracles: tuple[str, ...]) -> list[Check]:
    from mario_rl.snapshots.routes import Route
    from mario_rl.snapshots.survey import Check

    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise Mistake(f"{path} has no routes (*.json) in it")
    checks = [Check(Route.load(file).level, file, rom, oracles) for file in files]
    if len({check.level for check in checks}) < len(checks):
        raise Mistake(f"{path} has several routes through one level: verify them one by one")
    return checks


def _oracles(screen: TextIO) -> tuple[str, ...]:
    from mario_rl.snapshots.replayers import installed_oracles

    found = installed_oracles()
    if not found:
        print(
            "routes will be verified on the embedded core only; for a second emulator: pip install cynes, "
            "or apt-get install mednafen",
            file=screen,
        )
    return found


def _can_draw(screen: TextIO) -> bool:
    missing = [
        name for name, module in (("pillow", "PIL"), ("imageio-ffmpeg", "imageio_ffmpeg")) if not find_spec(module)
    ]
    if missing:
        print(f"no maps and videos without {' and '.join(missing)}: pip install 'mario-rl[train]'", file=screen)
    return not missing


class _Progress:
    """A line for every level that is done; on a terminal also one, rewritten in place, about the others."""

    def __init__(self, tasks: int, screen: TextIO):
        self._tasks = tasks
        self._screen = screen
        self._in_place = screen.isatty()
        self._began = time.monotonic()
        self._found: dict[str, Finding] = {}
        self._signs: dict[str, Sign] = {}

    def show(self, event: Finding | Sign) -> None:
        """Something happened."""
        from mario_rl.snapshots.survey import Sign

        if isinstance(event, Sign):
            self._signs[event.level] = event
        else:
            self._signs.pop(event.level, None)
            self._found[event.level] = event
            self.clear()
            print(_line(event, len(self._found), self._tasks), file=self._screen, flush=True)
        if self._in_place:
            doing = ", ".join(f"{sign.level} {sign.doing} {sign.frames:,}" for sign in self._signs.values())
            text = f"{len(self._found)}/{self._tasks} done, {time.monotonic() - self._began:.0f} s: {doing}"
            width = shutil.get_terminal_size().columns - 1
            print(CLEAR_LINE + text[:width], end="", file=self._screen, flush=True)

    def clear(self) -> None:
        """Take away the line about what is being done."""
        if self._in_place:
            print(CLEAR_LINE, end="", file=self._screen, flush=True)

    def figures(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "levels": {level: self._found[level].as_dict() for level in sorted(self._found)},
            "found": sum(finding.found for finding in self._found.values()),
            "verified": sum(finding.verified for finding in self._found.values()),
            "seconds": round(time.monotonic() - self._began, 1),
        }


def _line(finding: Finding, done: int, of: int) -> str:
    start = f"{done:2}/{of} {finding.level}"
    if not finding.found:
        return f"{start}  not found in {finding.frames:,} frames ({finding.cpu_s:.0f} CPU-s)"
    verified = "verified on " + " and ".join(finding.verified_on) if finding.verified_on else "NOT VERIFIED"
    before = "" if finding.first_route_steps is None else f"{finding.first_route_steps} -> "
    return (
        f"{start}  found after {finding.frames:9,} frames ({finding.cpu_s:4.1f} CPU-s), "
        f"{before}{finding.route_steps} steps, {finding.clock_left} on the clock, {verified}"
    )


def _write(figures: dict[str, Any], json: str | None) -> None:
    text = json_format.dumps(figures, indent=1)
    if json == "-":
        print(text)
    elif json is not None:
        from mario_rl.atomic_file import write_atomically

        write_atomically(Path(json), (text + "\n").encode())


def _summary(figures: dict[str, Any], levels: list[str], output: Path | None, interrupted: bool) -> str:
    """The last lines: how many, what is missing, where it is."""
    findings = figures["levels"]
    lines = [
        f"{figures['found']} of {len(levels)} levels found, {figures['verified']} verified, {figures['seconds']:.0f} s"
    ]
    missing = [level for level in sorted(levels) if level not in findings or not findings[level]["found"]]
    if missing:
        lines.append(f"not found    {', '.join(missing)}")
    unverified = [level for level, finding in findings.items() if finding["found"] and not finding["verified"]]
    if unverified:
        lines.append(f"not verified {', '.join(unverified)}")
    if output is not None and figures["found"]:
        lines.append(f"{'kept' if interrupted else 'routes':<12} {output}")
    if interrupted:
        lines.insert(0, "interrupted")
    return "\n".join(lines)
