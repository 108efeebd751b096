"""Which rollback `undo` takes back, and which undo `redo` does. Pure: a fold over the events of a work tree.

Operations are numbered as they are done in a work tree: a clock may be set back, and a session has an order of its own
alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gitckpt.trajectory.events import Event

# The number as a record has it, one level down.
_WRITTEN = re.compile(r"^  number: ([0-9]{1,15})$", re.MULTILINE)


@dataclass(slots=True)
class Operations:
    """`done` are the rollbacks that undo can take back, `undone` the undos that redo can; the last one is next.

    `interrupted` is the operation that was begun last and did not come to its end, or None.
    """

    done: list[Event] = field(default_factory=list)
    undone: list[Event] = field(default_factory=list)
    interrupted: Event | None = None


class Identity(NamedTuple):
    """What tells that an operation was done in a work tree, whatever came there from elsewhere: the `places` that stand
    for it in records, and the `session` that it records in, "" for none."""

    places: Collection[str] = ()
    session: str = ""

    def did(self, event: Event) -> bool:
        """Whether the event is an operation of this work tree. A record that names no place is of a version that had
        none yet: it is this one's where the work tree still records in the session that it is about."""
        if not is_operation(event):
            return False
        if names_place(event):
            return event.document["rollback"]["place"] in self.places
        opens = event.opens if isinstance(event.opens, dict) else {}
        return bool(self.session) and self.session in (event.session, opens.get("session"))


def names_place(operation: Event) -> bool:
    """Whether the record of an operation says where it was done."""
    return isinstance(operation.document["rollback"].get("place"), str)


def is_operation(event: Event) -> bool:
    """Whether the event changed the work tree: a rollback, an undo, a redo, or a retry that put the files back."""
    return event.kind in ("rollback", "retry") and isinstance(event.document.get("rollback"), dict)


def operations(events: Iterable[Event], opened: Iterable[tuple[str, str]]) -> Operations:
    """Fold events of all sessions of a work tree, in any order. `opened` are the lines that exist, of all work trees,
    as (session, line).

    One that went to a session that was deleted since counts as done: there is nothing left to finish, and its own event
    holds what undo goes back to."""
    state = Operations()
    lines = set(opened)
    found = sorted(filter(is_operation, events), key=lambda event: (_number(event), event.at, event.seq))
    # one that was begun and ended by another is no operation of its own, though its line has the same name
    ended = {ends for event in found if isinstance(ends := event.document["rollback"].get("ends"), str)}
    for event in found:
        if event.commit not in ended:
            _take(state, event, lines)
    return state


def next_number(events: Iterable[Event]) -> int:
    """A number for the operation that comes after these, which are on record: higher than those of all of them.

    It is found in the text of the records: to read each whole would make every rollback dearer than the one before. A
    line of an agent's that looks the same leaves a gap, no more.
    """
    return 1 + max(map(_highest_number, events), default=0)


def _highest_number(event: Event) -> int:
    if not event.text:  # one that was made here and not read back
        return _number(event) if is_operation(event) else 0
    return max(map(int, _WRITTEN.findall(event.text)), default=0)


def _number(event: Event) -> int:
    number = event.document["rollback"].get("number")
    return number if isinstance(number, int) else 0


def _take(state: Operations, event: Event, lines: set[tuple[str, str]]) -> None:
    opens = event.opens if isinstance(event.opens, dict) else {}
    session, line = str(opens.get("session")), str(opens.get("line"))  # a record may say anything
    if (session, line) not in lines and any(session == name for name, _ in lines):
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
