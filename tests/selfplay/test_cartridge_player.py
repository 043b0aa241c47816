"""Cartridges that play: matches in which the ROM presses its own buttons, and what cannot be one."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from mario_rl import cli, cli_drmario
from mario_rl.environment.drmario.console import EmulatorGames
from mario_rl.environment.drmario.memory import HELD, GameMemory, Ints, Mask
from mario_rl.roms import PLAYER_SLOT, antidote, is_antidote, looks_like_antidote
from mario_rl.runs.bot_round import BotRounds, Contest, bottles
from mario_rl.runs.directory import RunError
from mario_rl.selfplay import match
from mario_rl.selfplay.cartridge_player import CartridgePlayer, default_backend, load_cartridge
from mario_rl.selfplay.ladder_entries import enter
from mario_rl.selfplay.match import Conditions, Fixture, GameRecord, fixtures, play_match
from mario_rl.selfplay.players import make_player
from tests.emulators.mednafen_here import mednafen_or_skip
from tests.emulators.test_rom import cartridge as cartridge_of_one_byte
from tests.mistakes import assert_one_clear_line

ANTIDOTE = f"cart:{antidote()}"
EASY = Conditions(level=1, backend="embedded")

# Players for the slot in machine code, whose steering, at the address in the first two bytes, is their thinking.
HEAD = bytes.fromhex("02E0")
SLEEPER = HEAD + bytes.fromhex(
    "A900 8505 A020 A200 CA D0FD 88 D0F8 60"
)  # presses nothing, and counts for 41,000 cycles
HANGS_AT_ONCE = HEAD + bytes.fromhex("4C02E0")
HANGS_AT_THE_SECOND = HEAD + bytes.fromhex("AD1003 C903 B0FE A900 8505 60")  # $0310 is 3 then


def with_player(code: bytes, file: Path) -> CartridgePlayer:
    """Antidote with another player inside."""
    image = bytearray(antidote().read_bytes())
    image[PLAYER_SLOT.start : PLAYER_SLOT.start + len(code)] = code
    file.write_bytes(image)
    return load_cartridge(f"cart:{file}")


def mario_rl(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ending:
        cli.main(list(arguments))
    assert isinstance(ending.value.code, int)
    return ending.value.code


class Frames:
    """What was pressed in every frame: by us, and as the game took it."""

    def __init__(self) -> None:
        self.pads: list[tuple[int, ...]] = []
        self.held: list[tuple[int, ...]] = []


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> Frames:
    """Looks over the shoulder of the first game of every match on a console."""
    seen, real = Frames(), EmulatorGames.step

    def step(
        games: EmulatorGames, pads: npt.NDArray[np.uint8], frames: int | Ints = 1, lanes: Mask | None = None
    ) -> None:
        real(games, pads, frames, lanes)
        seen.pads.append(tuple(pads[0].tolist()))
        seen.held.append(tuple(games.game.ram[0, HELD : HELD + 2].tolist()))

    monkeypatch.setattr(EmulatorGames, "step", step)
    return seen


class Again:
    """Presses what somebody else has pressed."""

    name = "again"
    frame_skip = 1

    def __init__(self, pads: Sequence[int]):
        self._pads = iter(pads)

    def hold(self, game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
        return np.array([next(self._pads)], np.uint8)


# --- the games ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 7])
def test_a_game_against_somebody_is_one_of_the_rules(frames: Frames, seed: int) -> None:
    """The engine plays the same game if somebody presses the cartridge's buttons there."""
    conditions = replace(EASY, level=4, first_seed=seed)
    record = play_match(make_player("greedy"), make_player(ANTIDOTE), 1, conditions)[0]
    assert (record.seat, record.late_frames) == (1, 0)
    buttons = [held[1] for held in frames.held[-record.frames :]]
    assert {0x02, 0x01, 0x80, 0x04} & set(buttons), "it moves its capsules"
    engine = play_match(make_player("greedy"), Again(buttons), 1, replace(conditions, backend="rules"))
    assert engine == [replace(record, late_frames=None)]
    assert record.opponent_capsules > 10


