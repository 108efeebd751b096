"""The command line as declared by `gitckpt.cli.app`, read from its functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import NamedTuple, get_args, get_type_hints

from typer.models import OptionInfo

from gitckpt.cli.app import app


class Parameter(NamedTuple):
    """One parameter of a command: its Python name, its type, its option names (none for an argument), and whether the
    command needs it."""

    name: str
    kind: type
    options: tuple[str, ...]
    is_needed: bool


def commands() -> dict[str, list[Parameter]]:
    """Map each command to its parameters."""
    functions = [command.callback for command in app.registered_commands]
    return {function.__name__: _parameters(function) for function in functions if function is not None}


def _parameters(function: Callable[..., object]) -> list[Parameter]:
    hints = get_type_hints(function, include_extras=True)
    return [
        _parameter(name, *get_args(hints[name]), is_needed=declared.default is inspect.Parameter.empty)
        for name, declared in inspect.signature(function).parameters.items()
    ]


def _parameter(name: str, annotated: type, told: object, *, is_needed: bool) -> Parameter:
    kind = next(kind for kind in (*get_args(annotated), annotated) if kind is not type(None))
    if not isinstance(told, OptionInfo):
        return Parameter(name, kind, (), is_needed)
    # inside Annotated typer's first positional argument, a name of the option, counts as the default
    return Parameter(name, kind, (str(told.default), *(told.param_decls or ())), is_needed)
