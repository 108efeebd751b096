"""Parallel attempts from one checkpoint, each in a work tree and a session of its own.

An attempt begins like any session and reaches the checkpoint by an ordinary rollback. Its end is recorded before its
work tree is removed. So `pick` has nothing to move: it is a rollback to the last event of an attempt.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gitckpt.errors import GitckptError, Refused
from gitckpt.process.command import agent_environment
from gitckpt.process.together import Command, Ended, run_together
from gitckpt.recorder import Recorder, agent_record
from gitckpt.repo.attempts import Attempts, left_attempts, mark_left, output_of, remove_attempt, sweep
from gitckpt.repo.directories import SPECIAL
from gitckpt.repo.journal import Journal
from gitckpt.repo.live import is_attended
from gitckpt.repo.naming import new_session_id
from gitckpt.repo.recorded import recorded_git
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree
from gitckpt.restorer import Restorer
from gitckpt.trying import shell
from gitckpt.views.paths import missing_lines
from gitckpt.wishes import Wish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.events import Event

#: The placeholder for the attempt's number in a command.
PLACE = "{n}"

#: The exit status on record for an attempt that was interrupted.
BROKEN_OFF = 130


@dataclass(slots=True)
class Attempt:
    """One attempt: its `number`, from 1, its `session`, and the `path` of its work tree.

    `status` is the exit status as a shell gives it, after this many `seconds`. `test` is the exit status of the test,
    None if there was none. `is_furnished` says that the work tree has been set to the checkpoint.
    """

    number: int
    session: str
    path: bytes
    status: int = BROKEN_OFF
    seconds: float = 0.0
    test: int | None = None
    is_furnished: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether the attempt exited with 0 and passed its test, if there was one."""
        return self.status == 0 and not self.test


class Forking:
    """Attempts from one checkpoint. `wrap` is the command line that runs and records an agent; the session and the
    agent's own command are appended to it. `say` reports to the user."""

    def __init__(self, repository: Repository, target: Event, wrap: Sequence[str], say: Callable[[str], None]) -> None:
        self._repository, self._target, self._wrap, self._say = repository, target, wrap, say

    def run(self, command: Sequence[str], count: int, *, test: str = "", keep: bool = False) -> list[Attempt]:
        """Make `count` attempts with this command, in which `{n}` is replaced by each attempt's number. Then run
        `test`, a shell command line, in each work tree. With `keep` the work trees stay. Raises Refused if there is no
        commit to start a work tree from."""
        commit = recorded_git(self._target).get("head")
        if not commit:
            raise Refused(
                "there was no commit yet at this checkpoint, and git makes no work tree without one", "git commit"
            )
        fork, attempts = new_session_id(), list[Attempt]()
        clean(self._repository, self._say)
        with Attempts(self._repository, fork) as places:
            try:
                for number in range(1, count + 1):
                    session = f"{fork}-{number}"
                    attempts.append(Attempt(number, session, places.path(session)))
                    places.add(session, commit)
                    self._furnish(attempts[-1], _numbered(command, number))
                self._carry_out(attempts, command, test)
            finally:
                for attempt in attempts:
                    self._conclude(attempt, keep=keep)
        return attempts

    def _furnish(self, attempt: Attempt, command: Sequence[str]) -> None:
        """Open the attempt's session, and set its work tree to the checkpoint."""
        tree = WorkTree(discover(attempt.path), self._say)
        with tree.lock:
            Recorder(tree, name=attempt.session, agent=agent_record(command)).open()
            restorer = Restorer(tree)
            title = f"attempt {attempt.number} from {self._target.ref}"
            restorer.apply(restorer.prepare(Wish(self._target, title=title)))
        tree.close()
        attempt.is_furnished = True

    def _carry_out(self, attempts: Sequence[Attempt], command: Sequence[str], test: str) -> None:
        lines = [
            [*self._wrap, "--session", attempt.session, "--", *_numbered(command, attempt.number)]
            for attempt in attempts
        ]
        for attempt, ended in zip(attempts, self._together(attempts, lines), strict=True):
            attempt.status, attempt.seconds = ended
        if test:
            shells = [shell(line) for line in (_numbered([test], a.number)[0] for a in attempts)]
            for attempt, ended in zip(attempts, self._together(attempts, shells), strict=True):
                attempt.test = ended.status

    def _together(self, attempts: Sequence[Attempt], lines: Sequence[Sequence[str]]) -> list[Ended]:
        commands = [
            Command(argv, attempt.path, output_of(self._repository, attempt.session))
            for attempt, argv in zip(attempts, lines, strict=True)
        ]
        return run_together(commands, agent_environment(os.environ))

    def _conclude(self, attempt: Attempt, *, keep: bool) -> None:
        """Record how the attempt ended, with the work tree as it is then, and remove the work tree. If it cannot be
        recorded completely, the work tree stays: its content exists nowhere else."""
        try:
            lost = self._put_on_record(attempt) if attempt.is_furnished else ""
            if lost:
                self._say(f"attempt {attempt.number} stays in {os.fsdecode(attempt.path)}: not on record: {lost}")
            elif not (keep and attempt.is_furnished):
                remove_attempt(self._repository, attempt.path)
        except (GitckptError, OSError) as error:  # the other attempts still have to be concluded
            mark_left(self._repository, attempt.path)
            self._say(f"attempt {attempt.number} stays in {os.fsdecode(attempt.path)}: {error}")

    def _put_on_record(self, attempt: Attempt) -> str:
        """Record the end of the attempt. Return what its snapshot lacks, in words for the user."""
        tree = WorkTree(discover(attempt.path), self._say)
        note = {"attempt": self._record(attempt)}
        lost = _of_worth(Recorder(tree, name=attempt.session).note("end", _subject(attempt), note))
        tree.close()
        return lost

    def _record(self, attempt: Attempt) -> dict[str, Any]:
        record: dict[str, Any] = {
            "number": attempt.number, "of": self._target.ref, "at": self._target.commit, "status": attempt.status,
            "seconds": round(attempt.seconds, 1),
        }  # fmt: skip
        return record if attempt.test is None else {**record, "test": attempt.test}