@pytest.mark.parametrize("speed", ["low", "hi"])
def test_a_game_alone_is_one_of_the_rules(frames: Frames, speed: str) -> None:
    conditions = replace(EASY, level=3, speed=speed, first_seed=11)
    record = play_match(make_player(ANTIDOTE), None, 1, conditions)[0]
    buttons = [held[0] for held in frames.held[-record.frames :]]
    assert play_match(Again(buttons), None, 1, replace(conditions, backend="rules")) == [
        replace(record, late_frames=None)
    ]
    assert (record.result, record.ending, record.late_frames, record.viruses) == ("win", "clear", 0, 0)
    assert record.capsules > 16


def test_it_always_sits_in_seat_2_and_any_number_of_games_will_do() -> None:
    assert fixtures(3, 5, alone=False, seat=1) == [Fixture(5, 1), Fixture(6, 1), Fixture(7, 1)]
    own, other = make_player(ANTIDOTE), make_player("greedy")
    ours, theirs = play_match(own, other, 3, EASY), play_match(other, own, 3, EASY)
    assert [record.seat for record in ours] == [2, 2, 2]
    assert [record.seat for record in theirs] == [1, 1, 1]
    assert [record.seed for record in ours] == [0, 1, 2]
    turned = {"win": "loss", "loss": "win", "draw": "draw"}
    for one, two in zip(ours, theirs, strict=True):
        assert one.result == turned[two.result]
        assert (one.capsules, one.viruses, one.frames) == (two.opponent_capsules, two.opponent_viruses, two.frames)
    assert len({record.frames for record in ours}) == 3, "boards of their own"


@pytest.mark.parametrize("a", [ANTIDOTE, "greedy", "alone"])
def test_nobody_but_itself_presses_its_buttons(frames: Frames, a: str) -> None:
    players = {
        ANTIDOTE: (make_player(ANTIDOTE), make_player("greedy")),
        "greedy": (make_player("greedy"), make_player(ANTIDOTE)),
        "alone": (make_player(ANTIDOTE), None),
    }[a]
    record = play_match(*players, 1, EASY)[0]
    ours = np.array(frames.pads[-record.frames :])
    taken = np.array(frames.held[-record.frames :])
    own = 0 if a == "alone" else 1
    assert not ours[:, own].any()
    assert taken[:, own].any()
    assert (ours[:, 1 - own] == taken[:, 1 - own]).all()
    assert ours[:, 1 - own].any() == (a != "alone")


def test_games_are_the_same_in_mednafen() -> None:
    mednafen_or_skip()
    own, conditions = make_player(ANTIDOTE), replace(EASY, level=0)
    for players in ((own, make_player("greedy")), (own, None)):
        records = [
            play_match(*players, 1, replace(conditions, backend=backend)) for backend in ("embedded", "mednafen")
        ]
        assert records[0] == records[1]
        assert records[0][0].late_frames == 0


def test_it_does_not_matter_how_many_games_are_played_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    own = make_player(ANTIDOTE)
    at_once = play_match(own, None, 4, EASY)
    monkeypatch.setitem(match.LANES, "embedded", 2)
    assert play_match(own, None, 4, EASY) == at_once


def test_a_long_game_is_cut_off_at_a_capsule() -> None:
    own = make_player(ANTIDOTE)
    for other, result in ((None, "loss"), (make_player("greedy"), "draw")):
        record = play_match(own, other, 1, replace(EASY, level=15, max_frames=400))[0]
        assert (record.result, record.ending) == (result, "cut_off")
        assert 400 <= record.frames < 600


# --- players of its own -------------------------------------------------------------------------------------------


def test_late_frames_are_counted(tmp_path: Path) -> None:
    """A player that takes longer for each of its calls than a frame lasts."""
    slow = with_player(SLEEPER, tmp_path / "slow.nes")
    record = play_match(slow, None, 1, replace(EASY, max_frames=100))[0]
    assert record.late_frames is not None
    assert record.late_frames > 50
    assert slow.name == "slow"


