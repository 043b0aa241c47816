"""ROM identity, import and lookup order, on made-up cartridges and empty directories."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

from mario_rl.emulators import rom as roms
from mario_rl.emulators.rom import RomNotFound, find_rom, import_rom, imported_roms


def cartridge(fill: int = 0xEA) -> bytes:
    """An iNES file for mapper 0: one 16 KB program bank of a single byte, one 8 KB pattern bank."""
    return b"NES\x1a\x01\x01\x00\x00" + bytes(8) + bytes([fill]) * 16384 + bytes(8192)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has no ROM at all: nothing imported, no variable, no package."""
    monkeypatch.setenv("MARIO_RL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("MARIO_RL_SMB_ROM", raising=False)
    hidden = roms.Game(**{**vars(roms.GAMES["smb"]), "package": "a_package_nobody_has"})
    monkeypatch.setitem(roms.GAMES, "smb", hidden)
    return tmp_path


def rom_file(folder: Path, name: str, fill: int = 0xEA) -> Path:
    file = folder / name
    file.write_bytes(cartridge(fill))
    return file


def test_without_a_rom_the_error_says_what_to_do(machine: Path) -> None:
    with pytest.raises(RomNotFound) as error:
        find_rom("smb")
    for advice in ("mario-rl rom import", "MARIO_RL_SMB_ROM", "gym-super-mario-bros"):
        assert advice in str(error.value)


def test_lookup_order(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each source, from the last in the order to the first, takes precedence over those before it."""
    package = machine / "site" / "rom_package_of_the_test"
    (package / "_roms").mkdir(parents=True)
    # Importing the package would fail: finding its file must not try.
    (package / "__init__.py").write_text("raise ImportError('imported as a module')")
    packaged = rom_file(package / "_roms", "super-mario-bros.nes", 1)
    monkeypatch.syspath_prepend(str(machine / "site"))
    importlib.invalidate_caches()
    game = roms.Game(**{**vars(roms.GAMES["smb"]), "package": package.name})
    monkeypatch.setitem(roms.GAMES, "smb", game)
    assert find_rom("smb") == packaged
    assert package.name not in sys.modules

    imported = import_rom(rom_file(machine, "imported.nes", 2), game="smb")
    assert find_rom("smb") == imported.path

    variable = rom_file(machine, "variable.nes", 3)
    monkeypatch.setenv("MARIO_RL_SMB_ROM", str(variable))
    assert find_rom("smb") == variable

    explicit = rom_file(machine, "explicit.nes", 4)
    assert find_rom("smb", explicit) == explicit


def test_a_named_file_that_is_missing_is_an_error_even_if_another_is_there(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_rom(rom_file(machine, "a.nes"), game="smb")
    with pytest.raises(RomNotFound, match=r"nowhere\.nes \(from --rom\)"):
        find_rom("smb", machine / "nowhere.nes")
    monkeypatch.setenv("MARIO_RL_SMB_ROM", str(machine / "gone.nes"))
    with pytest.raises(RomNotFound, match=r"gone\.nes \(from MARIO_RL_SMB_ROM\)"):
        find_rom("smb")


def test_unknown_games_are_named(machine: Path) -> None:
    with pytest.raises(RomNotFound, match="unknown game 'zelda'"):
        find_rom("zelda")
    with pytest.raises(RomNotFound, match="unknown game 'zelda'"):
        import_rom(rom_file(machine, "a.nes"), game="zelda")


def test_import_stores_by_hash_and_is_idempotent(machine: Path) -> None:
    source = rom_file(machine, "a.nes")
    first = import_rom(source)
    assert first.game == roms.UNKNOWN_GAME
    assert first.path.name == f"{first.sha256}.nes"
    assert first.path.read_bytes() == source.read_bytes()
    assert import_rom(source) == first
    assert list(first.path.parent.iterdir()) == [first.path], "no temporary files are left"


def test_the_newest_import_of_a_game_is_used(machine: Path) -> None:
    older = import_rom(rom_file(machine, "a.nes", 1), game="smb")
    newer = import_rom(rom_file(machine, "b.nes", 2), game="smb")
    os.utime(older.path, ns=(0, 0))
    assert [rom.path for rom in imported_roms("smb")] == [newer.path, older.path]
    assert find_rom("smb") == newer.path


def test_import_recognises_the_known_dump(machine: Path, smb_rom: Path) -> None:
    imported = import_rom(smb_rom)
    assert imported.sha256 in roms.GAMES["smb"].dumps
    assert imported.game == "smb"
    assert find_rom("smb") == imported.path


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a ROM",
        cartridge()[:-1],
        b"XES\x1a" + cartridge()[4:],
        cartridge()[:6] + b"\xf0\xf0" + cartridge()[8:],
    ],
    ids=["empty", "text", "truncated", "wrong magic", "unsupported mapper"],
)
def test_a_bad_file_is_refused_and_nothing_is_stored(machine: Path, data: bytes) -> None:
    from mario_rl._native import RomError

    file = machine / "bad.nes"
    file.write_bytes(data)
    with pytest.raises(RomError):
        import_rom(file, game="smb")
    assert not (machine / "data").exists()


def test_importing_a_missing_file_says_so(machine: Path) -> None:
    with pytest.raises(RomNotFound, match="no such ROM file"):
        import_rom(machine / "nowhere.nes")
