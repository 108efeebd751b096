"""What one snapshot learned and the next one need not learn again. All of it is tied to the stat data of the private
index.

It is kept in memory while a process records, and in `scan.json` between processes. A cache that is damaged or does not
match the index is dropped."""

from __future__ import annotations

import os
import stat
import time
from collections import Counter

from gitckpt.repo import index
from gitckpt.repo.directories import Directories, Directory
from gitckpt.repo.index_file import stat_key
from gitckpt.repo.kept import keep, kept
from gitckpt.repo.private import index_path
from gitckpt.repo.staging import Staging
from gitckpt.repo.statuses import statuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from gitckpt.repo.changes import Changes
    from gitckpt.repo.gateway import Git
    from gitckpt.repo.head import Heads
    from gitckpt.repo.repository import Repository
    from gitckpt.repo.trees import Change

#: The umask under which files have exactly the permission bits that git's modes 644 and 755 stand for.
GIT_UMASK = 0o022

#: The umasks in common use.
UMASKS = (0o000, 0o002, 0o007, 0o022, 0o027, 0o077)

#: Nanoseconds within which two changes may have the same time for git, with a margin; and nanoseconds by which the
#: clock of the file system may lag.
SAME_SECOND = 2_000_000_000
SAME_TICK = 20_000_000

#: Increase this when the format of the file changes.
VERSION = 8


