"""Settings as dataclasses: the docs of their fields are the help, their types are checked, YAML keeps them.

What every command with a configuration shares: `mario-rl train` (config.py) and `mario-rl selfplay train`
(selfplay/config.py).
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import yaml

Config = TypeVar("Config")


class ConfigError(ValueError):
    """A setting that cannot be; the message says which and what would be right."""


@dataclass(frozen=True)
class Ranges:
    """What numbers may be, by the names of their settings."""

    at_least_one: Iterable[str] = ()
    at_least_zero: Iterable[str] = ()
    positive: Iterable[str] = ()
    not_negative: Iterable[str] = ()
    shares: Iterable[str] = ()
    choices: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)


def check_settings(config: Any, ranges: Ranges) -> None:
    """Raise a ConfigError about the first setting of a wrong type, or out of its range."""
    for field in dataclasses.fields(config):
        _check_type(config, field.name)
    for names, least in ((ranges.at_least_one, 1), (ranges.at_least_zero, 0)):
        for name in names:
            demand(getattr(config, name) >= least, config, name, f"a whole number from {least} on")
    for name in ranges.positive:
        demand(getattr(config, name) > 0, config, name, "above 0")
    for name in ranges.not_negative:
        demand(getattr(config, name) >= 0, config, name, "0 or more")
    for name in ranges.shares:
        demand(0 <= getattr(config, name) <= 1, config, name, "between 0 and 1")
    for name, choices in ranges.choices.items():
        demand(getattr(config, name) in choices, config, name, f"one of {', '.join(choices)}")


def demand(holds: bool, config: Any, name: str, wanted: str) -> None:
    """A ConfigError that says what a setting should be, unless it is."""
    if not holds:
        raise ConfigError(f"{flag(name)} is {wanted}, not {getattr(config, name)!r}")


def _check_type(config: Any, name: str) -> None:
    value = getattr(config, name)
    kinds = kinds_of(type(config), name)
    if type(value) is int and float in kinds and int not in kinds:
        object.__setattr__(config, name, float(value))
    elif type(value) not in kinds:
        words = {int: "a whole number", float: "a number", str: "text", bool: "true or false", type(None): "nothing"}
        demand(False, config, name, " or ".join(words[kind] for kind in kinds))
    if isinstance(value, float):
        demand(value == value and abs(value) != float("inf"), config, name, "a finite number")


def flag(name: str) -> str:
    """The command line's name of a setting."""
    return "--" + name.replace("_", "-")


def kinds_of(config: type, name: str) -> tuple[type, ...]:
    """The types a setting may have."""
    return _kinds(config)[name]


@functools.cache
def _kinds(config: type) -> dict[str, tuple[type, ...]]:
    hints = get_type_hints(config)
    return {name: get_args(hint) if get_origin(hint) is not None else (hint,) for name, hint in hints.items()}


@functools.cache
def docs_of(config: type) -> Mapping[str, str]:
    """What each setting means: the strings below the fields."""
    found: dict[str, str] = {}
    for part in config.__mro__:
        if part is object or not dataclasses.is_dataclass(part):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(part))).body[0]
        assert isinstance(body, ast.ClassDef)
        for node, after in zip(body.body, body.body[1:], strict=False):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(after, ast.Expr):
                found[node.target.id] = ast.literal_eval(after.value)
    return found


def of_dict(config: type[Config], settings: Mapping[str, Any], command: str) -> Config:
    """A configuration of these settings; a ConfigError names one that does not exist, and the command to ask."""
    known = {field.name for field in dataclasses.fields(config)}  # type: ignore[arg-type]
    for name in settings:
        if name not in known:
            raise ConfigError(f"unknown setting {name!r}; `{command} --help` lists them all")
    return config(**settings)


def read_settings(file: Path, config: type) -> dict[str, Any]:
    """The settings of a YAML file: one `name: value` a line, names as on the command line, with _ or -."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ConfigError(f"cannot read {file}: {problem.strerror}") from problem
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{file} is not YAML: {' '.join(str(problem).split())}") from problem
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise ConfigError(f"{file} should hold lines such as `lr: 0.0001`")
    settings = {name.replace("-", "_"): value for name, value in content.items()}
    return {name: _number_if_text(config, name, value) for name, value in settings.items()}


def write_settings(config: Any, file: Path) -> None:
    """Save a configuration so that `read_settings` gives it back."""
    file.write_text(yaml.safe_dump(dataclasses.asdict(config), sort_keys=False), encoding="utf-8")


def _number_if_text(config: type, name: str, value: Any) -> Any:
    """YAML 1.1 reads 1e-4 as text (it wants 1.0e-4); people mean the number, where there can be one."""
    if isinstance(value, str) and str not in _kinds(config).get(name, (str,)):
        try:
            return float(value)
        except ValueError:
            return value
    return value
