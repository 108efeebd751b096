"""The differences between the private index and the work tree: what to add, what to remove, what cannot be held and
why."""

from __future__ import annotations

import os
import stat

from gitckpt.errors import GitFailed
from gitckpt.repo.answers import STORE_CLOSED, raw_changes, reads
from gitckpt.repo.directories import leads_through_link
from gitckpt.repo.gateway import split
from gitckpt.repo.index import parents
from gitckpt.repo.staging import remove_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from gitckpt.repo.cache import ScanCache
    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository
    from gitckpt.repo.staging import Staging

#: The status letters that `git diff-files --name-status` prints.
STATUSES = (b"A", b"C", b"D", b"M", b"R", b"T", b"U", b"X")

#: How often a path that changes while it is read is read again, before the snapshot calls it unstable.
TRIES = 4

#: Bytes above which a new file is probed, and bytes probed: a file that does not shrink is stored uncompressed, at a
#: quarter of the cost.
LARGE = 8 * 1024 * 1024
PROBE = 64 * 1024


class Changes:
    """The differences between the private index and the work tree, sorted by what is to be done about each."""

    def __init__(self, repository: Repository, raw: Git, cache: ScanCache, limit: int) -> None:
        self._repository, self._raw, self._cache, self._limit = repository, raw, cache, limit
        self.missing: dict[bytes, str] = {}
        self.removed: set[bytes] = set()
        self.added: dict[bytes, os.stat_result] = {}
        self._distrusted: set[bytes] = set()
        self.held: set[bytes] = set()
        self._held_anew = False
        self._closed = cache.closed_directories()
        self._inside_closed = tuple(directory + b"/" for directory in self._closed)

    def look(self, dirty: list[bytes], untracked: list[bytes]) -> None:
        """Take in git's output: `dirty` is status and path, in turn, of what differs from the index; `untracked` are
        paths not in it."""
        for status, path in _pairs(dirty):
            if status == b"D":
                self.removed.add(path)
            else:
                self._consider(path)
        for path in untracked:
            if path.endswith(b"/") and not path.startswith(self._inside_closed, 0, -1):
                self.missing[path[:-1]] = "a repository of its own: never entered, never touched"
            else:
                self._consider(path)
        self._close_directories()

    @property
    def any(self) -> bool:
        """Whether the index was changed."""
        return bool(self.removed or self.added or self._held_anew)

    @property
    def left_out(self) -> set[bytes]:
        """The files that were considered and are not held."""
        return {path for path in self.missing if not self._cache.is_directory(path)}

    def consider(self, paths: Iterable[bytes]) -> None:
        """Hold these paths, whatever the ignore rules say."""
        for path in paths:
            self._consider(path)

    def read_again(self, paths: Collection[bytes]) -> None:
        """Read these recorded paths again where git reports no change, because git cannot be trusted to see one."""
        self._distrusted = set(paths) - self.removed - set(self.added)
        self.consider(self._distrusted)

    def _consider(self, path: bytes) -> None:
        """Add the path, or note why it cannot be held. A path that is not added must not stay in the index with
        outdated content."""
        if path.startswith(self._inside_closed):
            return  # git lists the contents of a nested repository if files there are tracked by ours
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
        parts = path.lower().split(b"/")
        if b".git" in parts:
            return "git takes no file of this name"
        if stat.S_ISLNK(status.st_mode):
            return "git takes no link of this name" if b".gitmodules" in parts else ""
        if not stat.S_ISREG(status.st_mode):
            return "not a file"
        if status.st_size > self._limit:
            return f"larger than max_file_size ({status.st_size} of {self._limit} bytes)"
        if not os.access(self._repository.at(path), os.R_OK, effective_ids=os.access in os.supports_effective_ids):
            return "no permission to read this file"
        return ""

    def _close_directories(self) -> None:
        """Remove everything inside a nested repository or a directory without access, even if it was recorded
        before."""
        for directory in self._closed:
            if directory in (self._cache.tracked or ()):
                self.removed.update(split(self._raw.run("ls-files", "-z", "--", directory)))

    def reconcile(self, staging: Staging | None, ignored: set[bytes], *, sparse: bool) -> None:
        """After a change of rules or of the user's index, hold a recorded path in `ignored` only if the user tracks it.
        What a `sparse` checkout leaves out stays as it is."""
        if staging is None:
            return
        forced = set(staging.forced)
        self.removed |= ignored - forced
        self._drop_from_added(ignored - forced)
        self._cache.unlisted = forced - ignored
        outside = self._with_room(staging.skipped) if sparse else set()
        self.removed.update(path for path in self._flagged() - outside if not self._on_disk(path))
        if outside:
            self._hold_as_staged(staging.tree, outside)
        self.take_back_skipped()

    def _drop_from_added(self, paths: set[bytes]) -> None:
        for path in paths:
            self.added.pop(path, None)

    def hold_outside(self, staging: Staging) -> None:
        """Hold a path that a sparse checkout leaves out and that has gone from disk again as the user's index has it,
        as if it had never been on disk; likewise a path that something on disk blocked, once that is gone."""
        changed = self._cache.directories.changed
        gone = self._with_room(staging.skipped if changed else self.removed.intersection(staging.skipped))
        if gone:
            self._hold_as_staged(staging.tree, gone)

    def _with_room(self, paths: Collection[bytes]) -> set[bytes]:
        """Return the paths except those that need a directory whose name a file, a link or a repository has taken."""
        paths = [path for path in paths if not path.startswith(self._inside_closed)]
        taken = {path for path in parents(paths) if self._is_no_directory(path)}
        return {path for path in paths if not taken or taken.isdisjoint(parents([path]))}

    def _is_no_directory(self, path: bytes) -> bool:
        try:
            return not stat.S_ISDIR(os.lstat(self._repository.at(path)).st_mode)
        except OSError:
            return False

    def _hold_as_staged(self, tree: str, outside: set[bytes]) -> None:
        """Hold paths outside a sparse checkout as they are in `tree`, the tree of the user's index: such a path is
        neither deleted nor what it was when it was on disk."""
        rows = {path: row for path, row in self._other_than_staged(tree) if path in outside and not self._on_disk(path)}
        held = {path for path in self.removed & outside if not self._on_disk(path)} | rows.keys()
        if not held:
            return
        self.removed -= held
        self.held |= held
        self._held_anew = self._held_anew or bool(rows)
        if rows:
            self._raw.run("update-index", "-z", "--index-info", data=b"".join(rows.values()))
        paths = b"\0".join(sorted(held)) + b"\0"
        self._raw.run("update-index", "-z", "--skip-worktree", "--stdin", data=paths)

    def _other_than_staged(self, tree: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield each path whose entry in the private index differs from this tree, and the row that makes it match."""
        fields = split(self._raw.run("diff-index", "--cached", "-r", "-z", "--no-renames", "--full-index", tree))
        for mode, _, oid, _, _, path in raw_changes(fields, "diff-index"):
            if mode not in (b"000000", b"160000"):
                yield path, b"%s %s 0\t%s\0" % (mode, oid, path)

    def _flagged(self) -> set[bytes]:
        """The entries of the private index that stand for nothing on disk."""
        return {entry[2:] for entry in split(self._raw.run("ls-files", "-z", "-v")) if entry[:1] in b"Ss"}

    def _on_disk(self, path: bytes) -> bool:
        return os.path.lexists(self._repository.at(path))

    def take_back_unlisted(self) -> None:
        """Hold ignored paths that the user tracks and the index lacks, if they are on disk. No listing names them."""
        self.consider(path for path in self._cache.unlisted if self._is_here(path))

    def _is_here(self, path: bytes) -> bool:
        """Return whether the path exists in this work tree, and not behind a link or in a closed directory."""
        if path.startswith(self._inside_closed):
            return False
        return os.path.lexists(self._repository.at(path)) and not leads_through_link(self._repository, path)

    def take_back_skipped(self) -> None:
        """Treat paths outside a sparse checkout that are on disk anyway as ordinary content."""
        back = [path for path in self._flagged() if self._is_here(path)]
        if back:
            self._raw.run("update-index", "-z", "--no-skip-worktree", "--stdin", data=b"\0".join(back) + b"\0")
            self.consider(back)

    def apply(self) -> None:
        """Bring the private index up to date. Raise GitFailed if a path can be neither added nor named as missing."""
        self.removed -= set(self.added)
        waiting = dict(self.added)
        # git cannot take a removed entry for up to date
        out = self.removed | self._distrusted
        if out:
            self._remove(out)
        for attempt in range(TRIES):
            if not waiting:
                return
            waiting = self._add(waiting, last=attempt == TRIES - 1)
        for path in waiting:
            self.missing[path] = "unstable: it changed while it was recorded"

    def _remove(self, paths: Iterable[bytes]) -> None:
        remove_entries(self._raw, sorted(paths), self._repository.null_oid)

    def _add(self, paths: dict[bytes, os.stat_result], *, last: bool) -> dict[bytes, os.stat_result]:
        """Read these files into the index. Return those that changed in the meantime, to be read again."""
        stored = [path for path, status in paths.items() if self._is_incompressible(path, status)]
        try:
            self._feed([path for path in paths if path not in stored])
            self._feed(stored, "core.looseCompression=0")
        except GitFailed:
            # this call added nothing to the index, so all of these paths wait for the next one
            self._unstable(paths)
            waiting = {path: status for path, status in self.added.items() if path in paths}
            if not last:
                return waiting
            self._add_one_by_one(list(waiting))
            return {}
        return self._unstable(paths)

    def _feed(self, paths: list[bytes], *config: str) -> None:
        if paths:
            command = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
            call = self._raw.view(*config).start(*command, data=b"\0".join(paths) + b"\0")
            call.wait()
            if b"Ignoring path " in call.stderr:  # git exits with 0 here
                raise GitFailed(f"git {call.words} left something out: {call.complaint}")

    def _add_one_by_one(self, paths: list[bytes]) -> None:
        """Find the path that git refuses, and note why. Raise GitFailed if no single file is at fault."""
        for path in paths:
            try:
                self._feed([path])
            except GitFailed as error:
                if STORE_CLOSED in str(error):
                    raise
                self._remove([path])
                self.removed.add(path)
                self.added.pop(path, None)
                self.missing[path] = f"git cannot add it: {_first_complaint(error)}"

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
        import zlib  # only where a file is large

        return len(zlib.compress(sample, 1)) > 0.9 * len(sample)


@reads("diff-files")
def _pairs(fields: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Return status letter and path of each file that differs."""
    pairs = list(zip(fields[::2], fields[1::2], strict=True))
    if any(status not in STATUSES for status, _ in pairs):
        raise ValueError(fields)
    return pairs


def _first_complaint(error: GitFailed) -> str:
    """Return the first line of git's message, which gives the cause; the last line only tells the consequence."""
    return str(error).partition(": ")[2].partition("\n")[0].removeprefix("error: ")


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)
