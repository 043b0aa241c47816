"""Games on the nodes of a real cluster: they are the games that would have been played here."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mario_rl.cluster import tasks
from mario_rl.cluster.connection import Connection, connected
from mario_rl.cluster.matches import GAMES_OF_A_SHARE, Share, play_on, shares_of
from mario_rl.cluster.tasks import done_on
from mario_rl.roms import antidote
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.match import Conditions, play_match
from mario_rl.selfplay.players import make_player
from tests.cluster.machines import cluster, switch_off, switch_off_head
from tests.faults.runs import Place
from tests.selfplay.test_ladder import save_player

EASY = Conditions(level=0)


@pytest.fixture
def nodes(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster of two nodes, which `--cluster auto` finds."""
    place.checkpoints.mkdir()
    with cluster(nodes=1, num_cpus=1) as running:
        monkeypatch.setenv("RAY_ADDRESS", running.address)
        place.environment["RAY_ADDRESS"] = running.address
        yield running


@pytest.fixture
def connection(nodes: Any) -> Iterator[Connection]:
    with connected("auto") as connection:
        yield connection


def test_games_are_the_same_wherever_they_are_played_and_whatever_node_is_lost(
    nodes: Any, connection: Connection, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.pt"
    save_player(mine, seed=1)
    games = 3 * GAMES_OF_A_SHARE + 4
    shares = shares_of([str(mine), "greedy"], games, EASY)
    assert [share.games for share in shares] == [GAMES_OF_A_SHARE] * 3 + [4]
    told = []

    def progress(done: int, of: int) -> None:
        if not told:
            switch_off(nodes, next(iter(nodes.worker_nodes)))
        told.append((done, of))

    mine.rename(tmp_path / "elsewhere.pt")  # nodes have no files of ours
    records = play_on(connection, shares, progress)
    assert told[-1] == (games, games)
    here = play_match(make_player(str(tmp_path / "elsewhere.pt")), make_player("greedy"), games, EASY)
    assert records == here


def test_boards_played_twice_stay_together(tmp_path: Path) -> None:
    shares = shares_of(["greedy", "random"], 2 * GAMES_OF_A_SHARE, replace(EASY, first_seed=7, twice=True))
    assert [share.conditions.first_seed for share in shares] == [7, 7 + GAMES_OF_A_SHARE // 2]
    seeds = [player.seed for share in shares for player in share.players]
    assert len(set(seeds)) == 4, "nobody guesses the same twice"


def test_roms_and_cartridges_travel_and_what_goes_wrong_there_is_said_here(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cartridge = tmp_path / "vs.nes"
    burn_small(cartridge)
    conditions = replace(EASY, backend="embedded")
    shares = shares_of(["greedy", f"cart:{cartridge}"], 2, conditions)
    rom = tmp_path / "copy.nes"
    shutil.copy(antidote(), rom)
    shares += shares_of(["greedy"], 2, replace(conditions, rom=rom))
    rom.unlink()
    records = play_on(connection, shares)
    assert len(records) == 4 and all(record.frames > 100 for record in records)
    assert {record.seat for record in records[:2]} == {1}, "the cartridge has the other one"

    wrong = replace(shares_of(["greedy"], 2, EASY)[0], conditions=replace(EASY, backend="chess"))
    with pytest.raises(RunError, match="unknown backend 'chess'"):
        list(done_on(connection, Share.play, [wrong]))

    monkeypatch.setattr(tasks, "TRIES", 1)
    with pytest.raises(RunError, match="too little memory"):  # a process that dies every time
        list(done_on(connection, os._exit, [1]))


def burn_small(file: Path) -> None:
    """Antidote with a player inside."""
    from mario_rl.cli import main

    with pytest.raises(SystemExit, match="0"):
        main(["burn", "small", "-o", str(file)])


def test_a_ladder_and_a_match_as_users_play_them(nodes: Any, place: Place, tmp_path: Path) -> None:
    ladders = []
    for where in ("auto", "off"):
        file = tmp_path / f"{where}.json"
        words = ["selfplay", "ladder", "greedy", "random", "tiny", "--games", "4", "--level", "0"]
        command = place.command(*words, "--json", str(file), "--cluster", where)
        assert command.wait() == 0, command.errors
        ladders.append(json.loads(file.read_text()))
    elsewhere, here = ladders
    assert sorted(elsewhere.pop("pairs"), key=lambda pair: pair["a"] + pair["b"]) == sorted(
        here.pop("pairs"), key=lambda pair: pair["a"] + pair["b"]
    )
    assert elsewhere == here

    command = place.command("selfplay", "evaluate", "greedy", "--games", "60", "--level", "0", "--cluster", "auto")
    assert command.wait() == 0, command.errors
    assert "cleared           60" in command.output
    assert command.output.splitlines()[-1].endswith("--cluster auto")
    assert "Traceback" not in command.errors


def test_a_lost_head_is_one_line(nodes: Any, place: Place) -> None:
    words = ["selfplay", "evaluate", "champion", "search", "--games", "4000", "--level", "20", "--cluster", "auto"]
    command = place.command(*words)
    command.until(lambda: bool(players(place)), "games are played")
    switch_off_head(nodes)
    assert command.wait() == 2, command.errors
    assert "the head of the cluster (auto) does not answer any more; start one again" in command.errors.splitlines()[-1]
    assert "Traceback" not in command.errors


def players(place: Place) -> list[str]:
    """The processes that carry out tasks."""
    return [process.name() for process in place.processes() if process.name().startswith("ray::_carry_out")]
