"""Turn a block into an event: what is recorded, where, and under which name. Pure."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from gitckpt.errors import UnknownId
from gitckpt.protocol.ids import canonical, is_legal
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.resolve import resolve
from gitckpt.trajectory.session import MAIN, REASONS, Session, next_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitckpt.protocol.blocks import Block


def event_of(block: Block, session: Session) -> Event:
    """Return the event that records a block on the session's active line. The caller sets its position in history."""
    line = session.active_line if session.lines else MAIN
    document: dict[str, Any] = {"fields": dict(block.fields)} if block.kind != "checkpoint" else _settled(block)
    if not block.terminated:
        document["unterminated"] = True
    id = _id(block, session)
    return Event(
        kind=block.kind, session=session.id, line=line, seq=0, at="", id=id, written=block.written[:200],
        phase=str(block.fields.get("phase") or ""), next=str(block.fields.get("next") or ""),
        subject=subject(block, id), document=document,
    )  # fmt: skip


def _settled(block: Block) -> dict[str, Any]:
    """Return the record of a checkpoint: its fields with a valid state, and in full whatever that leaves out."""
    from gitckpt.protocol.state import settled

    fields, moved, dropped = settled(dict(block.fields))
    document: dict[str, Any] = {"fields": fields, "moved_to_open": moved, "dropped": dropped}
    return {name: value for name, value in document.items() if value or name == "fields"}


def _id(block: Block, session: Session) -> str | None:
    match block.kind:
        case "final":
            return None
        case "retry":
            return f"R{1 + sum(event.kind == 'retry' for event in session.events)}"
        case "summary":
            return block.id or f"S{1 + sum(event.kind == 'summary' for event in session.events)}"
    return block.id if block.id and is_legal(block.id) else generated_id(block.written)


def generated_id(written: str) -> str:
    """Return a safe id for a checkpoint without a valid one; the same text gives the same id."""
    return "x" + hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()[:10]


def next_checkpoint_id(session: Session) -> str:
    """Return the id for a checkpoint without a name: one more than the highest number so far."""
    numbers = [int(e.id[1:]) for e in session.events if e.kind == "checkpoint" and e.id and _numbered(e.id)]
    return f"C{max(numbers, default=0) + 1}"


def _numbered(id: str) -> bool:
    return id[:1] == "C" and id[1:].isascii() and id[1:].isdigit() and len(id) < 12


def subject(block: Block, id: str | None) -> str:
    """Return the first line of the commit message: for a checkpoint its id, phase and first `done` entry."""
    fields = block.fields
    match block.kind:
        case "checkpoint":
            done = fields.get("done") or [fields.get("next") or "no word of what was done"]
            phase = fields.get("phase_written") or fields.get("phase")
            first = done[0] if isinstance(done, list) else str(done)
            return f"{id} {phase}: {first}" if phase else f"{id}: {first}"
        case "summary":
            covers = fields.get("covers") or []
            span = f" ({covers[0]}-{covers[-1]})" if covers else ""
            return f"{id}{span}: {fields.get('text') or ''}"
        case "retry":
            return f"{id} from {fields.get('from')}: {retry_words(fields)}"
    return f"final: {fields.get('result') or 'done'}"


def retry_words(fields: Mapping[str, Any]) -> str:
    """Describe why a step is retried, and what is done differently."""
    return f"{_words(fields.get('reason'))} → {_words(fields.get('new_strategy'))}"


def _words(value: object) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value or "?")


class Fork:
    """Where a RETRY forks: `at` is the event that the new line starts at; `answers_to` are further ids of the retry;
    `exact` means that the checkpoint it names is on record."""

    __slots__ = ("answers_to", "at", "exact")

    def __init__(self, at: Event, answers_to: list[str], *, exact: bool) -> None:
        self.at, self.answers_to, self.exact = at, answers_to, exact


def fork_of(written: str, session: Session) -> Fork | None:
    """Return where a RETRY from `written` forks in this session; None if there is no event to fork from.

    If the checkpoint never reported, the nearest earlier one takes its place, and the retry answers to its name.
    """
    named = named_checkpoint(written, session)
    if named is not None:
        return Fork(named, [], exact=True)
    chain = session.on_line(session.active_line) or session.events
    checkpoints = [event for event in chain if event.kind == "checkpoint"]
    id = canonical(written) or ""
    earlier = [
        e for e in checkpoints if _numbered(id) and _numbered(e.id or "") and int((e.id or "")[1:]) < int(id[1:])
    ]
    starts = [event for event in chain if event.kind == "start"]
    candidates = earlier or checkpoints or starts or chain
    if not candidates:
        return None
    return Fork(candidates[-1], [id] if is_legal(id) else [], exact=False)


def named_checkpoint(written: str, session: Session) -> Event | None:
    """Return the checkpoint with this name: the newest on the active line, otherwise in the session. A commit id names
    its event."""
    event = session.event(written.strip())
    if event is not None:
        return event
    try:
        found = resolve(written.strip(), [session], (session.id, session.active_line)).event
    except UnknownId:
        return None
    return found if found.kind in ("checkpoint", "start", "auto", "retry") else None


def next_line(session: Session, why: str) -> str:
    """Return the name of a line about to be opened: `retry-2`, `rollback-3`."""
    return next_lines(session.lines)[REASONS.index(why)]
