"""Check what came from elsewhere before it goes on record: that it is a session of gitckpt's, and that it is
complete."""

from __future__ import annotations

from gitckpt.errors import Damaged, GitFailed
from gitckpt.repo.message import decode
from gitckpt.repo.objects import read_objects
from gitckpt.repo.repository import REFS
from gitckpt.repo.survey import Commit
from gitckpt.repo.writer import root_id
from gitckpt.trajectory.events import FORMAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.events import Event

#: Maximum bytes in the record of one event: far more than any agent writes.
LONGEST_RECORD = 1 << 24

#: Maximum events in a session: more than any agent writes.
MOST_EVENTS = 1_000_000


def ancestry(git: Git, commits: Iterable[str], of: Iterable[str]) -> bool:
    """Return whether all these commits are reachable from the tips `of`. A commit that is missing here is not."""
    asked, tips = sorted(set(commits)), sorted(set(of))
    if not asked:
        return True
    if not tips:
        return False
    data = "".join(f"{oid}\n" for oid in (*asked, *(f"^{tip}" for tip in tips))).encode()
    call = git.start("rev-list", "-n1", "--stdin", data=data, ok=(0, 128))
    return not call.wait() and not call.status


def arrived(repository: Repository, tips: Iterable[str], known: Iterable[str]) -> list[Event]:
    """Return the events from these commits back to those `known`, or to the root of all sessions, excluding both. Raise
    Damaged if anything else is found on the way, or a record cannot be read."""
    tips = sorted(set(tips))
    new = dict.fromkeys(_first_parents(repository.git, tips, known))
    commits = list(new | dict.fromkeys(tips))
    root = root_id(repository.object_format)
    _refuse_long(repository.git, commits)
    events = []
    for read in read_objects(repository.git, repository.object_format, (oid.encode() for oid in commits)):
        oid = read.oid.decode()
        if read.fault or read.kind != b"commit":
            raise Damaged(f"commit {oid[:12]} in it is {read.fault or 'no commit'}")
        if oid == root:
            continue
        commit = Commit(bytes(read.content))
        event = decode(oid, commit.parents, commit.message) if commit.is_ours else None
        if event is None or not commit.parents:
            raise Damaged(f"commit {oid[:12]} in it is no event of gitckpt's")
        _refuse_unreadable(event)
        if oid in new:
            events.append(event)
    return events


def _first_parents(git: Git, tips: Iterable[str], known: Iterable[str]) -> list[str]:
    border = [f"^{oid}" for oid in sorted(set(known))]
    data = "".join(f"{oid}\n" for oid in (*sorted(set(tips)), *border)).encode()
    try:
        found = git.text("rev-list", "--first-parent", f"-n{MOST_EVENTS + 1}", "--stdin", data=data).split()
    except GitFailed as error:
        raise Damaged(f"its history cannot be followed: {error}") from error
    if len(found) > MOST_EVENTS:
        raise Damaged(f"it has more than {MOST_EVENTS:,} events")
    return found


def _refuse_long(git: Git, commits: Collection[str]) -> None:
    data = "".join(f"{oid}\n" for oid in commits).encode()
    rows = git.run("cat-file", "--buffer", "--batch-check=%(objectsize)", data=data).split() if commits else []
    if any(row.isdigit() and int(row) > LONGEST_RECORD for row in rows):
        raise Damaged(f"a record in it is longer than {LONGEST_RECORD >> 20} MiB")


def _refuse_unreadable(event: Event) -> None:
    """Raise Damaged for a record that cannot be read. A record of a newer format is left for a newer gitckpt to
    check."""
    if event.kind == "unreadable":
        raise Damaged(f"the record of commit {event.commit[:12]} in it cannot be read")
    if event.format <= FORMAT:
        _ = event.document


def is_whole(repository: Repository, session: str, tips: Iterable[str], *, partial: bool) -> bool:
    """Return whether every object that these commits of a session need is present."""
    rest = ["--not", f"--exclude={REFS}{session}/*", "--all"]
    missing = ["--missing=allow-promisor"] if partial else []
    data = "".join(f"{tip}\n" for tip in sorted(set(tips))).encode()
    call = repository.git.start(
        "rev-list", "--objects", "--quiet", *missing, "--stdin", *rest, data=data, ok=(0, 1, 128)
    )
    call.wait()
    return call.status == 0