@pytest.mark.parametrize("code", [HANGS_AT_ONCE, HANGS_AT_THE_SECOND], ids=["at once", "at the second capsule"])
def test_one_that_hangs_is_not_waited_for(code: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "LONGEST_WAIT", 200)
    hangs = with_player(code, tmp_path / "hangs.nes")
    with pytest.raises(RunError, match="the cartridge hangs: no capsule came for 200 frames on board 5"):
        play_match(hangs, None, 1, replace(EASY, first_seed=5, max_frames=300))


def test_what_is_antidote_and_what_looks_like_it(tmp_path: Path) -> None:
    ours = antidote().read_bytes()
    other = with_player(SLEEPER, tmp_path / "other.nes")
    assert other.antidote
    assert looks_like_antidote(ours)
    assert looks_like_antidote(other.rom.read_bytes())
    pixel = ours[:-1] + bytes([ours[-1] ^ 1])
    assert is_antidote(pixel)
    assert not looks_like_antidote(pixel)
    assert not is_antidote(cartridge_of_one_byte())
    drawn_upon = bottles(Contest("greedy", f"cart:{other.rom}", backend="embedded"))
    assert drawn_upon == bottles(Contest("greedy", "greedy", backend="embedded", rom=antidote()))
    assert drawn_upon is not None


# --- rounds for people --------------------------------------------------------------------------------------------


def test_rounds_for_people_are_those_of_matches() -> None:
    for names in (("greedy", ANTIDOTE), (ANTIDOTE, None)):
        players = [make_player(name) for name in names if name is not None]
        record: GameRecord = play_match(players[0], players[1] if len(players) == 2 else None, 1, EASY)[0]
        for drawn in (True, False):
            with contextlib.closing(BotRounds(Contest(*names, level=1, backend="embedded"), drawn)) as rounds:
                moments = list(rounds.play(0))
            agent, *others = moments[-1].seats
            assert moments[-1].ended
            assert agent.cleared == record.cleared
            assert (agent.viruses, agent.capsules) == (record.viruses, record.capsules)
            assert [seat.viruses for seat in others] == [record.opponent_viruses] * len(others)
            assert moments[-1].seats[-1].presses
            if drawn:
                assert any(moment.seats[-1].pad for moment in moments), "the buttons it presses are shown"


def test_a_round_alone_ends_before_the_title_comes_back() -> None:
    with contextlib.closing(BotRounds(Contest(ANTIDOTE, level=0, backend="embedded"), drawn=False)) as rounds:
        for seed in range(4):
            *_, last = rounds.play(seed)
            assert last.won


def test_a_video_nobody_named_is_called_after_the_file() -> None:
    contest = Contest("champion", "cart:some/where/x.nes", 3, backend="embedded")
    assert cli_drmario.default_files(contest) == [Path("drmario_champion_x_level3.mp4")]


def test_a_cartridge_wants_a_console() -> None:
    assert default_backend(("greedy", None)) == "rules"
    assert default_backend(("greedy", ANTIDOTE)) == default_backend((ANTIDOTE, None)) == "embedded"
    assert cli_drmario.contest("0", None, ANTIDOTE, None, None, None, None).backend == "embedded"
    assert cli_drmario.contest("0", None, ANTIDOTE, None, None, "mednafen", None).backend == "mednafen"


# --- the command --------------------------------------------------------------------------------------------------


