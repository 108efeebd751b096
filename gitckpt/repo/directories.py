"""What git's index does not know about a work tree: empty directories, special files, other repositories, directories
without access.

A directory whose change time is unchanged has the entries it had, so a second look costs one `lstat` per directory
instead of one per file. Ignored directories are not entered; git is asked which ones are ignored, and the answer is
kept until a rule changes."""

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

#: Nanoseconds within which a directory may change twice and keep its time; and the same where times are whole seconds.
TICK = 20_000_000
COARSE_TICK = 2_000_000_000

#: Number of new directories that are read before git is asked which of them are ignored: a call for each level of a
#: deep tree is expensive, and so is reading all of an ignored one.
AHEAD = 64

#: Names of the kinds of special files, for messages.
SPECIAL = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}

#: Files in the work tree that git itself reads. It opens anything with such a name, and blocks forever on a FIFO.
READ_BY_GIT = (b".gitignore", b".gitattributes")


class Directory:
    """One directory as last seen. `stamp` is its change time in ns, or 0 if it must be read again; `inode` identifies
    it, because another one made at the same moment may have taken its name. `mode` is its permission bits, or -1 if
    there is no directory; `dot_git` says that it contains a `.git`, which may become a repository or cease to be one.

    `files` are the names of the files and links in it, and of entries that spell `.git` in another case; `attributes`
    says whether one of them is `.gitattributes`. Both are set only if this process read the directory."""

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
        """Return the directory as plain data for the cache."""
        special = {os.fsdecode(name): kind for name, kind in self.special.items()}
        flags = self.empty | self.boundary << 1 | self.unreadable << 2 | self.rules << 3 | self.dot_git << 4
        return [self.stamp, self.inode, self.mode, flags, [os.fsdecode(child) for child in self.children], special]

    @classmethod
    def from_list(cls, row: list[Any]) -> Directory:
        """Return the directory that `as_list` described."""
        directory = cls()
        directory.stamp, directory.inode, directory.mode, flags, children, special = row
        directory.children = [os.fsencode(child) for child in children]
        directory.special = {os.fsencode(name): str(kind) for name, kind in special.items()}
        directory.empty, directory.boundary = bool(flags & 1), bool(flags & 2)
        directory.unreadable, directory.rules = bool(flags & 4), bool(flags & 8)
        directory.dot_git = bool(flags & 16)
        return directory

    def is_as_seen(self, full: bytes, status: os.stat_result) -> bool:
        """Return whether the directory at `full` still has the entries that were seen."""
        if (self.stamp, self.inode) != (_stamp_of(status), status.st_ino):
            return False
        return not self.dot_git or self.boundary == is_repository(full)


