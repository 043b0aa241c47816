"""How each command of the pages is tried: as it stands, in a shorter form, or, where that cannot be, not at all.

`python -m tests.docs.accounts` shows what becomes of every command.
"""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.docs.commands import PAGES, SOURCE_TREE, Command, commands_of

HOW_TO_ACCOUNT = """\
nothing says how the tests try this command. In tests/docs/accounts.py:
  - it ends by itself within seconds: add its program to PROGRAMS;
  - it takes longer: add a line to SHORTER, with the flags that shorten it;
  - it cannot run on a machine with nothing but this repository: add its program to NOT_HERE, with the reason.
If it is no command, give its block a language, such as ```text."""

PROGRAMS = ("mario-rl", "python", "make", "curl", "echo", "mkdir", "cp", "printf", "nohup")
PROGRAMS += ("docker/train_or_resume.sh", "scripts/train_runpod.sh")
"""Programs that are run as the pages have them."""

NOT_HERE = {
    "cd": "every command is run in a copy of the source tree",
    "docker": "needs its daemon",
    "export": "for the commands after it, which are run one by one",
    "git": "needs the network",
    "journalctl": "needs systemd",
    "kill": "ends what is not run here",
    "loginctl": "needs systemd",
    "ray": "needs a second machine; tests/cluster has clusters of several nodes",
    "rsync": "needs a second machine",
    "ssh": "needs a second machine",
    "systemctl": "needs systemd",
    "tail": "follows a file for ever",
    "tmux": "needs a terminal",
}
"""Programs that are not run, and why."""

How = Literal["ends", "terminal", "server", "window", "options"]
"""It ends by itself; it wants a terminal; it serves until it is told to end; it shows a window until then; only its
options are looked at, because even its shortest form takes minutes."""


@dataclass(frozen=True)
class Shorter:
    """What is done to commands in which a pattern is found, so that they take seconds."""

    pattern: str
    add: str = ""
    swap: tuple[str, str] | None = None
    how: How = "ends"
    code: int = 0


TRAIN = "--steps 800 --learning-starts 200 --evaluate-every 0 --workers 1"
TINY_SELFPLAY = "--steps 300 --envs 8 --rollout 128 --batch-size 64 --hidden 8 --value-hidden 8 --evaluate-games 2"
TINY_FRAMES = "--steps 64 --envs 4 --n-steps 32 --imitation-rounds 2 --imitation-lanes 8 --width 8 --evaluate-games 2"
QUICK_LESSONS = "--rounds 1 --games 12 --student-rounds 1 --tries 1 --test-games 4 --polish-minutes 0"