def test_the_figures_and_the_command_that_plays_again(capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--games", "3", "--level", "0", "--seed", "4"]
    for players in ([ANTIDOTE, "greedy"], ["greedy", ANTIDOTE], [ANTIDOTE]):
        assert mario_rl("selfplay", "evaluate", *players, *options, "--json", "-") == 0
        found = json.loads(capfd.readouterr().out)
        assert (found["backend"], found["seeds"], found["late_frames"]) == ("embedded", [4, 5, 6], 0)
        assert found["frames"] == pytest.approx(3 * found["seconds"] * 60.0988)
        if len(players) == 2:
            assert list(found["rate_by_seat"]) == ["2" if players[0] == ANTIDOTE else "1"]
        again = shlex.split(found["command"])[1:]
        assert mario_rl(*again, "--json", "-") == 0
        assert json.loads(capfd.readouterr().out) == found
        assert mario_rl(*again) == 0
        assert f"late frames       0 at most a game, of {found['frames']:,} in all\n" in capfd.readouterr().out


def test_matches_of_others_have_no_figures_of_cartridges(capfd: pytest.CaptureFixture[str]) -> None:
    assert mario_rl("selfplay", "evaluate", "greedy", "random", "--games", "2", "--level", "0", "--json", "-") == 0
    assert not {"frames", "late_frames"} & set(json.loads(capfd.readouterr().out))


# --- mistakes -----------------------------------------------------------------------------------------------------

NOT_A_ROM = f"cart:{__file__}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate", ANTIDOTE, ANTIDOTE], ["both want seat 2", ".json"]),
        (["evaluate", ANTIDOTE, "greedy", "--twice"], ["--twice", "seat 2"]),
        (["evaluate", ANTIDOTE, "--backend", "rules"], ["--backend embedded or mednafen", "not rules"]),
        (["evaluate", "greedy", ANTIDOTE, "--backend", "http://localhost:1"], ["embedded or mednafen"]),
        (["evaluate", "greedy", ANTIDOTE, "--rom", "x.nes"], ["--rom x.nes", "leave --rom out"]),
        (["evaluate", "cart:no.nes"], ["cart:no.nes: no such ROM file"]),
        (["evaluate", "cart:"], ["no such ROM file", "cart:FILE.nes"]),
        (["evaluate", NOT_A_ROM], ["not an NES ROM"]),
        (["evaluate", "greedy", NOT_A_ROM], ["not an NES ROM"]),
        (["ladder", "greedy", ANTIDOTE], ["change seats", "always sits in seat 2", ".json"]),
    ],
    ids=lambda part: " ".join(Path(word).name for word in part),
)
def test_mistakes(
    arguments: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert mario_rl("selfplay", *arguments) == 2
    assert_one_clear_line(capfd, words, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", ANTIDOTE, "--opponent", "greedy"], ["second seat", "--opponent"]),
        (["--agent", ANTIDOTE, "--players", "2"], ["both want seat 2"]),
        (["--opponent", ANTIDOTE, "--backend", "rules"], ["not rules"]),
        (["--opponent", ANTIDOTE, "--rom", "x.nes"], ["leave --rom out"]),
        (["--opponent", "cart:no.nes"], ["no such ROM file"]),
        (["--opponent", NOT_A_ROM], ["not an NES ROM"]),
    ],
    ids=lambda part: " ".join(Path(word).name for word in part),
)
@pytest.mark.parametrize("command", ["watch", "record"])
def test_mistakes_of_rounds_for_people(
    command: str,
    arguments: list[str],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert mario_rl(command, "drmario", *arguments) == 2
    assert_one_clear_line(capfd, words, tmp_path)


def test_another_game_is_none(smb_rom: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"Super Mario Bros\. as it was sold: no player is inside"):
        make_player(f"cart:{smb_rom}")
    file = tmp_path / "nothing.nes"
    file.write_bytes(cartridge_of_one_byte())
    other = make_player(f"cart:{file}")
    for backend in ("embedded", "mednafen"):
        if backend == "mednafen":
            mednafen_or_skip()
        with pytest.raises(RunError, match=r"nothing.nes: the cartridge did not get into a round of Dr\. Mario"):
            play_match(other, make_player("greedy"), 1, replace(EASY, backend=backend))
        with pytest.raises(RunError, match=r"nothing.nes does not play alone: only Antidote does"):
            play_match(other, None, 1, replace(EASY, backend=backend))
    rounds = BotRounds(Contest("greedy", f"cart:{file}", backend="embedded"))
    with contextlib.closing(rounds), pytest.raises(RunError, match=r"nothing.nes: the cartridge did not get into"):
        next(rounds.play(0))


def test_a_ladder_has_no_place_for_it() -> None:
    with pytest.raises(RunError, match="always sits in seat 2"):
        enter(["greedy", ANTIDOTE])
