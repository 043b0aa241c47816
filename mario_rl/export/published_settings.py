"""What others may see of a run's settings: all that was learned with, and nothing about the machine it ran on."""

from __future__ import annotations

import dataclasses
import hashlib
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from mario_rl.settings import ConfigError, flag

Config = TypeVar("Config")

OF_THE_MACHINE = ("checkpoints", "cluster", "device", "rom", "routes", "wandb")
OF_THE_RUN = ("name", *OF_THE_MACHINE)


def published(config: Config) -> Config:
    """The configuration with the defaults for paths, addresses, devices and accounts."""
    fields: Iterable[Any] = dataclasses.fields(config)  # type: ignore[arg-type]
    private = {field.name: field.default for field in fields if _is_private(field.name, getattr(config, field.name))}
    return dataclasses.replace(config, **private)  # type: ignore[type-var]


def _is_private(name: str, value: object) -> bool:
    return name in OF_THE_MACHINE or (isinstance(value, str) and any(sign in value for sign in "/\\:@"))


def training_command(
    command: str, config: Any, build: Callable[[Mapping[str, Any], str | None], Any], presets: Iterable[str]
) -> str:
    """What trains with these settings again: the shortest there is, with one of the presets or without."""
    wanted = {name: value for name, value in dataclasses.asdict(published(config)).items() if name not in OF_THE_RUN}
    found: list[list[str]] = []
    for preset in (None, *presets):
        chosen = {"model": wanted["model"]} if "model" in wanted else {}
        for _ in range(2):  # a choice may change what is not chosen
            with_them = dataclasses.asdict(build(chosen, preset))
            chosen |= {name: value for name, value in wanted.items() if value != with_them[name]}
        try:
            settled = dataclasses.asdict(build(chosen, preset))
        except ConfigError:
            continue
        if None in chosen.values() or any(settled[name] != value for name, value in wanted.items()):
            continue  # there is no flag that takes a preset's setting away
        options = [word for name, value in chosen.items() for word in _words(name, value)]
        found.append([*command.split(), *([] if preset is None else ["--preset", preset]), *options])
    shortest = sorted(found, key=len)
    return shlex.join(shortest[0]) if shortest else command


def _words(name: str, value: object) -> list[str]:
    if isinstance(value, bool):
        return [flag(name) if value else f"--no-{flag(name)[2:]}"]
    return [flag(name), str(value)]


def fingerprint(weights: Mapping[str, Any]) -> str:
    """SHA-256 of a network's weights, whatever file they are in."""
    digest = hashlib.sha256()
    for name, values in sorted(weights.items()):
        array = np.ascontiguousarray(values.detach().cpu().numpy())
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
