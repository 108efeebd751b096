"""`gitckpt doctor`: the result of every check, one line each."""

from __future__ import annotations

from gitckpt.views.text import PLAIN, Style, count, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    #: The name of the check; ok, note or mend; the message; the command that fixes the problem, or "".
    Row = tuple[str, str, str, str]


def doctor_document(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what `doctor --json` prints."""
    names = ("check", "level", "message", "help")
    return {
        "schema": "gitckpt.doctor/1",
        "healthy": all(level != "mend" for _, level, _, _ in rows),
        "checks": [dict(zip(names, row, strict=True)) for row in rows],
    }


def doctor_lines(rows: Sequence[Row], style: Style = PLAIN) -> list[str]:
    """Return the messages, each with its command, and the verdict."""
    wrong = sum(level == "mend" for _, level, _, _ in rows)
    verdict = style.red(f"{count(wrong, 'thing')} to mend") if wrong else style.green("nothing to mend")
    return [*(line for row in rows for line in _lines(row, style)), verdict]


def _lines(row: Row, style: Style) -> Iterator[str]:
    _, level, message, help = row
    colour = {"ok": style.green, "note": style.yellow, "mend": style.red}[level]
    yield f"{colour(level)}{' ' * (6 - len(level))}{escape(message)}"
    if help:
        yield f"      {style.arrow} {escape(help)}"
