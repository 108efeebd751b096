"""What a model can call: a name, the description that it reads, and what is done.

One pydantic model yields both the schema that the model reads and the validation of what it writes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from gitckpt.errors import GitckptError, UsageError
from gitckpt.loop.stream import sound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitckpt.loop.stream import Call
    from gitckpt.toolbox.arguments import Arguments

#: The maximum length of an answer to a model, in characters; the middle of a longer one is left out.
MOST_ANSWERED = 12_000


class Finished(Exception):
    """Raised by an action that ends the run; `str` is the result."""


class Action(NamedTuple):
    """One thing to call. `run` takes the arguments as a JSON object and returns the answer. The model is told of a
    GitckptError; Finished ends the run. `changes_files` says that it may change files."""

    name: str
    description: str
    schema: dict[str, Any]
    run: Callable[[dict[str, Any]], str]
    changes_files: bool = False

    def function(self) -> dict[str, Any]:
        """Return the action as Chat Completions takes it."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.schema},
        }


def action_of(
    arguments: type[Arguments], name: str, description: str, run: Callable[[Any], str], *, changes_files: bool = False
) -> Action:
    """Return an action that validates its arguments as `arguments`: `run` gets an instance. Other calls are refused."""
    from gitckpt.toolbox.arguments import validated

    def checked(given: dict[str, Any]) -> str:
        return run(validated(name, arguments, given))

    return Action(name, description, arguments.model_json_schema(by_alias=True), checked, changes_files)


def named(actions: Sequence[Action]) -> dict[str, Action]:
    """Return the actions by name. Raises UsageError if two have the same name."""
    found: dict[str, Action] = {}
    for action in actions:
        if action.name in found:
            raise UsageError(f"there are two tools of the name {action.name!r}", "leave out one --mcp")
        found[action.name] = action
    return found


def carry_out(call: Call, actions: dict[str, Action]) -> tuple[str, bool]:
    """Carry out a call. Return its answer, in words for the model, and whether it was done. Raises Finished."""
    try:
        action = actions.get(call.name)
        if action is None:
            raise UsageError(f"there is no tool {call.name!r}", f"the tools are {', '.join(actions)}")
        return bounded(action.run(_object(call))), True
    except GitckptError as error:
        return bounded(f"error: {error}" + (f"\n→ {error.hint}" if error.hint else "")), False
    except OSError as error:
        return f"error: the system refused: {error.strerror or error}", False


def _object(call: Call) -> dict[str, Any]:
    try:
        given = json.loads(call.arguments or "{}", strict=False)
        given = json.loads(sound(json.dumps(given, ensure_ascii=False)))
    except (ValueError, RecursionError) as error:
        wrong = f"the arguments of {call.name} are no JSON ({error})"
        raise UsageError(wrong, "nothing was done; write them again, as one JSON object") from error
    if given is None:  # some models send this for a call without arguments
        return {}
    if not isinstance(given, dict):
        raise UsageError(f"the arguments of {call.name} are no JSON object", "nothing was done; write them again")
    return given


def bounded(text: str, most: int = MOST_ANSWERED) -> str:
    """Return the text as valid Unicode, with its middle left out if it is longer than `most` characters."""
    text = sound(text)
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
