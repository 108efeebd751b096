"""Our own git directory beside the user's: bytes in and out unchanged, whatever the user's configuration says.

It shares the repository's object store, and has its own configuration, attributes and index. All of it is a cache:
whatever is missing, damaged or left by a killed git is silently recreated."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time

from gitckpt.errors import REMEDIES, GitFailed, Refused
from gitckpt.repo.access import opens
from gitckpt.repo.gateway import Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.config import Settings
    from gitckpt.repo.repository import Repository

#: No line-end conversion, filter, keyword or encoding: this file overrides every .gitattributes.
ATTRIBUTES = b"* -text -filter -ident -working-tree-encoding -eol -crlf\n"

#: Name prefixes of the files there that git reads, including their locks and temporary copies.
FILES = (b"HEAD", b"config", b"index", b"sharedindex", b"staging", b"scratch", b"scan.json", b"packed-refs")

#: Suffix of files that are being written.
ASIDE = b".gitckpt-new"

HEAD = b"ref: refs/heads/none\n"

CONFIG = """\
[core]
	repositoryformatversion = {version}
	bare = false
	filemode = true
	symlinks = true
	ignorecase = {ignorecase}
	precomposeunicode = {precompose}
	autocrlf = false
	safecrlf = false
	protectNTFS = false
	protectHFS = false
	hooksPath = /dev/null
	fsmonitor = false
	splitIndex = true
	untrackedCache = false
	checkStat = default
	trustctime = true
	fsyncMethod = batch
	fsync = {fsync}
	looseCompression = 1
	bigFileThreshold = 512m
	sharedRepository = {shared}
	excludesFile = {excludes}
[index]
	threads = true
	sparse = false
[splitIndex]
	sharedIndexExpire = 1.hour.ago
[gc]
	auto = 0
[extensions]
	objectformat = {object_format}
"""


def private_git(repository: Repository, settings: Settings) -> Git:
    """Return git in the private directory, which is created or repaired first."""
    _make(repository, settings)
    return Git(
        repository.work_tree,
        {
            "GIT_DIR": repository.private_dir,
            "GIT_WORK_TREE": repository.work_tree,
            "GIT_OBJECT_DIRECTORY": repository.objects_dir,
            "GIT_INDEX_FILE": index_path(repository),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_LITERAL_PATHSPECS": "1",
        },
    )


def folds_case(repository: Repository) -> bool:
    """Return whether the file system here folds case. `core.ignoreCase` may describe the disk that this repository was
    copied from."""
    names = (os.path.join(repository.git_dir, name) for name in (b"HEAD", b"head"))
    try:
        return os.path.samestat(*(os.lstat(name) for name in names))
    except OSError:
        return False


def with_rules(raw: Git, settings: Settings) -> Git:
    """Return the private git for questions about ignore rules: it ignores case in rules if the user's git does,
    although case matters in names."""
    return raw.view("core.ignoreCase=true") if settings.ignore_case else raw


def index_path(repository: Repository) -> bytes:
    """The path of the private index: what the last snapshot of this work tree held, with stat data."""
    return os.path.join(repository.private_dir, b"index")


def _make(repository: Repository, settings: Settings) -> None:
    private = repository.private_dir
    try:
        for path in (private, private + b"/info", private + b"/refs"):
            directory(path)
        _sweep(private)
        for name, content in (
            (b"HEAD", HEAD),
            (b"config", _config(repository, settings)),
            (b"info/attributes", ATTRIBUTES),
        ):
            _file(os.path.join(private, name), content)
        _link(os.path.join(private, b"info", b"exclude"), os.path.join(repository.common_dir, b"info", b"exclude"))
    except FileNotFoundError as error:
        # makedirs would create a stray .git where the user has just moved theirs away
        raise GitFailed(f"the git directory {os.fsdecode(repository.git_dir)!r} is gone") from error
    except OSError as error:
        raise Refused(
            f"cannot write into {os.fsdecode(private)!r}: {error.strerror}",
            f"gitckpt keeps its working files there; {_makes_room(repository, error)}",
        ) from error


def _makes_room(repository: Repository, error: OSError) -> str:
    """Return the hint for a git directory that cannot be written into."""
    private = repository.private_dir
    if error.errno != errno.EROFS and not isinstance(error, PermissionError):
        return REMEDIES.get(error.errno or 0, "see that the git directory can be written")
    return opens(private if os.path.lexists(private) else repository.git_dir, repository.git_dir)


def _config(repository: Repository, settings: Settings) -> bytes:
    quoted = settings.excludes_file.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    text = CONFIG.format(
        version=1 if repository.object_format != "sha1" else 0,
        ignorecase="true" if settings.ignore_case and folds_case(repository) else "false",
        precompose="true" if settings.precompose_unicode else "false",
        fsync="committed,reference" if settings.durable else "none",
        shared=settings.shared_repository,
        excludes=f'"{quoted}"',
        object_format=repository.object_format,
    )
    if repository.object_format == "sha1":
        text = text[: text.index("[extensions]")]
    return text.encode("utf-8", "surrogateescape")


def mend(repository: Repository, settings: Settings) -> None:
    """Repair the private directory if its configuration does not match these settings: they have changed, or another
    process uses different ones."""
    path = os.path.join(repository.private_dir, b"config")
    if not is_plain_file(path) or not os.access(path, os.R_OK) or not _holds(path, _config(repository, settings)):
        _make(repository, settings)


def directory(path: bytes) -> None:
    """Create a directory, and make sure that it is not a link, through which someone else's files would be written.

    Other processes may do the same at the same moment. So it is created first and checked afterwards: an existing one
    may be theirs, with their files in it."""
    while not (_made(path) or _is_directory(path)):
        try:
            os.unlink(path)
        except (FileNotFoundError, IsADirectoryError):
            continue
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        os.chmod(path, 0o755)


def _made(path: bytes) -> bool:
    try:
        os.mkdir(path)
    except FileExistsError:
        return False
    return True


def _is_directory(path: bytes) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _sweep(private: bytes) -> None:
    """Remove whatever has the name of a file of ours but cannot be read as one: git would follow a link, block on a
    FIFO, and fail on a directory."""
    with os.scandir(private) as found:
        strange = [entry.path for entry in found if entry.name.startswith(FILES) and not _is_usable(entry)]
    for path in strange:
        clear(path)


def _is_usable(entry: os.DirEntry[bytes]) -> bool:
    return entry.is_file(follow_symlinks=False) and os.access(entry.path, os.R_OK)


def clear(path: bytes) -> None:
    """Remove whatever is at a path of ours. A link is removed, not followed."""
    if _is_directory(path):
        import shutil  # slow to import: it would cost each command some milliseconds

        shutil.rmtree(path)
        return
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def is_plain_file(path: bytes) -> bool:
    """Return whether the path is a regular file, not a link, FIFO or directory."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _file(path: bytes, content: bytes) -> None:
    if _is_directory(path):
        clear(path)  # anything else is replaced by the new one
    elif is_plain_file(path) and os.access(path, os.R_OK) and _holds(path, content):
        return
    write_file(path, content)


