"""What came of the commands that were run on the files of an event: `bisect`, `rollback --last-green`."""

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

#: Kinds that a verdict stands beside.
STATES = ("start", "checkpoint", "auto", "final")


def verdict(runs: Sequence[Run]) -> str:
    """`passed`, or `failed` where any of them did; "" where none was run, or none could tell."""
    statuses = [status for _, status in runs if status != SKIP]
    return "" if not statuses else "failed" if any(statuses) else "passed"


def beside(event: Event, runs: Sequence[Run]) -> str:
    """The verdict beside an event in a list. "" for kinds that say what was done and not what was reached: `rollback
    failed` would be read as something else."""
    return verdict(runs) if event.kind in STATES else ""


def result(status: int) -> str:
    """What one run says of the files."""
    return "skipped" if status == SKIP else "failed" if status else "passed"


def run_lines(runs: Sequence[Run], style: Style = PLAIN) -> list[str]:
    """A line for each command: `failed (1): sh check.sh`."""
    return [_line(command, status, style) for command, status in runs]


def _line(command: Sequence[str], status: int, style: Style) -> str:
    told = result(status)
    code = f" ({status})" if told == "failed" else ""
    return f"{painted(told + code, style) if status != SKIP else told}: {escape(_typed(command))}"


def _typed(command: Sequence[str]) -> str:
    """The command as it is typed; a line for the shell as it was configured."""
    import shlex

    return command[2] if len(command) == 3 and tuple(command[:2]) == ("sh", "-c") else shlex.join(command)


def runs_json(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The same for a program."""
    return [{"command": list(command), "status": status, "result": result(status)} for command, status in runs]
