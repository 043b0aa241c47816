"""Every command in every page works. Here: all are accounted for, and understood; `make docs-check` runs them."""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from tests.docs.accounts import NOT_HERE, Account, Unaccounted, account, all_blocks, program_of, units
from tests.docs.command_line import parse
from tests.docs.commands import PAGES, SOURCE_TREE, Command, commands_of
from tests.docs.workshop import Workshop

SERVED = "localhost:8000"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_accounted_for_and_understood(page: Path) -> None:
    problems = []
    for command in (command for block in commands_of(page) for command in block):
        try:
            for one in account(command):
                if program_of(one.run) == "mario-rl":
                    parse(re.sub(r"\s*[|>;&].*$", "", one.run))
                    if not one.run.endswith("--help"):
                        parse(one.command.text)
        except Unaccounted as problem:
            problems.append(str(problem))
        except typer.TyperException as problem:
            problems.append(f"{command.where}: {command.text}\n  {problem.format_message()}")
    assert not problems, "\n".join(problems)


def test_the_list_of_what_cannot_be_run_is_no_longer_than_it_must_be() -> None:
    used = {program_of(one.command.text) for block in all_blocks() for command in block for one in account(command)}
    assert set(NOT_HERE) <= used, f"not in any page: {sorted(set(NOT_HERE) - used)}"


# --- the commands themselves: make docs-check ---------------------------------------------------------------------


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory, worker_id: str, smb_rom: Path) -> Workshop:
    """Made once, by whichever process comes first."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "workshop"
    with (folder.parent / "workshop.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder.parent / "workshop.done"
        if not done.exists():
            Workshop.build(folder)
            done.touch()
    return Workshop(folder)


def _where(unit: list[Account]) -> str:
    return unit[0].command.where.removeprefix("docs/")


@pytest.mark.docs
@pytest.mark.parametrize("unit", units(all_blocks()), ids=_where)
def test_the_commands_of_a_block_run_one_after_the_other(
    unit: list[Account], workshop: Workshop, tmp_path: Path
) -> None:
    here = workshop.copy(tmp_path / "here")
    if any(SERVED in one.run for one in unit):
        with here.server() as address:
            for one in unit:
                here.run(Account(one.command, one.run.replace(SERVED, address), one.how, one.code, one.why_not))
        return
    for one in unit:
        if one.how == "options" and program_of(one.run).startswith("python") and "-m benchmarks." in one.run:
            _assert_options_exist(one)
        elif one.why_not is None:
            here.run(one)


def _assert_options_exist(one: Account) -> None:
    module = re.search(r"-m (benchmarks\.\w+)", one.run)
    assert module is not None
    command = [sys.executable, "-m", module[1], "--help"]
    text = subprocess.run(command, cwd=SOURCE_TREE, capture_output=True, text=True, check=True).stdout
    for option in re.findall(r"--[\w-]+", one.run):
        assert option in text, f"{one.command.where}: {module[1]} has no {option}"


# --- how commands are found ---------------------------------------------------------------------------------------

PAGE = """\
# A page

Run `mario-rl rom
list`, or `make`, or `mario-rl` alone; a table has `mario-rl watch RUN`, `plot RUN`, `train()`.

    mario-rl doctor            # a comment
    mario-rl evaluate RUN \\
        --episodes 3

    worker ──► coordinator

```sh
curl localhost:8000/status   # another
```

- in a list

      mario-rl plot RUN

  and not a block:
    mario-rl is fast

```python
mario_rl = "no command"
```

    $ mario-rl rom list
    smb  a ROM

```text
mario-rl is not typed here
```
"""


def test_commands_are_found_wherever_they_stand(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    found = [[(command.line, command.text) for command in block] for block in commands_of(page)]
    assert found == [
        [(3, "mario-rl rom list")],
        [(4, "mario-rl watch RUN")],
        [(4, "mario-rl plot RUN")],
        [(6, "mario-rl doctor"), (7, "mario-rl evaluate RUN --episodes 3")],
        [(13, "curl localhost:8000/status")],
        [(18, "mario-rl plot RUN")],
        [(27, "mario-rl rom list")],
    ]


def test_a_new_command_is_not_overlooked() -> None:
    with pytest.raises(Unaccounted, match=r"page\.md:7: brew install mario-rl(.|\n)*SHORTER"):
        account(Command("page.md", 7, "brew install mario-rl"))
    with pytest.raises(typer.TyperException, match="No such option: --no-such-option"):
        parse("mario-rl doctor --no-such-option")
