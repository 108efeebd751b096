"""Make the work tree match a tree, using git's own checkout: only what differs is written, and nothing is written
through a link that leads outside."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from gitckpt.errors import GitFailed, Refused
from gitckpt.repo.closed import not_to_be_opened
from gitckpt.repo.directories import ignored_paths, leads_through_link
from gitckpt.repo.private import clear
from gitckpt.repo.relative import plain_mode
from gitckpt.repo.trees import Change, entries
from gitckpt.trajectory.paths import at_or_above

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from gitckpt.repo.gateway import Call, Git
    from gitckpt.repo.repository import Repository
    from gitckpt.repo.snapshot import Snapshot


def obstacles(
    repository: Repository, changes: Sequence[Change], snapshot: Snapshot, limit: int
) -> tuple[dict[bytes, str], set[bytes]]:
    """Find what is in the way where the target has a file and the snapshot has none: (blocked: path → why, paths that
    can be held).

    A path is blocked if going on would lose what is there: a directory with ignored files in it, a nested repository, a
    special file, a file that cannot be read or is too large."""
    blocked: dict[bytes, str] = {}
    held: set[bytes] = set()
    recorded = {change.path for change in changes if change.status == "D"}
    for change in changes:
        if change.status != "A":
            continue
        standing = _standing(repository, change.path)
        if standing is None or standing in recorded:
            continue
        reason = _why_blocked(repository, standing, recorded, limit)
        if reason:
            blocked[change.path] = reason if standing == change.path else f"{os.fsdecode(standing)}: {reason}"
        elif not os.path.isdir(repository.at(standing)) or os.path.islink(repository.at(standing)):
            held.add(standing)
    blocked |= not_to_be_opened(repository, [change.path for change in changes])
    for change in changes:
        boundary = at_or_above(change.path, snapshot.missing)
        if boundary is not None:
            within = "" if boundary == change.path else f"inside {os.fsdecode(boundary)}: "
            blocked.setdefault(change.path, within + snapshot.missing[boundary])
    return blocked, held


def taken_directories(repository: Repository, paths: Collection[bytes], going: Collection[bytes]) -> dict[bytes, str]:
    """Return the directories whose place, or a parent's, is taken by something that is not a directory and not in
    `going`."""
    taken = {}
    for path in paths:
        standing = _standing(repository, path)
        if standing is None or standing in going:
            continue
        full = repository.at(standing)
        if os.path.islink(full) or not os.path.isdir(full):
            taken[path] = f"{os.fsdecode(standing)} stands there, which is not on record"
    return taken


def _standing(repository: Repository, path: bytes) -> bytes | None:
    """Return what exists at the path, or at one of its parents that is not a directory; None if the way is free."""
    parts = path.split(b"/")
    for count in range(1, len(parts) + 1):
        prefix = b"/".join(parts[:count])
        try:
            status = os.lstat(repository.at(prefix))
        except FileNotFoundError:
            return None
        except OSError:
            return prefix
        if not stat.S_ISDIR(status.st_mode):
            return prefix
    return path


def _why_blocked(repository: Repository, path: bytes, recorded: Collection[bytes], limit: int) -> str:
    """Return why a snapshot cannot hold what is here; "" if it can, or if nothing would be lost."""
    full = repository.at(path)
    try:
        status = os.lstat(full)
    except OSError as error:
        return f"cannot be looked at: {error.strerror}"
    if stat.S_ISDIR(status.st_mode):
        if _is_inside(repository.cwd, full):  # git does not remove this directory
            return "the directory that you are in; cd out of it first"
        return _why_directory_blocked(repository, path, recorded)
    if stat.S_ISLNK(status.st_mode):
        return ""
    if not stat.S_ISREG(status.st_mode):
        return "a special file stands there"
    if status.st_size > limit:
        return f"a file larger than max_file_size stands there ({status.st_size} bytes)"
    if not os.access(full, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
        return "a file that cannot be read stands there"
    return ""


def _why_directory_blocked(repository: Repository, path: bytes, recorded: Collection[bytes]) -> str:
    """Return why a directory cannot be replaced; "" if everything in it is on record or empty."""
    try:
        with os.scandir(repository.at(path)) as found:
            names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
    except OSError as error:
        return f"a directory stands there that cannot be read: {error.strerror}"
    for name, is_directory in names:
        child = path + b"/" + name
        if name == b".git":
            return "a repository of its own stands there"
        if is_directory:
            reason = _why_directory_blocked(repository, child, recorded)
            if reason:
                return reason
        elif child not in recorded:
            return f"a directory stands there with {os.fsdecode(child)} in it, which is not on record"
    return ""


def ignored_by(repository: Repository, raw: Git, tree: str, paths: Collection[bytes]) -> set[bytes]:
    """Return those of the paths that the rules in `tree` ignore, together with the rules outside the work tree."""
    if not paths:
        return set()
    scratch = os.path.join(repository.private_dir, b"rules")
    clear(scratch)
    os.mkdir(scratch)
    try:
        for path, (_, oid) in entries(raw, tree).items():
            if path == b".gitignore" or path.endswith(b"/.gitignore"):
                _write_rules(os.path.join(scratch, path), raw.run("cat-file", "blob", oid))
        return ignored_paths(raw.view(cwd=scratch, GIT_WORK_TREE=scratch), sorted(paths))
    finally:
        clear(scratch)


def _write_rules(path: bytes, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def check_out(repository: Repository, raw: Git, before: str, after: str, umask: int | None = None) -> None:
    """Change the work tree from `before`, which the private index holds, to `after`, creating new files under `umask`,
    if given. Raise Refused if the work tree changed in the meantime, GitFailed if git cannot write.

    Git runs in the caller's current directory, because it does not remove that directory then, even if `after` lacks
    it.
    """
    if before == after:
        return
    cwd = repository.cwd if _is_inside(repository.cwd, repository.work_tree) else repository.work_tree
    git = raw.view(cwd=cwd)
    call = _switch(git, before, after, umask)
    if b"not uptodate" in call.stderr:
        # "not uptodate" is all git knows of an entry without stat data; after a refresh it means that content differs
        git.run("update-index", "-q", "--refresh", ok=(0, 1))
        call = _switch(git, before, after, umask)
    if not call.status:
        return
    if any(words in call.stderr for words in (b"not uptodate", b"would be overwritten", b"would be removed")):
        raise Refused(
            f"the work tree changed while it was being rolled back: {call.complaint}",
            "stop what writes there, and try again",
        )
    raise GitFailed(
        f"git {call.words} failed with exit status {call.status}: {call.complaint}",
        "gitckpt rollback --continue finishes it once that can be written; gitckpt rollback --abort goes back",
    )


def _switch(git: Git, before: str, after: str, umask: int | None) -> Call:
    """Make git write what differs, all of it or nothing, and return the finished call."""
    with under(umask):
        call = git.start("read-tree", "-m", "-u", "--no-recurse-submodules", before, after, ok=(0, 128))
    call.wait()
    return call


def _is_inside(path: bytes, directory: bytes) -> bool:
    path, directory = os.path.realpath(path), os.path.realpath(directory)
    return path == directory or path.startswith(directory + b"/")


@contextmanager
def under(umask: int | None) -> Iterator[None]:
    """Run the block, and every process started in it, under this umask, or under the caller's own if None."""
    own = os.umask(umask) if umask is not None else None
    try:
        yield
    finally:
        if own is not None:
            os.umask(own)


