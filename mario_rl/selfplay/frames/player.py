"""The trained agent as a player that presses buttons, in a file of less than 2 MB."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from mario_rl.environment.drmario.buttons import BUTTONS
from mario_rl.environment.drmario.memory import GameMemory
from mario_rl.environment.drmario.observation import falling
from mario_rl.environment.drmario.settings import LONGEST_FRAME_SKIP
from mario_rl.runs.checkpoint import load_checkpoint, save_checkpoint
from mario_rl.runs.directory import RunError
from mario_rl.selfplay.frames.network import NOTHING, FramesNetwork, Thought, make_network
from mario_rl.selfplay.frames.observation import Seen, look

FORMAT, KIND = "mario-rl player", "frames"


class FramesPlayer:
    """A `ButtonPlayer` (selfplay/players.py) around a network.

    `greedy`: it makes up its mind, as `Thought.decided` says; otherwise it draws its buttons (torch's generator) as it
    did while it trained. `card`: plain values that say how it was trained and rated.
    """

    def __init__(
        self,
        network: FramesNetwork,
        name: str = "frames",
        frame_skip: int = 4,
        greedy: bool = True,
        card: Mapping[str, Any] | None = None,
    ):
        self.network = network
        self.name = name
        self.frame_skip = frame_skip
        self.greedy = greedy
        self.card = dict(card or {})

    def hold(self, game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
        """uint8[n]: the pads to hold for the next `frame_skip` frames."""
        return BUTTONS["discrete"].pads(self.act(game, seat))

    def act(self, game: GameMemory, seat: int) -> npt.NDArray[np.int64]:
        """int64[n]: the same as numbers of actions. Nothing is pressed where no capsule is falling."""
        actions = np.full(len(game.ram), NOTHING, np.int64)
        asked = falling(game, seat)
        if asked.any():
            actions[asked] = self.decide(look(GameMemory(game.ram[asked]), seat))
        return actions

    def decide(self, seen: Seen) -> npt.NDArray[np.int64]:
        """int64[n]: actions for what is seen, from whichever seat: one forward pass."""
        with torch.no_grad():
            thought: Thought = self.network({name: torch.from_numpy(values) for name, values in seen.items()})
        chosen = thought.decided() if self.greedy else torch.multinomial(thought.log_buttons.exp(), 1)[:, 0]
        return chosen.numpy()

    def state(self) -> dict[str, Any]:
        """Tensors and plain values, for `from_state`."""
        weights = {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}
        return {
            "format": FORMAT,
            "kind": KIND,
            "network": self.network.kind,
            "width": self.network.width,
            "certainty": self.network.certainty,
            "frame_skip": self.frame_skip,
            "weights": weights,
            "card": self.card,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], name: str = "frames") -> FramesPlayer:
        """The player of a state; a RunError in one line if it is none."""
        if state.get("format") != FORMAT or state.get("kind") != KIND:
            raise RunError(f"{name} is not a player that presses buttons, but {state.get('kind', 'something else')!r}")
        try:
            width, frame_skip = int(state["width"]), int(state["frame_skip"])
            if not (2 <= width <= 4096 and 1 <= frame_skip <= LONGEST_FRAME_SKIP):
                raise ValueError("its settings are out of range")
            network = make_network(state["network"], width, float(state["certainty"]))
            network.load_state_dict(state["weights"])
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as problem:
            reason = " ".join(str(problem).split())[:200]
            raise RunError(f"the player {name} does not fit this version of mario-rl: {reason}") from problem
        return cls(network.eval(), name, frame_skip, card=state.get("card"))

    def save(self, file: Path) -> None:
        """Write the player's file."""
        save_checkpoint(file, self.state())

    @classmethod
    def load(cls, file: Path) -> FramesPlayer:
        """Read a player's file; a RunError in one line if it cannot be used."""
        return cls.from_state(load_checkpoint(file), file.stem)
