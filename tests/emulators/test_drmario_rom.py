"""Dr. Mario's cartridges: Antidote is always there, a dump of one's own goes before it and is known by its MD5."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from mario_rl.emulators import rom as roms
from mario_rl.emulators.rom import RomNotFound, find_rom, identify, import_rom, located_roms
from mario_rl.roms import antidote
from tests.emulators.test_rom import cartridge


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing is imported and no variable is set."""
    monkeypatch.setenv("MARIO_RL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("MARIO_RL_DRMARIO_ROM", raising=False)
    return tmp_path


def test_antidote_is_found_without_doing_anything(machine: Path) -> None:
    assert find_rom("drmario").samefile(antidote())
    (rom,) = located_roms("drmario")
    assert rom.title == "Dr. Mario, Antidote, our own cartridge" and rom.source == "package mario_rl"


def test_the_dumps_of_the_original_are_known_by_their_md5() -> None:
    assert set(roms.GAMES["drmario"].dumps) == {"d3ec44424b5ac1a4dc77709829f721c9", "8181d696756578fc92e6c4c86da01904"}


def test_a_dump_is_recognised_by_its_md5_and_goes_before_antidote(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = cartridge(7)
    dumps = {hashlib.md5(data).hexdigest(): "a dump of the test"}
    monkeypatch.setitem(roms.GAMES, "drmario", roms.Game(**{**vars(roms.GAMES["drmario"]), "dumps": dumps}))
    assert identify(data) == "drmario" and identify(cartridge(8)) == roms.UNKNOWN_GAME
    (machine / "mine.nes").write_bytes(data)
    imported = import_rom(machine / "mine.nes")
    assert (imported.game, imported.title) == ("drmario", "Dr. Mario, a dump of the test")
    assert find_rom("drmario") == imported.path
    assert [rom.source for rom in located_roms("drmario")] == ["imported", "package mario_rl"]
    assert next(located_roms("drmario")).title == "Dr. Mario, a dump of the test"

    (machine / "other.nes").write_bytes(cartridge(9))
    monkeypatch.setenv("MARIO_RL_DRMARIO_ROM", str(machine / "other.nes"))
    assert find_rom("drmario") == machine / "other.nes"
    assert next(located_roms("drmario")).title == "Dr. Mario, unknown dump"


def test_an_installation_without_antidote_says_what_to_do(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = roms.Game(**{**vars(roms.GAMES["drmario"]), "package": "a_package_nobody_has"})
    monkeypatch.setitem(roms.GAMES, "drmario", hidden)
    with pytest.raises(RomNotFound) as error:
        find_rom("drmario")
    for advice in ("mario-rl rom import", "MARIO_RL_DRMARIO_ROM", "reinstall"):
        assert advice in str(error.value)
