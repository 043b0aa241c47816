"""Where episodes begin, other than at a level's start: what a curriculum decides.

Gymnasium's contract stays whole: an episode that begins in the middle of a level is an episode of its own, and the one
before has ended with its own reward. `info["practice"]` tells which is which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy.typing as npt

if TYPE_CHECKING:
    from mario_rl.environment.smb.episode import Outcome
    from mario_rl.environment.smb.lanes import SmbLanes
    from mario_rl.environment.smb.memory import Mask


@dataclass(frozen=True)
class Start:
    """A console state to begin an episode with."""

    level: str
    state: bytes


class Starts(Protocol):
    """Decides where the lanes of an environment begin."""

    def stepped(self, lanes: SmbLanes, outcome: Outcome) -> None:
        """All lanes played a step."""

    def choose(self, lanes: SmbLanes, ended: Mask, outcome: Outcome | None) -> dict[int, Start]:
        """Where lanes whose episode ended begin the next one; lanes left out begin at a level's start.

        `outcome` is the step in which they ended, None if they were reset from outside.
        """

    def began(self, lanes: SmbLanes, which: Mask) -> None:
        """These lanes stand at the beginning of an episode."""

    def info(self) -> dict[str, npt.NDArray[Any]]:
        """What it adds to the info of all lanes; arrays of its own each time."""

    def continue_from(self, values: Mapping[str, float]) -> None:
        """Go on from the last known metrics of a worker alone, after its process was killed."""

    def state_dict(self) -> dict[str, Any]:
        """Everything it knows: text, numbers and bytes."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken."""
