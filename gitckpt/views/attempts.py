"""`gitckpt fork`: attempts side by side, as a table, and drawn next to the line that they began at."""

from __future__ import annotations

from gitckpt.views.text import PLAIN, Style, count, escape, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypedDict

    from gitckpt.trajectory.events import Event

    class AttemptRow(TypedDict):
        """An attempt.

        `added` and `deleted` are lines, compared with the checkpoint that it began at; `picked` means that another
        session continued from its result."""

        session: str
        number: int
        of: str
        status: int
        seconds: float
        test: int | None
        files: int
        added: int
        deleted: int
        picked: bool


_HEADINGS = ("ATTEMPT", "FROM", "EXIT", "TEST", "TIME", "FILES", "LINES")


def attempts_document(rows: Sequence[AttemptRow]) -> dict[str, Any]:
    """Return what `fork --json` prints."""
    return {"schema": "gitckpt.fork/1", "attempts": list(rows)}


def attempts_lines(rows: Sequence[AttemptRow], style: Style = PLAIN, columns: int | None = None) -> list[str]:
    """Return a table in the given order. If the terminal is too narrow, checkpoints are shown without their session."""
    if not rows:
        return ["No attempts here. `gitckpt fork C4 -n 3 -- CMD` makes some."]
    table = [_HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(width(cells[index]) for cells in table) for index in range(len(_HEADINGS))]
    if columns is not None and sum(widths) + 2 * (len(widths) - 1) > columns:
        shorter: list[AttemptRow] = [{**row, "of": row["of"].rpartition("/")[2]} for row in rows]
        return attempts_lines(shorter, style)
    lines = ["  ".join(pad(cell, wide) for cell, wide in zip(cells, widths, strict=True)).rstrip() for cells in table]
    return [style.bold(lines[0]), *lines[1:]]


def _cells(row: AttemptRow) -> tuple[str, ...]:
    tested = verdict_of(row) + (f" ({row['test']})" if row["test"] else "")
    time, changed = f"{row['seconds']:,.1f} s", _lines_of(row)
    return (
        escape(row["session"]),
        escape(row["of"]),
        str(row["status"]),
        tested,
        time,
        count(row["files"], "file"),
        changed,
    )


def _lines_of(row: AttemptRow) -> str:
    return f"+{row['added']:,} -{row['deleted']:,}"


def verdict_of(row: AttemptRow) -> str:
    """Return its test result: `passed` or `failed`; "" if there was no test."""
    return "" if row["test"] is None else "failed" if row["test"] else "passed"


class Drawn:
    """An attempt to draw: how it ended; its events since it began, oldest first, the last of which is its end; and the
    commit of the event that it began at."""

    __slots__ = ("began_at", "events", "row")

    def __init__(self, row: AttemptRow, events: Sequence[Event], began_at: str) -> None:
        self.row, self.events, self.began_at = row, list(events), began_at

    @property
    def end(self) -> Event:
        """The event that says how it ended."""
        return self.events[-1]

    @property
    def _is_ended_by_agent(self) -> bool:
        """Whether the end of its agent comes right before: both are shown on one line."""
        return [event.kind for event in self.events[-2:]] == ["end", "end"]

    @property
    def shown(self) -> list[Event]:
        """Its events, without the end of its agent if its own end says the same."""
        return [*self.events[:-2], self.end] if self._is_ended_by_agent else self.events

    @property
    def parent(self) -> str:
        """The commit of the event that its end is drawn after."""
        return self.events[-2].parent if self._is_ended_by_agent else self.end.parent

    @property
    def name(self) -> str:
        """The name that `pick` accepts while the fork is the newest: `attempt 2`."""
        return f"attempt {self.row['number']}"

    @property
    def words(self) -> str:
        """How it ended, on one line: exit status, time, changes, whether it was picked, its session. Not escaped."""
        row = self.row
        status = f"exit status {row['status']}" if row["status"] else ""
        changed = f"{count(row['files'], 'file')} {_lines_of(row)}"
        home = "picked" if row["picked"] else ""
        return ", ".join(filter(None, (status, f"{row['seconds']:,.1f} s", changed, home, row["session"])))


def merged(events: Sequence[Event], attempts: Iterable[Sequence[Event]]) -> list[Event]:
    """Return the events, oldest first, with those of attempts merged in chronological order. No event comes before the
    one that it followed, whatever the clock said."""
    times = {event.commit: event.at for event in events}
    others = [(max(event.at, times.get(own[0].parent, "")), event) for own in attempts for event in own]
    waiting = sorted(others, key=lambda other: other[0], reverse=True)
    found = []
    for event in events:
        while waiting and waiting[-1][0] < event.at:
            found.append(waiting.pop()[1])
        found.append(event)
    return found + [event for _, event in reversed(waiting)]
