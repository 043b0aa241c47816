"""Every form on the 6502 against itself in Python; what is refused; files."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from mario_rl.distill.drops import DROP_COLUMNS, DROP_ROTATIONS, FEATURES, MOST
from mario_rl.distill.form import Form, ScoringForm
from mario_rl.distill.linear import Linear
from mario_rl.distill.machine import CYCLES_A_CALL, ThinkingMachine
from mario_rl.distill.player_file import DistilledPlayer, load_player_file, save_player_file
from mario_rl.distill.questions import Leaf, Question
from mario_rl.distill.tables import Tables, names_of, size_of
from mario_rl.distill.tiny import Tiny
from mario_rl.distill.tree import Tree
from mario_rl.runs.directory import RunError
from tests.distill.boards import bottles, looked_at
from tests.distill.example_forms import FORMS, random_tree

NAMES = [f"{form.kind} {number}" for number, form in enumerate(FORMS)]


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_the_whole_chooser_is_its_mirror(form: Form) -> None:
    drops, machine = looked_at(bottles(600)), ThinkingMachine(form)
    chosen = form.choose(drops)
    for game in np.flatnonzero(drops.open.any(axis=1)).tolist():
        thought = machine.think(drops, game, seat=game % 2)
        turned = thought.rotation - isinstance(form, Tiny)
        assert (thought.column, turned) == (DROP_COLUMNS[chosen[game]], DROP_ROTATIONS[chosen[game]])
        assert isinstance(form, Tree) or max(thought.cycles) <= CYCLES_A_CALL


def test_the_smallest_players_keep_their_bytes() -> None:
    assert len(Tiny().compile().code) <= 160
    tables = {
        names_of(text): (0,) * size_of(names_of(text)) for text in ("upright*wanted*ground", "beside", "run_viruses")
    }
    small = Tables(tables | {("whim",): tuple(range(8))}, columns_a_frame=2)
    assert len(small.compile().code) <= 512


@pytest.mark.parametrize("form", [form for form in FORMS if isinstance(form, ScoringForm)])
def test_scores_never_leave_their_range(form: ScoringForm) -> None:
    most = np.array([MOST[name] for name in FEATURES])
    features = np.random.default_rng(0).integers(0, most + 1, (5000, len(FEATURES))).astype(np.uint8)
    scores = form.score(features)
    assert scores.min() >= 3
    assert scores.max() <= 255


def test_scores_that_would_wrap_are_refused() -> None:
    for wrong in (
        lambda: Tables({("upright",): (0, 253)}, 3),
        lambda: Tables({("ground",): (0, 0, 0, 0, 0, 0, 127)}, 3),
        lambda: Tables({("upright",): (0, 1, 2)}, 3),
        lambda: Linear({"top_row": 20}, 3),
        lambda: Linear({"upright": -1}, 3),
        lambda: Tree(Leaf(2)),
        lambda: Tree(Question("upright", 0, Leaf(3), Leaf(4))),
        lambda: Tree(random_tree(random.Random(1), 400, scores=17)),
        lambda: Tiny(60, 16),
    ):
        with pytest.raises(ValueError):
            wrong()


@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_forms_survive_their_files_and_explain_themselves(form: Form, tmp_path: Path) -> None:
    save_player_file(tmp_path / "p.json", DistilledPlayer(form))
    assert load_player_file(tmp_path / "p.json").form == form
    assert "_" not in form.explain()


def test_what_is_no_player_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    save_player_file(file, DistilledPlayer(FORMS[1]))
    whole = json.loads(file.read_text())
    wrong = ["", "[]", "{}", json.dumps(whole | {"kind": "rock"}), json.dumps(whole | {"form": {}})]
    wrong += [json.dumps(whole | {"form": whole["form"] | {"bias": 200}}), json.dumps(whole | {"form": 7})]
    for text in wrong:
        file.write_text(text)
        with pytest.raises(RunError) as problem:
            load_player_file(file)
        assert "\n" not in str(problem.value)
    with pytest.raises(RunError, match="no such file"):
        load_player_file(tmp_path / "none.json")