SHORTER = (
    # What stands for something: the workshop has all of these (tests/docs/workshop.py).
    Shorter(r"selfplay|drmario", swap=(r"\bRUN\b", "selfplayed")),
    Shorter(r"--dreams", swap=(r"\bRUN\b", "dreamt")),
    Shorter(r"\bRUN\b", swap=(r"\bRUN\b", "tried")),
    Shorter(r"mario-rl watch (mine|NAME)$", swap=("mine|NAME", "tried")),
    Shorter(r"mario-rl (evaluate|watch|record|plot) first", swap=(r"\bfirst\b", "tried")),  # the block before trains it
    Shorter(r"rom import FILE", swap=("FILE", "game.nes")),
    Shorter(r"--config FILE(\.yaml)?", swap=(r"FILE(\.yaml)?", "checkpoints/tried/config.yaml")),
    Shorter(r"\bDIR\b", swap=(r"\bDIR\b", "known_routes")),
    # Commands named without what they need.
    Shorter(r"mario-rl (explore|evaluate|watch|record|plot|burn|rom import|export|selfplay evaluate)$", add="--help"),
    Shorter(r"mario-rl (rom|bench|selfplay)$", add="--help"),
    # Super Mario Bros.
    Shorter(r"mario-rl train(?!.*--(resume|help))", add=TRAIN),
    Shorter(r"mario-rl train .*--model dreamer", add="--steps 320"),  # its gradients are slow
    Shorter(r"mario-rl train .*--resume", add="--steps 1600"),
    Shorter(r"mario-rl train .*--model linear", code=2),  # the page has added that model
    Shorter(r"--curriculum (archive|demo)", add="--explore-frames 30000 --clone-steps 5"),
    Shorter(r"--curriculum archive", add="--level 1-4"),  # found soon, and with the buttons of the agent
    Shorter(r"--cluster", swap=(r"--cluster (auto|ray://\S+)", "--cluster local")),  # no other machines are here
    Shorter(r"mario-rl evaluate (?!--help)", add="--episodes 2"),
    Shorter(r"mario-rl explore .*--all", swap=("--all", "--level 3-4")),
    Shorter(r"mario-rl explore -o", add="--level 3-4"),
    Shorter(r"mario-rl explore --level", add="--no-pictures"),
    Shorter(r"mario-rl watch (?!--help)", add="--display terminal --episodes 1 --fps 0", how="terminal"),
    Shorter(r"mario-rl record (?!--help)", add="--episodes 1"),
    Shorter(r"mario-rl export tried .*--hub-folder", add="--episodes 2"),
    Shorter(r"mario-rl export champion .*--hub-folder", add="--games 2"),
    Shorter(r"^mario-rl .*--wandb", swap=(r"^", "WANDB_MODE=offline ")),  # there is no account
    # Dr. Mario
    Shorter(r"(watch|record) drmario", add="--level 0"),
    Shorter(r"selfplay train (?!.*(--resume|--env frames))", add=TINY_SELFPLAY),
    Shorter(r"selfplay train .*--env frames", add=TINY_FRAMES),
    Shorter(r"selfplay train .*--resume (?!buttons)", add="--steps 600"),
    Shorter(r"selfplay train .*--resume buttons", add="--steps 128"),
    Shorter(r"selfplay evaluate (?!--help)\S", add="--games 2"),
    Shorter(r"selfplay ladder .*--quick", swap=(" --quick", "")),
    Shorter(r"selfplay ladder \S", add="--games 2 --level 0"),
    Shorter(r"mario-rl distill( --(?!explain).*)?$", add=QUICK_LESSONS),
    Shorter(r"mario-rl play", how="window"),
    Shorter(r"mario-rl serve", add="--port 0", how="server"),
    Shorter(r"--max-time", code=28),  # how curl says that the time is over
    # Measurements
    Shorter(r"mario-rl bench (cluster|drmario|gradients|server)(?!.*--tune)", add="--quick"),
    Shorter(r"mario-rl bench drmario .*--tune", how="options"),  # minutes for a single generation
    Shorter(r"mario-rl bench .*--reference", add="--quick"),
    Shorter(r"mario-rl bench (emulators|environment)(?!.*--reference)", how="options"),  # peers, from the network
    Shorter(r"benchmarks\.explore", add="--seeds 1 --levels 3-4 --output found --json found.json"),
    Shorter(r"benchmarks\.(training|curriculum|dreamer|selfplay|distill)\b", how="options"),
    Shorter(r"make_run_pictures\.py", add="--help"),
    # Scripts: tests/containers runs them for all that they are
    Shorter(r"train_or_resume\.sh", swap=("WORKERS=8 STEPS=2000000", "WORKERS=1 STEPS=800")),
    Shorter(r"UI=1 .*train_or_resume\.sh", how="terminal"),
    Shorter(r"nohup .*&$", swap=(" *&$", "")),  # it is waited for
    Shorter(r"train_runpod\.sh( start .*)?$", swap=(r"\.sh( start .*)?$", ".sh --help")),
    Shorter(r"train_runpod\.sh (status|stop)$", swap=("^", "WORKSPACE=. VENV=.venv ")),
    # What `make test` is made of: it would run this test.
    Shorter(r"-m pytest|bin/(ruff|mypy)|bin/hadolint|bin/shellcheck", how="options"),
    Shorter(r"scripts/(check_native_format|test_native)\.sh", how="options"),
)


