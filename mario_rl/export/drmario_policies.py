"""The players of Dr. Mario as functions for an ONNX file, and samples of what they say in real games.

    placements: prospects, situation, possible  ->  log_probabilities, value
    frames:     planes, features, hand
                ->  target_log_probabilities, steering_log_probabilities, button_log_probabilities

The scorer of placements computes with doubles and rounds, as the player does (placement_player.py), so that places that
look the same are equally good in both. Who presses buttons is asked only while a capsule is falling; it then steers to
the best target, with the best buttons for that one (`steering_log_probabilities`).
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from mario_rl.environment.drmario.bots import Rating, make_bot
from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.environment.drmario.memory import GameMemory, Mask
from mario_rl.environment.drmario.observation import falling
from mario_rl.environment.drmario.rules import RulesBatch
from mario_rl.export.onnx_file import Policy, Sample
from mario_rl.selfplay.frames.landing import outlook
from mario_rl.selfplay.frames.network import IMPOSSIBLE, FramesNetwork, Thought
from mario_rl.selfplay.frames.observation import look
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.match import Conditions, play_match
from mario_rl.selfplay.placement_player import DIGITS, PlacementPlayer
from mario_rl.selfplay.scorer import FORBIDDEN, PlacementScorer, slot_masks

__all__ = ["policy_of", "samples_of"]

MOST_OBSERVATIONS = 1000
PLACEMENT_GAMES, PLACEMENT_FRAMES = 8, 4000
BUTTON_GAMES, BUTTON_FRAMES = 6, 1200  # frame by frame, each takes far longer
BUTTONS_EVERY = 2  # looks of which one becomes a sample: two in a row are much alike

TrainedPlayer = PlacementPlayer | FramesPlayer


class PlacementScores(nn.Module):
    """`PlacementPlayer.scores` and the value, for all slots at once: a file has no rows that come and go."""

    def __init__(self, scorer: PlacementScorer):
        super().__init__()
        self.scorer = copy.deepcopy(scorer).double()

    def forward(self, prospects: Tensor, situation: Tensor, possible: Tensor) -> tuple[Tensor, Tensor]:
        """Logarithms of the placements' probabilities, float64[n, slots], and values, float64[n]."""
        scorer = self.scorer
        situations = situation.double() * scorer.situation_scale
        rows = scorer.from_row(prospects.double() * scorer.row_scale)
        first = torch.relu(rows + scorer.from_situation(situations)[:, None])
        scores = scorer.score(torch.relu(scorer.middle(first)))[:, :, 0]
        logits = torch.where(possible, scores, FORBIDDEN)
        digits = 10.0**DIGITS
        return (torch.log_softmax(logits, dim=1) * digits).round() / digits, scorer.values(situations)