def clean(repository: Repository, say: Callable[[str], None]) -> None:
    """Record and remove the work trees that forks left behind when they died. A work tree stays while an agent is still
    working in it, and if it cannot be recorded completely."""
    lines = Journal(repository).lines()
    for path in left_attempts(repository):
        try:
            why = _put_away(repository, path, has_begun=os.path.basename(path).decode() in lines)
        except (GitckptError, OSError) as error:
            why = str(error)
        if why:
            say(f"an attempt that was left stays in {os.fsdecode(path)}: {why}")
    sweep(repository, lines)


def _put_away(repository: Repository, path: bytes, *, has_begun: bool) -> str:
    """Record and remove one work tree. Return why it stays, or ""."""
    session = os.path.basename(path).decode()
    if has_begun and os.path.isdir(path):
        tree = WorkTree(discover(path))
        if is_attended(tree.repository.private_dir, session):
            return "it is being recorded"
        lost = _of_worth(Recorder(tree, name=session).note("end", "end: its fork had died", {}))
        tree.close()
        if lost:
            return f"not on record: {lost}"
    remove_attempt(repository, path)
    return ""


def _of_worth(event: Event) -> str:
    """Return what its snapshot lacks, in words for the user, apart from special files, which have no content of their
    own."""
    hollow = tuple(f"a {kind}" for kind in SPECIAL.values())
    return "; ".join(missing_lines([missing for missing in event.missing if missing.get("reason") not in hollow]))


def _numbered(command: Sequence[str], number: int) -> list[str]:
    return [word.replace(PLACE, str(number)) for word in command]


def _subject(attempt: Attempt) -> str:
    tested = "" if attempt.test is None else ", test passed" if attempt.test == 0 else f", test failed ({attempt.test})"
    return f"attempt {attempt.number}: exit status {attempt.status}{tested}"
