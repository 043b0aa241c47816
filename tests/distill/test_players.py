"""The players that come with the package: their sizes, their play, and that they are what their names say."""

from __future__ import annotations

import numpy as np
import pytest

from mario_rl.distill.burn import burn
from mario_rl.distill.drops import DROP_COLUMNS, DROP_ROTATIONS
from mario_rl.distill.machine import CYCLES_A_CALL, ThinkingMachine
from mario_rl.distill.original import compile_for_original
from mario_rl.distill.play import Games, play
from mario_rl.distill.player_file import load_player_file, packaged_distilled
from mario_rl.distill.ranges import Range
from mario_rl.distill.tiny import Tiny
from mario_rl.environment.drmario.seeds import random_state
from mario_rl.roms import antidote
from tests.distill.boards import bottles, looked_at

ROOM = {"tiny": 160, "small": 512, "large": 6144}
FREE_IN_THE_ORIGINAL = [Range(0xFAFC, 516), Range(0xFF30, 160), Range(0xD2CC, 52)]


def test_they_are_all_there() -> None:
    assert set(packaged_distilled()) == set(ROOM)


@pytest.mark.parametrize("name", ROOM)
def test_a_packaged_player(name: str) -> None:
    player = load_player_file(packaged_distilled()[name])
    form = player.form
    assert len(form.compile().code) <= ROOM[name]
    assert burn(player, antidote().read_bytes()).used <= ROOM[name]
    assert player.card["settings"]["teacher"] == "champion"

    drops, machine = looked_at(bottles(300, 21), 21), ThinkingMachine(form)
    chosen = form.choose(drops)
    for game in np.flatnonzero(drops.open.any(axis=1)).tolist():
        thought = machine.think(drops, game)
        turned = thought.rotation - isinstance(form, Tiny)
        assert (thought.column, turned) == (DROP_COLUMNS[chosen[game]], DROP_ROTATIONS[chosen[game]])
        assert max(thought.cycles) <= CYCLES_A_CALL

    games = 50
    (played,) = play([form], Games(np.array([random_state(seed) for seed in range(games)]), np.full(games, 3)))
    assert played.cleared.mean() > 0.85


@pytest.mark.parametrize("name", ["tiny", "small"])
def test_the_smaller_ones_fit_into_the_original_with_their_hook(name: str) -> None:
    made = compile_for_original(load_player_file(packaged_distilled()[name]).form, FREE_IN_THE_ORIGINAL)
    assert sum(len(part.code) for part in made.parts) <= sum(size for _, size in FREE_IN_THE_ORIGINAL)