class ScanCache:
    """What the last scan of a work tree found: `directories`; `modes`, the permission bits by path where `umask` does
    not account for them; `tree` of the last snapshot if it is on record and nothing has changed since, else ""; the
    files that it has `left_out`; the user's `staging` area; where HEAD was.

    `tree_left` is the `tree` left by another process; it may no longer be on record. No recorded file is larger than
    `limit` bytes, except files that are as in the user's index.

    `recent` maps recorded files that had changed a moment before to their change time in ns. `tracked` is the set of
    directories with recorded files, or None until it is needed. `unreconciled` says that the index may hold paths that
    a rule now ignores, or lack ignored paths that the user tracks. `unlisted` are those of the latter that are known:
    they were not on disk or could not be held, and may come back at any time."""

    def __init__(self, repository: Repository, raw: Git, heads: Heads) -> None:
        self._repository, self._raw, self._heads = repository, raw, heads
        self.drop()

    def drop(self) -> None:
        """Forget everything."""
        self.index_key: tuple[int, ...] | None = None
        self.directories = Directories(self._repository.work_tree, self._raw, own_places(self._repository))
        self.modes: dict[bytes, int] = {}
        self.umask = GIT_UMASK
        self.include: tuple[str, ...] = ()
        self.limit = 0
        self.recent: dict[bytes, int] = {}
        self._hiding: set[bytes] = set()
        self._second = 0
        self.modes_known = False
        self.tracked: set[bytes] | None = None
        self.tree = self.tree_left = ""
        self.unreconciled = True
        self.unlisted: set[bytes] = set()
        self.left_out: set[bytes] = set()
        self.staging_key: tuple[int, ...] | None = None
        self.staging: Staging | None = None

    def is_current(self) -> bool:
        """Return whether the private index is still the one that this was learned from."""
        return self.index_key is not None and self.index_key == stat_key(index_path(self._repository)) != ()

    def remember_index(self) -> None:
        """Tie the cache to the private index as it is now."""
        self.index_key = stat_key(index_path(self._repository))

    def trust(self, recorded: str) -> None:
        """Use the tree that another process left, if it is `recorded`, a tree that is on record."""
        if self.tree_left and self.tree_left == recorded:
            self.tree = recorded

    def closed_directories(self) -> list[bytes]:
        """Return the directories from which nothing may be recorded: other repositories, and those without access."""
        return [path for path, d in self.directories.known.items() if d.boundary or d.unreadable]

    def is_directory(self, path: bytes) -> bool:
        """Return whether the path is a directory that was scanned."""
        return path in self.directories.known

    def note_modes(self, changes: Changes) -> None:
        """Update `modes` and `tracked` after a snapshot."""
        for path in changes.removed | changes.held:
            self.modes.pop(path, None)
            self.recent.pop(path, None)
        for path, status in changes.added.items():
            self._note_recent(path, status)
        if self.tracked is not None:
            self.tracked |= index.parents(changes.added)

    def leave(self, paths: Collection[bytes]) -> None:
        """Note that these directories and all below them no longer hold recorded files: they are ignored if a rule says
        so."""
        if self.tracked is not None:
            self.tracked.difference_update(paths)
        self.directories.leave(paths)

    def note_unlisted(self, changes: Changes) -> None:
        """Update `unlisted` after a snapshot."""
        if self.staging is not None and changes.removed:
            self.unlisted.update(path for path in self.staging.forced if path in changes.removed)
        self.unlisted.difference_update(changes.added)

    def follow(self, changes: Collection[Change]) -> None:
        """Note what a checkout has changed in the work tree and the private index."""
        self.tree = self.tree_left = ""
        # an added path may be one that a rule ignores
        self.unreconciled = self.unreconciled or any(change.status == "A" for change in changes)
        for change in changes:
            try:
                status = os.lstat(self._repository.at(change.path))
            except OSError:
                self.modes.pop(change.path, None)
                continue
            self._note_recent(change.path, status)
            self.limit = max(self.limit, status.st_size)
        if any(change.status == "D" for change in changes):
            self.tracked = None
        self.directories.forget(index.parents(change.path for change in changes if change.status == "D"))
        if self.tracked is not None:
            self.tracked |= index.parents(change.path for change in changes)
        self.remember_index()

    def read_all_modes(self, paths: Iterable[bytes]) -> dict[bytes, os.stat_result]:
        """Read the status of each recorded path and note its permission bits; return the status of those that exist."""
        found = statuses(self._repository.work_tree, paths)
        counts = Counter([status.st_mode for status in found.values()])
        self.umask = _prevailing_umask(counts)
        self.modes, self.recent = {}, {}
        # almost all have plain modes, and are old
        plain = {stat.S_IFREG | 0o666 & ~self.umask, stat.S_IFREG | 0o777 & ~self.umask, stat.S_IFLNK | 0o777}
        youngest = time.time_ns() - SAME_SECOND
        for path, status in found.items():
            if status.st_mode not in plain or status.st_ctime_ns > youngest:
                self._note_recent(path, status)
        self.modes_known = True
        return found

    def _note_recent(self, path: bytes, status: os.stat_result) -> None:
        """Note a file that has just changed. Git compares times in whole seconds, so it misses a second change within
        the same second that leaves size and modification time as they were."""
        if time.time_ns() - status.st_ctime_ns < SAME_SECOND:
            self.recent[path] = status.st_ctime_ns
        # git re-reads a file that is as new as its index; a modification time that was set back defeats this
        if int(status.st_mtime) != int(status.st_ctime) >= self._second:
            self._hiding.add(path)
        self._note(path, status.st_mode)

    def begin(self) -> None:
        """Note that a snapshot begins: files that it reads may change within this second, and later."""
        self._second = (time.time_ns() - SAME_TICK) // 1_000_000_000

    def take_hiding(self) -> set[bytes]:
        """Return the recorded files that may still change without git noticing, in whatever process; each is returned
        once."""
        hiding, self._hiding = self._hiding, set()
        return hiding

    def edited_unseen(self) -> list[bytes]:
        """Return the recent files that have changed since they were noted, which git may not notice."""
        now, found, still = time.time_ns(), [], {}
        for path, noted in self.recent.items():
            try:
                status = os.lstat(self._repository.at(path))
            except OSError:
                continue
            if status.st_ctime_ns != noted:
                found.append(path)
            elif now - noted < SAME_SECOND:
                still[path] = noted
        self.recent = still
        return found

    def _note(self, path: bytes, mode: int) -> None:
        bits = stat.S_IMODE(mode)
        plain = (0o777 if bits & 0o100 else 0o666) & ~self.umask
        if stat.S_ISREG(mode) and bits != plain:
            self.modes[path] = bits
        else:
            self.modes.pop(path, None)

    def save(self) -> None:
        """Keep the cache for the next process. If the file cannot be written, only time is lost."""
        if self.index_key is None or not self.modes_known:
            return
        document = {
            "version": VERSION,
            "user": os.geteuid(),
            "index": self.index_key,
            "umask": self.umask,
            "tree": self.tree or self.tree_left,
            "head": self._heads.as_data(),
            "include": self.include,
            "limit": self.limit,
            "recent": {os.fsdecode(path): noted for path, noted in self.recent.items()},
            "unreconciled": self.unreconciled,
            "unlisted": [os.fsdecode(path) for path in self.unlisted],
            "left_out": [os.fsdecode(path) for path in self.left_out],
            "modes": {os.fsdecode(path): mode for path, mode in self.modes.items()},
            "tracked": None if self.tracked is None else [os.fsdecode(path) for path in self.tracked],
            "directories": {os.fsdecode(p): d.as_list() for p, d in self.directories.known.items()},
            "ignored": [os.fsdecode(path) for path in self.directories.ignored],
            "rules": self.directories.rules,
            "staging_key": self.staging_key,
            "staging": _staging_as_data(self.staging) if self.staging else None,
        }
        try:
            keep(self._path, document)
        except OSError:
            return

    @property
    def _path(self) -> bytes:
        return os.path.join(self._repository.private_dir, b"scan.json")

    def load(self) -> bool:
        """Replace everything known with what another process kept. Return whether that exists and matches the index."""
        self.drop()
        document = kept(self._path)
        # what one user may read says nothing about another
        if document is None or (document.get("version"), document.get("user")) != (VERSION, os.geteuid()):
            return False
        if tuple(document["index"]) != stat_key(index_path(self._repository)):
            return False
        self._take(document)
        return True

    def _take(self, document: dict[str, Any]) -> None:
        known = {os.fsencode(path): Directory.from_list(row) for path, row in document["directories"].items()}
        self.modes = {os.fsencode(path): int(mode) for path, mode in document["modes"].items()}
        tracked = document["tracked"]
        self.tracked = None if tracked is None else {os.fsencode(path) for path in tracked}
        self.directories.known = known
        self.directories.ignored = {os.fsencode(path) for path in document["ignored"]}
        self.directories.rules = {path: tuple(stamp) for path, stamp in document["rules"].items()}
        self.staging = _staging_from_data(document["staging"]) if document["staging"] else None
        self.staging_key = tuple(document["staging_key"]) if self.staging else None
        self.include = tuple(str(pattern) for pattern in document["include"])
        self.limit = int(document["limit"])
        self.recent = {os.fsencode(path): int(noted) for path, noted in document["recent"].items()}
        self.umask, self.unreconciled = int(document["umask"]), bool(document["unreconciled"])
        self.unlisted = {os.fsencode(path) for path in document["unlisted"]}
        self.left_out = {os.fsencode(path) for path in document["left_out"]}
        self.tree_left = str(document["tree"])
        self._heads.take_up(document["head"])
        self.modes_known = True
        self.index_key = tuple(document["index"])


