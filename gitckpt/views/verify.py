"""`gitckpt verify`: what is wrong with the record, which events are affected, and the command that helps."""

from __future__ import annotations

from gitckpt.trajectory.record import called
from gitckpt.views.text import PLAIN, Style, count, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.record import Finding, Record

#: The maximum number of findings shown; the rest is counted.
MOST_FINDINGS = 10

#: The maximum number of event names on one line; the rest is counted.
MOST_NAMES = 12


class Verified:
    """The result of a verification: `record` is what was checked, `objects` how many objects were read, `newer` are the
    events in a newer format."""

    __slots__ = ("affected", "findings", "newer", "objects", "record")

    def __init__(self, record: Record, findings: Sequence[Finding], newer: Sequence[Event], objects: int) -> None:
        self.record, self.findings, self.newer, self.objects = record, findings, newer, objects
        self.affected = {commit for found in findings if found.level == "damage" for commit in found.affected}

    @property
    def is_damaged(self) -> bool:
        """Whether history is damaged, as opposed to findings that are only notices."""
        return any(finding.level == "damage" for finding in self.findings)

    def refs(self, *, affected: bool, session: str = "") -> list[str]:
        """Return the events affected by damage, or those that are not; of all sessions, or of one."""
        events = self.record.by_session[session] if session else self.record.ordered
        return [called(event) for event in events if (event.commit in self.affected) is affected]

    def names(self, *, affected: bool) -> str:
        """Return the same for the user; if all are in one session, without its name."""
        names = self.refs(affected=affected)
        sessions = {name.rpartition("/")[0] for name in names}
        return _few([name.rpartition("/")[2] for name in names] if len(sessions) == 1 else names)


def verify_document(verified: Verified) -> dict[str, Any]:
    """Return what `verify --json` prints."""
    return {
        "schema": "gitckpt.verify/1",
        "whole": not verified.findings,
        "objects": verified.objects,
        "sessions": [_session(verified, session) for session in verified.record.by_session if session],
        "findings": [_finding(verified, finding) for finding in verified.findings],
        "newer": [called(event) for event in verified.newer],
    }


def _session(verified: Verified, session: str) -> dict[str, Any]:
    return {
        "id": session,
        "whole": verified.refs(affected=False, session=session),
        "affected": verified.refs(affected=True, session=session),
    }


def _finding(verified: Verified, finding: Finding) -> dict[str, Any]:
    events = verified.record.events
    return {
        "check": finding.check,
        "level": finding.level,
        "message": finding.message,
        "help": finding.help,
        "affected": list(dict.fromkeys(called(events[commit]) for commit in finding.affected if commit in events)),
    }


def verify_lines(verified: Verified, style: Style = PLAIN) -> list[str]:
    """Return the answer for the user: that everything is intact, or the first problem in detail, and the rest."""
    if not (verified.findings or verified.record.events):
        return ["nothing has been recorded in this repository yet"]
    lines = list(_wrong(verified, style)) if verified.findings else [style.green(f"{_looked_at(verified)}: whole")]
    if verified.newer:
        names = _few([called(event) for event in verified.newer])
        lines.append(f"written by a newer gitckpt, and only their files were looked at: {names}")
    return lines


def _looked_at(verified: Verified) -> str:
    events, sessions = verified.record.ordered, [session for session in verified.record.by_session if session]
    checkpoints = [event for event in events if event.kind == "checkpoint"]
    counted = ((sessions, "session"), (events, "event"), (checkpoints, "checkpoint"))
    return ", ".join([*(count(len(found), noun) for found, noun in counted), count(verified.objects, "object")])


def _wrong(verified: Verified, style: Style) -> Iterator[str]:
    first, *rest = verified.findings[:MOST_FINDINGS]
    yield from _told(first, style)
    if verified.affected:
        yield style.yellow(f"  affected  {verified.names(affected=True)}")
        yield f"  whole     {verified.names(affected=False) or 'none'}"
    if rest:
        yield f"and {len(verified.findings) - 1:,} more:"
    for finding in rest:
        yield from _told(finding, style)
    if len(verified.findings) > MOST_FINDINGS:
        yield "gitckpt verify --json lists them all"
    yield f"{_looked_at(verified)}: {count(len(verified.findings), 'thing')} wrong"


def _told(finding: Finding, style: Style) -> Iterator[str]:
    message = escape(finding.message)
    yield style.red(message) if finding.level == "damage" else style.yellow(message)
    yield f"  {style.arrow} {escape(finding.help)}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return escape(", ".join(names[:MOST_NAMES])) + more
