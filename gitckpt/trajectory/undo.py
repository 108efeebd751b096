"""Which rollback `undo` takes back, and which undo `redo` does. Pure: a fold over the events of a work tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitckpt.trajectory.events import Event


@dataclass(slots=True)
class Operations:
    """`done` are the rollbacks that undo can take back, `undone` the undos that redo can; the last one is next.

    `interrupted` is the operation that was begun last and did not come to its end, or None.
    """

    done: list[Event] = field(default_factory=list)
    undone: list[Event] = field(default_factory=list)
    interrupted: Event | None = None


def is_operation(event: Event) -> bool:
    """Whether the event changed the work tree: a rollback, an undo, a redo, or a retry that put the files back."""
    return event.kind in ("rollback", "retry") and isinstance(event.document.get("rollback"), dict)


def operations(events: Iterable[Event], opened: Iterable[tuple[str, str]]) -> Operations:
    """Fold events, oldest first, of all sessions of a work tree. `opened` are the lines that exist, as
    (session, line)."""
    state = Operations()
    lines = set(opened)
    found = [event for event in events if event.kind in ("rollback", "retry") and is_operation(event)]
    # one that was begun and ended by another is no operation of its own, though its line has the same name
    ended = {event.document["rollback"].get("ends") for event in found}
    for event in found:
        if event.commit not in ended:
            _take(state, event, lines)
    return state


def _take(state: Operations, event: Event, lines: set[tuple[str, str]]) -> None:
    opens = event.opens if isinstance(event.opens, dict) else {}
    if (opens.get("session"), opens.get("line")) not in lines:
        # one that was begun before and superseded since is no longer in the way
        state.interrupted = event
        return
    state.interrupted = None
    match event.document["rollback"].get("operation"):
        case "undo" if state.done:
            state.done.pop()
            state.undone.append(event)
        case "redo" if state.undone:
            state.undone.pop()
            state.done.append(event)
        case "abort":
            pass
        case _:
            state.done.append(event)
            state.undone.clear()
