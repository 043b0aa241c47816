"""Collectors at work: in the learner's own process, or in processes of their own beside it.

`--workers 0` collects and learns in turn. Workers collect the next rollout, with the weights as they are, while the
learner learns from the last one; so experience is one update old, which the stored probabilities account for. A worker
ends with its learner, whatever ends that.
"""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import pickle
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from mario_rl.environment.drmario.bots import make_bot
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.collector import Collector, Opponent, Played
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.placement_player import BotOpponent, PlacementPlayer
from mario_rl.selfplay.scorer import ACTION_SPACE, OBSERVATION_SPACE, PlacementScorer, ScorerPolicy
from mario_rl.selfplay.strands import Experience

Weights = dict[str, Tensor]

MOST_DEATHS = 5  # of one worker in a session, before the run is given up


@dataclass(frozen=True)
class Orders:
    """What a collector has to know for its next rollout."""

    weights: Weights
    """Of the learner."""
    members: Mapping[int, str | Weights]
    """Opponents it may not know yet: bots by name, past selves by their weights."""
    invited: list[int]
    chances: list[float]
    versus: bool
    """Games for two begin now, if they have not yet."""


@dataclass(frozen=True)
class Harvest:
    """A rollout."""

    experience: Experience
    played: list[Played]
    cap: int
    """The highest level of solo games so far."""
    versus: bool


class Collecting(Protocol):
    """One collector, wherever it works."""

    def begin(self, orders: Orders) -> None:
        """Start to collect a rollout."""

    def finish(self) -> Harvest:
        """Wait for it."""

    def state_dict(self) -> dict[str, Any]:
        """Everything it knows, between two rollouts."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where that was taken."""

    def close(self) -> None:
        """End it. Idempotent."""


