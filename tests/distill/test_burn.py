"""Players in cartridges, what is refused, and the command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import typer

from mario_rl import cli_burn
from mario_rl.distill.assembler import Program
from mario_rl.distill.burn import BurnError, burn
from mario_rl.distill.chooser import IN_ANTIDOTE, Place, write_head
from mario_rl.distill.form import Form
from mario_rl.distill.listing import Assembled
from mario_rl.distill.patches import apply_bps, apply_ips
from mario_rl.distill.player_file import DistilledPlayer, save_player_file
from mario_rl.distill.tables import Tables
from mario_rl.distill.tiny import Tiny
from mario_rl.distill.tree import Tree
from mario_rl.emulators.rom import GAMES, sha256_of
from mario_rl.mistake import Mistake
from mario_rl.roms import antidote, looks_like_antidote
from tests.distill.dumps import REVISION_0, REVISION_A, made_up_dump, register
from tests.distill.example_forms import FORMS

TABLES = Tables({("ground",): (0, 4, 8, 11, 22, 25, 29)}, 3)


def padded(size: int, monkeypatch: pytest.MonkeyPatch) -> DistilledPlayer:
    """A player of any size."""

    def compile(self: Tiny, place: Place = IN_ANTIDOTE) -> Assembled:
        program = Program(place.origin)
        write_head(program)
        program("rts")
        program.label("steer")
        program("rts")
        program.label("padding")
        program.data([0xEA] * (size - 4))
        return program.assemble()

    monkeypatch.setattr(Tiny, "compile", compile)
    return DistilledPlayer(Tiny())


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.kind} {form.thinks}")
def test_antidote_with_another_player(form: Form) -> None:
    rom = antidote().read_bytes()
    burned = burn(DistilledPlayer(form), rom)
    code = form.compile().code
    slot = burned.rom[16 + 0x6000 : 16 + 0x7C00]
    assert slot == code + b"\xff" * (0x1C00 - len(code))
    assert burned.rom[: 16 + 0x6000] == rom[: 16 + 0x6000] and burned.rom[16 + 0x7C00 :] == rom[16 + 0x7C00 :]
    assert looks_like_antidote(burned.rom) and burned.hook is None
    assert (burned.used, burned.free) == (len(code), 0x1C00 - len(code))
    assert burn(DistilledPlayer(form), burned.rom).rom == burned.rom  # a player gives way to another one


def test_there_is_room_for_seven_kilobytes(monkeypatch: pytest.MonkeyPatch) -> None:
    rom = antidote().read_bytes()
    assert burn(padded(0x1C00, monkeypatch), rom).free == 0
    with pytest.raises(BurnError, match="too large: it has 7,169 bytes, and there is room for 7,168"):
        burn(padded(0x1C01, monkeypatch), rom)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.kind} {form.thinks}")
def test_any_form_goes_into_the_original_or_says_how_large_it_is(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    rom = made_up_dump(REVISION_0, None)
    register(rom, REVISION_0, monkeypatch)
    try:
        burned = burn(DistilledPlayer(form), rom)
    except BurnError as problem:
        assert "too large" in str(problem)
        assert isinstance(form, Tree) or "there is room for 728 (516 + 160 + 52)" in str(problem)
    else:
        assert burned.title == "Dr. Mario, Japan, USA" and burned.free >= 0


def refused(rom: bytes) -> str:
    with pytest.raises(BurnError) as problem:
        burn(DistilledPlayer(Tiny()), rom)
    assert "\n" not in str(problem.value)
    return str(problem.value)


def test_what_is_no_cartridge_for_players_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for garbage in (b"", b"NES\x1a", b"MZ" * 40_000, made_up_dump(REVISION_0, None)[:-1]):
        assert "Dr. Mario" not in refused(garbage)
    ours = antidote().read_bytes()
    assert "another Antidote" in refused(ours[:100] + bytes([ours[100] ^ 1]) + ours[101:])
    dump = made_up_dump(REVISION_0, None)
    assert "may be Dr. Mario, but a changed or unknown dump (MD5 " in refused(dump)
    other = bytearray(dump)
    other[6] = 0x00  # another mapper
    assert "a game that is not known (MD5 " in refused(bytes(other))
    monkeypatch.setitem(GAMES["smb"].dumps, sha256_of(bytes(other)), "World")
    assert "this is Super Mario Bros. (World)" in refused(bytes(other))


def test_a_dump_that_has_a_player_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rom = made_up_dump(REVISION_A, 0xB000)
    register(rom, REVISION_A, monkeypatch)
    assert "a player in this file already" in refused(burn(DistilledPlayer(Tiny()), rom).rom)


# --- the command --------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a player, and a dump of the original."""
    save_player_file(tmp_path / "player.json", DistilledPlayer(TABLES))
    rom = made_up_dump(REVISION_0, None)
    register(rom, REVISION_0, monkeypatch)
    (tmp_path / "dump.nes").write_bytes(rom)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> None:
    app = typer.Typer()
    app.callback()(lambda: None)
    cli_burn.register(app)
    assert not app(args=["burn", *arguments], standalone_mode=False)


