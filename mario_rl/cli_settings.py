"""An option of the command line for every setting of a configuration."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from mario_rl.settings import docs_of, flag, kinds_of


def with_settings(
    command: Callable[..., None],
    config: type,
    first: tuple[str, ...],
    of_presets: Callable[[str], list[str]],
    others: Mapping[str, type] | None = None,
) -> Callable[..., None]:
    """Replace `**settings` in a command's signature by one option per setting, those of `first` before all others.

    `of_presets` says what presets make of a setting, for the help. `others` are further configurations by name: what
    they share with the first one is one option, what only they have comes last, with their name in its help.
    """
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.kind is not p.VAR_KEYWORD]
    names = [*first, *(name for name in names_of(config) if name not in first)]
    options = {name: _option(config, name, docs_of(config)[name], of_presets(name)) for name in names}
    for label, other in (others or {}).items():
        for name in names_of(other):
            if name not in options:
                options[name] = _option(other, name, f"{label}: {docs_of(other)[name]}", [])
    parameters = [options[name] for name in first] + own + [o for name, o in options.items() if name not in first]
    keywords = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]

    def command_with_settings(**arguments: Any) -> None:
        command(**arguments)

    command_with_settings.__doc__ = command.__doc__
    command_with_settings.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    command_with_settings.__annotations__ = {p.name: p.annotation for p in keywords}
    return command_with_settings


def names_of(config: type) -> list[str]:
    """The settings in the order of the parts that a configuration is made of, then its own."""
    parts = [part for part in config.__bases__ if part is not object]
    in_parts = [field.name for part in parts for field in dataclasses.fields(part)]
    return list(dict.fromkeys([*in_parts, *(field.name for field in dataclasses.fields(config))]))


def _option(config: type, name: str, help: str, of_presets: list[str]) -> inspect.Parameter:
    """The option of one setting; not given means not chosen, so that presets and files can speak."""
    kind = next(kind for kind in kinds_of(config, name) if kind is not type(None))
    default = next(field.default for field in dataclasses.fields(config) if field.name == name)
    settings = ([] if default is None else [str(default)]) + of_presets
    shown = f" [{'; '.join(settings)}]" if settings else ""
    flags = flag(name)
    if kind is bool:
        flags = f"{flags}/--no-{flags[2:]}"
    annotation = Annotated[kind | None, typer.Option(flags, help=help + shown, show_default=False)]  # type: ignore[valid-type]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
