"""A run of self-play on disk: what every run has, its player, and its pool."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mario_rl.config import ConfigError
from mario_rl.runs.directory import RunDirectory, RunError
from mario_rl.selfplay import config as configuration
from mario_rl.selfplay.config import SelfPlayConfig
from mario_rl.selfplay.player_file import PLAYER_FILE, POOL_FOLDER
from mario_rl.settings import flag, read_settings, write_settings


class SelfPlayDirectory(RunDirectory):
    """The directory of a run of self-play with placements."""

    resume_command = f"{configuration.COMMAND} --resume"

    def __init__(self, path: Path, chosen_file: Path | None = None):
        super().__init__(path, chosen_file)
        self.player_pt = path / PLAYER_FILE  # the latest policy
        self.pool = path / POOL_FOLDER
        self.selfplay_csv = path / "selfplay.csv"

    def config(self) -> SelfPlayConfig:  # type: ignore[override]
        """The configuration the run was started with."""
        try:
            return configuration.from_dict(read_settings(self.config_yaml, SelfPlayConfig))
        except (ConfigError, TypeError) as problem:
            raise RunError(f"the run {self.path} cannot be used: {problem} (in config.yaml)") from problem

    def keep(self, config: SelfPlayConfig, saved: dict[str, Any]) -> None:
        """Make an existing run ready to go on with this configuration; a RunError if what was saved does not fit it."""
        before = saved.get("config", {})
        if saved.get("kind") != "selfplay":
            raise RunError(f"{self.path} cannot be resumed: its checkpoint is not of self-play with placements")
        for name in ("hidden", "value_hidden", "envs", "workers", "rollout"):
            ours, theirs = getattr(config, name), before.get(name)
            if ours != theirs:
                raise RunError(f"{flag(name)} {ours} does not fit {self.path}, which has {theirs}: leave it out")
        if self.status().state == "RUNNING":
            raise RunError(
                f"{self.path} is running already, as process {self.status().pid}; stop it first, then resume"
            )
        new = self.config_yaml.with_suffix(".yaml.new")
        write_settings(config, new)
        new.replace(self.config_yaml)

    def pool_member(self, steps: int) -> Path:
        """The file of a past self."""
        return self.pool / f"step-{steps:09}.pt"

    def candidate_file(self, steps: int) -> Path:
        """The file of a past self that is not beaten clearly enough to be in the pool."""
        return self.pool / f"candidate-{steps:09}.pt"

    def candidates(self) -> list[Path]:
        """Those files: one, but for a moment in which there are two, the newest last."""
        return self._numbered("candidate")

    def candidate(self) -> Path | None:
        """The newest of them, if there is any."""
        return next(reversed(self.candidates()), None)

    def pool_members(self) -> list[Path]:
        """The files of all past selves in the pool, the newest last."""
        return self._numbered("step")

    def _numbered(self, word: str) -> list[Path]:
        return sorted(file for file in self.pool.glob("*.pt") if re.fullmatch(rf"{word}-\d+\.pt", file.name))
