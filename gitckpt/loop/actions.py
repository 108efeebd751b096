"""What a model can call: a name, what it is told of it, and what is done.

The schema that the model reads and the check of what it writes come from one pydantic model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from gitckpt.errors import GitckptError, UsageError
from gitckpt.loop.stream import sound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitckpt.loop.stream import Call
    from gitckpt.toolbox.arguments import Arguments

#: Characters of an answer that a model gets; the middle of a longer one is left out.
MOST_ANSWERED = 12_000


class Finished(Exception):
    """An action ends the run; `str` is what came out."""


class Action(NamedTuple):
    """One thing to call. `run` takes the arguments as a JSON object and gives the answer; a GitckptError is told to the
    model, Finished ends the run. `changes_files` says that it may."""

    name: str
    description: str
    schema: dict[str, Any]
    run: Callable[[dict[str, Any]], str]
    changes_files: bool = False

    def function(self) -> dict[str, Any]:
        """As Chat Completions takes it."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.schema},
        }


def action_of(
    arguments: type[Arguments], name: str, description: str, run: Callable[[Any], str], *, changes_files: bool = False
) -> Action:
    """An action whose arguments are such a model: `run` gets an instance. A call that does not fit it is refused."""
    from gitckpt.toolbox.arguments import validated

    def checked(given: dict[str, Any]) -> str:
        return run(validated(name, arguments, given))

    return Action(name, description, arguments.model_json_schema(by_alias=True), checked, changes_files)


def named(actions: Sequence[Action]) -> dict[str, Action]:
    """The actions by their names. Raises UsageError where two have the same."""
    found: dict[str, Action] = {}
    for action in actions:
        if action.name in found:
            raise UsageError(f"there are two tools of the name {action.name!r}", "leave out one --mcp")
        found[action.name] = action
    return found


def carry_out(call: Call, actions: dict[str, Action]) -> tuple[str, bool]:
    """What comes of a call, in words for the model, and whether it was done. Raises Finished."""
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
    if given is None:  # as some models call what takes no arguments
        return {}
    if not isinstance(given, dict):
        raise UsageError(f"the arguments of {call.name} are no JSON object", "nothing was done; write them again")
    return given


def bounded(text: str, most: int = MOST_ANSWERED) -> str:
    """The text with its middle left out where it is longer than `most` characters, and valid Unicode."""
    text = sound(text)
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
