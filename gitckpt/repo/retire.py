"""Remove sessions from the record: what that would free, and the single transaction that does it."""

from __future__ import annotations

import os

from gitckpt.repo.branch import while_noted
from gitckpt.repo.packing import pack_refs
from gitckpt.repo.repository import REFS
from gitckpt.repo.worktrees import git_dirs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gitckpt.repo.repository import Repository
    from gitckpt.repo.writer import Writer

Ref = tuple[str, str]  # name, object id


def refs_of(repository: Repository, sessions: Collection[str]) -> list[Ref]:
    """Return all refs of these sessions, lines and tags."""
    if not sessions:
        return []
    prefixes = [f"{REFS}{session}/" for session in sorted(sessions)]
    rows = repository.git.text("for-each-ref", "--format=%(refname) %(objectname)", *prefixes).split("\n")
    return [(name, oid) for name, _, oid in (row.partition(" ") for row in rows) if name]


def private_directories(repository: Repository) -> list[bytes]:
    """Return the private directories of all work trees that have one."""
    places = git_dirs(repository).values()
    return [path for path in (os.path.join(place, b"gitckpt") for place in places) if os.path.isdir(path)]


def freed_by(repository: Repository, sessions: Collection[str]) -> tuple[int, int]:
    """Return how many objects, and bytes on disk, would no longer be needed without these sessions."""
    git, tips = repository.git, sorted({oid for _, oid in refs_of(repository, sessions)})
    if not tips:
        return 0, 0
    listing = ("rev-list", "--objects", "--no-object-names", "--missing=allow-any")
    rest = [word for session in sorted(sessions) for word in (f"--exclude={REFS}{session}/*",)] + ["--all"]
    own = set(git.run(*listing, "--stdin", "--not", *rest, data="\n".join(tips).encode()).split())
    if own:
        # git excludes only objects at the boundary of the other history; the same content may be anywhere in it
        own.difference_update(git.run(*listing, *rest, "--reflog", "--indexed-objects").split())
    return len(own), sum(_sizes(repository, sorted(own)))


def _sizes(repository: Repository, oids: Sequence[bytes]) -> list[int]:
    data = b"\n".join(oids) + b"\n" if oids else b""
    output = repository.git.run("cat-file", "--buffer", "--batch-check=%(objectsize:disk)", data=data)
    return [int(size) for size in output.split() if size.isdigit()]


def drop(repository: Repository, writer: Writer, refs: Sequence[Ref]) -> None:
    """Delete refs that have these values, all or none. The caller holds the lock. Raise GitFailed if one has moved.

    They are packed first, so that they disappear with the rename of a single file, however the process ends."""
    deleted = [(name, repository.null_oid, oid) for name, oid in refs]
    while_noted(repository, lambda: pack_refs(repository))
    while_noted(repository, lambda: writer.publish(deleted, "gitckpt: prune"))
