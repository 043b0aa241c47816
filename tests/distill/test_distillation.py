"""From teacher to player: what is taught, what forms make of it, what polishing does, and the command around it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from mario_rl import cli
from mario_rl.distill.byte_teacher import ByteTeacher
from mario_rl.distill.config import KINDS
from mario_rl.distill.drops import DROPS, NOWHERE, Drops
from mario_rl.distill.fit_additive import fit_linear, fit_tables
from mario_rl.distill.fit_binary import fit_binary
from mario_rl.distill.fit_tree import fit_half_tree, fit_tree
from mario_rl.distill.form import Form, ScoringForm, aim
from mario_rl.distill.imitation import imitate
from mario_rl.distill.lessons import NOT_WORTH_RATING, Lessons, lessons_of
from mario_rl.distill.lookup import fit_lookup, hashes
from mario_rl.distill.mirror import CartridgeMirror
from mario_rl.distill.play import Games, Rounds, play
from mario_rl.distill.player_file import load_player_file
from mario_rl.distill.polish import Polishing, numbers_of, polish, validation_costs
from mario_rl.distill.tables import Tables, named
from mario_rl.distill.teacher import BotTeacher, ScorerTeacher, of_drops, teacher_of
from mario_rl.environment.drmario.bots import make_bot
from mario_rl.environment.drmario.placements import PLACEMENTS
from mario_rl.environment.drmario.seeds import random_state
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.match import Conditions, play_match
from mario_rl.selfplay.players import make_player
from tests.distill.example_forms import FORMS

GOOD = Tables(
    {
        ("wanted", "ground"): (0, 10, 14, 16, 22, 30, 34, 0, 6, 10, 16, 24, 34, 40, 2, 16, 16, 18, 32, 40, 46),
        ("beside",): (0, 2, 4, 20), ("whim",): tuple(range(8)),
    },
    columns_a_frame=2,
)  # fmt: skip
"""Plays well enough to be worth imitating."""


class FormTeacher:
    """A teacher that knows a form's scores and nothing else: what it teaches can be learned by heart."""

    def __init__(self, form: ScoringForm, scale: float = 0.4):
        self._form, self._scale = form, scale

    def rate(self, games: object, lanes: object, drops: Drops) -> np.ndarray:
        scores = np.where(drops.open, self._form.score(drops.features) * self._scale, -np.inf)
        return scores - np.where(drops.open.any(axis=1), scores.max(axis=1), 0.0)[:, None]


@pytest.fixture(scope="module")
def lessons() -> Lessons:
    return lessons_of(GOOD, FormTeacher(GOOD), 48, np.random.default_rng(1), share=1.0)


@pytest.fixture(scope="module")
def others() -> Lessons:
    """Bottles of other games, to see what was understood and what was only learned by heart."""
    return lessons_of(GOOD, FormTeacher(GOOD), 16, np.random.default_rng(2), share=1.0)


def agreement(form: Form, lessons: Lessons) -> float:
    """How often it chooses a drop that the teacher likes as much as any."""
    chosen = form.choose(lessons.drops)
    best = np.where(lessons.rated, lessons.ratings, -np.inf).max(axis=1)
    return float((lessons.ratings[np.arange(len(chosen)), chosen] >= best - 1e-5).mean())


# --- teachers and lessons -----------------------------------------------------------------------------------------


