"""`gitckpt diff --stat`: how much changed in which file."""

from __future__ import annotations

from gitckpt.views.paths import path_text
from gitckpt.views.text import PLAIN, Style, count, fit, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.views.paths import Path

    #: A row of `git diff --numstat`: lines added, lines deleted (both None for a binary file), the path, and the path
    #: before a rename (otherwise None).
    NumstatRow = tuple[int | None, int | None, Path, Path | None]


def stat_lines(rows: Sequence[NumstatRow], style: Style = PLAIN, columns: int = 80) -> list[str]:
    """Return one line per file with a bar of its changes, fitted to `columns`, and the totals. Empty without rows."""
    if not rows:
        return []
    names = [_name(row, style) for row in rows]
    changed = [(added or 0) + (deleted or 0) for added, deleted, _, _ in rows]
    number = max(len(str(max(changed))), 3)
    name = min(max(map(width, names)), max(columns - number - 16, 20))
    scale = min(1.0, max(columns - name - number - 5, 10) / max(*changed, 1))
    table = [
        _row(pad(fit(shown, name, style.ellipsis), name), row, number, scale, style)
        for shown, row in zip(names, rows, strict=True)
    ]
    return [*table, _totals(rows)]


def _name(row: NumstatRow, style: Style) -> str:
    path, old_path = row[2], row[3]
    return path_text(path) if old_path is None else f"{path_text(old_path)} {style.arrow} {path_text(path)}"


def _row(name: str, row: NumstatRow, number: int, scale: float, style: Style) -> str:
    added, deleted = row[0], row[1]
    if added is None or deleted is None:
        return f" {name} | {'Bin':>{number}}"
    bar = style.green("+" * _bar(added, scale)) + style.red("-" * _bar(deleted, scale))
    return f" {name} | {added + deleted:>{number}} {bar}".rstrip(" ")


def _bar(lines: int, scale: float) -> int:
    """Return the length of the bar; at least one character for any change."""
    return max(int(lines * scale), 1) if lines else 0


def _totals(rows: Sequence[NumstatRow]) -> str:
    added, deleted = sum(row[0] or 0 for row in rows), sum(row[1] or 0 for row in rows)
    parts = [f"{count(len(rows), 'file')} changed"]
    parts += [f"{count(added, 'insertion')}(+)"] if added else []
    parts += [f"{count(deleted, 'deletion')}(-)"] if deleted else []
    return " " + ", ".join(parts)