def mistake(*arguments: str) -> str:
    before = {file: file.read_bytes() for file in Path().iterdir() if file.is_file()}
    with pytest.raises(Mistake) as problem:
        run(*arguments)
    assert {file: file.read_bytes() for file in Path().iterdir() if file.is_file()} == before
    assert "\n" not in problem.value.message and problem.value.exit_code == 2
    return problem.value.message


def test_the_command_burns_antidote(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("player.json")
    expected = burn(DistilledPlayer(TABLES), antidote().read_bytes())
    assert (folder / "player.nes").read_bytes() == expected.rom
    told = capsys.readouterr().out
    assert f"player.json in Antidote: {expected.used} bytes, {expected.free:,} are free" in told
    assert f"$E000-${0xE000 + expected.used - 1:04X}: {expected.used} bytes" in told
    assert "player.nes: 65,552 bytes" in told and "VS CPU" in told


def test_the_command_burns_the_original(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["-o", "vs.nes", "--ips", "vs.ips", "--bps", "vs.bps", "--source", "vs.s", "--listing", "vs.lst"]
    run("player.json", "--rom", "dump.nes", *files)
    rom = (folder / "dump.nes").read_bytes()
    burned = (folder / "vs.nes").read_bytes()
    expected = burn(DistilledPlayer(TABLES), rom)
    assert burned == expected.rom != rom
    assert apply_ips(rom, (folder / "vs.ips").read_bytes()) == burned
    assert apply_bps(rom, (folder / "vs.bps").read_bytes()) == burned
    told = capsys.readouterr().out
    assert "player.json in Dr. Mario, Japan, USA: " in told
    assert "$B7BF: 4C " in told and "in place of 85 F6 60" in told and "2 PLAYER GAME" in told
    assert "FAFC" in (folder / "vs.lst").read_text()
    subprocess.run(["ca65", "vs.s", "-o", "vs.o"], check=True, cwd=folder)
    (folder / "vs.cfg").write_text(
        "MEMORY { M: start = 0, size = $8000, file = %O; } SEGMENTS { CODE: load = M, type = ro; }"
    )
    subprocess.run(["ld65", "-C", "vs.cfg", "vs.o", "-o", "vs.bin"], check=True, cwd=folder)
    assert (folder / "vs.bin").read_bytes() == expected.made.code


def test_a_patch_alone_leaves_the_cartridge_out(folder: Path) -> None:
    run("player.json", "--rom", "dump.nes", "--bps", "vs.bps")
    assert sorted(file.name for file in folder.iterdir()) == ["dump.nes", "player.json", "vs.bps"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nobody.json"], "no such file"),
        (["dump.nes"], "cannot be read as a player"),
        (["player.json", "--rom", "nothing.nes"], "nothing.nes: no such ROM file"),
        (["player.json", "--rom", "player.json"], "not an NES ROM"),
        (["player.json", "--rom", "dump.nes", "-o", "dump.nes"], "dump.nes is read: give another name"),
        (["player.json", "--rom", "dump.nes", "--ips", "./player.json"], "player.json is read"),
        (["player.json", "-o", str(antidote())], "is read"),
        (["player.json", "--ips", "vs", "--bps", "vs"], "vs is written already"),
        (["player.json", "-o", "nowhere/vs.nes"], "no such directory"),
        (["player.json", "--source", "."], "is a directory"),
    ],
)
def test_mistakes_are_one_line(folder: Path, arguments: list[str], why: str) -> None:
    assert why in mistake(*arguments)
