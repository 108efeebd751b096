"""Convert the content of a snapshot to what the user's own git would store: the user's filters, line endings and
encodings, applied as by `git add` in a separate directory. The user's work tree, staging area and refs are not
involved."""

from __future__ import annotations

import os
from itertools import pairwise

from gitckpt.repo.gateway import Git
from gitckpt.repo.room import make_room, remove
from gitckpt.repo.trees import Change, changes, entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from gitckpt.repo.repository import Repository

#: Add files exactly as they are, whatever the user's settings, including paths outside a sparse checkout.
AS_IT_IS = ("core.fileMode=true", "core.symlinks=true", "core.safecrlf=false", "core.sparseCheckout=false",
            "core.splitIndex=false", "core.untrackedCache=false", "advice.addEmbeddedRepo=false")  # fmt: skip


class Cleaning:
    """A context manager for a scratch directory that moves from snapshot to snapshot.

    It holds only the files that differ between any two of the `trees` (of raw snapshots, in order), or between the
    first of them and the tree `below` of a commit of the user's, and the files that say how content is converted.
    """

    def __init__(self, repository: Repository, raw: Git, trees: list[str], below: str | None = None) -> None:
        self._repository, self._raw, self._trees, self._below = repository, raw, trees, below

    def __enter__(self) -> Cleaning:
        self._room = make_room("promote")
        self._files = os.path.join(self._room, b"files")
        try:
            os.mkdir(self._files)
        except OSError:
            remove(self._room)
            raise
        self._copy = self._raw.view(
            "core.splitIndex=false", "core.fsync=none", cwd=self._files,
            GIT_WORK_TREE=self._files, GIT_INDEX_FILE=os.path.join(self._room, b"raw"),
        )  # fmt: skip
        self._user = Git(
            self._files,
            {
                "GIT_DIR": self._repository.git_dir,
                "GIT_WORK_TREE": self._files,
                "GIT_INDEX_FILE": os.path.join(self._room, b"clean"),
            },
            AS_IT_IS,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        remove(self._room)

    def trees(self) -> list[str]:
        """Return, for each snapshot in order, a tree of those files as git would store them; first, if there is a tree
        `below`, the same part of that tree."""
        differences = [changes(self._raw, a, b) for a, b in pairwise(self._trees)]
        since = changes(self._raw, self._below, self._trees[0]) if self._below else []
        # snapshots do not hold other repositories, which does not make them deleted
        own = [change for change in since if b"160000" not in (change.old_mode, change.new_mode)]
        wanted = {change.path for difference in [own, *differences] for change in difference}
        self._raw_tree = self._part(self._chosen(self._trees[0], wanted))
        self._copy.run("read-tree", "-m", "-u", self._raw_tree)
        stored = [self._stored(), *(self._next(difference) for difference in differences)]
        return [self._theirs(self._below, wanted), *stored] if self._below else stored

    def _chosen(self, tree: str, wanted: set[bytes]) -> list[Change]:
        """Return the entries of a tree that are needed, as additions to an empty tree."""
        return [
            Change.addition(mode, oid, path)
            for path, (mode, oid) in entries(self._raw, tree).items()
            if mode != b"160000" and (path in wanted or os.path.basename(path) == b".gitattributes")
        ]

    def _theirs(self, tree: str, wanted: set[bytes]) -> str:
        """Return the same part of a tree of the user's, which is already as git stores it."""
        index = self._copy.view(GIT_INDEX_FILE=os.path.join(self._room, b"theirs"))
        rows = [b"%s %s 0\t%s\0" % (c.new_mode, c.new_oid, c.path) for c in self._chosen(tree, wanted)]
        index.run("update-index", "-z", "--index-info", data=b"".join(rows))
        return index.object_id("write-tree")

    def _part(self, rows: Iterable[Change]) -> str:
        """Return the tree of the scratch index after these changes, without touching the files."""
        null = self._repository.null_oid.encode()
        gone = [b"0 %s\t%s\0" % (null, change.path) for change in rows if change.status == "D"]
        new = [b"%s %s 0\t%s\0" % (c.new_mode, c.new_oid, c.path) for c in rows if c.status != "D"]
        index = self._copy.view(GIT_INDEX_FILE=os.path.join(self._room, b"next"))
        if gone or new:
            index.run("update-index", "-z", "--index-info", data=b"".join(gone + new))
        return index.object_id("write-tree")

    def _next(self, difference: list[Change]) -> str:
        tree = self._part(difference)
        self._copy.run("read-tree", "-m", "-u", self._raw_tree, tree)
        self._raw_tree = tree
        return self._stored()

    def _stored(self) -> str:
        self._user.run("add", "--all", "--force", "--", ".")
        return self._user.object_id("write-tree")