class Directories:
    """All directories of a work tree that are not ignored. `look()` brings them up to date.

    `changed` are those in which entries may have been added or removed since the previous look; no other directory can
    have a new file. Paths are relative to the work tree; its root is `b""`.
    """

    def __init__(self, work_tree: bytes, raw: Git, excluded: Iterable[bytes] = ()) -> None:
        self._work_tree, self._raw, self._excluded = work_tree, raw, frozenset(excluded)
        self._user = os.geteuid()
        self.known: dict[bytes, Directory] = {}
        self.changed: set[bytes] = set()
        self.ignored: set[bytes] = set()
        self.rules: dict[str, tuple[int, ...]] = {}

    def take_files(self) -> Iterator[bytes]:
        """Yield the `files` in all directories that this process has read, as paths; each is returned once."""
        for path, directory in self.known.items():
            prefix, names = path + b"/" if path else b"", directory.files
            directory.files = []
            yield from [prefix + name for name in names]

    @property
    def may_have_attributes(self) -> bool:
        """Whether git may find a `.gitattributes` in one of them. A directory that may not be listed counts, because
        git opens the file anyway.

        This process must have read all of them."""
        return any(directory.attributes or directory.unreadable for directory in self.known.values())

    def look(self, tracked: set[bytes], rule_files: Iterable[bytes], manner: tuple[int, ...] = ()) -> bool:
        """Bring `known` up to date, and return whether an ignore rule has changed since the last look, or the `manner`
        in which rules are read.

        `tracked` are directories with recorded files in them, about which git need not be asked; `rule_files` are the
        absolute paths of the rule files outside the work tree. Raise Refused if git would block forever on a rule file.
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
        """Add directories that now hold recorded files although a rule ignores them: their permission bits are part of
        the snapshot."""
        for path in paths:
            if path not in self.known:
                self.known[path] = self._read(path, None)

    def forget(self, paths: Iterable[bytes]) -> None:
        """Read these directories, if known, as if they were new the next time."""
        for path in paths:
            self.known.pop(path, None)

    def leave(self, paths: Collection[bytes]) -> None:
        """Forget those of the directories that are ignored, and everything below them: they hold no recorded files."""
        for path in self._ignored(list(paths)):
            for inner in [known for known in self.known if known == path or known.startswith(path + b"/")]:
                del self.known[inner]

    def _children(self, path: bytes, directory: Directory, tracked: set[bytes]) -> list[bytes]:
        """Return the subdirectories that may have content."""
        if directory.boundary:
            return []
        paths = (path + b"/" + name if path else name for name in directory.children)
        return [p for p in paths if (p not in self.ignored or p in tracked) and p not in self._excluded]

    def _ignored(self, paths: list[bytes]) -> set[bytes]:
        """Return the paths that are ignored, including those in an ignored directory. Only the topmost are
        remembered."""
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
            return before  # its permissions are unchanged too, because changing them would change the stamp
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
        """Return whether this process may list the directory and access its entries."""
        if status.st_uid == self._user and status.st_mode & 0o500 == 0o500:
            return True  # saves a system call: there are many directories
        return os.access(full, os.R_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)

    @staticmethod
    def _read_entries(full: bytes, directory: Directory, *, at_root: bool) -> None:
        directory.empty = not at_root
        with os.scandir(full) as entries:
            for entry in entries:
                directory.empty = False
                name = entry.name
                if len(name) == 4 and name.lower() == b".git":  # in another case it is not git's, but still not ours
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
    """Return a directory that cannot be read: it is gone, or we have no access."""
    directory = Directory()
    directory.unreadable = not readable
    return directory


def why_closed(full: bytes) -> str:
    """Return why a directory could not be read."""
    try:
        os.stat(os.path.join(full, b"."))
        os.scandir(full).close()
    except PermissionError:
        pass
    except OSError as error:
        return f"this directory cannot be read: {error.strerror}"
    return "no permission to read this directory"


def _refuse_special_rules(path: bytes, directory: Directory) -> None:
    """Raise Refused if a rule file is a FIFO or a device, on which git would block forever."""
    for name in READ_BY_GIT:
        if directory.special.get(name, "socket") != "socket":
            raise _endless(os.path.join(path, name), directory.special[name])


def refuse_endless_attributes(work_tree: bytes, directories: Iterable[bytes]) -> None:
    """Raise Refused if git would block forever on a FIFO when it looks up attributes for the contents of these
    directories and of the root."""
    for directory in (b"", *directories):
        _refuse_fifo(os.path.join(work_tree, directory, b".gitattributes"))


def _refuse_fifo(path: bytes) -> None:
    """Raise Refused if the path is a FIFO. Unlike a rule file in the work tree, it may be a device such as
    /dev/null."""
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
    """Return when entries were last added or removed. A modification time can be set back; the change time cannot."""
    return status.st_ctime_ns


def is_settled(stamp: int, now: int) -> bool:
    """Return whether a change to the directory `now` would give it another time than `stamp`."""
    is_coarse = stamp % 1_000_000_000 == 0
    return now - stamp > (COARSE_TICK if is_coarse else TICK)


def ignored_paths(git: Git, paths: Iterable[bytes]) -> set[bytes]:
    """Return those of the paths that an ignore rule matches, tracked or not."""
    # check-ignore does not support literal pathspecs; a leading ./ keeps names from being magic
    data = b"".join(b"./%s\0" % path for path in paths)
    plain = git.view(GIT_LITERAL_PATHSPECS="0")
    output = plain.run("check-ignore", "-z", "--no-index", "--stdin", data=data, ok=(0, 1))
    return {path.removeprefix(b"./") for path in output.split(b"\0") if path}


def leads_through_link(repository: Repository, path: bytes) -> bool:
    """Return whether a directory on the way to the path is a link, so that the path is really somewhere else."""
    parts = path.split(b"/")
    return any(os.path.islink(repository.at(b"/".join(parts[:count]))) for count in range(1, len(parts)))
