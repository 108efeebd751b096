"""`gitckpt bisect A B -- CMD`: find the checkpoint that broke a command."""

from __future__ import annotations

import sys

from gitckpt.cli import render
from gitckpt.cli.transfer import ending_by_signal
from gitckpt.errors import Negative, UsageError
from gitckpt.repo.reader import Reader
from gitckpt.repo.worktree import WorkTree
from gitckpt.trajectory.bisection import bisect as search
from gitckpt.trajectory.bisection import candidates
from gitckpt.trying import Trial, shell
from gitckpt.views.bisection import bisection_document, bisection_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.trajectory.events import Event


def bisect(
    good: str, bad: str, command: list[str], *, keep: bool = False, anew: bool = False, json: bool = False
) -> int:
    """Run the command at the good checkpoint, at the bad one, and at those in between until one is left."""
    reader = Reader()
    events = _events(reader, good, bad)
    tree = WorkTree(reader.repository, render.say, lenient=True)
    if not command and not tree.settings.verify:
        raise UsageError(
            "bisect with which command?", "after --: gitckpt bisect C2 C6 -- npm test; or git config gitckpt.verify"
        )
    wanted = command or shell(tree.settings.verify)
    output = sys.stderr.fileno() if json else None
    with ending_by_signal(), Trial(tree, wanted, render.say, keep=keep, anew=anew, output=output) as trial:
        _check_ends(trial, events)
        found = search(events, trial.verdict)
    tree.close()
    if json:
        render.json(bisection_document(found, events, wanted))
        return 0
    render.out(bisection_lines(found, events, trial.runs, render.style()))
    if found.first_bad is not None:
        from gitckpt.repo.trees import patch

        render.raw(patch(reader.git, found.first_bad.parent, found.first_bad.commit, colour=render.style().colour))
    return 0


def _events(reader: Reader, good: str, bad: str) -> list[Event]:
    first, last = reader.find(good).event, reader.find(bad)
    if last.note:
        render.say(last.note)
    return candidates(reader.session(last.event.session), first, last.event)


def _check_ends(trial: Trial, events: list[Event]) -> None:
    """Check that the command is good at the first event and bad at the last. Raises Negative otherwise: there is
    nothing to find.
    """
    if not trial.verdict(events[0]):
        raise Negative(f"the command does not succeed at {events[0].ref} itself", "begin at an earlier one")
    if trial.verdict(events[-1]) is not False:
        raise Negative(f"the command does not fail at {events[-1].ref}", "gitckpt log lists later ones")
