"""Taking a snapshot: the whole work tree as a tree object, the bytes on disk as they are, and what it could not hold by
name."""

from __future__ import annotations

import os
import stat
import zlib

from gitckpt.errors import GitFailed
from gitckpt.repo import index
from gitckpt.repo.cache import ScanCache
from gitckpt.repo.gateway import split
from gitckpt.repo.head import Head, Heads
from gitckpt.repo.staging import Staging, capture, stat_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gitckpt.config import Settings
    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository

#: How often a path is read again that changes while it is read, before the snapshot calls it unstable.
TRIES = 4

#: Bytes over which a new file is probed: what does not shrink is stored without compression, at a quarter of the cost.
LARGE = 8 * 1024 * 1024
PROBE = 64 * 1024

#: Directories that git is asked about one by one; for more the whole work tree is as cheap.
MOST_PATHSPECS = 100

#: Paths named one by one in the record of a snapshot; a file system full of sockets needs no longer list than this.
MOST_NAMED = 10_000


class Snapshot:
    """A work tree at one moment.

    `tree` is the object id of its tree; `missing` names each path that is not in it and why; `modes` are permission
    bits other than what git and the umask give (a directory ends in `/`); `empty` are the empty directories. `head` is
    where the user's HEAD was, `staging` his staging area, or None where it could not be read."""

    __slots__ = ("empty", "head", "missing", "modes", "staging", "tree", "umask")

    def __init__(self, tree: str, head: Head, staging: Staging | None) -> None:
        self.tree, self.head, self.staging = tree, head, staging
        self.missing: dict[bytes, str] = {}
        self.modes: dict[bytes, int] = {}
        self.umask = 0o022
        self.empty: list[bytes] = []


class Snapshotter:
    """Takes snapshots of one work tree, one after the other; the caller holds the work tree's lock."""

    def __init__(self, repository: Repository, raw: Git, settings: Settings) -> None:
        self.repository, self._raw, self._settings = repository, raw, settings
        self._cache = ScanCache(repository, raw)
        self._heads = Heads(repository)

    def take(self, also: Collection[bytes] = (), *, verifying: bool = False) -> Snapshot:
        """The work tree now; `also` are paths to hold although a rule ignores them.

        With `verifying`, what is recorded stays so although a rule may ignore it by now: that is the next snapshot's
        business.

        Raises GitFailed where no tree can be made that is exactly the work tree, apart from what `missing` names.
        """
        if not self._cache.is_current() and not self._cache.load():
            self._cache.drop()
            if not index.exists(self.repository):
                index.seed(self.repository, self._raw)
        try:
            return self._take(also, verifying)
        except GitFailed:
            # the index may trust objects that a gc has removed, or be damaged: once more without it
            self._cache.drop()
            index.seed(self.repository, self._raw)
            return self._take(also, verifying)

    def settle(self, snapshot: Snapshot) -> None:
        """The snapshot is on record: its tree is reachable, and may be named again as long as nothing changes."""
        self._cache.tree = snapshot.tree

    def unsettle(self) -> None:
        """The last snapshot was only looked at: let the next one ask again which ignored paths are content."""
        self._cache.unreconciled = True

    def close(self) -> None:
        """Keep what was learnt for the next process."""
        self._cache.save()
        index.tidy(self.repository, self._raw)

    def _take(self, also: Collection[bytes], verifying: bool) -> Snapshot:
        cache = self._cache
        dirty = self._raw.start("diff-files", "-z", "--name-status", "--no-renames", ok=(0, 1))
        head = self._heads.start()
        if cache.tracked is None:
            cache.tracked = index.parents(index.paths(self._raw))
        rules_changed = cache.directories.look(cache.tracked, self._rule_files())
        untracked = self._untracked(rules_changed or not cache.modes_known)
        staging, staging_changed = self._staging()
        changes = Changes(self, split(dirty.wait()), untracked)
        cache.unreconciled = cache.unreconciled or rules_changed or staging_changed
        if cache.unreconciled and not verifying:
            changes.reconcile(staging)
        cache.unreconciled = verifying or bool(also)
        changes.consider([*self._included(), *also])
        changes.apply()
        snapshot = Snapshot(self._tree(changes.any), self._heads.read(head), staging)
        snapshot.missing = cache.missing = changes.missing
        self._describe(snapshot, changes)
        return snapshot

    def _untracked(self, everywhere: bool) -> list[bytes]:
        """Untracked paths that no rule ignores, where any can have come since the last look; else everywhere.

        What was left out the last time is asked about again: it is no longer new, and still not in the index.
        """
        changed = self._cache.directories.changed
        if everywhere or b"" in changed or len(changed) > MOST_PATHSPECS:
            return split(self._raw.run("ls-files", "-z", "-o", "--exclude-standard"))
        found = [path for path in self._cache.missing if not self._cache.is_directory(path)]
        if changed:
            found += split(self._raw.run("ls-files", "-z", "-o", "--exclude-standard", "--", *sorted(changed)))
        return found

    def _rule_files(self) -> list[bytes]:
        exclude = os.path.join(self.repository.common_dir, b"info", b"exclude")
        personal = os.fsencode(self._settings.excludes_file)
        return [exclude, os.path.join(self.repository.work_tree, personal)] if personal else [exclude]

    def _staging(self) -> tuple[Staging | None, bool]:
        key = stat_key(self.repository.index_path)
        if key == self._cache.staging_key:
            return self._cache.staging, False
        try:
            staging = capture(self.repository, self._raw, missing_ok=self._settings.partial_clone)
        except GitFailed:
            return None, False
        self._cache.staging_key, self._cache.staging = key, staging
        return staging, True

    def _included(self) -> list[bytes]:
        if not self._settings.include:
            return []
        git = self._raw.view(GIT_LITERAL_PATHSPECS="0")
        patterns = [f":(glob){pattern}" for pattern in self._settings.include]
        return [p for p in split(git.run("ls-files", "-z", "-o", "--", *patterns)) if not p.endswith(b"/")]

    def _tree(self, changed: bool) -> str:
        if changed:
            self._cache.tree = ""
        if self._cache.tree:
            return self._cache.tree
        # git sees here whether all that the index names is still there
        return self._raw.text("write-tree", *(["--missing-ok"] if self._settings.partial_clone else []))

    def _describe(self, snapshot: Snapshot, changes: Changes) -> None:
        """Permission bits, empty directories, and what is not in the tree."""
        cache = self._cache
        cache.note_modes(changes)
        snapshot.modes, snapshot.umask = dict(cache.modes), cache.umask
        for path, directory in cache.directories.known.items():
            if path and directory.mode and directory.mode != 0o777 & ~cache.umask and not directory.boundary:
                snapshot.modes[path + b"/"] = directory.mode
            if directory.empty:
                snapshot.empty.append(path)
            if directory.boundary:
                snapshot.missing[path] = "a repository of its own: never entered, never touched"
            elif directory.unreadable:
                snapshot.missing[path] = "no permission to read this directory"
            for name, kind in directory.special.items():
                snapshot.missing[path + b"/" + name if path else name] = f"a {kind}"
        if snapshot.staging is None:
            snapshot.missing[b".git/index"] = "the staging area cannot be read"
        cache.remember_index()