def test_a_drop_has_the_rating_of_its_placement_whichever_way_round_that_is_listed() -> None:
    drops = lessons_of(GOOD, FormTeacher(GOOD), 8, np.random.default_rng(3), share=0.5).drops
    random = np.random.default_rng(4)
    worth = random.normal(size=(len(drops.ids), PLACEMENTS))
    ids = np.argsort(random.random(worth.shape), axis=1)[:, :300].astype(np.int16)  # some are not listed
    found = of_drops(ids, np.take_along_axis(worth, ids.astype(np.int64), axis=1), drops)
    for game in range(0, len(ids), 7):
        listed = set(ids[game].tolist())
        alike = bool(drops.colours[game, 0] == drops.colours[game, 1])
        for number in range(len(DROPS)):
            own = int(drops.ids[game, number])
            ways = [own, (own + PLACEMENTS // 2) % PLACEMENTS] if alike else [own]
            rated = [worth[game, way] for way in ways if own != NOWHERE and way in listed]
            assert found[game, number] == (max(rated) if rated else -np.inf)


@pytest.mark.parametrize(("name", "kind"), [("champion", ScorerTeacher), ("greedy", BotTeacher)])
def test_teachers_like_best_what_they_would_play_if_that_is_a_drop(name: str, kind: type) -> None:
    player = make_player(name)
    teacher = teacher_of(player)
    assert isinstance(teacher, kind)
    rounds = Rounds(Games(np.arange(2, 34), np.full(32, 5)))
    same, asked = 0, 0
    for _ in range(12):
        drops, lanes = rounds.look(), rounds.lanes
        mask = np.zeros(rounds.batch.n, np.bool_)
        mask[lanes] = True
        chosen = player.choose(rounds.batch, mask, 0)[lanes]  # type: ignore[union-attr]
        ratings = np.where(drops.open, teacher.rate(rounds.batch, lanes, drops), -np.inf)
        best = ratings.argmax(axis=1)
        is_drop = (drops.ids == chosen[:, None]) & drops.open & np.isfinite(ratings)
        for game in np.flatnonzero(is_drop.any(axis=1)).tolist():
            asked += 1
            same += bool(ratings[game, is_drop[game].argmax()] >= ratings[game, best[game]] - 1e-6)
        rounds.place(best, 2)
    assert asked > 100
    assert same == asked


def test_who_does_not_rate_places_cannot_teach() -> None:
    with pytest.raises(RunError, match="random does not rate placements"):
        teacher_of(make_bot("random"))


def test_lessons_are_bottles_in_which_there_is_something_to_choose(lessons: Lessons) -> None:
    assert lessons.bottles > 1000
    assert (lessons.rated.sum(axis=1) > 1).all()
    assert not (lessons.rated & ~lessons.drops.open).any()
    assert np.allclose(lessons.probabilities.sum(axis=1), 1)
    assert (lessons.probabilities[~lessons.rated] == 0).all()
    assert (lessons.ratings[~lessons.rated] == NOT_WORTH_RATING).all()


# --- what forms make of them --------------------------------------------------------------------------------------


def test_a_network_on_the_features_learns_from_its_teacher(lessons: Lessons, others: Lessons) -> None:
    torch.manual_seed(0)
    network = ByteTeacher()
    losses = [imitate(network, lessons, 1, 3e-3, seed) for seed in range(4)]
    assert losses == sorted(losses, reverse=True)
    chosen = network.choose(others.drops)
    best = np.where(others.rated, others.ratings, -np.inf).max(axis=1)
    assert (others.ratings[np.arange(len(chosen)), chosen] >= best - 1e-5).mean() > 0.8
    rated = network.rate_features(others.drops)
    assert np.allclose(np.exp(np.where(others.drops.open, rated, -np.inf)).sum(axis=1), 1, atol=1e-4)


def test_a_bottle_without_a_way_in_is_rated_without_a_warning(others: Lessons) -> None:
    closed = others.drops._replace(open=np.zeros_like(others.drops.open))
    with np.errstate(all="raise"):
        assert (ByteTeacher().rate_features(closed) == NOT_WORTH_RATING).all()


FEATURES_OF_GOOD = ["wanted", "ground", "beside", "whim"]


def test_every_form_learns_what_it_can(lessons: Lessons, others: Lessons) -> None:
    """Those that can say it exactly nearly do; the others do much better than to guess among 20 places."""
    made: dict[str, tuple[Form, float]] = {
        "table": (fit_tables(lessons, named(["wanted*ground", "beside", "whim"]), 2, 0), 0.85),
        "half-tree": (fit_half_tree(lessons, FEATURES_OF_GOOD[:3], 900, 2, 0), 0.9),
        "linear": (fit_linear(lessons, FEATURES_OF_GOOD, 2, 0), 0.6),
        "tree": (fit_tree(lessons, FEATURES_OF_GOOD, 4000, 1, 0), 0.5),
        "binary": (fit_binary(lessons, FEATURES_OF_GOOD[:3], 8, 1, 0), 0.3),
        "lookup": (fit_lookup(lessons.drops, lessons.ratings, 256), 0.15),
    }
    reached = {kind: agreement(form, others) for kind, (form, _) in made.items()}
    assert all(reached[kind] > least for kind, (_, least) in made.items()), reached


@pytest.mark.parametrize("fit", [fit_tree, fit_half_tree])
def test_trees_take_the_bytes_they_are_given(lessons: Lessons, fit: object) -> None:
    names = ["wanted", "ground", "beside"]
    sizes = {most: fit(lessons, names, most, 1, 0) for most in (450, 520, 700)}  # type: ignore[operator]
    for most, tree in sizes.items():
        assert len(tree.compile().code) <= most
        assert len(tree.compile().code) > most - 40 or most == 700
    assert sizes[450].leaves < sizes[520].leaves < sizes[700].leaves
    with pytest.raises(ValueError, match="the smallest tree takes"):
        fit(lessons, names, 200, 1, 0)  # type: ignore[operator]


def test_a_lookup_table_has_for_every_number_what_is_best_on_average(lessons: Lessons) -> None:
    made = fit_lookup(lessons.drops, lessons.ratings, 64)
    numbers = hashes(lessons.drops) % 64
    for number in np.unique(numbers).tolist():
        sums = lessons.ratings[numbers == number].astype(np.float64).sum(axis=0)
        column, rotation = divmod(made.table[number], 4)
        assert sums[DROPS.index((rotation, column))] == pytest.approx(sums.max())


# --- play ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.kind} {form.thinks}")
def test_planned_play_is_that_of_the_mirror_but_where_a_way_is_barred(form: Form) -> None:
    """Players made at random run into walls of their own; such games may end otherwise."""
    games = 6
    (planned,) = play([form], Games(np.array([random_state(seed) for seed in range(games)]), np.full(games, 1)))
    records = play_match(CartridgeMirror(form, "mirror"), None, games, Conditions(1))
    same = [
        (record.cleared, record.viruses) == (bool(planned.cleared[game]), int(planned.viruses[game]))
        for game, record in enumerate(records)
    ]
    assert sum(same) >= games // 2


def test_good_play_is_exactly_that_of_the_mirror() -> None:
    games = 24
    (planned,) = play([GOOD], Games(np.array([random_state(seed) for seed in range(games)]), np.full(games, 3)))
    records = play_match(CartridgeMirror(GOOD, "mirror"), None, games, Conditions(3))
    assert [record.cleared for record in records] == planned.cleared.tolist()
    assert sum(record.cleared for record in records) >= games - 1
    assert [record.capsules for record in records if record.cleared] == planned.capsules[planned.cleared].tolist()


# --- polishing ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [form for form in FORMS if form.kind != "lookup"], ids=lambda form: form.kind)
def test_a_form_is_its_numbers_and_any_numbers_are_a_form(form: Form) -> None:
    numbers = numbers_of(form)
    assert numbers is not None
    drops = lessons_of(GOOD, FormTeacher(GOOD), 4, np.random.default_rng(5), share=1.0).drops
    again = numbers.form(numbers.start)
    same = np.mean(np.stack(aim(again, drops)) == np.stack(aim(form, drops)))
    assert same > 0.8, "but for what stretching the numbers over a byte changes"
    random = np.random.default_rng(6)
    for size in (0.01, 1, 1000):
        made = numbers.form(numbers.start + random.normal(size=numbers.start.shape) * size)
        assert type(made) is type(form)
        assert len(made.compile().code) <= len(form.compile().code) + 16


def test_polishing_mends_a_spoilt_player() -> None:
    spoilt = Tables(GOOD.tables | {("wanted", "ground"): (20,) * 21}, columns_a_frame=2)
    polishing = Polishing(minutes=0.1, games=((0, 6),), levels=(0,))
    before = validation_costs([spoilt], polishing, 0)[0]
    said: list[str] = []
    polished, interrupted = polish(spoilt, polishing, 0, said.append)
    assert not interrupted
    assert validation_costs([polished], polishing, 0)[0] < before - 0.3
    assert "generations; in new games" in said[-1]


def test_polishing_never_makes_it_worse_and_ctrl_c_keeps_what_there_is() -> None:
    calls = 0

    def ask(line: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise KeyboardInterrupt

    kept, interrupted = polish(GOOD, Polishing(minutes=5, games=((0, 4),), levels=(0,)), 0, ask)
    assert interrupted
    costs = validation_costs([GOOD, kept], Polishing(games=((0, 4),), levels=(0,)), 0)
    assert costs[1] <= costs[0]
    assert polish(GOOD, Polishing(minutes=0), 0, ask) == (GOOD, False)


# --- the command --------------------------------------------------------------------------------------------------

QUICKLY = ["--rounds", "1", "--games", "12", "--student-rounds", "1", "--tries", "1", "--polish-minutes", "0.01",
           "--test-games", "4"]  # fmt: skip


def mario_rl(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ending:
        cli.main([*arguments])
    assert isinstance(ending.value.code, int)
    return ending.value.code


@pytest.mark.parametrize("form", KINDS)
def test_distil_burn_and_play(form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file, rom, room = tmp_path / "p.json", tmp_path / "vs.nes", 160 if form == "tiny" else 600
    words = ["--form", form, "--bytes", str(room), "--teacher", "greedy", *QUICKLY]
    assert mario_rl("distill", *words, "-o", str(file), "--explain") == 0
    shown = capfd.readouterr()
    assert "capsule" in shown.out or "place" in shown.out
    assert f"{file}: " in shown.out
    assert "teacher on the cartridge's features: level 5" in shown.err
    player = load_player_file(file)
    assert len(player.form.compile().code) <= room
    stages = player.card["stages"]
    assert [stage["name"].split(", ")[-1] for stage in stages[:2]] == ["teacher on the cartridge's features", "fitted"]
    assert all(stage["bytes"] <= room and stage["cycles"] <= 12_000 for stage in stages[1:])
    assert player.card["settings"]["teacher"] == "greedy"

    assert mario_rl("burn", str(file), "-o", str(rom)) == 0
    capfd.readouterr()
    options = ["--games", "3", "--level", "0", "--json", "-"]
    assert mario_rl("selfplay", "evaluate", f"cart:{rom}", *options) == 0
    on_console = json.loads(capfd.readouterr().out)
    assert mario_rl("selfplay", "evaluate", str(file), *options) == 0
    mirrored = json.loads(capfd.readouterr().out)
    assert on_console["late_frames"] == 0
    for figure in ("wins", "top_outs", "cut_off", "capsules_per_clear", "seconds"):
        assert on_console[figure] == mirrored[figure]

    assert mario_rl("distill", str(file), "--explain") == 0
    assert capfd.readouterr().out.strip() == player.form.explain()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--form", "rock"], ["rock", "tree"]),
        (["--bytes", "0"], ["bytes"]),
        (["--form", "tree", "--bytes", "150", *QUICKLY[2:], "--rounds", "1"], ["no tree fits", "150"]),
        (["--teacher", "nobody"], ["nobody", "champion"]),
        (["--teacher", "random"], ["random does not rate"]),
        (["--teacher", "buttons"], ["does not rate"]),
        (["-o", "nowhere/p.json"], ["no such directory"]),
        (["nothing.json", "--explain"], ["nothing.json", "no such file"]),
        (["nothing.json"], ["--explain"]),
    ],
)
def test_mistakes_are_one_line(
    words: list[str],
    said: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert mario_rl("distill", *words) == 2
    shown = capfd.readouterr()
    if "fits" not in said[0]:  # it has to try before it knows that
        assert shown.err.count("\n") == 1, shown.err
    last = shown.err.splitlines()[-1]
    assert last.startswith("mario-rl: ") and all(word in last for word in said), last
    assert shown.out == "" and not list(tmp_path.iterdir())
