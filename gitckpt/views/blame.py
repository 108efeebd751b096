"""`gitckpt blame`: each line of a file with the checkpoint that wrote it."""

from __future__ import annotations

from gitckpt.trajectory.paths import path_data
from gitckpt.views.text import PLAIN, Style, escape, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitckpt.trajectory.events import Event

    #: The event that wrote the line, None if no event has yet; the line number, from 1; the bytes of the line.
    Row = tuple[Event | None, int, bytes]

#: Shown for a line that was written after the last event.
NOW = "now"


def blame_document(path: bytes, at: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return what `blame --json` prints; `at` is the event whose version of the file this is, "" for the work tree."""
    return {
        "schema": "gitckpt.blame/1",
        "path": path_data(path),
        "at": at or None,
        "lines": [
            {
                "line": number,
                "ref": event.ref if event else None,
                "kind": event.kind if event else None,
                "at": event.at if event else None,
                "text": text.decode("utf-8", "backslashreplace"),
            }
            for event, number, text in rows
        ],
    }


def blame_lines(rows: Sequence[Row], style: Style = PLAIN) -> list[str]:
    """Return one row per line: the event that wrote it, its number, its text."""
    names = [_name(event) for event, _, _ in rows]
    widest = max(map(width, names), default=0)
    digits = len(str(rows[-1][1])) if rows else 0
    return [
        f"{_coloured(pad(name, widest), event, style)}  {style.dim(f'{number:>{digits}}')}  "
        f"{escape(text.decode('utf-8', 'backslashreplace').expandtabs())}"
        for name, (event, number, text) in zip(names, rows, strict=True)
    ]


def _name(event: Event | None) -> str:
    return NOW if event is None else escape(event.id or event.kind)


def _coloured(name: str, event: Event | None, style: Style) -> str:
    if event is None:
        return style.yellow(name)
    return style.green(name) if event.kind == "checkpoint" else style.dim(name)
