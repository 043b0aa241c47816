"""Strands of experience against a plain book-keeper: outcomes, advantages, and what stays for the next time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mario_rl.selfplay.scorer import SEEN
from mario_rl.selfplay.strands import Experience, Strands

GAMMA, LAMBDA = 0.9, 0.8
LANES = 4


def seen_as(number: int) -> np.ndarray:
    """An observation that says which decision it is."""
    seen = np.zeros(SEEN, np.uint8)
    seen[:2] = number % 256, number // 256
    return seen


class Plain:
    """What happened to each seat, as lists."""

    def __init__(self) -> None:
        self.rounds: list[list[list[dict[str, float]]]] = [[[]] for _ in range(LANES)]

    def decide(self, lane: int, number: int, value: float, reward: float) -> None:
        strand = self.rounds[lane][-1]
        if strand:
            strand[-1] |= {"reward": reward, "next": value}
        strand.append({"number": number, "value": value})

    def end(self, lane: int, reward: float) -> None:
        strand = self.rounds[lane][-1]
        if strand:
            strand[-1] |= {"reward": reward, "next": 0.0}
            self.rounds[lane].append([])

    def take(self) -> dict[int, float]:
        """Advantages by the decision's number, straight from the definition: a discounted sum of errors."""
        found = {}
        for lane in range(LANES):
            for strand in self.rounds[lane]:
                complete = [step for step in strand if "reward" in step]
                errors = [step["reward"] + GAMMA * step["next"] - step["value"] for step in complete]
                for start, step in enumerate(complete):
                    tail = errors[start:]
                    found[int(step["number"])] = sum((GAMMA * LAMBDA) ** k * error for k, error in enumerate(tail))
            left = [step for step in self.rounds[lane][-1] if "reward" not in step]
            self.rounds[lane] = [left]
        return found


def number_of(taken: Experience) -> list[int]:
    return (taken.seen[:, 0] + 256 * taken.seen[:, 1].astype(int)).tolist()


EVENTS = st.lists(
    st.tuples(
        st.lists(st.integers(0, LANES - 1), unique=True, min_size=1),
        st.sampled_from(["decide", "decide", "end", "take"]),
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(EVENTS, st.integers(0, 2**32 - 1))
def test_strands_and_a_plain_book_keeper_agree(events: list[tuple[list[int], str]], seed: int) -> None:
    random = np.random.default_rng(seed)
    strands, plain = Strands(LANES, 400), Plain()
    number = 0
    for lanes, kind in [*events, ([0], "take")]:
        rewards = random.normal(size=len(lanes)).astype(np.float32)
        if kind == "decide":
            numbers = number + np.arange(len(lanes))
            number += len(lanes)
            values = random.normal(size=len(lanes)).astype(np.float32)
            seen = np.stack([seen_as(one) for one in numbers.tolist()])
            fill = numbers.astype(np.float32)
            strands.decide(np.array(lanes, np.int32), seen, numbers.astype(np.int32), numbers, fill, values, rewards)
            for row, lane in enumerate(lanes):
                plain.decide(lane, int(numbers[row]), float(values[row]), float(rewards[row]))
        elif kind == "end":
            strands.end(np.array(lanes, np.int32), rewards)
            for row, lane in enumerate(lanes):
                plain.end(lane, float(rewards[row]))
        else:
            copied = Strands(LANES, 400)
            copied.load_state_dict(strands.state_dict())
            complete = strands.complete
            taken, again = strands.take(GAMMA, LAMBDA), copied.take(GAMMA, LAMBDA)
            for one, other in zip(taken, again, strict=True):
                np.testing.assert_array_equal(one, other)
            expected = plain.take()
            assert len(taken.actions) == len(expected) == complete
            assert sorted(number_of(taken)) == sorted(expected)
            for row, one in enumerate(number_of(taken)):
                assert abs(taken.advantages[row] - expected[one]) < 1e-4
                assert taken.actions[row] == taken.counts[row] == taken.log_probabilities[row] == one
            np.testing.assert_allclose(taken.returns, taken.advantages + taken.values, rtol=1e-6)
