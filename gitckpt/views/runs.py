"""The results of commands run on the files of an event: `bisect`, `rollback --last-green`."""

from __future__ import annotations

from gitckpt.trajectory.bisection import SKIP
from gitckpt.views.row import painted
from gitckpt.views.text import PLAIN, Style, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitckpt.trajectory.bisection import Run
    from gitckpt.trajectory.events import Event

#: Kinds that are shown with a verdict.
STATES = ("start", "checkpoint", "auto", "final")


def verdict(runs: Sequence[Run]) -> str:
    """Return `passed`, or `failed` if any run failed; "" if no command was run, or none could tell."""
    statuses = [status for _, status in runs if status != SKIP]
    return "" if not statuses else "failed" if any(statuses) else "passed"


def beside(event: Event, runs: Sequence[Run]) -> str:
    """Return the verdict to show for an event in a list; "" for kinds that describe an action rather than a state,
    since `rollback failed` would be misread."""
    return verdict(runs) if event.kind in STATES else ""


def result(status: int) -> str:
    """Return what one run says about the files."""
    return "skipped" if status == SKIP else "failed" if status else "passed"


def run_lines(runs: Sequence[Run], style: Style = PLAIN) -> list[str]:
    """Return one line per command: `failed (1): sh check.sh`."""
    return [_line(command, status, style) for command, status in runs]


def _line(command: Sequence[str], status: int, style: Style) -> str:
    told = result(status)
    code = f" ({status})" if told == "failed" else ""
    return f"{painted(told + code, style) if status != SKIP else told}: {escape(_typed(command))}"


def _typed(command: Sequence[str]) -> str:
    """Return the command as the user types it; a shell command line as it was configured."""
    import shlex

    return command[2] if len(command) == 3 and tuple(command[:2]) == ("sh", "-c") else shlex.join(command)


def runs_json(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the same for programs."""
    return [{"command": list(command), "status": status, "result": result(status)} for command, status in runs]
