"""Wrong input to every command: one line that says what to do, exit code 2, no traceback, nothing left behind.

Commands have more of these beside their other tests; here none is forgotten.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mario_rl import cli
from mario_rl.roms import antidote
from tests.docs.command_line import commands
from tests.mistakes import assert_one_clear_line

# {garbage} is a text, {cut} half of a cartridge, {game} a whole one, {here} an empty directory, {run} a run of
# `mario-rl train`, {selfplay} one of `mario-rl selfplay train`; in /proc nobody can write.
WRONG: dict[str, dict[str, str]] = {
    "doctor": {
        "now": "now",
        "--clean --rom {game}": "--clean looks at no ROM: leave --rom out",
        "--rom": "requires an argument",
    },
    "rom import": {
        "": "Missing argument 'file'",
        "/nowhere.nes": "/nowhere.nes: no such ROM file; check the path",
        "{here}": "no such ROM file",
        "{garbage}": "not an NES ROM",
        "{cut}": "truncated ROM",
        "{game} --game chess": "unknown game 'chess'; known: smb, drmario",
    },
    "rom list": {"smb": "unexpected extra argument(s) (smb)", "--all": "No such option: --all", "-v": "-v"},
    "bench emulators": {
        "--rom /nowhere.nes": "/nowhere.nes (from --rom): no such ROM file",
        "--rom {garbage}": "{garbage}: not an NES ROM",
        "--json {here}": "{here} is a directory: --json takes the name of a file",
        "--json /nowhere/x.json": "/nowhere: no such directory for --json",
        "--reference fceux": "'fceux' is not one of 'mednafen'",
    },
    "bench environment": {
        "--rom {here}": "{here} (from --rom): no such ROM file",
        "--json {garbage}/x.json": "{garbage}: no such directory for --json",
        "--rounds 3": "No such option: --rounds",
    },
    "bench gradients": {
        "--rom {cut}": "{cut}: truncated ROM",
        "--json {here}": "{here} is a directory",
        "--workers 3": "No such option: --workers",
    },
    "bench cluster": {
        "--rom {cut}": "{cut}: truncated ROM",
        "--json /nowhere/x.json": "/nowhere: no such directory for --json",
        "--workers 3": "No such option: --workers",
    },
    "bench server": {
        "--rom /nowhere.nes": "no such ROM file; correct --rom or leave it out",
        "--json /nowhere/x.json": "no such directory for --json",
        "--port 80": "No such option: --port",
    },
    "bench drmario": {
        "--output x.json": "--output is for --tune; the figures go to --json",
        "--tune --quick": "leave --quick and --json out",
        "--tune --minutes 0": "'--minutes'",
        "--tune --output /nowhere/x.json": "/nowhere: no such directory for --output",
        "--tune --output {here}": "{here} is a directory",
        "--json {here}": "{here} is a directory",
    },
    "train": {
        "--model chess": "unknown model 'chess'; use one of ddqn, dreamer, ppo",
        "--level 9-9": "unknown level '9-9'",
        "--steps 0": "--steps is a whole number from 1 on, not 0",
        "--steps many": "'--steps'",
        "--preset desktop": "unknown preset 'desktop'; use one of laptop, robust",
        "--config /nowhere.yaml": "cannot read /nowhere.yaml",
        "--config {garbage}": "should hold lines such as `lr: 0.0001`",
        "--config {here}": "cannot read {here}",
        "--resume nobody": "no run 'nobody'",
        "--resume {garbage}": "neither a run's directory nor a checkpoint",
        "--resume {here}": "has no config.yaml",
        "--resume {run} --model ddqn": "{run}",
        "--name a/b": "a run's name is a plain directory name",
        "--checkpoints {garbage}": "{garbage} is not a directory: choose another one for --checkpoints",
        "--checkpoints /proc/runs": "cannot make a run in /proc/runs",
        "--rom {garbage}": "not an NES ROM",
        "--sticky 2": "--sticky is between 0 and 1",
        "--cluster chess": "--cluster is off, local, auto or ray://host:port, not 'chess'",
        "--cluster local --workers 0": "--workers is at least 1 with --cluster",
        "--precision float8": "--precision is",
        "--curriculum chess": "--curriculum is one of off, snapshots, archive, demo",
    },
    "explore": {
        "": "name a --level such as 8-4",
        "--all --level 1-1": "name a --level such as 8-4",
        "--level 9-9": "unknown level '9-9'",
        "--level 1-1 --minutes 0": "'--minutes'",
        "--level 1-1 --seed -1": "'--seed'",
        "--level 1-1 --json {here}": "{here} is a directory: --json takes the name of a file",
        "--level 1-1 -o {garbage}": "{garbage} is a file: --output is a directory",
        "--level 1-1 -o /proc/routes": "/proc/routes: No such file or directory",
        "--level 1-1 --rom {garbage}": "{garbage}: not an NES ROM",
        "--verify /nowhere": "cannot read /nowhere",
        "--verify {garbage}": "{garbage} is no route, or damaged",
        "--verify {here}": "{here} has no routes (*.json) in it",
    },
    "evaluate": {
        "": "Missing argument 'RUN'",
        "nobody": "no run 'nobody'",
        "{garbage}": "neither a run's directory nor a checkpoint",
        "{here}": "has no config.yaml",
        "{selfplay}": "{selfplay} is a run of self-play: `mario-rl selfplay evaluate {selfplay}`",
        "{run} --episodes 0": "'--episodes'",
        "{run} --level 9-9": "unknown level '9-9'",
        "{run} --sticky 2": "--sticky is between 0 and 1",
        "{run} --seed -1": "'--seed'",
        "{run} --weights worst": "'worst' is not one of 'best', 'latest'",
        "{run} --json {here}": "{here} is a directory: --json takes the name of a file",
        "{run} --json /nowhere/x.json": "/nowhere: no such directory for --json",
    },
    "watch": {
        "nobody": "no run 'nobody'",
        "{selfplay}": "`mario-rl watch drmario --agent {selfplay}` know it",
        "{run}": "watching needs a screen or a terminal; `mario-rl record` makes a video instead",
        "{run} --display hologram": "'hologram' is not one of 'auto', 'window', 'terminal'",
        "{run} --fps -1": "'--fps'",
        "{run} --seed -1": "'--seed'",
        "{run} --agent search": "--agent: only for `drmario`",
        "drmario --agent hal": "no player 'hal': use one of random, greedy, search",
        "drmario --level 1-1": "drmario's --level is a number from 0 to 20, not '1-1'",
        "drmario --weights best": "--weights: not for `drmario`",
    },
    "record": {
        "nobody": "no run 'nobody'",
        "{run} -o x.avi": "a video's name ends in .mp4 or .gif, unlike 'x.avi'",
        "{run} -o /nowhere/x.mp4": "/nowhere: no such directory for the video",
        "{run} -o x.mp4 --episodes 0": "'--episodes'",
        "{run} -o x.mp4 --level 9-9": "unknown level '9-9'",
        "{run} -o x.mp4 --seed -1": "'--seed'",
        "drmario -o x.mp4 --backend chess": "unknown backend 'chess'",
        "drmario -o x.mp4 --backend embedded --rom {garbage}": "{garbage}: not an NES ROM",
        "drmario -o x.mp4 --rom {game}": "--rom needs a console: add --backend embedded or mednafen",
        "drmario -o x.mp4 --players 1 --opponent search": "leave --players 1 out",
    },
    "plot": {
        "nobody": "no run 'nobody'",
        "{selfplay}": "{selfplay} is a run of self-play",
        "{run} -o x.jpg": "its name ends in .png, unlike 'x.jpg'",
        "{run} -o /nowhere/x.png": "/nowhere: no such directory for --output",
        "{run} --level 1-1": "--level and --weights are for --dreams",
        "{run} --dreams -o x.png": "only a dreamer has dreams; this run's model is ppo",
    },
    "export": {
        "": "Missing argument 'RUN'",
        "{run}": "nothing to do: --hub-folder DIR",
        "nobody --hub-folder hub": "no run 'nobody'",
        "{garbage} --hub-folder hub": "neither a run's directory nor a checkpoint",
        "{selfplay} --hub-folder hub": "{selfplay}",
        "{run} --hub-folder {garbage}": "{garbage} is a file",
        "{run} --hub-folder /nowhere/hub": "/nowhere: no such directory for the",
        "{run} --hub-folder {run}": "{run} is not empty and no export of mario-rl",
        "{run} --hub-folder hub --episodes 0": "'--episodes'",
        "{run} --hub-folder hub --games 4": "--games: only for players of self-play",
        "{run} --hub-folder hub --weights worst": "'worst' is not one of 'best', 'latest'",
        "champion --hub-folder hub --games 3": "--games 3 is odd",
        "champion --hub-folder hub --episodes 4": "--episodes: only for runs of Super Mario Bros.",
        "champion --wandb mario": "champion is a player without a run: it has no curves for --wandb",
    },
    "play": {
        "chess": "'chess' is not one of 'antidote', 'drmario', 'smb'",
        "smb --rom /nowhere.nes": "cannot play smb: /nowhere.nes (from --rom): no such ROM file",
        "antidote --rom {garbage}": "cannot play antidote: {garbage}: not an NES ROM",
        "antidote --level 21": "'--level'",
        "antidote --seed 1": "'--seed'",
        "smb --level 3": "are for antidote and drmario",
    },
    "serve": {
        "--port 70000": "'--port'",
        "--host 0.0.0.0": "needs a token (--token, or MARIO_RL_TOKEN in the environment)",
        "--host 0.0.0.0 --token short": "at least 16 characters",
        "--host nowhere.invalid --port 0 --token 0123456789abcdef": "choose another --host or --port",
        "--roms /nowhere": "/nowhere (from --roms): no such directory",
        "--states {garbage}": "{garbage} (from --states) is a file: name a directory",
        "--emulator fceux": "'fceux' is not one of 'mednafen', 'embedded'",
        "--sessions 0": "'--sessions'",
    },
    "selfplay train": {
        "--env chess": "--env is one of placement, frames, not 'chess'",
        "--level 21": "--level is 0 to 20, or a range such as 0-10, not '21'",
        "--speed warp": "--speed is one or several of low, med, hi, not 'warp'",
        "--preset desktop": "unknown preset 'desktop'; use one of laptop",
        "--steps 0": "--steps is a whole number from 1 on, not 0",
        "--env frames --rollout 9": "--rollout is not for --env frames",
        "--pool-bots hal": "--pool-bots is none, or some of random, greedy, search",
        "--resume nobody": "no run 'nobody'",
        "--resume {garbage}": "neither a run's directory nor a checkpoint",
        "--resume {run}": "{run} is no run of self-play; `mario-rl train --resume` may know it",
        "--checkpoints {garbage}": "{garbage} is not a directory: choose another one for --checkpoints",
    },
    "selfplay evaluate": {
        "": "Missing argument 'A'",
        "hal": "no player 'hal': use one of random, greedy, search",
        "{garbage}": "no player '{garbage}'",
        "greedy search --games 3": "--games 3 is odd",
        "greedy --cluster nowhere": "--cluster is off, local, auto or ray://host:port, not 'nowhere'",
        "greedy --level 21": "'--level'",
        "greedy --backend chess": "unknown backend 'chess'",
        "greedy --backend http://localhost:1": "start `mario-rl serve` there, or correct the address",
        "greedy --json /nowhere/x.json": "/nowhere: no such directory",
        "cart:/nowhere.nes": "a cartridge is named as cart:FILE.nes",
        "cart:{garbage}": "{garbage}: not an NES ROM",
        "cart:{game} --backend rules": "a cartridge plays on a console: --backend embedded or mednafen, not rules",
        "cart:{game} cart:{game}": "two cartridges cannot meet",
    },
    "selfplay ladder": {
        "greedy": "a ladder needs at least two players",
        "greedy hal": "no player 'hal'",
        "--games 3": "--games 3 is odd",
        "--games 10 --quick": "leave --games out",
        "--cluster ray://host": "--cluster is off, local, auto or ray://host:port, not 'ray://host'",
        "--run nobody": "no run 'nobody'",
        "greedy random --json {garbage}": "{garbage} is not a ladder: name another file",
        "greedy random --picture x.jpg": "its name ends in .png, unlike 'x.jpg'",
        "greedy cart:{game}": "a cartridge always sits in seat 2",
    },
    "distill": {
        "--form chess": "--form is one of tree, table, linear, binary, lookup, tiny, not 'chess'",
        "--bytes 0": "--bytes is a whole number from 1 on, not 0",
        "--polish-minutes -1": "--polish-minutes is 0 or more",
        "--teacher hal": "no player 'hal'",
        "--teacher random": "random does not rate placements, so it cannot teach: use champion, greedy or search",
        "-o /nowhere/x.json": "/nowhere: no such directory for --output",
        "-o {here}": "{here} is a directory: --output takes the name of a file",
        "/nowhere.json --explain": "/nowhere.json: no such file; `mario-rl distill` makes players",
        "{garbage} --explain": "{garbage} cannot be read as a player",
        "small --explain --bytes 100": "`mario-rl distill small --explain`",
    },
    "burn": {
        "": "Missing argument 'PLAYER.json'",
        "huge -o x.nes": "huge: no such file; `mario-rl distill` makes players",
        "{garbage} -o x.nes": "{garbage} cannot be read as a player",
        "{here} -o x.nes": "{here} cannot be read as a player: Is a directory",
        "small --rom /nowhere.nes -o x.nes": "/nowhere.nes: no such ROM file; --rom takes antidote or a file",
        "small --rom {garbage} -o x.nes": "{garbage}: not an NES ROM",
        "small -o /nowhere/x.nes": "/nowhere: no such directory",
        "small -o {here}": "{here} is a directory: give the name of a file",
        "small -o x.nes --source x.nes": "x.nes is written already: give another name",
        "small --rom {game} -o {game}": "{game} is read: give another name",
    },
}
LEAST = 3  # wrong inputs to a command

ELSEWHERE: set[str] = set()
"""Commands whose wrong inputs are tried in tests of their own."""

NAMES = [" ".join(path) for path, command in commands() if not hasattr(command, "commands")]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ELSEWHERE])
def test_no_command_is_forgotten(name: str) -> None:
    assert len(WRONG.get(name, {})) >= LEAST, f"add wrong inputs to `mario-rl {name}` to WRONG, {LEAST} at least"


def test_no_command_is_remembered_that_is_gone() -> None:
    assert set(WRONG) | ELSEWHERE <= set(NAMES)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory, smb_rom: Path) -> dict[str, str]:
    """What the wrong inputs name."""
    folder = tmp_path_factory.mktemp("given")
    (folder / "garbage").write_text("Dear console,")
    shutil.copy(antidote(), folder / "game.nes")
    (folder / "cut.nes").write_bytes(antidote().read_bytes()[:20_000])
    (folder / "here").mkdir()
    small = ["--workers", "0", "--lanes", "1", "--hidden", "8", "--evaluate-every", "0", "--checkpoints", str(folder)]
    with pytest.raises(SystemExit, match="0"):
        cli.main(["train", "--model", "ppo", "--steps", "32", "--collect-steps", "16", "--name", "run", *small])
    (folder / "selfplay").mkdir()
    (folder / "selfplay" / "config.yaml").write_text("env: placement\n")
    (folder / "selfplay" / "player.pt").touch()
    files = {"garbage": "garbage", "cut": "cut.nes", "game": "game.nes", "here": "here"}
    files |= {"run": "run", "selfplay": "selfplay"}
    return {name: str(folder / file) for name, file in files.items()}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(f"{name} {wrong}".strip(), words) for name, cases in WRONG.items() for wrong, words in cases.items()],
    ids=lambda text: text.replace("{", "").replace("}", ""),
)
def test_one_line_that_says_what_to_do(
    arguments: str,
    words: str,
    given: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    capfd.readouterr()  # what the fixture said
    with pytest.raises(SystemExit) as ending:
        cli.main([word.format(**given) for word in arguments.split()])
    assert ending.value.code == 2
    assert_one_clear_line(capfd, [words.format(**given)], tmp_path)
    assert sorted(Path(given["here"]).iterdir()) == [], "it was empty before"
