"""The committed cartridge is what the sources give, and its parts lie where docs/cartridge.md says."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mario_rl.roms import antidote

CARTRIDGE = Path(__file__).parents[2] / "cartridge"
HEADER, PRG = 16, 0x8000
PLAYER, PLAYER_END = 0xE000, 0xFC00


def prg(address: int, end: int) -> bytes:
    """Bytes of the program by CPU address."""
    return antidote().read_bytes()[HEADER + address - PRG : HEADER + end - PRG]


def build(*arguments: str | Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = None if path is None else {"PATH": path}
    command = [sys.executable, CARTRIDGE / "build.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_a_build_gives_the_committed_bytes(tmp_path: Path) -> None:
    if shutil.which("ca65") is None:
        pytest.skip("ca65 not found: install cc65")
    before = sorted(CARTRIDGE.rglob("*"))
    result = build(tmp_path / "antidote.nes")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "antidote.nes").read_bytes() == antidote().read_bytes(), "run `make cartridge`, commit the file"
    made = [path for path in sorted(CARTRIDGE.rglob("*")) if "__pycache__" not in path.parts]
    assert made == [path for path in before if "__pycache__" not in path.parts], "the build left files behind"


def test_a_missing_assembler_is_one_clear_line(tmp_path: Path) -> None:
    result = build(tmp_path / "antidote.nes", path=str(tmp_path))
    assert result.returncode == 1
    assert result.stderr == "ca65 not found: install cc65 (Debian: apt install cc65)\n"
    assert list(tmp_path.iterdir()) == []


def test_it_is_a_mapper_1_cartridge_of_32_kb_prg_and_32_kb_chr() -> None:
    rom = antidote().read_bytes()
    assert rom[:8] == b"NES\x1a\x02\x04\x11\x00"
    assert len(rom) == HEADER + 0x8000 + 0x8000


def test_the_player_has_its_own_piece_of_rom_that_begins_with_the_address_of_its_steering() -> None:
    piece = prg(PLAYER, PLAYER_END)
    assert len(piece) >= 6 * 1024
    assert PLAYER + 2 < int.from_bytes(piece[:2], "little") < PLAYER_END
    used = piece.rstrip(b"\xff")
    assert len(used) < 1024, "the built-in player is meant to be small"
