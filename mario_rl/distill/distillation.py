"""From a teacher to a player for the cartridge, stage by stage, each of them judged in play.

1. A teacher that sees what the cartridge can see (byte_teacher.py) learns from the one that is named.
2. The form is fitted to it, on bottles that its own play leads to, with as much in it as the bytes allow; among what
   fits, games decide.
3. Its numbers are polished by play (polish.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from mario_rl.distill.byte_teacher import ByteTeacher, Schooling, teach
from mario_rl.distill.chooser import SPEEDS
from mario_rl.distill.config import DistillConfig
from mario_rl.distill.form import Form, ScoringForm
from mario_rl.distill.lessons import Lessons, bottles_of, joined, lessons_of
from mario_rl.distill.machine import CYCLES_A_CALL, worst_call
from mario_rl.distill.play import Chooser, Games, play
from mario_rl.distill.player_file import DistilledPlayer
from mario_rl.distill.polish import Polishing, polish, validation_costs
from mario_rl.distill.recipes import Recipe, recipes
from mario_rl.distill.teacher import Teacher
from mario_rl.environment.drmario.seeds import random_state
from mario_rl.runs.directory import RunError

LEVELS = (5, 10, 15)
AS_GOOD = 1.25  # times the least cost in play
BOTTLES_IN_TIME = 1000
CYCLES_TO_SPARE = 300  # below the limit: bottles may come that were not among the lessons
Say = Callable[[str], None]


@dataclass(frozen=True)
class Stage:
    """How well a stage plays alone, at MED; and what it takes on the console."""

    name: str
    clear_rates: dict[int, float]
    """By level."""
    capsules: dict[int, float | None]
    """A clear."""
    games: int
    bytes: int | None = None
    cycles: int | None = None
    """The most that a call took."""


@dataclass(frozen=True)
class School:
    """What players of all forms are distilled from."""

    teacher: ByteTeacher
    lessons: Lessons
    stage: Stage
    """How the teacher plays."""


def distill(teacher: Teacher, config: DistillConfig, say: Say) -> DistilledPlayer:
    """The player; a RunError if nothing of that kind fits into so many bytes."""
    return graduate(school_of(teacher, config, say), config, say)


def school_of(teacher: Teacher, config: DistillConfig, say: Say) -> School:
    """The first stage, which is the same for all forms."""
    schooling = Schooling(rounds=config.rounds, games=config.games)
    byte_teacher, lessons = teach(teacher, schooling, config.seed, say)
    stage = measured("teacher on the cartridge's features", byte_teacher, config.test_games)
    say(shown(stage))
    return School(byte_teacher, lessons, stage)


def graduate(school: School, config: DistillConfig, say: Say) -> DistilledPlayer:
    """The other stages: a player of the form and size that are wanted."""
    stages = [school.stage]
    form, recipe, lessons = fitted(school.teacher, school.lessons, config, say)
    stages.append(measured(f"{config.form}, fitted", form, config.test_games, lessons))
    say(shown(stages[-1]))
    polished, interrupted = polish(form, Polishing(config.polish_minutes), config.seed, say)
    if len(polished.compile().code) > config.bytes:  # a table that was its own index no longer is
        polished = form
    polished = in_time(polished, config.seed)
    if polished != form:
        stages.append(measured(f"{config.form}, polished", polished, config.test_games, lessons))
        say(shown(stages[-1]))
    card: dict[str, Any] = {"settings": asdict(config), "recipe": recipe, "stages": [asdict(stage) for stage in stages]}
    if interrupted:
        card["interrupted"] = True
    return DistilledPlayer(polished, card)


def fitted(teacher: ByteTeacher, lessons: Lessons, config: DistillConfig, say: Say) -> tuple[Form, str, Lessons]:
    """The best form of this kind that fits, the recipe it is of, and the lessons it had."""
    found: list[tuple[float, Form, str, Lessons]] = []
    own = Lessons(lessons.drops, teacher.rate_features(lessons.drops), lessons.drops.open)
    smallest = None
    for recipe in recipes(config.form, config.bytes):
        try:
            form = recipe.make(own, 1, config.seed)
            size = len(form.compile().code)
            if size > config.bytes:
                raise ValueError(f"the smallest {config.form} takes {size} bytes, more than {config.bytes}")
            form, had = student(teacher, form, recipe, own, config)
        except ValueError as problem:
            smallest = str(problem)
            continue
        worth = validation_costs([form], Polishing(), config.seed)[0]
        size = len(form.compile().code)
        say(f"{config.form} of {recipe.name}: {size} bytes, {form.thinks} frames of thought, cost in play {worth:.3f}")
        found.append((worth, form, recipe.name, had))
        if len(found) == config.tries:
            break
    if not found:
        raise RunError(f"no {config.form} fits: {smallest}")
    # Of those that play about alike the one with the most in it: there is more to polish.
    most = AS_GOOD * min(worth for worth, _, _, _ in found)
    _, best, name, had = next(one for one in found if one[0] <= most)
    return best, name, had


def student(
    teacher: ByteTeacher, form: Form, recipe: Recipe, lessons: Lessons, config: DistillConfig
) -> tuple[Form, Lessons]:
    """A form that is fitted again and again to what its own play leads to, as fast as its bytes and cycles allow."""
    random = np.random.default_rng([config.seed, 4])
    parts = [lessons]
    form = fastest(form, recipe, lessons, config)
    for _ in range(config.student_rounds):
        parts.append(lessons_of(form, teacher, config.games, random, share=0.4))
        columns = form.columns_a_frame if isinstance(form, ScoringForm) else 1
        form = recipe.make(joined(parts), columns, config.seed)
        form = fastest(form, recipe, joined(parts), config)
    return form, joined(parts)


def fastest(form: Form, recipe: Recipe, lessons: Lessons, config: DistillConfig) -> Form:
    """The same form thinking about as many columns in a frame as there is time for; a ValueError if that is none."""
    if not isinstance(form, ScoringForm):
        return form
    for columns in SPEEDS:
        faster = replace(form, columns_a_frame=columns)
        if len(faster.compile().code) > config.bytes:
            continue
        if worst_call(faster, lessons.drops) <= CYCLES_A_CALL - CYCLES_TO_SPARE:
            return faster
    raise ValueError(f"a {config.form} of {recipe.name} takes more than {CYCLES_A_CALL:,} cycles for a column")


def in_time(form: Form, seed: int) -> Form:
    """The same form, thinking about fewer columns in a frame if it was too slow for one of many bottles of its own."""
    if not isinstance(form, ScoringForm):
        return form
    bottles = bottles_of(form, BOTTLES_IN_TIME, seed)
    for columns in SPEEDS:
        slower = replace(form, columns_a_frame=min(columns, form.columns_a_frame))
        if worst_call(slower, bottles, BOTTLES_IN_TIME) <= CYCLES_A_CALL - CYCLES_TO_SPARE:
            return slower
    return replace(form, columns_a_frame=1)


def measured(name: str, player: Chooser, games: int, lessons: Lessons | None = None) -> Stage:
    """How a stage plays, on the boards that `mario-rl selfplay evaluate` plays, too."""
    seeds = np.array([random_state(seed) for seed in range(games)])
    rates, capsules = {}, {}
    for level in LEVELS:
        (played,) = play([player], Games(seeds, np.full(games, level)))
        rates[level] = float(played.cleared.mean())
        capsules[level] = float(played.capsules[played.cleared].mean()) if played.cleared.any() else None
    if lessons is None:
        return Stage(name, rates, capsules, games)
    assert isinstance(player, Form)
    return Stage(name, rates, capsules, games, len(player.compile().code), worst_call(player, lessons.drops))


def shown(stage: Stage) -> str:
    """A line for people."""
    rates = ", ".join(
        f"level {level} {rate:.1%}" + (f" in {stage.capsules[level]:.0f} capsules" if stage.capsules[level] else "")
        for level, rate in stage.clear_rates.items()
    )
    takes = "" if stage.bytes is None else f"; {stage.bytes} bytes, at most {stage.cycles:,} cycles a call"
    return f"{stage.name}: {rates}{takes}"
