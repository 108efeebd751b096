"""`gitckpt fork`: attempts side by side."""

from __future__ import annotations

from gitckpt.views.text import PLAIN, Style, count, escape, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypedDict

    class AttemptRow(TypedDict):
        """An attempt; `added` and `deleted` are lines, against the checkpoint that it began at."""

        session: str
        number: int
        of: str
        status: int
        seconds: float
        test: int | None
        files: int
        added: int
        deleted: int


_HEADINGS = ("ATTEMPT", "FROM", "EXIT", "TEST", "TIME", "FILES", "LINES")


def attempts_document(rows: Sequence[AttemptRow]) -> dict[str, Any]:
    """What `fork --json` prints."""
    return {"schema": "gitckpt.fork/1", "attempts": list(rows)}


def attempts_lines(rows: Sequence[AttemptRow], style: Style = PLAIN, columns: int | None = None) -> list[str]:
    """A table, in the order given. On a terminal too narrow for it the checkpoints stand without their session."""
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
    tested = "" if row["test"] is None else "passed" if row["test"] == 0 else f"failed ({row['test']})"
    changed = f"+{row['added']:,} -{row['deleted']:,}"
    time = f"{row['seconds']:,.1f} s"
    return (
        escape(row["session"]),
        escape(row["of"]),
        str(row["status"]),
        tested,
        time,
        count(row["files"], "file"),
        changed,
    )
