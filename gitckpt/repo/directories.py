"""What git's index does not know about a work tree: empty directories, special files, other repositories, directories
without access.

A directory whose modification time is as it was has the entries it had, so a second look costs one `lstat` for each
directory and not one for each file. Ignored directories are not entered; which they are is asked of git, and kept until
a rule changes."""

from __future__ import annotations

import os
import stat
import time

from gitckpt.errors import Refused
from gitckpt.repo.boundary import is_repository
from gitckpt.repo.index_file import stat_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository

#: Nanoseconds within which a directory may change twice and keep its time; also where times are whole seconds.
TICK = 20_000_000
COARSE_TICK = 2_000_000_000

#: New directories that are looked into before git is asked which of them are ignored: a call for each level of a deep
#: tree is dear, and so is looking into all of an ignored one.
AHEAD = 64

#: Kinds of special files, for a message.
SPECIAL = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}

#: Files of the work tree that git itself reads. It opens whatever has such a name, and waits for ever at a FIFO.
READ_BY_GIT = (b".gitignore", b".gitattributes")


class Directory:
    """One directory as last seen. `stamp` is when it changed in ns, 0 where it must be read again, and `inode` which
    one it is: one made at the same moment may have taken its name. `mode` are its permission bits, -1 where there is no
    directory; `dot_git` says that something of this name is in it, which may become a repository, or be one no more.

    `files` are the names of the files and links in it, and of what is called like `.git` and is not that; `attributes`
    says whether one is `.gitattributes`. Both only where it was read by this process."""

    __slots__ = (
        "attributes", "boundary", "children", "dot_git", "empty", "files", "inode", "mode", "rules", "special", "stamp",
        "unreadable",
    )  # fmt: skip

    def __init__(self) -> None:
        self.stamp, self.inode, self.mode = 0, 0, -1
        self.children: list[bytes] = []
        self.files: list[bytes] = []
        self.special: dict[bytes, str] = {}
        self.empty = self.boundary = self.unreadable = self.rules = self.attributes = self.dot_git = False

    def as_list(self) -> list[object]:
        """Plain data for the cache."""
        special = {os.fsdecode(name): kind for name, kind in self.special.items()}
        flags = self.empty | self.boundary << 1 | self.unreadable << 2 | self.rules << 3 | self.dot_git << 4
        return [self.stamp, self.inode, self.mode, flags, [os.fsdecode(child) for child in self.children], special]

    @classmethod
    def from_list(cls, row: list[Any]) -> Directory:
        """The directory that `as_list` described."""
        directory = cls()
        directory.stamp, directory.inode, directory.mode, flags, children, special = row
        directory.children = [os.fsencode(child) for child in children]
        directory.special = {os.fsencode(name): str(kind) for name, kind in special.items()}
        directory.empty, directory.boundary = bool(flags & 1), bool(flags & 2)
        directory.unreadable, directory.rules = bool(flags & 4), bool(flags & 8)
        directory.dot_git = bool(flags & 16)
        return directory

    def is_as_seen(self, full: bytes, status: os.stat_result) -> bool:
        """Whether the directory at `full` has the entries that were seen."""
        if (self.stamp, self.inode) != (_stamp_of(status), status.st_ino):
            return False
        return not self.dot_git or self.boundary == is_repository(full)