class Changes:
    """What differs between the private index and the work tree, sorted by what is to be done about it."""

    def __init__(self, owner: Snapshotter, dirty: list[bytes], untracked: list[bytes]) -> None:
        self._owner, self._raw = owner, owner._raw
        self._repository, self._limit = owner.repository, owner._settings.max_file_size
        self.missing: dict[bytes, str] = {}
        self.removed: set[bytes] = set()
        self.added: dict[bytes, os.stat_result] = {}
        self._closed = owner._cache.closed_directories()
        for status, path in zip(dirty[::2], dirty[1::2], strict=True):
            if status == b"D":
                self.removed.add(path)
            else:
                self._consider(path)
        for path in untracked:
            if path.endswith(b"/"):
                self.missing[path[:-1]] = "a repository of its own: never entered, never touched"
            else:
                self._consider(path)
        self._close_directories()

    @property
    def any(self) -> bool:
        """Whether the index was changed."""
        return bool(self.removed or self.added)

    def consider(self, paths: Iterable[bytes]) -> None:
        """Hold these paths, whatever the ignore rules say."""
        for path in paths:
            self._consider(path)

    def _consider(self, path: bytes) -> None:
        """Add the path, or say why not; what is not added must not stay in the index with the bytes of another day."""
        reason = ""
        try:
            status = os.lstat(self._repository.at(path))
        except (FileNotFoundError, NotADirectoryError):
            self.removed.add(path)
            return
        except OSError as error:
            reason, status = f"cannot be read: {error.strerror}", None
        if status is not None and not reason:
            reason = self._why_not(path, status)
        if reason or status is None:
            self.removed.add(path)
            if status is None or not stat.S_ISDIR(status.st_mode):
                self.missing[path] = reason
        else:
            self.added[path] = status

    def _why_not(self, path: bytes, status: os.stat_result) -> str:
        if stat.S_ISLNK(status.st_mode):
            return ""
        if not stat.S_ISREG(status.st_mode):
            return "not a file"
        if status.st_size > self._limit:
            return f"larger than max_file_size ({status.st_size} of {self._limit} bytes)"
        if not os.access(self._repository.at(path), os.R_OK, effective_ids=os.access in os.supports_effective_ids):
            return "no permission to read this file"
        return ""

    def _close_directories(self) -> None:
        """Nothing inside a repository of its own or a directory without access is content, though it was recorded once."""
        for directory in self._closed:
            if directory in (self._owner._cache.tracked or ()) or any(
                p.startswith(directory + b"/") for p in self.added
            ):
                self.removed.update(split(self._raw.run("ls-files", "-z", "--", directory)))
                prefix = directory + b"/"
                for path in [path for path in self.added if path.startswith(prefix)]:
                    del self.added[path]

    def reconcile(self, staging: Staging | None) -> None:
        """After a change of rules or of the user's index: ignored paths are content if and only if he tracks them."""
        if staging is None:
            return
        ignored = set(split(self._raw.run("ls-files", "-z", "-c", "-i", "--exclude-standard")))
        forced = set(staging.forced)
        self.removed |= ignored - forced
        self._drop_from_added(ignored - forced)
        self.consider(path for path in forced - ignored if os.path.lexists(self._repository.at(path)))
        self._keep_skipped(staging)

    def _drop_from_added(self, paths: set[bytes]) -> None:
        for path in paths:
            self.added.pop(path, None)

    def _keep_skipped(self, staging: Staging) -> None:
        """Paths that a sparse checkout has just taken off the disk are not deleted: they stay as HEAD has them."""
        gone = self.removed.intersection(staging.skipped)
        if not gone:
            return
        self.removed -= gone
        paths = b"\0".join(sorted(gone)) + b"\0"
        self._raw.run("update-index", "-z", "--skip-worktree", "--stdin", data=paths)

    def apply(self) -> None:
        """Bring the private index up to date. Raises GitFailed where a path can be neither added nor named."""
        self.removed -= set(self.added)
        waiting = dict(self.added)
        if self.removed:
            self._remove(self.removed)
        for attempt in range(TRIES):
            if not waiting:
                return
            waiting = self._add(waiting, last=attempt == TRIES - 1)
        for path in waiting:
            self.missing[path] = "unstable: it changed while it was recorded"

    def _remove(self, paths: Collection[bytes]) -> None:
        null = self._repository.null_oid.encode()
        self._raw.run(
            "update-index", "-z", "--index-info", data=b"".join(b"0 %s\t%s\0" % (null, p) for p in sorted(paths))
        )

    def _add(self, paths: dict[bytes, os.stat_result], *, last: bool) -> dict[bytes, os.stat_result]:
        """Read these files into the index; those that changed meanwhile are given back, to be read again."""
        stored = [path for path, status in paths.items() if self._is_incompressible(path, status)]
        try:
            self._feed([path for path in paths if path not in stored])
            self._feed(stored, "core.looseCompression=0")
        except GitFailed:
            if last:
                self._add_one_by_one(list(paths))
        return self._unstable(paths)

    def _feed(self, paths: list[bytes], *config: str) -> None:
        if paths:
            command = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
            self._raw.view(*config).run(*command, data=b"\0".join(paths) + b"\0")

    def _add_one_by_one(self, paths: list[bytes]) -> None:
        """Find the path that stops the others, and name it."""
        for path in paths:
            try:
                self._feed([path])
            except GitFailed as error:
                self._remove([path])
                self.removed.add(path)
                self.added.pop(path, None)
                self.missing[path] = f"git cannot add it: {str(error).rpartition(': ')[2]}"

    def _unstable(self, paths: dict[bytes, os.stat_result]) -> dict[bytes, os.stat_result]:
        again: dict[bytes, os.stat_result] = {}
        for path, before in paths.items():
            if path not in self.added:
                continue
            try:
                after = os.lstat(self._repository.at(path))
            except OSError:
                self.added.pop(path)
                self._remove([path])
                self.removed.add(path)
                continue
            if _identity(after) != _identity(before):
                self._consider_again(path, after, again)
        return again

    def _consider_again(self, path: bytes, status: os.stat_result, again: dict[bytes, os.stat_result]) -> None:
        reason = self._why_not(path, status)
        if not reason:
            self.added[path] = again[path] = status
            return
        self.added.pop(path)
        self._remove([path])
        self.removed.add(path)
        if not stat.S_ISDIR(status.st_mode):
            self.missing[path] = reason

    def _is_incompressible(self, path: bytes, status: os.stat_result) -> bool:
        if status.st_size < LARGE or not stat.S_ISREG(status.st_mode):
            return False
        try:
            with open(self._repository.at(path), "rb") as file:
                sample = file.read(PROBE)
        except OSError:
            return False
        return len(zlib.compress(sample, 1)) > 0.9 * len(sample)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)