def _holds(path: bytes, content: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(content) + 1) == content


def write_file(
    path: bytes, content: bytes, *, mode: int | None = None, aside: bytes = b"", durable: bool = False
) -> None:
    """Write a file atomically, with these permission bits or else those of any new file.

    The content is first written to `aside`, by default beside the file, always under the same name, so that what a
    killed process left there is replaced. With `durable` it is on disk before it is moved into place."""
    aside = aside or path + ASIDE
    descriptor = _own_file(aside, 0o666 if mode is None else 0o600)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        if mode is not None:
            os.fchmod(descriptor, mode)
        if durable:
            os.fsync(descriptor)
        os.replace(aside, path)
    except BaseException:
        clear(aside)
        raise
    finally:
        os.close(descriptor)


def append(path: bytes, line: bytes) -> None:
    """Append a line to a file of ours in one write, without following a link or waiting for a FIFO's reader."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o644)
    try:
        os.write(descriptor, line + b"\n")
    finally:
        os.close(descriptor)


def _own_file(path: bytes, mode: int) -> int:
    """Create a file at the path; no other process writes it as long as the returned descriptor is open."""
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        except FileExistsError:
            if not clear_abandoned(path):
                time.sleep(0.002)
            continue
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is_at(descriptor, path):
            return descriptor
        os.close(descriptor)


def clear_abandoned(path: bytes) -> bool:
    """Remove whatever is at the path unless a living process is writing it. Return whether nothing is there now."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        clear(path)
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(descriptor, path):
            clear(path)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _is_at(descriptor: int, path: bytes) -> bool:
    """Return whether the open file is the one at the path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _link(path: bytes, target: bytes) -> None:
    """Create a link rather than a copy, so that a rule that was just added applies to the next snapshot."""
    while not _leads(path, target):
        clear(path)
        try:
            os.symlink(target, path)
        except FileExistsError:
            continue  # another process created one at the same moment


def _leads(path: bytes, target: bytes) -> bool:
    try:
        return os.readlink(path) == target
    except OSError:
        return False
