"""`gitckpt prune`: what is dropped, what stays although requested, and how much space that frees."""

from __future__ import annotations

from gitckpt.views.sessions import session_row, sessions_lines
from gitckpt.views.text import PLAIN, Style, byte_size, count, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gitckpt.trajectory.session import Session

#: Nothing has been freed on disk yet; this tells the user.
WHEN = (
    "git gc frees them once they are two weeks old (gc.pruneExpire);"
    " for now: git gc --prune=now, which takes all else that nothing needs too"
)


def prune_document(
    dropped: Sequence[Session], kept: Mapping[str, str], objects: int, size: int, *, done: bool
) -> dict[str, Any]:
    """Return what `prune --json` prints."""
    return {
        "schema": "gitckpt.prune/1",
        "done": done,
        "dropped": [session_row(session) for session in dropped],
        "kept": [{"id": id, "reason": reason} for id, reason in sorted(kept.items())],
        "objects": objects,
        "bytes": size,
    }


def prune_lines(
    document: Mapping[str, Any], style: Style = PLAIN, columns: int | None = None, *, asking: bool = False
) -> list[str]:
    """Return the same for the user; with `asking`, before it is done."""
    rows = document["dropped"]
    lines = [f"stays: {escape(row['id'])}: {escape(row['reason'])}" for row in document["kept"]]
    if not rows:
        return [*lines, "nothing to drop"]
    verb = "dropped" if document["done"] else "to drop" if asking else "would drop"
    lines += [f"{verb} {count(len(rows), 'session')}:", *sessions_lines(rows, style, columns)]
    size = f"{count(document['objects'], 'object')}, {byte_size(document['bytes'])}, that nothing else needs"
    return [*lines, size, *([WHEN] if document["done"] and document["objects"] else [])]