def _prevailing_umask(counts: Mapping[int, int]) -> int:
    """Return the umask that accounts for the permission bits of most plain files, given the number of files per mode;
    git's own umask if none fits better."""
    return max((GIT_UMASK, *UMASKS), key=lambda umask: counts.get(stat.S_IFREG | 0o666 & ~umask, 0))


def own_places(repository: Repository) -> list[bytes]:
    """Return git directories that are inside the work tree under another name than `.git`."""
    prefix = os.path.realpath(repository.work_tree) + b"/"
    places = {repository.git_dir, repository.common_dir}
    return [place.removeprefix(prefix) for place in places if place.startswith(prefix)]


def _staging_as_data(staging: Staging) -> dict[str, Any]:
    return {
        "tree": staging.tree,
        "unmerged": [[os.fsdecode(part) for part in entry] for entry in staging.unmerged],
        "intended": {os.fsdecode(path): mode.decode() for path, mode in staging.intended.items()},
        "skipped": [os.fsdecode(path) for path in staging.skipped],
        "forced": [os.fsdecode(path) for path in staging.forced],
        "digest": staging.digest,
    }


def _staging_from_data(document: dict[str, Any]) -> Staging:
    staging = Staging(str(document["tree"]))
    for entry in document["unmerged"]:
        mode, oid, stage, path = (os.fsencode(part) for part in entry)
        staging.unmerged.append((mode, oid, stage, path))
    staging.intended = {os.fsencode(path): os.fsencode(mode) for path, mode in document["intended"].items()}
    staging.skipped = [os.fsencode(path) for path in document["skipped"]]
    staging.forced = [os.fsencode(path) for path in document["forced"]]
    staging.digest = str(document["digest"])
    return staging
