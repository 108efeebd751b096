"""The user's staging area: reading it without touching it, and restoring it."""

from __future__ import annotations

import os

from gitckpt.errors import GitFailed
from gitckpt.repo.answers import object_id, raw_changes, reads
from gitckpt.repo.gateway import split
from gitckpt.repo.index_file import copy_index
from gitckpt.repo.intentions import intended, note
from gitckpt.repo.private import clear
from gitckpt.repo.repository import EMPTY_BLOB
from gitckpt.repo.user_index import UserIndex
from gitckpt.repo.writer import EMPTY_TREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gitckpt.repo.gateway import Call, Git
    from gitckpt.repo.repository import Repository

#: Seconds that the user's filters may take to decide whether files are as staged.
FILTER_PATIENCE = 5.0

#: Maximum number of paths that git is asked about by name; for more, the whole index is as cheap.
MOST_PATHSPECS = 100

Unmerged = tuple[bytes, bytes, bytes, bytes]  # mode, object id, stage, path


class Staging:
    """A staging area: `tree` of its merged entries, the `unmerged` entries by stage; `intended` are the intent-to-add
    entries, path → mode.

    `skipped` are the paths flagged skip-worktree, `forced` those that are tracked although a rule ignores them; neither
    is restored. `digest` identifies all entries of the index with their flags; it is "" if the listing does not show
    everything in which two staging areas may differ."""

    __slots__ = ("digest", "forced", "intended", "skipped", "tree", "unmerged")

    def __init__(self, tree: str) -> None:
        self.tree, self.digest = tree, ""
        self.unmerged: list[Unmerged] = []
        self.intended: dict[bytes, bytes] = {}
        self.skipped: list[bytes] = []
        self.forced: list[bytes] = []

    def same_content(self, other: Staging) -> bool:
        """Return whether both hold the same entries, regardless of flags."""
        return (self.tree, sorted(self.unmerged), self.intended) == (
            other.tree, sorted(other.unmerged), other.intended,
        )  # fmt: skip


class Capture:
    """Reads the user's staging area from a copy, while the caller does other things. The user's index is neither
    written nor locked.

    `known` is the previous staging area, if no ignore rule has changed since; it is returned if only stat data in the
    index is new. `listing` is the output of `ls-files -z -s -v`, if that is known; `plain` says that all entries are
    ordinary. Raises GitFailed if the index cannot be read.
    """

    def __init__(
        self,
        repository: Repository,
        raw: Git,
        *,
        missing_ok: bool,
        known: Staging | None = None,
        listing: bytes = b"",
        plain: bool = False,
    ) -> None:
        self._null = repository.null_oid
        self._calls: list[Call] = []
        self._copy = copy = os.path.join(repository.private_dir, b"staging")
        if not copy_index(repository.index_path, copy):
            self._staging = Staging(EMPTY_TREE[repository.object_format])
            return
        self._git = git = raw.view(GIT_INDEX_FILE=copy)
        self._write_tree = ("write-tree", *(["--missing-ok"] if missing_ok else []))
        listing = listing or git.run("ls-files", "-z", "-s", "-v")
        self._staging = staging = Staging("")
        # an intent-to-add entry looks like an empty file
        empty = EMPTY_BLOB[repository.object_format]
        staging.digest = _digest_of(listing) if empty not in listing else ""
        if known and staging.digest and staging.digest == known.digest:
            self._staging = known
            return
        self._calls.append(git.start("ls-files", "-z", "-c", "-i", "--exclude-standard"))
        # most have only ordinary entries, and checking each is slow
        entries = [] if plain else [e for e in split(listing) if not e.startswith(b"H ") or empty in e]
        staging.unmerged = [_unmerged(entry) for entry in entries if entry.startswith((b"M ", b"m "))]
        staging.skipped = [entry.partition(b"\t")[2] for entry in entries if entry.startswith((b"S ", b"s "))]
        staging.intended = intended(git, entries, empty)
        if not staging.unmerged:
            self._calls.append(git.start(*self._write_tree))

    def wait(self) -> Staging:
        """Return the staging area. Raise GitFailed if git cannot read it."""
        try:
            if self._calls:
                self._take_answers()
        except BaseException:
            self.kill()
            raise
        return self._staging

    def _take_answers(self) -> None:
        staging = self._staging
        staging.forced = split(self._calls.pop(0).wait())
        if staging.unmerged:
            remove_entries(self._git, {entry[3] for entry in staging.unmerged}, self._null)
        written = self._calls.pop(0) if self._calls else self._git.start(*self._write_tree)
        staging.tree = object_id(written.wait(), written.words)

    def kill(self) -> None:
        """Stop reading, because the result is no longer needed."""
        while self._calls:
            self._calls.pop().kill()
        clear(self._copy + b".lock")  # a git that was killed leaves this lock, which would block the next one


