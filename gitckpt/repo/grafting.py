"""Apply changes on top of a commit that they were not made on: path by path, with git's own content merge where both
sides changed a file. A conflict stops it, and then nothing has changed except for some unreferenced objects."""

from __future__ import annotations

import os
import tempfile

from gitckpt.errors import GitFailed
from gitckpt.repo.index import parents
from gitckpt.repo.trees import changes, entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository

    #: Mode and object id, or None for a path that does not exist.
    Entry = tuple[bytes, bytes] | None

#: Modes of entries whose contents can be merged: files, executable or not.
FILES = (b"100644", b"100755")


class Conflicts(Exception):
    """Paths that cannot be applied on top of the commit: path → why."""

    def __init__(self, paths: dict[bytes, str]) -> None:
        super().__init__(paths)
        self.paths = paths


class Grafting:
    """A tree to which changes are applied one after the other. `git` is the user's, without the user's index."""

    def __init__(self, repository: Repository, git: Git, room: bytes, tree: str) -> None:
        self._repository, self._room = repository, room
        self._git = git.view("core.splitIndex=false", GIT_INDEX_FILE=os.path.join(room, b"grafted"))
        self._git.run("read-tree", tree)
        self._entries: dict[bytes, tuple[bytes, bytes]] = entries(git, tree)
        self.tree = tree

    def add(self, before: str, after: str, left_out: Iterable[bytes] = ()) -> list[bytes]:
        """Apply the difference between two trees, except for the paths in `left_out` and everything below them. Return
        the paths that this changed.

        Raise Conflicts, with the tree unchanged."""
        conflicts: dict[bytes, str] = {}
        wanted: dict[bytes, Entry] = {}
        skipped = set(left_out)
        for change in changes(self._git, before, after):
            if change.path in skipped or skipped & parents([change.path]):
                continue
            here = self._entries.get(change.path)
            try:
                merged = self._merged(
                    here, _side(change.old_mode, change.old_oid), _side(change.new_mode, change.new_oid)
                )
            except _Unmergeable as error:
                conflicts[change.path] = str(error)
            else:
                if merged != here:
                    wanted[change.path] = merged
        conflicts |= self._in_the_way(wanted)
        if conflicts:
            raise Conflicts(conflicts)
        self._write(wanted)
        return sorted(wanted)

    def _merged(self, here: Entry, old: Entry, new: Entry) -> Entry:
        if here in (old, new):
            return new
        if here is None:
            raise _Unmergeable("changed there, and not in your commit")
        if new is None:
            raise _Unmergeable("deleted there, and changed in your commit")
        if old is None or not {here[0], old[0], new[0]} <= set(FILES):
            raise _Unmergeable("new there, and another one in your commit" if old is None else "changed in both")
        mode = new[0] if here[0] == old[0] else here[0]
        return mode, here[1] if new[1] == old[1] else self._merged_blob(here[1], old[1], new[1])

    def _merged_blob(self, here: bytes, old: bytes, new: bytes) -> bytes:
        if here in (old, new):
            return new
        names = []
        for oid in (here, old, new):
            handle, name = tempfile.mkstemp(dir=self._room)
            with open(handle, "wb") as file:
                file.write(self._git.run("cat-file", "blob", oid))
            names.append(name)
        call = self._git.start("merge-file", "-p", "--", *names, ok=range(256))
        content = call.wait()
        for name in names:
            os.unlink(name)
        if call.status:
            raise _Unmergeable("changed in both, and the changes overlap")
        return self._git.object_id("hash-object", "-w", "--stdin", data=content).encode()

    def _in_the_way(self, wanted: dict[bytes, Entry]) -> dict[bytes, str]:
        """Return the paths that would have to be both a file and a directory."""
        new = [path for path, entry in wanted.items() if entry is not None and path not in self._entries]
        if not new:
            return {}
        after = [path for path in self._entries if wanted.get(path, b"") is not None]
        files = set(after) | set(new)
        return dict.fromkeys(parents(files) & files, "a file and a directory of that name")

    def _write(self, wanted: dict[bytes, Entry]) -> None:
        null = self._repository.null_oid.encode()
        rows = [b"0 %s\t%s\0" % (null, path) for path, entry in wanted.items() if entry is None]
        rows += [b"%s %s\t%s\0" % (*entry, path) for path, entry in wanted.items() if entry is not None]
        if not rows:
            return
        self._git.run("update-index", "-z", "--index-info", data=b"".join(rows))
        self.tree = self._git.object_id("write-tree", "--missing-ok")
        for path, entry in wanted.items():
            if entry is None:
                self._entries.pop(path, None)
            else:
                self._entries[path] = entry


class _Unmergeable(Exception):
    """Why a path cannot be merged."""


def _side(mode: bytes, oid: bytes) -> Entry:
    return None if mode == b"000000" else (mode, oid)


def is_whole(git: Git, commit: str, base: str | None, *, partial: bool) -> bool:
    """Return whether everything that a commit adds to `base` can be read."""
    promised = ["--exclude-promisor-objects"] if partial else []
    try:
        git.run("rev-list", "--objects", "--quiet", *promised, commit, *([f"^{base}"] if base else []))
    except GitFailed:
        return False
    return True