class Directories:
    """All directories of a work tree that are not ignored. `look()` brings them up to date.

    `changed` are those in which entries may have come or gone since the look before; elsewhere no file can be new.
    Paths are relative to the work tree, `b""` is its root.
    """

    def __init__(self, work_tree: bytes, raw: Git, excluded: Iterable[bytes] = ()) -> None:
        self._work_tree, self._raw, self._excluded = work_tree, raw, frozenset(excluded)
        self._user = os.geteuid()
        self.known: dict[bytes, Directory] = {}
        self.changed: set[bytes] = set()
        self.ignored: set[bytes] = set()
        self.rules: dict[str, tuple[int, ...]] = {}

    def take_files(self) -> Iterator[bytes]:
        """The `files` that are in them, as far as this process has read them anew; each is given once."""
        for path, directory in self.known.items():
            prefix, names = path + b"/" if path else b"", directory.files
            directory.files = []
            yield from [prefix + name for name in names]

    @property
    def may_have_attributes(self) -> bool:
        """Whether git may find a `.gitattributes` in one of them: it opens those that it may not list too.

        All must have been read by this process."""
        return any(directory.attributes or directory.unreadable for directory in self.known.values())

    def look(self, tracked: set[bytes], rule_files: Iterable[bytes], manner: tuple[int, ...] = ()) -> bool:
        """Bring `known` up to date; whether an ignore rule changed since the last look, or the `manner` in which rules
        are read.

        `tracked` are directories with recorded files in them, which need not be asked about; `rule_files` the absolute
        paths of the rule files outside the work tree. Raises Refused where git would wait for ever at a file of rules.
        """
        rule_files = tuple(rule_files)
        for path in rule_files:
            _refuse_fifo(path)
        self._walk(tracked)
        rules = self._rule_stamps(rule_files) | {"": manner}
        changed, learnt = rules != self.rules, bool(self.rules)
        self.rules = rules
        if changed and learnt:
            self.ignored, self.known = set(), {}
            self._walk(tracked)
        return changed

    def _walk(self, tracked: set[bytes]) -> None:
        seen: dict[bytes, Directory] = {}
        unasked: list[bytes] = []
        level = [b""]
        while level or unasked:
            for path in level:
                seen[path] = self._read(path, self.known.get(path))
                _refuse_special_rules(path, seen[path])
            level = [child for path in level for child in self._children(path, seen[path], tracked)]
            unasked += [path for path in level if path not in self.known and path not in tracked]
            if len(unasked) >= AHEAD or not level:
                ignored = self._ignored(unasked)
                for path in ignored:
                    seen.pop(path, None)
                level = [path for path in level if path not in ignored]
                unasked = []
        self.changed = {path for path, directory in seen.items() if directory is not self.known.get(path)}
        self.known = seen

    def enter(self, paths: Iterable[bytes]) -> None:
        """Take up directories that have come to hold recorded files, though a rule ignores them: their permission bits
        are part of what was there."""
        for path in paths:
            if path not in self.known:
                self.known[path] = self._read(path, None)

    def forget(self, paths: Iterable[bytes]) -> None:
        """Look at these directories, if there are any, as if they were new."""
        for path in paths:
            self.known.pop(path, None)

    def leave(self, paths: Collection[bytes]) -> None:
        """Forget those of the directories that are ignored, and all below them: no recorded file is in them."""
        for path in self._ignored(list(paths)):
            for inner in [known for known in self.known if known == path or known.startswith(path + b"/")]:
                del self.known[inner]

    def _children(self, path: bytes, directory: Directory, tracked: set[bytes]) -> list[bytes]:
        """The directories in one that may have content."""
        if directory.boundary:
            return []
        paths = (path + b"/" + name if path else name for name in directory.children)
        return [p for p in paths if (p not in self.ignored or p in tracked) and p not in self._excluded]

    def _ignored(self, paths: list[bytes]) -> set[bytes]:
        """Those of the paths that are ignored, in an ignored directory too; only the topmost need be remembered."""
        ignored = ignored_paths(self._raw, paths) if paths else set()
        self.ignored.update(path for path in ignored if path.rpartition(b"/")[0] not in ignored)
        return ignored

    def _read(self, path: bytes, before: Directory | None) -> Directory:
        full = self._work_tree + b"/" + path if path else self._work_tree
        try:
            status = os.lstat(full)
        except OSError as error:
            return _closed(readable=isinstance(error, FileNotFoundError))
        if before and before.is_as_seen(full, status):
            return before  # its permissions are the same too: they are part of what the stamp tells
        directory = Directory()
        if not stat.S_ISDIR(status.st_mode):
            return directory
        directory.mode = stat.S_IMODE(status.st_mode)
        try:
            if not self._is_open(full, status):
                directory.unreadable = True
                return directory
            self._read_entries(full, directory, at_root=not path)
        except FileNotFoundError:
            return directory
        except OSError:
            directory.unreadable = True
            return directory
        if is_settled(_stamp_of(status), time.time_ns()):
            directory.stamp, directory.inode = _stamp_of(status), status.st_ino
        return directory

    def _is_open(self, full: bytes, status: os.stat_result) -> bool:
        """Whether this process may list the directory and look at what is in it."""
        if status.st_uid == self._user and status.st_mode & 0o500 == 0o500:
            return True  # without asking: there are many directories
        return os.access(full, os.R_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)

    @staticmethod
    def _read_entries(full: bytes, directory: Directory, *, at_root: bool) -> None:
        directory.empty = not at_root
        with os.scandir(full) as entries:
            for entry in entries:
                directory.empty = False
                name = entry.name
                if len(name) == 4 and name.lower() == b".git":  # in other letters it is not git's, and still not for us
                    if name != b".git":
                        directory.files.append(name)
                    elif not at_root:
                        directory.dot_git, directory.boundary = True, is_repository(full)
                elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                    directory.files.append(name)
                    directory.rules = directory.rules or name == b".gitignore"
                    directory.attributes = directory.attributes or name == b".gitattributes"
                elif entry.is_dir(follow_symlinks=False):
                    directory.children.append(name)
                else:
                    mode = entry.stat(follow_symlinks=False).st_mode
                    directory.special[name] = SPECIAL.get(stat.S_IFMT(mode), "special file")

    def _rule_stamps(self, outside: Iterable[bytes]) -> dict[str, tuple[int, ...]]:
        inside = (os.path.join(self._work_tree, p, b".gitignore") for p, d in self.known.items() if d.rules)
        return {os.fsdecode(path): stat_key(path) for path in (*outside, *inside)}