def _digest_of(listing: bytes) -> str:
    from hashlib import blake2b  # slow to import, and most snapshots find a known staging area

    return blake2b(listing, digest_size=16).hexdigest()


@reads("ls-files")
def _unmerged(entry: bytes) -> Unmerged:
    head, _, path = entry.partition(b"\t")
    _, mode, oid, stage = head.split(b" ")
    return mode, oid, stage, path


def remove_entries(git: Git, paths: Iterable[bytes], null_oid: str) -> None:
    """Remove paths from an index, in every stage, whatever is on disk."""
    rows = [b"0 %s\t%s\0" % (null_oid.encode(), path) for path in paths]
    if rows:
        git.run("update-index", "-z", "--index-info", data=b"".join(rows))


def restore(repository: Repository, present: Staging, wanted: Staging) -> set[bytes]:
    """Make the user's staging area hold what `wanted` holds, and return the paths that were written. Entries that need
    no change keep their flags and stat data."""
    with UserIndex(repository) as git:
        return _restore(repository, git.view(GIT_LITERAL_PATHSPECS="1"), present, wanted)


def _restore(repository: Repository, git: Git, present: Staging, wanted: Staging) -> set[bytes]:
    null = repository.null_oid.encode()
    flags = _flags(git)
    new = {path: mode for path, mode in wanted.intended.items() if present.intended.get(path) != mode}
    over = present.intended.keys() - (wanted.intended.keys() - new.keys())
    stale = {entry[3] for entry in present.unmerged} if present.unmerged != wanted.unmerged else set()
    rows = [b"0 %s\t%s\0" % (null, path) for path in sorted(stale | over)]
    rows += _tree_changes(git, present.tree, wanted.tree, null)
    if present.unmerged != wanted.unmerged:
        rows += [b"0 %s\t%s\0" % (null, path) for path in sorted({entry[3] for entry in wanted.unmerged})]
        rows += [b"%s %s %s\t%s\0" % entry for entry in wanted.unmerged]
    written = {row.rstrip(b"\0").partition(b"\t")[2] for row in rows if not row.startswith(b"0 ")}
    if rows:
        git.run("update-index", "-z", "--index-info", data=b"".join(rows))
        _flag_again(git, flags, written)
    note(repository, git, new)
    return written


def _flags(git: Git) -> dict[str, set[bytes]]:
    """Return the paths flagged skip-worktree and those flagged assume-unchanged, by the option that sets the flag."""
    entries = split(git.run("ls-files", "-z", "-v"))
    return {
        "--skip-worktree": {entry[2:] for entry in entries if entry[:1] in b"Ss"},
        "--assume-unchanged": {entry[2:] for entry in entries if entry[:1].islower()},
    }


def _flag_again(git: Git, flags: dict[str, set[bytes]], changed: set[bytes]) -> None:
    """Set the flags of rewritten entries again, which they lost when they were written."""
    for option, flagged in flags.items():
        paths = sorted(flagged & changed)
        if paths:
            git.run("update-index", option, "-z", "--stdin", data=b"\0".join(paths) + b"\0")


def _tree_changes(git: Git, before: str, after: str, null: bytes) -> list[bytes]:
    rows = []
    fields = split(git.run("diff-tree", "-r", "-z", "--no-renames", "--end-of-options", before, after))
    for _, mode, _, oid, status, path in raw_changes(fields, "diff-tree"):
        rows.append(b"0 %s\t%s\0" % (null, path) if status == b"D" else b"%s %s 0\t%s\0" % (mode, oid, path))
    # removals first: a directory may take the name of a removed file
    return sorted(rows, key=lambda row: not row.startswith(b"0 "))


def refresh(repository: Repository, paths: Collection[bytes]) -> None:
    """Refresh the stat data of these paths in the user's index, so that git sees no phantom edits. A lock of the user's
    is respected; if the user's filters do not end, nothing is refreshed."""
    index = repository.index_path
    if not paths or not os.path.exists(index) or os.path.lexists(index + b".lock"):
        return
    try:
        # under the user's configuration: line ends that git converts are not edits
        with UserIndex(repository, patience=0) as git:
            _refresh(git.view(GIT_LITERAL_PATHSPECS="1"), paths)
    except GitFailed:
        return  # another git was using it, or a filter is hanging; git will check the files itself


def _refresh(git: Git, paths: Collection[bytes]) -> None:
    if len(paths) > MOST_PATHSPECS:
        git.run("update-index", "-q", "--refresh", ok=(0, 1, 128), limit=FILTER_PATIENCE)
        return
    tracked = set(split(git.run("ls-files", "-z", "--", *sorted(paths)))).intersection(paths)
    if tracked:
        data = b"\0".join(sorted(tracked))
        command = ("add", "--refresh", "--pathspec-from-file=-", "--pathspec-file-nul")
        git.run(*command, data=data, ok=(0, 1, 128), limit=FILTER_PATIENCE)
