"""Paths, and changes to them, as lines of text."""

from __future__ import annotations

from gitckpt.trajectory.paths import data_path, path_data
from gitckpt.views.text import Style, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    #: Bytes as git has them, or the output of `gitckpt.trajectory.paths.path_data`.
    Path = bytes | str | Mapping[str, str]

    #: A path that differs between two events: git's status letter, the path, the path before a rename (otherwise None).
    Change = tuple[str, Path, Path | None]

#: The colours of git's status letters: green for added, red for deleted, yellow for changed.
_STATUS_COLOURS = {"A": "green", "?": "green", "C": "green", "D": "red", "U": "red"}


def path_bytes(path: Path) -> bytes:
    """Return the path as git has it."""
    return path if isinstance(path, bytes) else data_path(path)


def path_text(path: Path) -> str:
    """Return the path for display: control characters, and bytes that are not UTF-8, are shown as `\\xff`."""
    return escape(path_bytes(path).decode("utf-8", "backslashreplace"))


def change_text(change: Change, style: Style) -> str:
    """Return `M src/a.ts` or `R old → new`."""
    status, path, old_path = change
    letter = escape(status[:1]) or "?"
    renamed = "" if old_path is None else f"{path_text(old_path)} {style.arrow} "
    return f"{style.paint(_STATUS_COLOURS.get(letter, 'yellow'), letter)} {renamed}{path_text(path)}"


def change_lines(changes: Sequence[Change], style: Style, limit: int | None = None) -> list[str]:
    """Return one line per change; for a longer list the first `limit`, and the number of the rest."""
    lines = [change_text(change, style) for change in changes[:limit]]
    return lines + and_more(len(changes) - len(lines), style)


def and_more(number: int, style: Style) -> list[str]:
    """Return the line that replaces the rest of a cut list; none if nothing was cut."""
    return [style.dim(f"{style.ellipsis} and {number:,} more")] if number else []


def missing_lines(missing: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return one line for each path that a snapshot does not hold, with the reason; the input is `{"path", "reason"}`
    each.
    """
    return [f"{path_text(entry['path'])}: {escape(str(entry.get('reason', 'no reason given')))}" for entry in missing]


def changes_json(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Return changes as `{"status", "path", "old_path"}` each.

    The paths are always text, so that they can be used as keys. A path that is not UTF-8 shows the invalid bytes as
    `\\xff`, and has all its bytes in base64 under `b64` (`old_b64`).
    """
    return [
        {"status": status[:1], **_path_json("path", "b64", path), **_path_json("old_path", "old_b64", old)}
        for status, path, old in changes
    ]


def _path_json(name: str, encoded: str, path: Path | None) -> dict[str, str | None]:
    if path is None:
        return {name: None}
    data = path_data(path_bytes(path))
    if isinstance(data, str):
        return {name: data}
    return {name: path_bytes(path).decode("utf-8", "backslashreplace"), encoded: data["b64"]}
