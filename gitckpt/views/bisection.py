"""`gitckpt bisect`: which checkpoint introduced the failure, what it did, and what it changed."""

from __future__ import annotations

from gitckpt.views.text import PLAIN, Style, count, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gitckpt.trajectory.bisection import Bisection
    from gitckpt.trajectory.events import Event

#: The result of a run, as shown to programs.
WORDS = {True: "good", False: "bad", None: "skipped"}


def bisection_document(found: Bisection, events: Sequence[Event], command: Sequence[str]) -> dict[str, Any]:
    """Return what `bisect --json` prints."""
    return {
        "schema": "gitckpt.bisect/1",
        "command": list(command),
        "first_bad": found.first_bad.ref if found.first_bad else None,
        "suspects": [event.ref for event in found.suspects],
        "tried": [
            {"ref": event.ref, "commit": event.commit, "result": WORDS[found.tried[event.commit]]}
            for event in events
            if event.commit in found.tried
        ],
    }


def bisection_lines(found: Bisection, events: Sequence[Event], runs: int, style: Style = PLAIN) -> list[str]:
    """Return the same for the user, without the diff of the first bad event."""
    culprit = found.first_bad
    if culprit is None:
        names = ", ".join(escape(event.ref) for event in found.suspects)
        return [f"one of these broke it, and the command could not tell which: {style.red(names)}"]
    before = events[[event.commit for event in events].index(culprit.commit) - 1]
    lines = [f"{style.red(style.bold(escape(culprit.ref)))} is the first bad one; {escape(before.ref)} was good"]
    return [*lines, *_told(culprit), f"{len(found.tried)} of {count(len(events), 'event')} tried, {count(runs, 'run')}"]


def _told(event: Event) -> list[str]:
    fields: Mapping[str, Any] = event.fields
    done = fields.get("done") or []
    points = done if isinstance(done, list) else [done]
    return [f"  done: {escape(str(point))}" for point in points] or [f"  {escape(event.subject)}"]