class ButtonScores(nn.Module):
    """`FramesNetwork.forward` where a capsule is falling in every game, without the value."""

    def __init__(self, network: FramesNetwork):
        super().__init__()
        self.network = network

    def forward(self, planes: Tensor, features: Tensor, hand: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities of the targets, [n, 32], of the buttons for the best one and of the policy's, [n, 12]."""
        network = self.network
        ahead = outlook(planes, hand)
        judged = network.judged(planes, features, hand, ahead)
        scores = network.score(judged).squeeze(2).masked_fill(~ahead.possible, IMPOSSIBLE)
        targets = scores.log_softmax(1)
        steering = network._steering(ahead, hand)
        best = targets.argmax(1)[:, None, None].expand(-1, 1, steering.shape[2])
        pursued = (scores * network.certainty).log_softmax(1)
        return targets, steering.gather(1, best)[:, 0], torch.logsumexp(pursued[:, :, None] + steering, 1)


def policy_of(player: TrainedPlayer) -> Policy:
    """What to export of a player."""
    about = {"game": "Dr. Mario", "player": player.name}
    if isinstance(player, PlacementPlayer):
        outputs: tuple[str, ...] = ("log_probabilities", "value")
        return Policy(
            PlacementScores(player.scorer),
            ("prospects", "situation", "possible"),
            outputs,
            about | {"kind": "placements"},
        )
    outputs = ("target_log_probabilities", "steering_log_probabilities", "button_log_probabilities")
    about |= {"kind": "frames", "frame_skip": str(player.frame_skip), "actions": str([int(pad) for pad in DISCRETE])}
    return Policy(ButtonScores(player.network), ("planes", "features", "hand"), outputs, about, measures=True)


def samples_of(player: TrainedPlayer) -> list[Sample]:
    """What the player says in games against greedy, from either seat, and alone."""
    watched: WatchedPlacements | WatchedButtons
    if isinstance(player, PlacementPlayer):
        watched, games, frames = WatchedPlacements(player), PLACEMENT_GAMES, PLACEMENT_FRAMES
    else:
        watched, games, frames = WatchedButtons(player), BUTTON_GAMES, BUTTON_FRAMES
    for opponent in (make_bot("greedy"), None):
        play_match(watched, opponent, games, Conditions(level=5, max_frames=frames))
    return watched.samples


class WatchedPlacements:
    """Plays as the player does, and notes what it sees and says."""

    def __init__(self, player: PlacementPlayer):
        self.name = player.name
        self._player = player
        self.samples: list[Sample] = []
        self._room = MOST_OBSERVATIONS

    def choose(self, games: RulesBatch, lanes: Mask, seat: int) -> npt.NDArray[Any]:
        """See `Bot.choose`."""
        numbers = np.flatnonzero(lanes).astype(np.int32)[: self._room]
        if len(numbers):
            self._note(games, numbers, np.full(len(numbers), seat, np.int32))
        return self._player.choose(games, lanes, seat)

    def ratings(self, games: RulesBatch, lane: int, seat: int) -> list[Rating]:
        """See `Bot.ratings`."""
        return self._player.ratings(games, lane, seat)

    def _note(self, games: RulesBatch, numbers: npt.NDArray[np.int32], seats: npt.NDArray[np.int32]) -> None:
        prospects = games.prospects(numbers, seats)
        _, scores = self._player.scores(games, numbers, seats)
        scorer = self._player.scorer
        with torch.no_grad():
            values = scorer.values(torch.from_numpy(prospects.situations) * scorer.situation_scale).numpy()
        inputs = {
            "prospects": prospects.features.copy(),
            "situation": prospects.situations.copy(),
            "possible": slot_masks(prospects),
        }
        outputs = {"log_probabilities": scores, "value": values}
        self.samples.append(Sample(inputs, outputs, {"log_probabilities": scores.argmax(1)}))
        self._room -= len(numbers)


class WatchedButtons:
    """Presses what the player presses, and notes some of what it sees and says."""

    def __init__(self, player: FramesPlayer):
        self.name, self.frame_skip = player.name, player.frame_skip
        self._player = player
        self.samples: list[Sample] = []
        self._room, self._looks = MOST_OBSERVATIONS, 0

    def hold(self, game: GameMemory, seat: int) -> npt.NDArray[np.uint8]:
        """See `ButtonPlayer.hold`."""
        asked = falling(game, seat)
        self._looks += 1
        if asked.any() and self._room > 0 and self._looks % BUTTONS_EVERY == 0:
            self._note(look(GameMemory(game.ram[asked]), seat))
        return self._player.hold(game, seat)

    def _note(self, seen: dict[str, npt.NDArray[np.float32]]) -> None:
        with torch.no_grad():
            thought: Thought = self._player.network({name: torch.from_numpy(part) for name, part in seen.items()})
        if not thought.falling.all():  # a capsule that is still out of sight, above the bottle
            return
        best = thought.log_targets.argmax(1)
        steering = thought.log_steering[torch.arange(len(best)), best]
        outputs = {
            "target_log_probabilities": thought.log_targets,
            "steering_log_probabilities": steering,
            "button_log_probabilities": thought.log_buttons,
        }
        choices = {
            "target_log_probabilities": best.numpy(),
            "steering_log_probabilities": self._player.decide(seen),
        }
        inputs = {name: part.copy() for name, part in seen.items()}
        self.samples.append(Sample(inputs, {name: part.numpy() for name, part in outputs.items()}, choices))
        self._room -= len(best)
