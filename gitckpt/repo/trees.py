"""Trees: comparing two, building a new one from parts, and checking that everything one needs can be read."""

from __future__ import annotations

import os

from gitckpt.errors import Damaged, GitFailed
from gitckpt.repo.answers import raw_changes, reads, unreadable
from gitckpt.repo.checked import safe
from gitckpt.repo.directories import refuse_endless_attributes
from gitckpt.repo.gateway import split
from gitckpt.repo.index import parents
from gitckpt.repo.index_file import copy_index
from gitckpt.repo.objects import read_objects
from gitckpt.repo.revisions import object_named
from gitckpt.repo.staging import remove_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gitckpt.repo.gateway import Call, Git
    from gitckpt.repo.repository import Repository

    Numstat = tuple[int | None, int | None, bytes, bytes | None]


#: The mode of a subtree, and the modes of what is not an object of this repository: a submodule's commit, or nothing.
TREE = b"040000"
ELSEWHERE = (b"160000", b"000000")


class Change:
    """One path that differs between two trees: `status` is A, M, D or T; an absent side has mode b"000000" and an
    object id of zeros."""

    __slots__ = ("new_mode", "new_oid", "old_mode", "old_oid", "path", "status")

    def __init__(
        self, status: str, old_mode: bytes, new_mode: bytes, old_oid: bytes, new_oid: bytes, path: bytes
    ) -> None:
        self.status, self.path = status, path
        self.old_mode, self.new_mode, self.old_oid, self.new_oid = old_mode, new_mode, old_oid, new_oid

    @classmethod
    def addition(cls, mode: bytes, oid: bytes, path: bytes) -> Change:
        """Return the change that adds a path."""
        return cls("A", b"000000", mode, b"0" * len(oid), oid, path)

    @property
    def content_changed(self) -> bool:
        """Whether more than the executable bit differs."""
        return self.old_oid != self.new_oid or self.status != "M"


def changes(git: Git, before: str, after: str) -> list[Change]:
    """Return all paths that differ. Raise Damaged if a tree cannot be read."""
    return _changes(start_diff(git, before, after))


def changes_and_new(git: Git, before: str, after: str) -> tuple[list[Change], list[bytes]]:
    """Like `changes`, and also return the objects that `after` needs and `before` did not."""
    call = start_diff(git, before, after, "-t")
    found = _changes(call)
    return [change for change in found if TREE not in (change.old_mode, change.new_mode)], [
        after.encode(), *(change.new_oid for change in found if change.new_mode not in ELSEWHERE)
    ]  # fmt: skip


def start_diff(git: Git, before: str, after: str, *options: str) -> Call:
    """Start comparing two trees; with `-t` subtrees are listed too."""
    return git.start(
        "diff-tree", "-r", *options, "-z", "--no-renames", "--full-index", "--end-of-options", before, after
    )


def _changes(call: Call) -> list[Change]:
    try:
        output = call.wait()
    except GitFailed as error:
        raise unreadable("a checkpoint", error) from error
    return [
        Change(chr(status[0]), old_mode, new_mode, old_oid, new_oid, safe(path))
        for old_mode, new_mode, old_oid, new_oid, status, path in raw_changes(split(output), "diff-tree")
    ]


def new_objects(output: bytes) -> list[bytes]:
    """Return the objects that are new in the output of a diff with `-t`."""
    heads = [field.split(b" ") for field in output.split(b"\0")[:-1:2]]
    return [head[3] for head in heads if head[1] not in ELSEWHERE]


def entries(git: Git, tree: str) -> dict[bytes, tuple[bytes, bytes]]:
    """Return path → (mode, object id) of every file in a tree. Raise Damaged if it cannot be read."""
    try:
        output = git.run("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", tree)
    except GitFailed as error:
        raise unreadable("a checkpoint", error) from error
    return {safe(path): (mode, oid) for mode, _, oid, path in _listed(output)}


def paths_of(git: Git, commit: str) -> list[bytes]:
    """Return the paths of all files in a snapshot. Raise Damaged if it cannot be read."""
    try:
        return split(git.run("ls-tree", "-r", "-z", "--full-tree", "--name-only", "--end-of-options", commit))
    except GitFailed as error:
        raise unreadable("a checkpoint", error) from error


@reads("ls-tree")
def _listed(output: bytes) -> list[tuple[bytes, bytes, bytes, bytes]]:
    """Return mode, kind, object id and path of each entry."""
    found = []
    for entry in split(output):
        head, _, path = entry.partition(b"\t")
        mode, kind, oid = head.split(b" ")
        if kind not in (b"blob", b"commit", b"tree"):
            raise ValueError(entry)
        found.append((mode, kind, oid, path))
    return found


def patch(git: Git, before: str, after: str, paths: Sequence[bytes] = (), *, colour: bool = False) -> bytes:
    """Return the difference between two trees or commits as a patch that git can apply."""
    wanted = ("--color=always",) if colour else ()
    command = ("diff-tree", "-p", "-r", "-M", "--no-ext-diff", "--no-textconv", *wanted, "--end-of-options")
    return _compared(git, command, before, after, paths)