class HereCollecting:
    """A collector in this process: `finish` does the work."""

    def __init__(self, config: SelfPlayConfig, seed: tuple[int, ...]):
        self._config = config
        self._random = np.random.default_rng(seed)
        self._policy = ScorerPolicy(
            OBSERVATION_SPACE,
            ACTION_SPACE,
            lambda _: 0.0,
            hidden=config.hidden,
            value_hidden=config.value_hidden,
        )
        self._policy.set_training_mode(False)
        self._members: dict[int, str | Weights] = {}
        self._opponents: dict[int, Opponent] = {}
        self.collector = Collector(config, self._policy, self._opponents, self._random)
        # Its own stream of torch's random numbers, so that learning and collecting do not share one.
        self._torch_state = torch.Generator().manual_seed(int(np.random.SeedSequence(seed).generate_state(1)[0]))
        self._orders: Orders | None = None

    def begin(self, orders: Orders) -> None:
        """See `Collecting.begin`."""
        self._orders = orders

    def finish(self) -> Harvest:
        """See `Collecting.finish`."""
        assert self._orders is not None
        orders, collector = self._orders, self.collector
        self._policy.scorer.load_state_dict(orders.weights)
        for number, member in orders.members.items():
            self._meet(number, member)
        collector.invited, collector.chances = orders.invited, np.array(orders.chances)
        if orders.versus and not collector.dealer.versus:
            collector.dealer.begin_versus()
        experience = self._with_own_random_numbers(collector.collect)
        played, collector.played = collector.played, []
        self._forget_the_absent()
        return Harvest(experience, played, collector.dealer.cap, collector.dealer.versus)

    def _with_own_random_numbers(self, work: Any) -> Any:
        outside = torch.get_rng_state()
        torch.set_rng_state(self._torch_state.get_state())
        try:
            return work()
        finally:
            self._torch_state.set_state(torch.get_rng_state())
            torch.set_rng_state(outside)

    def _meet(self, number: int, member: str | Weights) -> None:
        if number in self._members:
            return
        self._members[number] = member
        if isinstance(member, str):
            self._opponents[number] = BotOpponent(make_bot(member, self._config.seed))
            return
        scorer = PlacementScorer(self._config.hidden, self._config.value_hidden)
        scorer.load_state_dict(member)
        self._opponents[number] = PlacementPlayer(scorer, str(number))

    def _forget_the_absent(self) -> None:
        """Past selves that are neither invited nor in a game any more are not kept."""
        here = self.collector.playing() | set(self.collector.invited)
        for number in [number for number in self._members if number not in here]:
            del self._members[number], self._opponents[number]

    def state_dict(self) -> dict[str, Any]:
        """See `Collecting.state_dict`."""
        return {
            "collector": self.collector.state_dict(),
            "members": dict(self._members),
            "random": dict(self._random.bit_generator.state),
            "torch": self._torch_state.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `Collecting.load_state_dict`."""
        for number, member in state["members"].items():
            self._meet(int(number), member)
        self.collector.load_state_dict(state["collector"])
        self._random.bit_generator.state = state["random"]
        self._torch_state.set_state(state["torch"])

    def close(self) -> None:
        """Nothing to release."""


class ProcessCollecting:
    """A collector in a process of its own. One that is killed is replaced, and begins new games."""

    def __init__(self, config: SelfPlayConfig, seed: tuple[int, ...], say: Callable[[str], None]):
        self._config = config
        self._seed = seed
        self._say = say
        self._deaths = 0
        self._orders: Orders | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        # After a death, other random numbers: those that killed it should not come again.
        arguments = (theirs, self._config, (*self._seed, self._deaths) if self._deaths else self._seed)
        self._process = context.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def begin(self, orders: Orders) -> None:
        """See `Collecting.begin`."""
        self._orders = orders
        with contextlib.suppress(OSError):  # `finish` will notice that it is gone
            _send(self._connection, ("begin", orders))

    def finish(self) -> Harvest:
        """See `Collecting.finish`."""
        while True:
            try:
                return self._answer()
            except (EOFError, OSError):
                self._replace()
                _send(self._connection, ("begin", self._orders))

    def state_dict(self) -> dict[str, Any]:
        """See `Collecting.state_dict`."""
        return self._ask("save", None)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `Collecting.load_state_dict`."""
        self._ask("load", state)

    def close(self) -> None:
        """See `Collecting.close`."""
        self._connection.close()  # the worker sees the end of the pipe
        self._process.join(timeout=0.2)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()

    def _ask(self, what: str, value: Any) -> Any:
        while True:
            try:
                _send(self._connection, (what, value))
                return self._answer()
            except (EOFError, OSError):
                self._replace()

    def _answer(self) -> Any:
        answer = _receive(self._connection)
        if isinstance(answer, str):
            raise RunError(f"a worker failed: {answer}")
        return answer

    def _replace(self) -> None:
        self.close()
        self._deaths += 1
        died = f"a worker died (exit code {self._process.exitcode})"
        if self._deaths > MOST_DEATHS:
            raise RunError(f"{died} for the {self._deaths}th time; something is wrong with this machine")
        self._say(f"{died}; another one begins new games")
        self._start()


def _send(connection: Connection, value: Any) -> None:
    """Plainly, by value: a connection's own way to send tensors leaves them in shared memory, with files beside it."""
    connection.send_bytes(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))


def _receive(connection: Connection) -> Any:
    return pickle.loads(connection.recv_bytes())


def _work(connection: Connection, config: SelfPlayConfig, seed: tuple[int, ...]) -> None:
    """The body of a worker: does what it is told until nobody tells it any more."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the learner decides when it is over, and says so
    torch.set_num_threads(1)
    own = HereCollecting(config, seed)
    try:
        while True:
            what, value = _receive(connection)
            if what == "begin":
                own.begin(value)
                _send(connection, own.finish())
            elif what == "save":
                _send(connection, own.state_dict())
            else:
                own.load_state_dict(value)
                _send(connection, None)
    except (EOFError, OSError):
        return
    except Exception as problem:
        _send(connection, f"{type(problem).__name__}: {problem}")
        raise


def open_collecting(config: SelfPlayConfig, say: Callable[[str], None]) -> list[Collecting]:
    """The collectors of a run: one here, or one in each worker, which share the games and the rollout.

    `say` gets what happens to workers.
    """
    if config.workers == 0:
        return [HereCollecting(config, (config.seed, 0))]
    share = dataclasses.replace(
        config, envs=config.envs // config.workers, rollout=-(-config.rollout // config.workers), workers=0
    )
    return [ProcessCollecting(share, (config.seed, worker), say) for worker in range(config.workers)]


def joined(parts: list[Experience]) -> Experience:
    """The experience of several collectors as one."""
    return parts[0] if len(parts) == 1 else Experience(*(np.concatenate(field) for field in zip(*parts, strict=True)))
