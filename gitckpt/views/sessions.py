"""`gitckpt sessions`: what was recorded here, one session a line."""

from __future__ import annotations

from gitckpt.views.row import own_events, words
from gitckpt.views.text import PLAIN, Style, byte_size, escape, fit, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypedDict

    from gitckpt.trajectory.session import Session

    class SessionRow(TypedDict):
        """One session of a list; `size` is what dropping it would free, in bytes, or None where it was not measured;
        `origin` is the remote that it was fetched from, or None where it was recorded here."""

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

#: Columns whose numbers stand at the right.
_RIGHT = ("EVENTS", "CHECKPOINTS", "LINES", "SIZE")


def session_row(session: Session, size: int | None = None, origin: str | None = None) -> SessionRow:
    """What a list says of a session; reads only the headers of its events."""
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
    """What `sessions --json` prints."""
    return {"schema": "gitckpt.sessions/1", "sessions": list(rows)}


def sessions_lines(rows: Sequence[SessionRow], style: Style = PLAIN, columns: int | None = None) -> list[str]:
    """A table in the order given; the command of the agent is cut where the terminal ends."""
    if not rows:
        return ["No sessions here. `gitckpt wrap -- CMD` records an agent, `gitckpt save` makes a checkpoint by hand."]
    headings = _HEADINGS if any(row["origin"] for row in rows) else tuple(h for h in _HEADINGS if h != "REMOTE")
    table = [headings, *((*_cells(row, style)[: len(headings) - 1], escape(row["agent"])) for row in rows)]
    widths = [max(width(cells[index]) for cells in table) for index in range(len(headings))]
    lines = [_line(cells, widths, headings, style, columns) for cells in table]
    return [style.bold(lines[0]), *lines[1:]]


def _cells(row: SessionRow, style: Style) -> tuple[str, ...]:
    measured = "" if row["size"] is None else byte_size(row["size"])
    until = "open" if row["open"] else _minute(row["last"])
    counts = (f"{row['events']:,}", f"{row['checkpoints']:,}", f"{row['lines']:,}", measured)
    return (escape(row["id"]), _minute(row["first"]), until, *counts, escape(row["origin"] or ""))


def _minute(at: str | None) -> str:
    return escape(at or "")[:16].replace("T", " ")


def _line(
    cells: Sequence[str], widths: Sequence[int], headings: Sequence[str], style: Style, columns: int | None
) -> str:
    aligned = [
        " " * (column - width(cell)) + cell if heading in _RIGHT else pad(cell, column)
        for cell, column, heading in zip(cells, widths, headings, strict=True)
    ]
    line = "  ".join(aligned).rstrip(" ")
    return line if columns is None else fit(line, columns, style.ellipsis)
