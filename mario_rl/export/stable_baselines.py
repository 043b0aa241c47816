"""A player of self-play as a file of Stable-Baselines3, and the proof that it plays the same.

Placements are chosen by a `MaskablePPO` of sb3-contrib with a policy class of ours. The class goes into the file with
it, so that who loads it needs sb3-contrib and no mario-rl. The policy that presses buttons, for SB3's `PPO`, is spread
over several modules; its file names them, and loading it needs mario-rl.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from stable_baselines3 import PPO
from torch import nn

from mario_rl.environment.drmario.buttons import DISCRETE
from mario_rl.export.drmario_policies import TrainedPlayer
from mario_rl.export.onnx_file import TOLERANCE, Sample
from mario_rl.runs.directory import RunError
from mario_rl.selfplay import scorer
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.frames.observation import SPACE
from mario_rl.selfplay.frames.player import FramesPlayer
from mario_rl.selfplay.frames.policy import FramesPolicy
from mario_rl.selfplay.learner import make_ppo, scorer_of
from mario_rl.selfplay.placement_player import PlacementPlayer


def write_zip(file: Path, player: TrainedPlayer, steps: int) -> None:
    """Write the player as `MaskablePPO.load` or `PPO.load` read it."""
    if isinstance(player, PlacementPlayer):
        _write_placements(file, player, steps)
    else:
        _write_buttons(file, player, steps)


def check_zip(file: Path, player: TrainedPlayer, samples: Sequence[Sample]) -> int:
    """Load the file and ask it about these observations; a RunError if it decides otherwise. How many it was asked.

    It computes with float32, our player of placements with doubles: among places that are worth the same to the player
    within the tolerance it may choose another one.
    """
    placements = isinstance(player, PlacementPlayer)
    loaded: Any = (MaskablePPO if placements else PPO).load(file, device="cpu")
    asked = 0
    for sample in samples:
        if placements:
            inputs = sample.inputs
            seen = np.concatenate([inputs["prospects"].reshape(sample.rows, -1), inputs["situation"]], axis=1)
            chosen, _ = loaded.predict(seen, action_masks=inputs["possible"], deterministic=True)
            scores = sample.outputs["log_probabilities"]
        else:
            chosen, _ = loaded.predict(dict(sample.inputs), deterministic=True)
            scores = sample.outputs["steering_log_probabilities"]
        worth = np.take_along_axis(scores, np.asarray(chosen)[:, None], 1)[:, 0]
        others = int((scores.max(1) - worth > TOLERANCE).sum())
        if others:
            raise RunError(f"{file.name} plays otherwise than the player in {others} of {sample.rows} decisions")
        asked += sample.rows
    return asked


def _write_placements(file: Path, player: PlacementPlayer, steps: int) -> None:
    last = player.scorer.value[-1]
    assert isinstance(last, nn.Linear)
    ppo = make_ppo(SelfPlayConfig(hidden=player.scorer.middle.in_features, value_hidden=last.in_features))
    scorer_of(ppo).load_state_dict(player.scorer.state_dict())
    ppo.rollout_buffer_class = MaskableRolloutBuffer  # ours is for our own training only
    ppo.num_timesteps = steps
    with _in_the_file(scorer):
        ppo.save(file)


def _write_buttons(file: Path, player: FramesPlayer, steps: int) -> None:
    network = player.network
    settings = {"kind": network.kind, "width": network.width, "certainty": network.certainty}
    ppo = PPO(FramesPolicy, None, policy_kwargs=settings, device="cpu", _init_setup_model=False)  # type: ignore[arg-type]
    ppo.observation_space, ppo.action_space = SPACE, spaces.Discrete(len(DISCRETE))
    ppo.n_envs = 1
    ppo._setup_model()
    assert isinstance(ppo.policy, FramesPolicy)
    ppo.policy.network.load_state_dict(network.state_dict())
    ppo.num_timesteps = steps
    ppo.save(file)


@contextmanager
def _in_the_file(module: ModuleType) -> Iterator[None]:
    """What is pickled of this module's functions and classes goes into the file itself, not only their names.

    Bytecode and module remember the path of their source file, which is nobody's business: meanwhile it is their name.
    """
    owned = [part for part in vars(module).values() if getattr(part, "__module__", None) == module.__name__]
    functions = [part for part in owned if isinstance(part, FunctionType)]
    for part in owned:
        if isinstance(part, type):
            functions += [member for member in vars(part).values() if isinstance(member, FunctionType)]
    before = [(function, function.__code__) for function in functions]
    path = module.__file__
    cloudpickle.register_pickle_by_value(module)
    try:
        module.__file__ = module.__name__
        for function, code in before:
            function.__code__ = _renamed(code, module.__name__)
        yield
    finally:
        for function, code in before:
            function.__code__ = code
        module.__file__ = path
        cloudpickle.unregister_pickle_by_value(module)


def _renamed(code: CodeType, name: str) -> CodeType:
    inner = tuple(_renamed(part, name) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_filename=name, co_consts=inner)
