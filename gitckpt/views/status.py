"""`gitckpt status`: the state of recording in this work tree."""

from __future__ import annotations

import re

from gitckpt.trajectory.events import CLOSING_KINDS
from gitckpt.trajectory.paths import path_data
from gitckpt.views.paths import change_lines, changes_json, missing_lines, path_text
from gitckpt.views.row import what, words
from gitckpt.views.text import PLAIN, Style, count, escape, fit, labelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session
    from gitckpt.views.paths import Change

#: The width of the labels.
_LABEL = 13

_NO_SESSION = "none here yet: `gitckpt wrap -- CMD` records an agent, `gitckpt save` makes a checkpoint by hand"
#: How the end event of an agent begins if the agent had not completed its task.
_FAILED = re.compile(r"exit status [1-9]|stuck\b|turns\b|failed\b|interrupted\b")
_RESUME = "`gitckpt resume` starts the agent again where it was"
_FINISH = "`gitckpt rollback --continue` finishes it, `gitckpt rollback --abort` takes it back"


class Status:
    """What `status` shows.

    `session` is the one that this work tree records on, None if there is none, and `line` its line. `changes` are the
    paths that differ from `last`, `metadata` those that differ only in permission bits and the empty directories that
    were added or removed, `missing` is what the newest snapshot does not hold (`{"path", "reason"}` each),
    `interrupted` names an unfinished operation (`rollback to C6`), or is "". `elsewhere`, set if this work tree has no
    session, names those of other work trees and how to show them. `died` means that the most recently started agent is
    gone without an end event.
    """

    __slots__ = ("changes", "died", "elsewhere", "interrupted", "line", "metadata", "missing", "session")

    def __init__(
        self,
        session: Session | None = None,
        line: str = "",
        *,
        changes: Sequence[Change] = (),
        metadata: Sequence[bytes] = (),
        missing: Sequence[Mapping[str, Any]] = (),
        interrupted: str = "",
        elsewhere: Sequence[str] = (),
        died: bool = False,
    ) -> None:
        self.session, self.line, self.missing = session, line, missing
        self.changes, self.metadata = changes, metadata
        self.interrupted, self.elsewhere = interrupted, elsewhere
        self.died = died

    @property
    def last(self) -> Event | None:
        """The last checkpoint on the line, otherwise the last event on it, otherwise None."""
        events = self.session.on_line(self.line) if self.session else []
        return next((event for event in reversed(events) if event.kind == "checkpoint"), events[-1] if events else None)

    @property
    def stopped(self) -> str:
        """How the most recently started agent ended before completing its task; "" if it completed it, or if work has
        continued without the agent."""
        if self.died:
            return "the agent, or what ran it, died"
        events = self.session.on_line(self.line) if self.session else []
        last = next((event for event in reversed(events) if event.kind in ("checkpoint", *CLOSING_KINDS)), None)
        if last is None or last.kind != "end" or not _FAILED.match(words(last)) or _was_final(events, last):
            return ""
        return words(last)


def status_lines(status: Status, style: Style = PLAIN, columns: int | None = None, limit: int = 20) -> list[str]:
    """Return a few labelled lines, with at most `limit` of the changed paths; text is cut at `columns` if given."""
    last = status.last
    entries = [("session", [_session(status), *map(escape, status.elsewhere)])]
    if last is not None:
        text = f"{last.id or ''}  {what(last)}  {words(last)}".strip()
        text = escape(text) if columns is None else fit(escape(text), max(columns - _LABEL, 1), style.ellipsis)
        stopped = [("stopped", [style.yellow(escape(status.stopped)), _RESUME])] if status.stopped else []
        entries += [("last", [text]), *stopped, ("changed", _changed(status, last, style, limit))]
    if status.missing:
        entries.append(("not covered", [style.yellow(line) for line in missing_lines(status.missing)]))
    if status.interrupted:
        entries.append(("interrupted", [style.red(escape(status.interrupted)), _FINISH]))
    return labelled(entries, _LABEL, style)


def _was_final(events: Sequence[Event], end: Event) -> bool:
    """Return whether the agent had written a FINAL before this end event."""
    run = events[: events.index(end)]
    begun = max((at for at, event in enumerate(run) if words(event).startswith("resumed: ")), default=0)
    return any(event.kind == "final" for event in run[begun:])


def _session(status: Status) -> str:
    session = status.session
    if session is None:
        return _NO_SESSION
    lines = f" of {len(session.lines)}" if len(session.lines) > 1 else ""
    state = "open" if session.is_open else "closed"
    return escape(f"{session.id}, line {status.line}{lines}, {state}")


def _changed(status: Status, last: Event, style: Style, limit: int) -> list[str]:
    since = escape(last.id or last.kind)
    if not status.changes and not status.metadata:
        return [f"nothing since {since}"]
    rows = [f"{count(len(status.changes), 'path')} since {since}", *change_lines(status.changes, style, limit)]
    if not status.metadata:
        return rows
    named = ", ".join(path_text(path) for path in status.metadata[:limit])
    more = f" and {len(status.metadata) - limit:,} more" if len(status.metadata) > limit else ""
    kept = rows if status.changes else [f"no content since {since}"]
    return [*kept, f"permission bits or empty directories: {named}{more}"]


def status_document(status: Status) -> dict[str, Any]:
    """Return what `status --json` prints."""
    session, last = status.session, status.last
    return {
        "schema": "gitckpt.status/1",
        "session": session.id if session else None,
        "line": status.line if session else None,
        "open": session.is_open if session else False,
        "last": {"id": last.id, "kind": last.kind, "ref": last.ref, "commit": last.commit, "at": last.at}
        if last
        else None,
        "changes": changes_json(status.changes),
        "metadata": [path_data(path) for path in status.metadata],
        "missing": [dict(entry) for entry in status.missing],
        "interrupted": status.interrupted or None,
        "stopped": status.stopped or None,
    }
