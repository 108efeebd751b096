"""Runs a command on the files of an event, in a scratch directory, and keeps the result."""

from __future__ import annotations

from gitckpt.errors import Negative, UsageError
from gitckpt.process.foreground import run_elsewhere
from gitckpt.repo.results import Results
from gitckpt.repo.scratch_tree import ScratchTree
from gitckpt.repo.trees import tree_of
from gitckpt.trajectory.bisection import BROKEN, SKIP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from gitckpt.repo.worktree import WorkTree
    from gitckpt.trajectory.events import Event


class CannotTry(UsageError):
    """The command cannot be run, so it says nothing about the files."""


class Trial:
    """A command to be tried on events; a context manager. `say` is told of each run before it begins.

    The result of an earlier run on the same files is reused, unless `anew` is set. `keep` is as for ScratchTree.
    `output` is the file descriptor that the command prints to, standard output by default.
    """

    def __init__(
        self,
        tree: WorkTree,
        command: Sequence[str],
        say: Callable[[str], None],
        *,
        keep: bool = False,
        anew: bool = False,
        output: int | None = None,
    ) -> None:
        self._tree, self.command, self._say, self._anew = tree, list(command), say, anew
        self._results = Results(tree.repository)
        self._scratch = ScratchTree(tree.raw, keep=keep)
        self._output, self.runs = output, 0

    def __enter__(self) -> Trial:
        self._scratch.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._scratch.__exit__(kind, error, trace)

    def verdict(self, event: Event) -> bool | None:
        """Return whether the command succeeds on the files of an event; None if it cannot tell (exit status 125).

        Raises CannotTry if the command could not be run, or was killed.
        """
        tree = tree_of(self._tree.raw, event.commit)
        status = None if self._anew else self._results.status(tree, self.command)
        if status is None:
            status = self._run(event)
            self._results.add(tree, self.command, status)
        else:
            self._say(f"{_name(event)}: {_word(status)}, as before on the same files")
        return None if status == SKIP else status == 0

    def _run(self, event: Event) -> int:
        directory = self._scratch.at(event)
        self._say(f"{_name(event)}: running in {directory}")
        status = run_elsewhere(self.command, directory, {"GITCKPT_CHECKPOINT": event.ref}, output=self._output)
        self.runs += 1
        if status < 0 or status >= BROKEN:
            told = f"was killed by signal {-status}" if status < 0 else f"could not be run (exit status {status})"
            raise CannotTry(
                f"the command {told} on the files of {event.ref}", "125 is the status of one that cannot tell"
            )
        self._say(f"{_name(event)}: {_word(status)}")
        return status


def _name(event: Event) -> str:
    return event.id or f"{event.kind} {event.commit[:10]}"


def _word(status: int) -> str:
    return "good" if status == 0 else "skipped" if status == SKIP else f"bad (exit status {status})"


def shell(line: str) -> list[str]:
    """Return the argv that runs a command line in the shell."""
    return ["sh", "-c", line]


def last_green(
    tree: WorkTree,
    events: Sequence[Event],
    command: Sequence[str],
    say: Callable[[str], None],
    *,
    output: int | None = None,
) -> Event:
    """Return the newest of the events, given oldest first, on whose files the command succeeds. Raises Negative if
    there is none."""
    with Trial(tree, command, say, output=output) as trial:
        for event in reversed(events):
            if trial.verdict(event):
                return event
    raise Negative("the command succeeds at none of the checkpoints", "gitckpt log lists them")