def own_umask() -> int:
    """Return the umask of this process."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def set_modes(
    repository: Repository, modes: Mapping[bytes, int | None], executable: Collection[bytes], umask: int
) -> None:
    """Set the permission bits of paths; None stands for what git creates under `umask`. A directory ends in `/`."""
    for path, given in modes.items():
        full = repository.at(path.rstrip(b"/"))
        mode = plain_mode(path, path in executable, umask) if given is None else given
        try:
            if leads_through_link(repository, path.rstrip(b"/")):
                continue  # verification names it
            status = os.lstat(full)
            kind = stat.S_ISDIR if path.endswith(b"/") else stat.S_ISREG  # a file may be where a directory was
            if kind(status.st_mode) and stat.S_IMODE(status.st_mode) != mode:
                os.chmod(full, mode)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue  # verification names it


def is_file(repository: Repository, path: bytes) -> bool:
    """Return whether the path itself is a file or a link, and is not reached through a link."""
    full = repository.at(path)
    return (os.path.islink(full) or os.path.isfile(full)) and not leads_through_link(repository, path)


def mode_of(repository: Repository, path: bytes) -> int | None:
    """Return the permission bits of a path; None if there is none, or if there is a file where a directory is meant."""
    if leads_through_link(repository, path.rstrip(b"/")):
        return None
    try:
        mode = os.lstat(repository.at(path.rstrip(b"/"))).st_mode
        return None if path.endswith(b"/") and not stat.S_ISDIR(mode) else stat.S_IMODE(mode)
    except OSError:
        return None


def make_directories(repository: Repository, paths: Iterable[bytes]) -> None:
    """Create empty directories. One whose place is taken is skipped, and verification reports it."""
    for path in paths:
        parts = path.split(b"/")
        for count in range(1, len(parts) + 1):
            full = repository.at(b"/".join(parts[:count]))
            if os.path.islink(full):
                break
            try:
                os.mkdir(full)
            except FileExistsError:
                if not os.path.isdir(full):
                    break


def remove_directories(repository: Repository, paths: Iterable[bytes], keep: Collection[bytes] = ()) -> None:
    """Remove directories that are empty, and parents that become empty, except for the current directory and `keep`."""
    cwd = os.path.realpath(repository.cwd)
    for listed in sorted(paths, reverse=True):
        path = listed
        while path and path not in keep:
            full = repository.at(path)
            if cwd == full or cwd.startswith(full + b"/"):
                break
            try:
                os.rmdir(full)
            except OSError:
                break  # not empty, or we may not remove it: it stays
            path = path.rpartition(b"/")[0]
