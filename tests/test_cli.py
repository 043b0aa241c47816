"""The command line as a user meets it: a process, its output, its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.emulators.test_rom import cartridge


def mario_rl(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mario_rl", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


def assert_one_line_of_error(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert result.stderr.startswith("mario-rl: ")
    assert result.stderr.count("\n") == 1, result.stderr
    for word in words:
        assert word in result.stderr


def test_version_and_help() -> None:
    version = mario_rl("--version")
    assert version.returncode == 0
    assert version.stdout.startswith("mario-rl 0.")
    overview = mario_rl("--help")
    assert overview.returncode == 0
    for command in ("doctor", "rom", "bench"):
        assert command in overview.stdout


def test_the_command_line_comes_without_what_its_commands_need() -> None:
    """So that help is quick, and `doctor` can say what is missing."""
    heavy = "{'torch', 'scipy', 'matplotlib', 'stable_baselines3', 'mario_rl._native', 'mario_rl._drmario'}"
    program = f"import sys, mario_rl.cli; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert loaded == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["Missing command", "--help"]),
        (["no-such-command"], ["no-such-command"]),
        (["doctor", "--no-such-option"], ["--no-such-option"]),
        (["rom", "import"], ["file", "--help"]),
        (["rom", "import", "/no/such/file.nes"], ["/no/such/file.nes", "check the path"]),
        (["rom", "import", "/"], ["no such ROM file"]),
        (["bench", "emulators", "--rom", "/no/such/file.nes"], ["/no/such/file.nes", "--rom"]),
        (["bench", "emulators", "--json", "/no/such/directory/x.json"], ["/no/such/directory"]),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(arguments: list[str], words: list[str], smb_rom: Path) -> None:
    assert_one_line_of_error(mario_rl(*arguments), *words)


def test_import_then_list(tmp_path: Path) -> None:
    file = tmp_path / "game.nes"
    file.write_bytes(cartridge())
    data = {"MARIO_RL_DATA_DIR": str(tmp_path / "data"), "MARIO_RL_SMB_ROM": ""}
    imported = mario_rl("rom", "import", str(file), "--game", "smb", **data)
    assert imported.returncode == 0, imported.stderr
    listed = mario_rl("rom", "list", **data)
    first_line = listed.stdout.splitlines()[0].split("\t")
    assert first_line[0] == "smb"
    assert first_line[2] == "imported"
    assert Path(first_line[4]).read_bytes() == file.read_bytes()


def test_importing_something_else_says_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "letter.nes"
    file.write_text("Dear console,")
    assert_one_line_of_error(mario_rl("rom", "import", str(file)), "cannot import", "letter.nes")


def test_doctor_on_a_healthy_machine(smb_rom: Path) -> None:
    result = mario_rl("doctor")
    assert result.returncode == 0, result
    lines = {line[9:21].strip(): line for line in result.stdout.splitlines()}
    assert lines["native core"].startswith("ok")
    assert str(smb_rom) in lines["ROM smb"]
    assert "Mednafen" in lines
    frames_per_second = float(lines["speed"].split()[2].replace(",", ""))
    assert frames_per_second > 600, "ten times a console's own speed is the least to expect"


@pytest.mark.parametrize("content", [None, "not a ROM"])
def test_doctor_on_a_machine_with_a_bad_rom(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "rom.nes"
    if content is not None:
        file.write_text(content)
    result = mario_rl("doctor", "--rom", str(file))
    assert result.returncode == 1
    assert result.stderr == ""
    rom_line = next(line for line in result.stdout.splitlines() if "ROM smb" in line)
    assert rom_line.startswith("MISSING")
