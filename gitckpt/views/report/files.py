"""The changes of an event, file by file, as data for the page; the lines are kept separate."""

from __future__ import annotations

import shlex

from gitckpt.views.paths import path_bytes, path_text
from gitckpt.views.text import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gitckpt.trajectory.events import Event
    from gitckpt.views.paths import Change
    from gitckpt.views.report.contents import Patch

#: The number of files of one event whose lines are on the page; the others are only named.
MOST_WITH_LINES = 200

#: Notes that add nothing to the status letter.
_ORDINARY = (b"new file mode 100644", b"deleted file mode 100644")

#: The maximum number of bytes shown of a line.
LONGEST_LINE = 2000


def file_rows(event: Event, changes: Sequence[Change], patches: Sequence[Patch]) -> list[dict[str, Any]]:
    """Return `{"status", "path", "added", "deleted", "notes", "left_out", "command", "lines"}` for each file: `lines`
    is the text of its hunks, `left_out` the number of lines missing from it, `command` the command that shows them all.
    """
    pairs = enumerate(zip(changes, _joined(changes, patches), strict=True))
    return [_row(event, change, own, is_held=place < MOST_WITH_LINES) for place, (change, own) in pairs]


def _joined(changes: Sequence[Change], patches: Sequence[Patch]) -> Iterator[list[Patch]]:
    """Yield the patches of each file: one, or two if one kind of file replaced another."""
    rest = iter(patches)
    for status, _, _ in changes:
        yield [patch for patch in (next(rest, None), next(rest, None) if status[:1] == "T" else None) if patch]


def _row(event: Event, change: Change, patches: Sequence[Patch], *, is_held: bool) -> dict[str, Any]:
    status, path, _ = change
    left_out = sum(patch.left_out + (0 if is_held else len(patch.lines)) for patch in patches)
    lines = [line for patch in patches for line in patch.lines] if is_held else []
    notes = [note for patch in patches for note in patch.notes if note not in _ORDINARY]
    notes += [b"a binary file"] if any(patch.is_binary for patch in patches) else []
    is_cut = any(len(line) > LONGEST_LINE for line in lines)
    return {
        "status": escape(status[:1]),
        "path": path_text(path),
        "added": sum(patch.added for patch in patches),
        "deleted": sum(patch.deleted for patch in patches),
        "notes": [escape(_text(note)) for note in notes],
        "left_out": left_out,
        "command": _command(event, path_bytes(path)) if left_out or is_cut else "",
        "lines": "\n".join(map(_line, lines)),
    }


def _command(event: Event, path: bytes) -> str:
    """Return the command that shows all of it; to be run from the top of the work tree."""
    return f"gitckpt diff {event.parent[:12]} {event.commit[:12]} -- {shlex.quote(path_text(path))}"


def _line(line: bytes) -> str:
    text = escape(_text(line[:LONGEST_LINE]), multiline=True)
    return text + "…" if len(line) > LONGEST_LINE else text


def _text(line: bytes) -> str:
    return line.decode("utf-8", "backslashreplace")
