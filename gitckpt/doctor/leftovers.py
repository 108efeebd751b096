"""What was left behind: locks, unfinished rollbacks, sessions of dead agents; and clocks that are wrong."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from gitckpt.doctor.patient import Patient, Remark, in_repository, shown
from gitckpt.repo.attempts import left_attempts
from gitckpt.repo.head import OPERATIONS
from gitckpt.repo.hook_log import log_path, logged_faults
from gitckpt.repo.journal import Journal
from gitckpt.repo.live import is_alive
from gitckpt.trajectory.events import FORMAT
from gitckpt.wishes import operations_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.session import Session

#: Seconds after which a lock that no process has open counts as abandoned.
OLD_LOCK = 60.0

#: Seconds by which clocks may differ.
SKEW = 120.0


@in_repository
def locks(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Lock files of git whose owner is dead. Ours need no check: the kernel releases them."""
    for path in sorted(_locks(repository)):
        try:
            age = time.time() - os.lstat(path).st_mtime
        except FileNotFoundError:
            continue
        if age > OLD_LOCK and not _is_open(path):
            minutes = f"{age / 60:,.0f} min old, and no process has it open"
            yield Remark("mend", f"a lock of git was left behind: {os.fsdecode(path)} ({minutes})", f"rm {shown(path)}")


def _locks(repository: Repository) -> Iterator[bytes]:
    for directory in {repository.git_dir, repository.common_dir}:
        yield from (os.path.join(directory, n) for n in os.listdir(directory) if n.endswith(b".lock"))
    for above, _, names in os.walk(os.path.join(repository.common_dir, b"refs")):
        yield from (os.path.join(above, name) for name in names if name.endswith(b".lock"))


def _is_open(path: bytes) -> bool:
    """Return whether a process that we may inspect has the file open."""
    wanted = os.fsdecode(os.path.realpath(path))
    for pid in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        try:
            if any(os.readlink(f"/proc/{pid}/fd/{number}") == wanted for number in os.listdir(f"/proc/{pid}/fd")):
                return True
        except OSError:
            continue
    return False


@in_repository
def interrupted(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Unfinished rollbacks, and git operations in progress."""
    event = operations_of(Journal(repository)).interrupted
    if event is not None:
        message = f"a rollback to {event.document['rollback'].get('target_ref')} was interrupted"
        help = "gitckpt rollback --continue finishes it, gitckpt rollback --abort takes it back"
        yield Remark("mend", message, help)
    for name, files in OPERATIONS:
        if any(os.path.lexists(os.path.join(repository.git_dir, os.fsencode(file))) for file in files):
            yield Remark("note", f"a {name} of git is under way", "git status says how to go on")
            return


@in_repository
def attempts(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Work trees of attempts whose `gitckpt fork` was killed or could not put them on record."""
    for path in left_attempts(repository):
        message = (
            f"an attempt was left in {os.fsdecode(path)}: what ran it is dead, and what it did may not be on record"
        )
        yield Remark("mend", message, "gitckpt fork --clean puts it on record, and takes the work tree away")


@in_repository
def sessions(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Open sessions whose agent is dead."""
    found = Journal(repository).sessions()
    for session in found:
        pid = _agent(session)
        if session.is_open and pid and not is_alive(pid):
            message = f"session {session.id} was left open by an agent that is dead (pid {pid})"
            yield Remark("note", message, f"gitckpt log --session {session.id} shows how far it came")
    if found:
        # a session that continues from another one's event also contains the events of that session
        events = sum(event.session == session.id for session in found for event in session.events)
        yield Remark("ok", f"on record here: sessions {len(found):,}, events {events:,}")


def _agent(session: Session) -> int:
    """Return the pid of the agent whose end is not on record; 0 if there is none, or its pid is unknown."""
    event = session.unended
    if event is None or event.format > FORMAT:
        return 0
    pid = event.document["agent"].get("pid")
    return pid if isinstance(pid, int) and 0 < pid < 1 << 31 else 0


@in_repository
def hook_faults(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Failures of agent hooks, which print nothing themselves."""
    found = logged_faults(repository)
    if found:
        path = log_path(repository)
        more = f" ({len(found):,} lines in {os.fsdecode(path)})" if len(found) > 1 else ""
        yield Remark("note", f"the last hook of an agent that went wrong: {found[-1]}{more}", f"rm {shown(path)}")


@in_repository
def clock(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Events in the future: the clock was set back, or that of another machine is ahead."""
    newest = max((event.at for session in Journal(repository).sessions() for event in session.events), default="")
    now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + SKEW))
    if newest[:19] > now:
        message = f"the newest event is of {newest[:19]}Z, which is still to come: sessions may be listed out of order"
        yield Remark("mend", message, "date -u shows the clock; set it right")
