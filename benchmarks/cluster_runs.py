"""What the benchmark of clusters measures, by name: runs trained by processes or actors, loads of a coordinator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setup:
    """A model with the defaults or a preset, and who trains it."""

    model: str
    preset: str | None
    workers: int
    precision: str = "float32"  # of what travels between actors

    @property
    def name(self) -> str:
        """As in `ddqn_laptop2_float16`."""
        preset = "" if self.preset is None else f"_{self.preset}"
        return f"{self.model}{preset}{self.workers}" + ("" if self.precision == "float32" else f"_{self.precision}")

    def settings(self) -> dict[str, Any]:
        """What differs from DDQN with nothing else to do than to train."""
        # dreamer computes half as many gradients in the beginning: what is measured is how it goes on
        return {"model": self.model, "precision": self.precision, "new_steps": 0}


@dataclass(frozen=True)
class Group:
    """Runs that are alive at the same time and measured turn by turn, for `seconds` each."""

    processes: tuple[Setup, ...]
    actors: tuple[Setup, ...]
    seconds: float


def _group(model: str, preset: str | None, workers: tuple[int, ...], seconds: float) -> Group:
    both = tuple(Setup(model, preset, count) for count in workers)
    return Group(both, (*both, Setup(model, preset, 2, "float16")), seconds)


_DREAMER = (Setup("dreamer", "laptop", 1),)
_DEFAULTS = (Setup("ppo", None, 1), Setup("dreamer", None, 1))

# A round of ppo is many steps, then many gradients; ddqn's defaults make a few a second: these take longer to count.
GROUPS = (
    _group("ddqn", "laptop", (1, 2, 4), 2.5),
    _group("ddqn", None, (1, 2, 4), 4.0),
    _group("ppo", "laptop", (1, 2, 4), 6.0),
    Group(_DREAMER + _DEFAULTS, _DREAMER, 3.0),
)
QUICK_GROUPS = (_group("ddqn", "laptop", (1, 2), 1.5),)


@dataclass(frozen=True)
class Load:
    """A coordinator and so many senders; named as in `ddqn_float16_8`."""

    model: str
    precision: str
    senders: int

    @property
    def coordinator(self) -> str:
        """The name of the one that several loads may share."""
        return f"{self.model}_{self.precision}"

    @property
    def name(self) -> str:
        """As in the figures."""
        return f"{self.coordinator}_{self.senders}"


WARM_UP_GRADIENTS = 10  # of each worker; a round that does not count comes after that

BYTES = {"float32": 4, "float16": 2}  # of a number on its way
LOADS = tuple(Load("ddqn", precision, senders) for precision in BYTES for senders in (1, 2, 4, 8))
LOADS += tuple(Load(model, precision, 4) for model in ("ppo", "dreamer") for precision in BYTES)  # longer vectors
QUICK_LOADS = tuple(load for load in LOADS if load.model == "ddqn" and load.senders in (1, 4))


def setups(names: Sequence[str]) -> list[Setup]:
    """The runs that a measuring process is to start."""
    known = {setup.name: setup for group in (*GROUPS, *QUICK_GROUPS) for setup in (*group.processes, *group.actors)}
    return [known[name] for name in names]


def loads(names: Sequence[str]) -> list[Load]:
    """The loads that a measuring process is to have ready."""
    known = {load.name: load for load in LOADS}
    return [known[name] for name in names]