def numstat(git: Git, before: str, after: str, paths: Sequence[bytes] = ()) -> list[Numstat]:
    """Return, for each file that differs, the lines added and deleted (None for a binary file), its path, and its path
    before a rename."""
    command = ("diff-tree", "--numstat", "-r", "-z", "-M", "--no-ext-diff", "--no-textconv", "--end-of-options")
    return _numstats(split(_compared(git, command, before, after, paths)))


def _compared(git: Git, command: Sequence[str], before: str, after: str, paths: Sequence[bytes]) -> bytes:
    """Run a command that compares the content of two trees, for which git looks up attributes of each path in the work
    tree. The root as a path stands for all paths."""
    paths = () if b"" in paths else paths
    literal = git.view(GIT_LITERAL_PATHSPECS="1")
    names = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options")
    found = split(literal.run(*names, before, after, "--", *paths))
    refuse_endless_attributes(git.cwd, parents(found))
    return literal.run(*command, before, after, "--", *paths)


@reads("diff-tree --numstat")
def _numstats(fields: list[bytes]) -> list[Numstat]:
    parts = iter(fields)
    return [_numstat(part, parts) for part in parts]


def _numstat(part: bytes, parts: Iterator[bytes]) -> Numstat:
    added, deleted, path = part.split(b"\t", 2)
    old = None
    if not path:
        old, path = next(parts), next(parts)
    return (_lines(added), _lines(deleted), path, old)


def _lines(number: bytes) -> int | None:
    return int(number) if number.isdigit() else None


def blob_at(git: Git, commit: str, path: bytes) -> bytes | None:
    """Return the content of a file in a snapshot; None if it has none. A symbolic link gives its target."""
    if not path:
        return None
    output = git.view(GIT_LITERAL_PATHSPECS="1").run("ls-tree", "-z", "--full-tree", commit, "--", path)
    for _, kind, oid, name in _listed(output):
        if name == path and kind == b"blob":
            return git.run("cat-file", "blob", oid)
    return None


def blobs_at(git: Git, tree: str, paths: Sequence[bytes]) -> dict[bytes, str]:
    """Return the object ids, in hexadecimal, of those of the paths that are files in a tree."""
    literal = git.view(GIT_LITERAL_PATHSPECS="1")
    listed = _listed(literal.run("ls-tree", "-z", "--full-tree", "--end-of-options", tree, "--", *paths))
    return {path: oid.decode() for _, kind, oid, path in listed if kind == b"blob" and path in paths}


def holds_path(git: Git, tree: str, path: bytes) -> bool:
    """Return whether a tree contains this file or directory. Every tree contains the root."""
    literal = git.view(GIT_LITERAL_PATHSPECS="1")
    return not path or bool(literal.run("ls-tree", "-z", "--full-tree", "--name-only", tree, "--", path))


def tree_of(git: Git, commit: str) -> str:
    """Return the tree of a commit. Raise Damaged if either is missing."""
    tree = object_named(git, f"{commit}^{{tree}}")
    if tree is None:
        raise Damaged(f"the checkpoint's commit {commit[:12]} cannot be read", "gitckpt verify names what is missing")
    return tree


def with_changes(
    repository: Repository, raw: Git, base: str, wanted: Iterable[Change], removed: Iterable[bytes] = ()
) -> str:
    """Return `base` with the new side of these changes, and without `removed`."""
    git = _scratch(repository, raw, base)
    remove = [change.path for change in wanted if change.status == "D"] + list(removed)
    remove_entries(git, remove, repository.null_oid)
    rows = [b"%s %s 0\t%s\0" % (c.new_mode, c.new_oid, c.path) for c in wanted if c.status != "D"]
    if rows:
        git.run("update-index", "-z", "--index-info", data=b"".join(rows))
    return git.object_id("write-tree", "--missing-ok")


def _scratch(repository: Repository, raw: Git, tree: str) -> Git:
    """Return git with a temporary index that holds `tree`."""
    path = os.path.join(repository.private_dir, b"scratch")
    copy_index(os.path.join(repository.private_dir, b"index"), path)
    git = raw.view(GIT_INDEX_FILE=path)
    git.run("read-tree", tree)
    return git


def with_patch_reversed(repository: Repository, raw: Git, base: str, revision: str) -> str | None:
    """Return `base` with the change of a commit reverted; None if that does not apply."""
    patch = raw.run("diff-tree", "-p", "-R", "--binary", "--root", "--full-index", "--no-commit-id", revision)
    git = _scratch(repository, raw, base)
    call = git.start("apply", "--cached", "--whitespace=nowarn", "-", data=patch, ok=(0, 1, 128))
    call.wait()
    return git.object_id("write-tree") if call.status == 0 else None


def check_objects(repository: Repository, raw: Git, oids: Iterable[bytes]) -> None:
    """Check that each of these blobs exists and matches its id. Raise Damaged, naming the first that does not.

    Git itself does not check: a loose object with other content would be checked out silently.
    """
    for found in read_objects(raw, repository.object_format, sorted(set(oids))):
        if found.fault:
            raise Damaged(
                f"object {found.oid.decode()} of the checkpoint is missing or damaged",
                "nothing was changed; gitckpt verify names what is missing, and the checkpoints that are whole",
            )
