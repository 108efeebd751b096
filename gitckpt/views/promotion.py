"""`gitckpt promote`: which commits were made from which checkpoints, and how to continue."""

from __future__ import annotations

from gitckpt.trajectory.paths import path_data
from gitckpt.views.paths import missing_lines, path_bytes
from gitckpt.views.text import PLAIN, Style, count, escape, fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gitckpt.views.paths import Path

    #: Commit id, message, refs of the checkpoints, paths changed.
    Commit = tuple[str, str, Sequence[str], Sequence[Path]]

#: The width of a list if the terminal width is unknown.
COLUMNS = 100


def promotion_document(
    base: str | None,
    branch: str,
    commits: Sequence[Commit],
    *,
    left_out: Mapping[bytes, str],
    skipped: Sequence[str],
    done: bool,
) -> dict[str, Any]:
    """Return what `promote --json` prints. Without `done`, the ids are those of commits that no ref names."""
    return {
        "schema": "gitckpt.promote/1",
        "done": done,
        "base": base,
        "branch": branch,
        "commits": [
            {
                "commit": commit,
                "message": message,
                "checkpoints": list(refs),
                "files": [path_data(path_bytes(p)) for p in paths],
            }
            for commit, message, refs, paths in commits
        ],
        "left_out": [{"path": path_data(path), "reason": reason} for path, reason in left_out.items()],
        "skipped": list(skipped),
    }


def promotion_lines(
    document: Mapping[str, Any], on: str, style: Style = PLAIN, columns: int | None = None, *, ahead: bool
) -> list[str]:
    """Return the same for the user; `on` is the user's name for the commit below, and `ahead` means that it is HEAD."""
    commits, branch = document["commits"], escape(document["branch"])
    verb = "made" if document["done"] else "would make"
    lines = [f"{verb} {count(len(commits), 'commit')} on {escape(on)}, branch {style.bold(branch)}:"]
    lines += [_commit_line(commit, style, columns or COLUMNS) for commit in commits]
    lines += [f"left out: {row}" for row in missing_lines(document["left_out"])]
    lines += [f"left out: {escape(ref)}: it changed nothing that is not there already" for ref in document["skipped"]]
    if not document["done"]:
        return lines
    lines.append("HEAD, branches, staging area and files are as they were, and no hook has run")
    return [*lines, f"git reset {branch} brings your branch there and keeps every file" if ahead else _other(branch)]


def _other(branch: str) -> str:
    return f"git log {branch} shows them; git switch {branch} goes there once your own changes are committed"


def _commit_line(commit: Mapping[str, Any], style: Style, columns: int) -> str:
    subject = escape(commit["message"].partition("\n")[0])
    ids = ", ".join(escape(ref.rpartition("/")[2]) for ref in commit["checkpoints"])
    rest = f"  {ids}, {count(len(commit['files']), 'file')}"
    id = commit["commit"][:10]
    return f"  {style.yellow(id)} {fit(subject, max(columns - len(id) - len(rest) - 3, 20))}{style.dim(rest)}"
