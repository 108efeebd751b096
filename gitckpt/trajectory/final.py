"""Check whether a FINAL lists what is on record. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitckpt.trajectory.record import Finding, Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gitckpt.trajectory.events import Event


def incomplete_finals(record: Record) -> Iterator[Finding]:
    """A FINAL must name every checkpoint and summary of its run on its own line, and none that is not on record.

    The agent need not list what the user saved by hand, nor events on abandoned lines."""
    for event in record.readable():
        if event.kind == "final" and not record.missing_numbers(event.session):
            yield from _wrong(record, event)


def _wrong(record: Record, final: Event) -> Iterator[Finding]:
    run = _run(record, final)
    events = record.by_session[final.session]
    on_record = {e.id for e in events} | {str(id) for e in events if record.is_readable(e) for id in e.answers_to}
    for kind, listed in (("checkpoint", _checkpoints(final.fields)), ("summary", _summaries(final.fields))):
        recorded = [e.id for e in run if e.kind == kind and e.id and not e.document.get("by_hand")]
        if left := [id for id in dict.fromkeys(recorded) if id not in listed]:
            yield _finding(final, f"leaves out {', '.join(left[:8])}")
        if absent := [id for id in listed if id not in on_record]:
            yield _finding(final, f"lists {', '.join(absent[:8])}, not on record")


def _run(record: Record, final: Event) -> list[Event]:
    """Return the readable events before a FINAL on its line, back to the previous FINAL; oldest first."""
    run: list[Event] = []
    for event in record.chain(final.parent):
        if event.kind == "final":
            break
        run.append(event)
    return [event for event in reversed(run) if record.is_readable(event)]


def _checkpoints(fields: Mapping[str, object]) -> Sequence[str]:
    """Return the ids that a FINAL lists; `RETRY→C7` stands for C7."""
    value = fields.get("checkpoints")
    return [str(id).rpartition("→")[2] for id in value] if isinstance(value, list) else []


def _summaries(fields: Mapping[str, object]) -> Sequence[str]:
    value = fields.get("summaries")
    return [str(row.get("id")) for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _finding(final: Event, what: str) -> Finding:
    help = f"gitckpt log --session {final.session} lists what is on record"
    return Finding("final", "notice", f"the FINAL of session {final.session} {what}", help, (final.commit,))