def _closed(*, readable: bool) -> Directory:
    """A directory that cannot be looked at: gone, or without access."""
    directory = Directory()
    directory.unreadable = not readable
    return directory


def why_closed(full: bytes) -> str:
    """Why a directory that could not be looked at cannot."""
    try:
        os.stat(os.path.join(full, b"."))
        os.scandir(full).close()
    except PermissionError:
        pass
    except OSError as error:
        return f"this directory cannot be read: {error.strerror}"
    return "no permission to read this directory"


def _refuse_special_rules(path: bytes, directory: Directory) -> None:
    """Raise Refused where a file of rules is a FIFO or a device: git would wait for ever."""
    for name in READ_BY_GIT:
        if directory.special.get(name, "socket") != "socket":
            raise _endless(os.path.join(path, name), directory.special[name])


def refuse_endless_attributes(work_tree: bytes, directories: Iterable[bytes]) -> None:
    """Raise Refused where git would wait for ever at a FIFO when it looks for attributes of what is in these
    directories and at the root."""
    for directory in (b"", *directories):
        _refuse_fifo(os.path.join(work_tree, directory, b".gitattributes"))


def _refuse_fifo(path: bytes) -> None:
    """The same of one outside the work tree, which may well be /dev/null."""
    try:
        is_fifo = stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return
    if is_fifo:
        raise _endless(path, "FIFO")


def _endless(path: bytes, kind: str) -> Refused:
    return Refused(
        f"{os.fsdecode(path)} is a {kind}: git waits there for ever when it looks for its rules",
        "remove it, or make it a file",
    )


def _stamp_of(status: os.stat_result) -> int:
    """When entries last came or went: a modification time can be put back, the change time cannot."""
    return status.st_ctime_ns


def is_settled(stamp: int, now: int) -> bool:
    """Whether a directory that is changed `now` will have another time than `stamp`."""
    is_coarse = stamp % 1_000_000_000 == 0
    return now - stamp > (COARSE_TICK if is_coarse else TICK)


def ignored_paths(git: Git, paths: Iterable[bytes]) -> set[bytes]:
    """Those of the paths that an ignore rule matches, tracked or not."""
    # check-ignore knows no literal pathspecs; behind ./ no name is magic
    data = b"".join(b"./%s\0" % path for path in paths)
    plain = git.view(GIT_LITERAL_PATHSPECS="0")
    output = plain.run("check-ignore", "-z", "--no-index", "--stdin", data=data, ok=(0, 1))
    return {path.removeprefix(b"./") for path in output.split(b"\0") if path}


def leads_through_link(repository: Repository, path: bytes) -> bool:
    """Whether a directory on the way to the path is a link, so that what is meant is somewhere else."""
    parts = path.split(b"/")
    return any(os.path.islink(repository.at(b"/".join(parts[:count]))) for count in range(1, len(parts)))
