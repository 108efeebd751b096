"""Find files of git's own that the current user may not access. Git passes over a directory that it cannot open as if
it were empty, so its contents would look deleted."""

from __future__ import annotations

import os
import stat

from gitckpt.errors import GitFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: The access needed to a directory. A file only has to be readable.
READING = os.R_OK | os.X_OK
WRITING = READING | os.W_OK

#: What git needs to recognize a directory as a repository, and what it writes at every commit.
OF_GIT = (b"HEAD", b"config", b"objects", b"refs", b"packed-refs", b"logs")


def closed_in(git_dir: bytes) -> bytes | None:
    """Return the first path that git needs in a git directory and that cannot be read or, for a directory, written;
    None if there is none. In the object store, only the directories are checked."""
    if not _is_open(git_dir, WRITING):
        return git_dir
    paths = (os.path.join(git_dir, name) for name in OF_GIT)
    return next((path for top in paths for path in _closed(top, WRITING, 1 if top.endswith(b"objects") else 16)), None)


def refuse_closed(git_dir: bytes, name: str) -> None:
    """Raise GitFailed if, at or below `name` in a git directory, a file cannot be read or a directory cannot be
    entered."""
    path = next(_closed(os.path.join(git_dir, os.fsencode(name.rstrip("/"))), READING), None)
    if path is not None:
        message = f"no permission to read what is on record: {os.fsdecode(path)!r} is closed"
        raise GitFailed(message, opens(path, git_dir))


def opens(path: bytes, git_dir: bytes) -> str:
    """Return the command that gives the current user access to a path in a git directory. If another user owns the
    path, the command covers the whole git directory: where one file is someone else's, as a container leaves them, more
    are."""
    import shlex

    if os.statvfs(git_dir).f_flag & os.ST_RDONLY:
        return f"findmnt -T {shlex.quote(os.fsdecode(git_dir))} shows the file system, which is mounted read-only"
    if os.lstat(path).st_uid == os.geteuid():
        return f"chmod -R u+rwX {shlex.quote(os.fsdecode(path))}"
    if os.lstat(git_dir).st_mode & stat.S_ISGID:  # git's own mark of a repository that several users share
        return "git worktree add ../NAME makes a work tree of your own: each is recorded by the user whose it is"
    return f'sudo chown -R "$(id -un)" {shlex.quote(os.fsdecode(git_dir))}'


def _closed(path: bytes, wanted: int, depth: int = 16) -> Iterator[bytes]:
    """Yield the paths at or below `path` without the wanted access, not following links."""
    if not os.path.lexists(path) or os.path.islink(path):
        return
    if not _is_open(path, wanted):
        yield path
    elif depth and os.path.isdir(path):
        yield from _closed_inside(path, wanted, depth)


def _closed_inside(path: bytes, wanted: int, depth: int) -> Iterator[bytes]:
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _closed(entry.path, wanted, depth - 1)
            elif entry.is_file(follow_symlinks=False) and not _may(entry.path, os.R_OK):
                yield entry.path


def _is_open(path: bytes, wanted: int) -> bool:
    return _may(path, wanted if os.path.isdir(path) else os.R_OK)


def _may(path: bytes, wanted: int) -> bool:
    """Return whether we have the access. A path that another process has just removed counts as accessible."""
    allowed = os.access(path, wanted, effective_ids=os.access in os.supports_effective_ids)
    return allowed or not os.path.lexists(path)
