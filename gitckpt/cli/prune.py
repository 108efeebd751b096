"""`gitckpt prune`: drop whole sessions, and say how much space that frees."""

from __future__ import annotations

import re
import time

from gitckpt.cli import render
from gitckpt.errors import Refused, UsageError
from gitckpt.pruner import Criteria, Pruner, Pruning
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree
from gitckpt.views.prune import prune_document, prune_lines

SECONDS = {"h": 3600, "d": 86400, "w": 7 * 86400, "m": 30 * 86400, "y": 365 * 86400}


def prune(
    *,
    keep_last: int | None = None,
    older_than: str | None = None,
    sessions: list[str] | None = None,
    all: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    json: bool = False,
) -> int:
    """Drop the sessions that match every given criterion. Raises UsageError if none is given."""
    if keep_last is None and older_than is None and not sessions:
        raise UsageError("prune which sessions?", "--keep-last 10, --older-than 30d or --session ID; --dry-run shows")
    before = None if older_than is None else _moment(older_than)
    criteria = Criteria(keep_last, before, tuple(sessions or ()), all)
    tree = WorkTree(discover(), render.say, lenient=True)
    with Pruner(tree, render.say) as pruner:
        pruning = pruner.plan(criteria)
        done = bool(pruning.dropped) and not dry_run
        if done and not yes and not json and render.is_asked():
            _ask(pruning)
        if done:
            pruner.carry_out(pruning)
    document = prune_document(pruning.dropped, pruning.kept, pruning.objects, pruning.size, done=done)
    if json:
        render.json(document)
    else:
        render.out(prune_lines(document, render.style(), render.columns()))
    return 0


def _moment(age: str) -> str:
    """Return the RFC 3339 time that long ago. Raises UsageError."""
    match = re.fullmatch(r"(\d{1,6})([hdwmy])", age.strip().lower(), re.ASCII)
    if match is None:
        raise UsageError(f"--older-than {age!r} is no age", "hours, days, weeks, months or years: 12h, 30d, 2w, 6m, 1y")
    then = max(time.time() - int(match[1]) * SECONDS[match[2]], 0)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(then))


def _ask(pruning: Pruning) -> None:
    """Show what will be dropped, and ask. Raises Refused if the answer is no."""
    document = prune_document(pruning.dropped, pruning.kept, pruning.objects, pruning.size, done=False)
    render.out(prune_lines(document, render.style(), render.columns(), asking=True))
    if not render.agrees("drop them for good? [y/N] "):
        raise Refused("nothing was dropped")
