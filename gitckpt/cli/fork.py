"""`gitckpt fork`: attempts side by side from one checkpoint. `gitckpt pick`: apply the result of one of them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from gitckpt.cli import render
from gitckpt.cli.rollback import go_to
from gitckpt.cli.transfer import ending_by_signal
from gitckpt.errors import UnknownId, UsageError
from gitckpt.repo.attempts import output_of
from gitckpt.repo.forked import attempt_row
from gitckpt.repo.reader import Reader
from gitckpt.repo.worktree import WorkTree
from gitckpt.restorer import Restorer
from gitckpt.trajectory.attempts import Tried, tried
from gitckpt.views.attempts import attempts_document, attempts_lines
from gitckpt.views.text import count as counted
from gitckpt.wishes import Wish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.forking import Attempt
    from gitckpt.trajectory.session import Session

#: The maximum number of attempts in one fork: more are a typing error.
MOST = 64


def fork(
    id: str | None,
    command: Sequence[str],
    *,
    count: int = 2,
    task: str | None = None,
    test: str = "",
    keep: bool = False,
    list: bool = False,
    clean: bool = False,
    json: bool = False,
) -> int:
    """Make attempts from a checkpoint and report how they ended. With `list`, report all attempts on record; with
    `clean`, do that after recording what forks that died have left. Return 0 if any attempt succeeded and passed its
    test, otherwise 1."""
    reader = Reader()
    if clean:
        from gitckpt.forking import clean as clear_away

        clear_away(reader.repository, render.say)
    if list or clean:
        sessions = reader.sessions(everywhere=True)
        _tell(reader, tried(sessions), sessions, json=json)
        return 0
    if id is None or not command:
        raise UsageError("fork from which checkpoint, and which command?", "gitckpt fork C4 -n 3 -- my-agent {n}")
    if not 1 <= count <= MOST:
        raise UsageError(f"-n {count}: from 1 to {MOST} attempts", "gitckpt fork C4 -n 3 -- CMD")
    from gitckpt.forking import Forking

    found = reader.find(id)
    if found.note:
        render.say(found.note)
    wrap = [sys.executable, "-P", "-m", "gitckpt", "wrap", *(("--task", task) if task is not None else ())]
    with ending_by_signal():
        made = Forking(reader.repository, found.event, wrap, render.say).run(command, count, test=test, keep=keep)
    sessions, own = reader.sessions(everywhere=True), {attempt.session for attempt in made}
    _tell(reader, [attempt for attempt in tried(sessions) if attempt.session in own], sessions, json=json)
    if not json:
        _tell_next(reader, made)
    return 0 if any(attempt.succeeded for attempt in made) else 1


def pick(name: str, *, dry_run: bool = False, json: bool = False, yes: bool = False) -> int:
    """Make the work tree match the result of an attempt."""
    reader = Reader()
    chosen = _chosen(tried(reader.sessions(everywhere=True)), name)
    if chosen.failure:
        render.say(f"attempt {chosen.number} did not succeed: {chosen.failure}")
    tree = WorkTree(reader.repository, render.say, lenient=True)
    restorer = Restorer(tree)
    with tree.lock:
        wish = Wish(chosen.newest, "files", title=f"pick of attempt {chosen.number}: {chosen.session}")
        name = f"attempt {chosen.number}"
        go_to(restorer, wish, dry_run=dry_run, json=json, yes=yes, name=name)
    tree.close()
    return 0


def _tell_next(reader: Reader, made: Sequence[Attempt]) -> None:
    """Report the output of the failed attempts, and how to pick the first that succeeded."""
    failed = [attempt for attempt in made if not attempt.succeeded]
    if failed:
        printed = os.fsdecode(output_of(reader.repository, failed[0].session))
        render.say(f"{counted(len(failed), 'attempt')} failed; what number {failed[0].number} has printed: {printed}")
    chosen = next((attempt for attempt in made if attempt.succeeded), made[0])
    which = "one that succeeded" if chosen.succeeded else "one all the same"
    render.say(f"gitckpt pick {chosen.session} brings home {which}; gitckpt log --session {chosen.session} shows it")


def _chosen(attempts: Sequence[Tried], name: str) -> Tried:
    """Return the attempt with this session, or with this number in the newest fork. Raises UnknownId."""
    newest = [attempt for attempt in attempts if attempt.fork == attempts[-1].fork]
    found = [a for a in attempts if a.session == name] or [a for a in newest if str(a.number) == name]
    if not found:
        raise UnknownId(f"no attempt {name!r}", "gitckpt fork --list lists them")
    return found[0]


def _tell(reader: Reader, attempts: Sequence[Tried], sessions: Sequence[Session], *, json: bool) -> None:
    rows = [attempt_row(reader.git, attempt, sessions) for attempt in attempts]
    if json:
        render.json(attempts_document(rows))
    else:
        render.out(attempts_lines(rows, render.style(), render.columns()))
