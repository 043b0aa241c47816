"""Polishing a form by play: CMA-ES on its numbers, every candidate in the bytes in which it would be burned.

What a teacher would do is a good beginning, and no more: a form that cannot do as the teacher does had better do
something else than come as close as it can. All candidates of a generation play the same games, each generation plays
others. Now and then the middle of the search is kept; in the end these and the old form play games that none of them
has seen, and the best of them it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mario_rl.distill.binary import Binary
from mario_rl.distill.drops import MOST, WHIM
from mario_rl.distill.fit_additive import whole_weights
from mario_rl.distill.fit_tree import in_levels, stretched, with_scores
from mario_rl.distill.form import MOST_SCORE, Form
from mario_rl.distill.half_tree import LEAST_LEAF, MOST_LEAF, HalfTree
from mario_rl.distill.linear import Linear
from mario_rl.distill.play import Games, Played, play
from mario_rl.distill.questions import leaves_of
from mario_rl.distill.tables import Names, Tables, quantised, size_of
from mario_rl.distill.tiny import LARGEST_CAPSULE, Tiny
from mario_rl.distill.tree import Tree
from mario_rl.environment.drmario.rules import MEDIUM

Vector = npt.NDArray[np.float64]
POPULATION = 16
CAPSULES_A_VIRUS = 6.0  # a game that takes more is broken off
LOST = 5.0  # the cost of a round that was not cleared; one that was costs about 0.6
FIRST_STEP = 0.15
"""Of a number, as a part of how much the numbers vary."""
VALIDATION_GAMES = 150  # of each level, to compare what was fitted
KEPT_EVERY = 25  # generations
LAST_KEPT = 12  # of those that were kept, that play in the end
DECIDING_GAMES = 400  # of each level


@dataclass(frozen=True)
class Numbers:
    """A form as a vector, and back."""

    start: Vector
    form: Callable[[Vector], Form]


def numbers_of(form: Form) -> Numbers | None:
    """What of a form can be polished; None if nothing."""
    if isinstance(form, Tables):
        return _of_tables(form)
    if isinstance(form, Linear):
        names = list(form.weights)
        start = np.array([weight * MOST[name] for name, weight in form.weights.items()], np.float64)
        units = np.array([MOST[name] for name in names], np.float64)

        def linear(vector: Vector) -> Form:
            return whole_weights(dict(zip(names, (vector / units).tolist(), strict=True)), form.columns_a_frame)

        return Numbers(start, linear)
    if isinstance(form, Tree):
        levels = MOST_SCORE if form.inline else len(form.scores)  # more would take more bytes

        def tree(vector: Vector) -> Form:
            return replace(form, root=with_scores(form.root, in_levels(vector, levels)))

        return Numbers(np.array([leaf.score for leaf in leaves_of(form.root)], np.float64), tree)
    if isinstance(form, HalfTree):

        def half_tree(vector: Vector) -> Form:
            return replace(form, root=with_scores(form.root, stretched(vector, LEAST_LEAF, MOST_LEAF)))

        return Numbers(np.array([leaf.score for leaf in leaves_of(form.root)], np.float64), half_tree)
    if isinstance(form, Binary):
        reach = 127 - sum(MOST[name] for name in form.inputs)

        def binary(vector: Vector) -> Form:
            thresholds = np.clip(np.round(vector), -reach, reach).astype(int).tolist()
            return replace(form, thresholds=tuple(thresholds))

        return Numbers(np.array(form.thresholds, np.float64), binary)
    if isinstance(form, Tiny):
        most = (255 - (LARGEST_CAPSULE | 7)) // 2

        def tiny(vector: Vector) -> Form:
            same, nothing = np.clip(np.round(vector), 1, [most, most - 1]).astype(int).tolist()
            return Tiny(same, nothing)

        return Numbers(np.array([form.same, form.nothing], np.float64), tiny)
    return None


def _of_tables(form: Tables) -> Numbers:
    tables = [names for names in form.tables if names != (WHIM,)]
    whim: dict[Names, Vector] = {names: np.zeros(size_of(names)) for names in form.tables if names == (WHIM,)}
    ends = np.cumsum([size_of(names) for names in tables])[:-1]

    def of(vector: Vector) -> Form:
        parts: Mapping[Names, Vector] = dict(zip(tables, np.split(vector, ends), strict=True))
        return quantised({**parts, **whim}, form.columns_a_frame)

    return Numbers(np.concatenate([form.tables[names] for names in tables]).astype(np.float64), of)


@dataclass(frozen=True)
class Polishing:
    """How long a form is polished, and on what."""

    minutes: float = 2.0
    games: tuple[tuple[int, int], ...] = ((5, 12), (10, 12), (15, 16), (18, 16))
    """(level, games of it that a candidate plays). Games that are often lost say most about not losing: level 18 makes
    it better at level 5."""
    levels: tuple[int, ...] = (5, 10, 15)
    """What it is for: games of these levels decide in the end."""


def polish(form: Form, polishing: Polishing, seed: int, say: Callable[[str], None]) -> tuple[Form, bool]:
    """The form with the numbers that play best, or the form as it was; and whether Ctrl-C cut the polishing short."""
    import cma  # type: ignore[import-untyped]

    numbers = numbers_of(form)
    if numbers is None or polishing.minutes <= 0:
        return form, False
    levels = np.repeat([level for level, _ in polishing.games], [games for _, games in polishing.games])
    step = FIRST_STEP * max(float(numbers.start.std()), 1.0)
    search = cma.CMAEvolutionStrategy(numbers.start, step, {"popsize": POPULATION, "seed": seed + 1, "verbose": -9})
    end, generation, interrupted = time.monotonic() + 60 * polishing.minutes, 0, False
    kept: list[Form] = []
    try:
        while time.monotonic() < end:
            vectors = search.ask()
            random = np.random.default_rng([seed, 2, generation])
            games = Games(random.integers(2, 1 << 16, len(levels)), levels, MEDIUM, CAPSULES_A_VIRUS)
            costs = [cost(played, levels) for played in play([numbers.form(vector) for vector in vectors], games)]
            search.tell(vectors, costs)
            generation += 1
            if generation % KEPT_EVERY == 0:
                kept.append(numbers.form(search.mean))
            if generation % 10 == 0:
                shown = f"cost {np.mean(costs):.3f} on average, {min(costs):.3f} at best"
                say(f"polishing: generation {generation}, {shown}")
    except KeyboardInterrupt:
        interrupted = True
    found = [form, *kept[-LAST_KEPT:], numbers.form(search.mean)]
    costs = validation_costs(found, polishing, seed, DECIDING_GAMES)
    best = int(np.argmin(costs))
    say(f"polishing: {generation} generations; in new games {costs[0]:.3f} before, {costs[best]:.3f} after")
    return found[best], interrupted


def validation_costs(
    forms: list[Form], polishing: Polishing, seed: int, games_of_each: int = VALIDATION_GAMES
) -> list[float]:
    """Of forms, in games that polishing does not play."""
    levels = np.repeat(polishing.levels, games_of_each)
    random = np.random.default_rng([seed, 3])
    games = Games(random.integers(2, 1 << 16, len(levels)), levels, MEDIUM, CAPSULES_A_VIRUS)
    return [cost(played, levels) for played in play(forms, games)]


def cost(played: Played, levels: npt.NDArray[np.int64]) -> float:
    """The mean over games: what a capsule a virus costs, or much more for a bottle that was not cleared."""
    viruses = 4 * (levels + 1)
    return float(np.where(played.cleared, played.capsules / (4 * viruses), LOST + played.viruses / viruses).mean())
