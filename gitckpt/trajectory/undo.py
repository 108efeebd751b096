"""Which rollback `undo` reverts, and which undo `redo` reverts. Pure: a fold over the events of a work tree.

Operations are numbered in the order in which they are done in a work tree, because a clock may be set back, and a
session only orders its own events."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gitckpt.trajectory.events import Event

# The number as it appears in a record, indented one level.
_WRITTEN = re.compile(r"^  number: ([0-9]{1,15})$", re.MULTILINE)


@dataclass(slots=True)
class Operations:
    """`done` are the rollbacks that undo can revert, `undone` the undos that redo can revert; the last one is next.

    `interrupted` is the most recently begun operation if it did not finish, or None.
    """

    done: list[Event] = field(default_factory=list)
    undone: list[Event] = field(default_factory=list)
    interrupted: Event | None = None


class Identity(NamedTuple):
    """What identifies the operations done in a work tree among events that came from elsewhere: the `places` that stand
    for it in records, and the `session` that it records in, "" for none."""

    places: Collection[str] = ()
    session: str = ""

    def did(self, event: Event) -> bool:
        """Return whether the event is an operation of this work tree. A record without a place was written by an older
        version: it belongs to this work tree if that still records in the session that the operation is about."""
        if not is_operation(event):
            return False
        if names_place(event):
            return event.document["rollback"]["place"] in self.places
        opens = event.opens if isinstance(event.opens, dict) else {}
        return bool(self.session) and self.session in (event.session, opens.get("session"))


def names_place(operation: Event) -> bool:
    """Return whether the record of an operation says where it was done."""
    return isinstance(operation.document["rollback"].get("place"), str)


def is_operation(event: Event) -> bool:
    """Return whether the event changed the work tree: a rollback, an undo, a redo, or a retry that restored the
    files.
    """
    return event.kind in ("rollback", "retry") and isinstance(event.document.get("rollback"), dict)


def operations(events: Iterable[Event], opened: Iterable[tuple[str, str]]) -> Operations:
    """Fold the events of all sessions of a work tree, in any order. `opened` are the existing lines of all work trees,
    as (session, line).

    An operation that opened a line in a session that was since deleted counts as done: there is nothing left to finish,
    and its own event holds the state that undo returns to."""
    state = Operations()
    lines = set(opened)
    found = sorted(filter(is_operation, events), key=lambda event: (_number(event), event.at, event.seq))
    # one that was begun and then ended by another is not an operation of its own, though its line has the same name
    ended = {ends for event in found if isinstance(ends := event.document["rollback"].get("ends"), str)}
    for event in found:
        if event.commit not in ended:
            _take(state, event, lines)
    return state


def next_number(events: Iterable[Event]) -> int:
    """Return a number for the operation after these events: higher than that of any of them.

    It searches the text of the records, because parsing each one would make every rollback slower than the one before.
    A similar line written by an agent only leaves a gap.
    """
    return 1 + max(map(_highest_number, events), default=0)


def _highest_number(event: Event) -> int:
    if not event.text:  # created in this process and not read back
        return _number(event) if is_operation(event) else 0
    return max(map(int, _WRITTEN.findall(event.text)), default=0)


def _number(event: Event) -> int:
    number = event.document["rollback"].get("number")
    return number if isinstance(number, int) else 0


def _take(state: Operations, event: Event, lines: set[tuple[str, str]]) -> None:
    opens = event.opens if isinstance(event.opens, dict) else {}
    session, line = str(opens.get("session")), str(opens.get("line"))  # a record may contain anything
    if (session, line) not in lines and any(session == name for name, _ in lines):
        # an operation that was begun earlier and has since been superseded is no longer in the way
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
