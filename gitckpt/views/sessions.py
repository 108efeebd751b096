"""`gitckpt sessions`: what was recorded here, one session per line."""

from __future__ import annotations

from gitckpt.views.row import own_events, words
from gitckpt.views.text import PLAIN, Style, byte_size, escape, fit, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypedDict

    from gitckpt.trajectory.session import Session

    class SessionRow(TypedDict):
        """One session of a list.

        `size` is the number of bytes that dropping it would free, or None if it was not measured; `origin` is the
        remote that it was fetched from, or None if it was recorded here."""

        id: str
        agent: str
        first: str | None
        last: str | None
        open: bool
        events: int
        checkpoints: int
        lines: int
        size: int | None
        origin: str | None


_HEADINGS = ("SESSION", "FROM", "TO", "EVENTS", "CHECKPOINTS", "LINES", "SIZE", "REMOTE", "AGENT")

#: The columns dropped on a narrow terminal, in this order; FROM is first because the id begins with the start date.
_SPARED = ("FROM", "LINES", "EVENTS", "SIZE")

#: The minimum width kept for a long agent command before other columns are dropped.
_AGENT = 16

#: Right-aligned columns.
_RIGHT = ("EVENTS", "CHECKPOINTS", "LINES", "SIZE")


def session_row(session: Session, size: int | None = None, origin: str | None = None) -> SessionRow:
    """Return the list row of a session; reads only the headers of its events."""
    events = own_events(session)
    return {
        "id": session.id,
        "agent": next((words(event) for event in events if event.kind == "start"), ""),
        "first": events[0].at if events else None,
        "last": events[-1].at if events else None,
        "open": session.is_open,
        "events": len(events),
        "checkpoints": sum(event.kind == "checkpoint" for event in events),
        "lines": len(session.lines),
        "size": size,
        "origin": origin,
    }


def sessions_document(rows: Sequence[SessionRow]) -> dict[str, Any]:
    """Return what `sessions --json` prints."""
    return {"schema": "gitckpt.sessions/1", "sessions": list(rows)}


def sessions_lines(rows: Sequence[SessionRow], style: Style = PLAIN, columns: int | None = None) -> list[str]:
    """Return a table in the given order. On a narrow terminal the start date, lines, events and sizes are dropped as
    needed, in this order; the agent's command is cut at its end."""
    if not rows:
        return ["No sessions here. `gitckpt wrap -- CMD` records an agent, `gitckpt save` makes a checkpoint by hand."]
    table = [dict(zip(_HEADINGS, _HEADINGS, strict=True)), *(_cells(row) for row in rows)]
    widths = {heading: max(width(cells[heading]) for cells in table) for heading in _HEADINGS}
    if not any(row["origin"] for row in rows):
        del widths["REMOTE"]
    if columns is not None:
        _make_room(widths, columns)
    lines = [_line(cells, widths, style, columns) for cells in table]
    return [style.bold(lines[0]), *lines[1:]]


def _make_room(widths: dict[str, int], columns: int) -> None:
    """Drop columns until the rest fits together with the beginning of the agent's command."""
    agent = min(widths["AGENT"], _AGENT)
    for heading in _SPARED:
        if sum(widths.values()) - widths["AGENT"] + agent + 2 * (len(widths) - 1) <= columns:
            return
        del widths[heading]


def _cells(row: SessionRow) -> dict[str, str]:
    return {
        "SESSION": escape(row["id"]),
        "FROM": _minute(row["first"]),
        "TO": "open" if row["open"] else _minute(row["last"]),
        "EVENTS": f"{row['events']:,}",
        "CHECKPOINTS": f"{row['checkpoints']:,}",
        "LINES": f"{row['lines']:,}",
        "SIZE": "" if row["size"] is None else byte_size(row["size"]),
        "REMOTE": escape(row["origin"] or ""),
        "AGENT": escape(row["agent"]),
    }


def _minute(at: str | None) -> str:
    return escape(at or "")[:16].replace("T", " ")


def _line(cells: Mapping[str, str], widths: Mapping[str, int], style: Style, columns: int | None) -> str:
    aligned = [
        " " * (wide - width(cells[heading])) + cells[heading] if heading in _RIGHT else pad(cells[heading], wide)
        for heading, wide in widths.items()
    ]
    line = "  ".join(aligned).rstrip(" ")
    return line if columns is None else fit(line, columns, style.ellipsis)
