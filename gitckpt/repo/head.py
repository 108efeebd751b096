"""Where the user's HEAD is, and which git operation is in progress."""

from __future__ import annotations

import os
import time

from gitckpt.repo.answers import is_object_id, reads
from gitckpt.repo.index_file import stat_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitckpt.repo.gateway import Call
    from gitckpt.repo.repository import Repository

#: Nanoseconds within which a file may be written twice without a change in its stat data.
RACY = 50_000_000

#: Files that show that an operation is in progress, and how far it is.
OPERATIONS = (
    ("rebase", ("rebase-merge/git-rebase-todo", "rebase-merge/onto", "rebase-merge/msgnum")),
    ("am", ("rebase-apply/next", "rebase-apply/last", "rebase-apply/onto")),
    ("merge", ("MERGE_HEAD",)),
    ("cherry-pick", ("CHERRY_PICK_HEAD", "sequencer/todo")),
    ("revert", ("REVERT_HEAD",)),
    ("bisect", ("BISECT_LOG",)),
)


class Head:
    """`commit` and `tree` are what HEAD names, None before the first commit; `branch` is without `refs/heads/`, and
    None if HEAD is detached.

    `operation` is the name of the operation in progress (`merge`, `rebase`, …) or None, and `operation_state`
    distinguishes its states."""

    __slots__ = ("branch", "commit", "operation", "operation_state", "tree")

    def __init__(
        self,
        commit: str | None,
        tree: str | None,
        branch: str | None,
        operation: str | None = None,
        operation_state: str | None = None,
    ) -> None:
        self.commit, self.tree, self.branch = commit, tree, branch
        self.operation, self.operation_state = operation, operation_state

    def same_place(self, record: dict[str, Any]) -> bool:
        """Return whether HEAD's commit and the operation in progress are those on record (`event.git`)."""
        return (self.commit, self.operation, self.operation_state) == (
            record.get("head"), record.get("operation"), record.get("operation_state"),
        )  # fmt: skip


class Heads:
    """Finds where HEAD is, and asks git only when a file that decides it has changed."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._key: tuple[Any, ...] = ()
        self._oids: tuple[str | None, str | None] = (None, None)

    def as_data(self) -> dict[str, Any]:
        """Return what is known, for `take_up` in another process."""
        names = [os.fsdecode(part) for part in self._key[:1]]
        return {"name": names, "stamps": self._key[1:], "oids": self._oids}

    def take_up(self, data: dict[str, Any]) -> None:
        """Continue from what another process knew."""
        commit, tree = (str(oid) if oid else None for oid in data["oids"])
        self._key = (*(os.fsencode(name) for name in data["name"]), *(tuple(stamp) for stamp in data["stamps"]))
        self._oids = commit, tree

    def start(self) -> tuple[tuple[Any, ...], Call | None]:
        """Start asking where HEAD is, without waiting; pass the result to `read`."""
        key = self._stamp()
        if key and key == self._key:
            return key, None
        command = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
        return key, self._repository.git.start(*command, data=b"HEAD\nHEAD^{tree}\n")

    def read(self, asked: tuple[tuple[Any, ...], Call | None]) -> Head:
        """Return HEAD with branch and operation."""
        key, call = asked
        if call is not None:
            self._oids = _oids(call.wait())
            self._key = key
        return Head(*self._oids, _branch(self._repository), *_operation(self._repository.git_dir))

    def _stamp(self) -> tuple[Any, ...]:
        """Return what changes whenever HEAD does; () if refs are not files, or were written too recently to tell."""
        content = _read(self._repository.git_dir, "HEAD")
        if content is None or content.startswith(b"ref: refs/heads/.invalid"):
            return ()
        name = content.removeprefix(b"ref: ").rstrip(b"\n")
        files = (name, b"packed-refs") if content.startswith(b"ref: ") else ()
        if files and (_read(self._repository.common_dir, os.fsdecode(name)) or b"").startswith(b"ref: "):
            return ()  # a symbolic branch: the file that changes is that of its target
        stamps = [stat_key(os.path.join(self._repository.common_dir, file)) for file in files]
        young = any(stamp and time.time_ns() - stamp[0] < RACY for stamp in stamps)
        return () if young else (content, *stamps)


@reads("cat-file --batch-check")
def _oids(output: bytes) -> tuple[str | None, str | None]:
    """Return commit and tree of HEAD; None before the first commit, where git says `missing`."""
    commit, tree = (row.rsplit(" ", 1) for row in output.decode().splitlines())
    if (commit[1], tree[1]) == ("missing", "missing"):
        return None, None
    if (commit[1], tree[1]) == ("commit", "tree") and is_object_id(commit[0]) and is_object_id(tree[0]):
        return commit[0], tree[0]
    raise ValueError(output)


def _branch(repository: Repository) -> str | None:
    try:
        with open(os.path.join(repository.git_dir, b"HEAD"), "rb") as file:
            content = file.read(4096).rstrip(b"\n")
    except OSError:
        content = b"ref: refs/heads/.invalid"
    if content == b"ref: refs/heads/.invalid":  # refs are not files here
        call = repository.git.start("symbolic-ref", "-q", "HEAD", ok=(0, 1))
        content = b"ref: " + call.wait().rstrip(b"\n")
    prefix = b"ref: refs/heads/"
    return os.fsdecode(content.removeprefix(prefix)) if content.startswith(prefix) else None


def _operation(git_dir: bytes) -> tuple[str | None, str | None]:
    """Return the name of the outermost operation and the state of all: a merge may stop within a rebase or a
    bisection."""
    names: list[str] = []
    states: list[bytes] = []
    for name, files in OPERATIONS:
        contents = [content for file in files if (content := _read(git_dir, file)) is not None]
        if contents:
            names.append(name)
            states += [name.encode(), *contents]
    if not names:
        return None, None
    from hashlib import sha256  # slow to import, and usually nothing is in progress

    return names[0], sha256(b"".join(state + b"\0" for state in states)).hexdigest()[:16]


def _read(git_dir: bytes, name: str) -> bytes | None:
    try:
        with open(os.path.join(git_dir, os.fsencode(name)), "rb") as file:
            return file.read(1 << 20)
    except OSError:
        return None
