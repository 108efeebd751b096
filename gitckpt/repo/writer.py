"""Writing events: objects first, refs last and in one compare-and-swap transaction. Nothing else moves a ref."""

from __future__ import annotations

import os

from gitckpt.errors import GitFailed
from gitckpt.repo.answers import object_id, unknown_form
from gitckpt.repo.digest import object_name
from gitckpt.repo.lock import break_lock
from gitckpt.repo.message import ROOT, encode
from gitckpt.repo.repository import CURRENT, PLACES, REFS, line_ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.repo.gateway import Call, Git
    from gitckpt.repo.lock import WorkTreeLock
    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.events import Event

#: Identity and time of the root commit, which must be the same object everywhere.
NOBODY = "gitckpt <gitckpt@localhost> 0 +0000"

EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


def commit_content(tree: str, parents: Sequence[str], message: str, author: str, committer: str) -> bytes:
    """Return the content of a commit object."""
    head = [
        f"tree {tree}",
        *(f"parent {p}" for p in parents),
        f"author {author}",
        f"committer {committer}",
        "",
        message,
    ]
    return "\n".join(head).encode("utf-8", "replace")


def _root_content(object_format: str) -> bytes:
    """Return the content of the constant root commit, which is under every session."""
    return commit_content(EMPTY_TREE[object_format], [], ROOT + "\n", NOBODY, NOBODY)


def root_id(object_format: str) -> str:
    """Return the id of the root commit."""
    return object_name("commit", _root_content(object_format), object_format)


def break_ref_locks(repository: Repository) -> None:
    """Remove the locks that a killed git left on our refs, including refs that it did not get to create."""
    for top in (
        os.path.join(repository.common_dir, os.fsencode(REFS)),
        os.path.join(repository.git_dir, b"refs/worktree"),
    ):
        for directory, _, names in os.walk(top):
            for name in names:
                if name.endswith(b".lock"):
                    break_lock(os.path.join(directory, name))


class Writer:
    """Writes events: objects first, refs last and in one compare-and-swap transaction.

    `raw` is git in the private directory, used for objects; the refs are in the user's repository.
    """

    def __init__(self, repository: Repository, raw: Git, author: str, lock: WorkTreeLock, *, durable: bool) -> None:
        self._repository, self._raw, self._author = repository, raw, author
        self._refs = repository.git.view(f"core.fsync={'committed,reference' if durable else 'none'}")
        self._refs.keep_open(lambda: lock.descriptor)
        self._root: list[tuple[Call, str]] = []

    def root(self) -> str:
        """Return the id of the constant root commit, which is being written: each time, because a gc may have removed
        it. `write` and `publish` wait until it is there."""
        self._give_up_root()
        object_format = self._repository.object_format
        content, id = _root_content(object_format), root_id(object_format)
        self._root = [
            (self._raw.start("hash-object", "-t", "tree", "-w", "--stdin"), EMPTY_TREE[object_format]),
            (self._raw.start("hash-object", "-t", "commit", "-w", "--stdin", data=content), id),
        ]
        return id

    def _wait_for_root(self) -> None:
        """Raise GitFailed if the root commit could not be written."""
        try:
            while self._root:
                call, id = self._root.pop()
                if object_id(call.wait(), call.words) != id:
                    raise unknown_form("hash-object")
        finally:
            self._give_up_root()

    def _give_up_root(self) -> None:
        """Let calls end that nobody waits for any more: a git that is killed leaves a file behind."""
        while self._root:
            try:
                self._root.pop()[0].wait()
            except GitFailed:
                continue

    def commit(self, tree: str, parents: Sequence[str], message: str, author: str, committer: str) -> str:
        """Write a commit object, unaffected by the user's configuration, hooks and signing."""
        content = commit_content(tree, parents, message, author, committer)
        return self._raw.object_id("hash-object", "-t", "commit", "-w", "--stdin", data=content)

    def write(self, event: Event, tree: str, seconds: int) -> str:
        """Write the commit of an event on a snapshot, with the parents `event.parents`. It is not reachable yet."""
        committer = f"gitckpt <gitckpt@localhost> {seconds} +0000"
        author = f"{self._author} {seconds} +0000" if self._author else committer
        commit = self.commit(tree, event.parents, encode(event), author, committer)
        self._wait_for_root()
        return commit

    def publish(self, updates: Sequence[tuple[str, str, str]], reason: str) -> None:
        """Move refs in one transaction, each given as (name, new, old). An empty `old` does not check the old value.

        The null object id as `old` requires that the ref be new; as `new` it deletes the ref. An empty `new` only
        checks `old`. Raise GitFailed, with nothing moved, if a ref does not have the value `old`.
        """
        self._wait_for_root()
        commands = [b"start"]
        for name, new, old in updates:
            if not new:
                commands.append(b"verify %s\0%s" % (name.encode(), old.encode()))
            elif new == self._repository.null_oid:
                commands.append(b"delete %s\0%s" % (name.encode(), old.encode()))
            else:
                commands.append(b"update %s\0%s\0%s" % (name.encode(), new.encode(), old.encode()))
        commands += [b"prepare", b"commit"]
        data = b"\0".join(commands) + b"\0"
        names = [name for name, _, _ in updates]
        answer = self._move(names, "update-ref", "--no-deref", "-m", reason, "-z", "--stdin", data=data)
        if answer.splitlines() != [b"start: ok", b"prepare: ok", b"commit: ok"]:
            raise unknown_form("update-ref")

    def place(self, known: Sequence[str]) -> str:
        """Return the id that stands for this work tree, creating it if none is `known` yet."""
        if known:
            return known[0]
        new = os.urandom(8).hex()
        self.publish([(PLACES + new, self.root(), self._repository.null_oid)], "gitckpt: a work tree has its name")
        return new

    def set_current(self, session: str, line: str) -> None:
        """Make this work tree record on that line from now on."""
        self._move([CURRENT], "symbolic-ref", CURRENT, line_ref(session, line))

    def _move(self, names: Sequence[str], *command: str, data: bytes = b"") -> bytes:
        """Run a command that moves our refs, and return its output; if a killed git left a lock on one of them, break
        it and retry once."""
        try:
            return self._refs.run(*command, data=data)
        except GitFailed:
            locks = [lock for name in names if os.path.lexists(lock := self._lock_of(name))]
            if not locks:
                raise
            for lock in locks:
                break_lock(lock)
            return self._refs.run(*command, data=data)

    def _lock_of(self, name: str) -> bytes:
        own = name.startswith("refs/worktree/")
        directory = self._repository.git_dir if own else self._repository.common_dir
        return os.path.join(directory, os.fsencode(name)) + b".lock"
