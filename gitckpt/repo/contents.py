"""Read everything that snapshots hold, and check that each tree and file exists and matches its object id."""

from __future__ import annotations

import re

from gitckpt.repo.objects import read_objects
from gitckpt.trajectory.remedies import DAMAGED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gitckpt.repo.gateway import Git

    #: Called with the number of objects read, and the total as far as it is known.
    Progress = Callable[[int, int], None]

#: Maximum losses that are reported for one tree.
MOST_LOSSES = 100

#: Names that a tree of ours never holds: they would lead out of the work tree or into git's own directory.
UNSAFE = (b".", b"..", b".git")


class Contents:
    """Reads trees and everything below them, each object once; `read` is the number of objects read.

    `faults` maps an object to whether it is missing or damaged, `kinds` to whether it should be a tree or a blob."""

    def __init__(self, git: Git, object_format: str, progress: Progress = lambda done, total: None) -> None:
        self._git, self._format, self._progress = git, object_format, progress
        self._entry = re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % (32 if object_format == "sha256" else 20), re.DOTALL)
        self._subtrees: dict[bytes, list[bytes]] = {}
        self.read = 0
        self.faults: dict[bytes, str] = {}
        self.kinds: dict[bytes, str] = {}

    def check(self, trees: Iterable[bytes]) -> None:
        """Read these trees (object ids in hexadecimal) and everything below them."""
        pending = list(dict.fromkeys(trees))
        seen: dict[bytes, None] = {}
        while pending:
            below = self._read_trees(pending, seen)
            pending = [tree for tree in dict.fromkeys(below) if tree not in self._subtrees and tree not in self.faults]
        for _ in self._whole([raw.hex().encode() for raw in seen], b"blob"):
            pass

    def _read_trees(self, trees: list[bytes], seen: dict[bytes, None]) -> list[bytes]:
        """Read one level and return the trees below it. The files in it are added to `seen`, as binary ids."""
        below: list[bytes] = []
        for tree, content in self._whole(trees, b"tree"):
            entries = self._entry.findall(content)
            if _may_be_unsafe(content) and any(name.lower() in UNSAFE for _, name, _ in entries):
                self._fault(tree, b"tree", DAMAGED)
                continue
            found = [raw.hex().encode() for mode, _, raw in entries if mode == b"40000"]
            self._subtrees[tree] = found
            below += found
            # a directory has mode 40000, a repository of its own 160000: neither is a file
            seen.update({raw: None for mode, _, raw in entries if mode[:2] in (b"10", b"12")})
        return below

    def _whole(self, oids: list[bytes], kind: bytes) -> Iterator[tuple[bytes, bytes | memoryview]]:
        """Yield those of the objects that are intact and of this kind, with their content; the others become faults."""
        total = self.read + len(oids)
        for found in read_objects(self._git, self._format, oids):
            self.read += 1
            if not self.read % 256:
                self._progress(self.read, total)
            if found.kind == kind:
                yield found.oid, found.content
            else:
                self._fault(found.oid, kind, found.fault or DAMAGED)

    def _fault(self, oid: bytes, kind: bytes, fault: str) -> None:
        self.faults[oid], self.kinds[oid] = fault, kind.decode()

    def losses(self, trees: Iterable[bytes]) -> dict[bytes, dict[bytes, bytes]]:
        """Return those of the trees that have lost something: tree → faulty object → path, at most MOST_LOSSES per
        tree."""
        if not self.faults:
            return {}
        known: dict[bytes, dict[bytes, bytes]] = {}
        named = self._names()
        return {tree: lost for tree in dict.fromkeys(trees) if (lost := self._lost(tree, named, known))}

    def _names(self) -> dict[bytes, list[tuple[bytes, bytes]]]:
        """Return, for each tree, the name and object id of each subtree and each faulty object in it."""
        wanted = {bytes.fromhex(oid.decode()) for oid in self.faults}
        named: dict[bytes, list[tuple[bytes, bytes]]] = {}
        for found in read_objects(self._git, self._format, list(self._subtrees)):
            entries = self._entry.findall(found.content)
            named[found.oid] = [
                (n, raw.hex().encode()) for mode, n, raw in entries if mode == b"40000" or raw in wanted
            ]
        return named

    def _lost(
        self,
        tree: bytes,
        named: dict[bytes, list[tuple[bytes, bytes]]],
        known: dict[bytes, dict[bytes, bytes]],
    ) -> dict[bytes, bytes]:
        """Return faulty object → path below this tree."""
        if tree in self.faults:
            return {tree: b""}
        if tree not in known:
            lost: dict[bytes, bytes] = {}
            for name, oid in named.get(tree, ()):
                below = {oid: b""} if oid in self.faults else self._lost(oid, named, known)
                lost.update({bad: name + b"/" + path if path else name for bad, path in below.items()})
            known[tree] = dict(list(lost.items())[:MOST_LOSSES])
        return known[tree]


def _may_be_unsafe(tree: bytes | memoryview) -> bool:
    content = bytes(tree)
    return b" .\0" in content or b" ..\0" in content or b".git\0" in content.lower()