@dataclass(frozen=True)
class Account:
    """What is done with a command: `run` it in its shorter form (which may be its own), or not, for a reason."""

    command: Command
    run: str
    how: How = "ends"
    code: int = 0
    why_not: str | None = None

    @property
    def kind(self) -> str:
        """For the count."""
        if self.why_not is not None:
            return "not here"
        if self.how == "options":
            return "options only"
        return "as written" if self.run == self.command.text else "shortened"


class Unaccounted(Exception):
    """A command of which nobody knows how to try it."""


def account(command: Command) -> list[Account]:
    """What is done with a command; with `make`, with each command of its recipe."""
    text = command.text
    program = program_of(text)
    if program == "make" and text != "make":
        recipe = _recipe(tuple(shlex.split(text)[1:]))
        return [one for line in recipe for one in account(Command(command.page, command.line, line))]
    if program in NOT_HERE:
        return [Account(command, text, why_not=NOT_HERE[program])]
    run, how, code = text, "ends", 0
    for shorter in SHORTER:
        if re.search(shorter.pattern, run):
            run = re.sub(*shorter.swap, run) if shorter.swap else run
            run = f"{run} {shorter.add}".strip()
            how, code = shorter.how if shorter.how != "ends" else how, shorter.code or code
    if program not in PROGRAMS and how != "options":
        raise Unaccounted(f"{command.where}: {text}\n{HOW_TO_ACCOUNT}")
    return [Account(command, run, how, code)]


def program_of(text: str) -> str:
    """The program a command line begins with, without assignments before it and without its folder."""
    bare = re.sub(r"^(\w+=(\$\([^)]*\)|'[^']*'|\"[^\"]*\"|\S*)\s+)+", "", text)
    return re.sub(r"^(\S*/)?\.venv/bin/", "", bare.split()[0])


def all_blocks() -> list[list[Command]]:
    """The commands of all pages, block by block."""
    return [block for page in PAGES for block in commands_of(page)]


def units(blocks: Sequence[Sequence[Command]]) -> list[list[Account]]:
    """What is run one after the other, in one directory; the longest first. What ran elsewhere is not run again."""
    found: list[list[Account]] = []
    known: set[str] = set()
    for unit in sorted(filter(None, map(_accounts_of, blocks)), key=len, reverse=True):
        runs = {one.run for one in unit if one.why_not is None}
        if not runs <= known:
            found.append(unit)
            known |= runs
    return found


def _accounts_of(block: Sequence[Command]) -> list[Account]:
    """None of a block with a command that is not accounted for: another test says so."""
    try:
        return [one for command in block for one in account(command)]
    except Unaccounted:
        return []


@functools.cache
def _recipe(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """What `make` would run, its set-up left out."""
    command = ["make", "--no-print-directory", "-n", "-o", "setup", "RUN=made", *arguments]
    shown = subprocess.run(command, cwd=SOURCE_TREE, capture_output=True, text=True, check=False)
    if shown.returncode:
        raise Unaccounted(f"`make {' '.join(arguments)}`: {shown.stderr.strip()}")
    lines = shown.stdout.replace("\\\n", " ").splitlines()
    return tuple(" ".join(line.split()) for line in lines if not line.startswith(("echo", "make")))


def count() -> Counter[str]:
    """How many commands of the pages are tried in which way."""
    commands = [command for block in all_blocks() for command in block]
    return Counter(
        "by its recipe" if program_of(command.text) == "make" else account(command)[0].kind for command in commands
    )


if __name__ == "__main__":
    for block in all_blocks():
        for command in block:
            for one in account(command):
                print(f"{command.where:24} {one.kind:12} {one.run}{f'  ({one.why_not})' if one.why_not else ''}")
    print(sum(map(len, all_blocks())), "commands:", dict(count()))
