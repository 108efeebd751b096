"""Make sure that everything an event brings is there, and stays there.

Between the writing of an event's objects and the move of its ref, nothing refers to them. A `git gc --prune=now` or
`git prune` that looks at that moment removes them, possibly some time after the ref has moved. So each event is checked
after its ref has moved. A collection that began before is then either finished, or seen running; in that case the
objects are packed at once, because no collection removes a pack that was made after it began."""

from __future__ import annotations

import os
import re

from gitckpt.errors import GitFailed
from gitckpt.repo.collection import is_collecting
from gitckpt.repo.quarantine import claim, pack
from gitckpt.repo.trees import new_objects, start_diff
from gitckpt.repo.writer import EMPTY_TREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.quarantine import Quarantine
    from gitckpt.repo.repository import Repository

TAKEN = "a garbage collection has taken objects of the checkpoint that was being recorded"
WAIT = "wait until git gc or git prune has ended, and run the command again"


class ObjectsGone(GitFailed):
    """A garbage collection removed objects of an event before its ref could protect them. The event is not on
    record."""


#: What git prints when the directory that it was about to write an object into has been removed because it was empty.
NO_DIRECTORY = r"unable to (write file \S*/objects/.*|create temporary file): No such file"


def is_collected(error: GitFailed) -> bool:
    """Return whether a call failed because of a garbage collection."""
    return isinstance(error, ObjectsGone) or re.search(NO_DIRECTORY, str(error)) is not None


class Novelty:
    """The objects that an event needs and the previous event did not.

    `before` is the commit of the previous event, or ""; `head` is the user's commit, or None; `others` are further
    parents that nothing else protects. With `partial`, the repository may lack objects that its remote has promised."""

    def __init__(self, repository: Repository, raw: Git, *, partial: bool) -> None:
        self._repository, self._raw, self._partial = repository, raw, partial

    def start(self, before: str, head: str | None, tree: str, known: Sequence[bytes] | None) -> None:
        """Start asking which objects these are, unless `known` lists all of them."""
        self._before, self._head, self._tree, self._known = before, head, tree, known or ()
        base = before or head or EMPTY_TREE[self._repository.object_format]
        self._call = start_diff(self._raw, base, tree, "-t") if known is None else None

    def listed(self) -> list[bytes]:
        """Return the objects of the tree that are new. Raise ObjectsGone if the tree itself cannot be read."""
        if self._call is None:
            return [*self._known]
        try:
            return [self._tree.encode(), *new_objects(self._call.wait())]
        except GitFailed as error:
            raise ObjectsGone(f"{TAKEN}: {error}", WAIT) from error

    def secure(self, commit: str, new: Iterable[bytes], others: Sequence[str]) -> None:
        """Make sure that the event's objects are there to stay, now that its ref has moved. Raise ObjectsGone."""
        try:
            if is_collecting(self._repository):
                base = os.path.join(self._repository.objects_dir, b"pack", b"pack")
                claim(self._repository, pack(self._raw, base, commit, self._kept, self._promised))
            if others:
                self._raw.run("rev-list", "--objects", "--quiet", *others, *(f"^{kept}" for kept in self._kept))
        except GitFailed as error:
            raise ObjectsGone(f"{TAKEN}: {error}", WAIT) from error
        self.look([commit.encode(), *new])

    @property
    def _kept(self) -> list[str]:
        return [commit for commit in (self._before, self._head) if commit]

    def deliver(self, quarantine: Quarantine, commit: str) -> None:
        """Put the event's objects where they are safe, before its ref moves. Raise ObjectsGone."""
        try:
            quarantine.deliver(commit, self._kept, self._promised)
        except GitFailed as error:
            raise ObjectsGone(f"{TAKEN}: {error}", WAIT) from error

    @property
    def _promised(self) -> list[str]:
        return ["--exclude-promisor-objects"] if self._partial else []

    def look(self, oids: Iterable[bytes]) -> None:
        """Check that these objects exist. Raise ObjectsGone.

        An empty file, which a power cut may leave, does not count. Git would take it for the object and write no other,
        so it is removed."""
        elsewhere = [oid for oid in oids if not self._is_loose(oid)]
        if not elsewhere:
            return
        output = self._raw.run("cat-file", "--batch-check", "--buffer", data=b"\n".join(elsewhere) + b"\n")
        missing = [line.split(b" ")[0].decode() for line in output.splitlines() if line.endswith(b" missing")]
        if missing and not self._are_promised(missing):
            raise ObjectsGone(f"{TAKEN}: {missing[0]}", WAIT)

    def _is_loose(self, oid: bytes) -> bool:
        path = os.path.join(self._repository.objects_dir, oid[:2], oid[2:])
        try:
            if os.stat(path).st_size:
                return True
            os.unlink(path)
        except OSError:
            pass
        return False

    def _are_promised(self, missing: Sequence[str]) -> bool:
        """Return whether a partial clone may lack these: the user's commit has them, outside the checkout."""
        if not (self._partial and self._head):
            return False
        command = ("rev-list", "--objects", "--missing=print", "--no-object-names", "-n1", self._head)
        return set(missing) <= {line[1:] for line in self._raw.text(*command).splitlines() if line.startswith("?")}
