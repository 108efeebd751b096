"""The private index: seeded once from the user's, then kept. It makes the cost of a snapshot depend on what changed,
not on what there is.

Its entries are trusted by their stat data, so everything in it must match the disk byte for byte. An entry whose blob
may differ from the file (because of a filter, a line-end rule, or a flag that tells git not to look) loses its stat
data here and is read again."""

from __future__ import annotations

import os
import re
import stat

from gitckpt.errors import GitFailed
from gitckpt.repo.answers import reads
from gitckpt.repo.digest import new_digest
from gitckpt.repo.gateway import split
from gitckpt.repo.index_file import copy_index, stat_key
from gitckpt.repo.private import clear, index_path, is_plain_file, write_file
from gitckpt.repo.repository import EMPTY_BLOB
from gitckpt.repo.staging import MOST_PATHSPECS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from gitckpt.repo.directories import Directories
    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository

#: Attributes that may make a blob differ from its file in any way, and those that only convert line ends and so change
#: the size.
ANY_CHANGE = (b"filter", b"ident", b"working-tree-encoding")
LINE_ENDS = (b"text", b"eol", b"crlf")

#: An ordinary entry of `ls-files -z -s -v`, and its path.
PLAIN = rb"(?:\A|(?<=\0))H 1(?:00644|00755|20000) [0-9a-f]+ 0\t([^\0]+)\0"


class Seed:
    """What the private index was made from.

    `key` is the stat data of the user's index and `listing` the output of `ls-files -z -s -v` for it; `paths` are those
    in the private index, and `directories` those that contain them. `as_is` says that its entries are the user's, each
    with its stat data; `plain` says that all entries of the user's are ordinary. `written` is when the user's index was
    written, in whole seconds."""

    __slots__ = ("as_is", "directories", "key", "listing", "paths", "plain", "written")

    def __init__(self, key: tuple[int, ...] = (), listing: bytes = b"", paths: list[bytes] | None = None) -> None:
        self.key, self.listing, self.paths = key, listing, paths or []
        self.written = key[0] // 1_000_000_000 if key else 0
        self.as_is, self.plain = bool(key), False
        self.directories: set[bytes] = set()

    def may_hide_edits(self, status: os.stat_result) -> bool:
        """Return whether a file may have changed after the index was written without git being able to tell.

        Git reads a file again if its modification time is as recent as the index. If that time was set back, only a
        change time in the same second is left, and git compares whole seconds."""
        if status.st_ctime < self.written:
            return False
        return int(status.st_mtime) != int(status.st_ctime) and stat.S_ISREG(status.st_mode)


def is_whole(repository: Repository) -> bool:
    """Return whether the private index and its shared parts are as git wrote them, and not a seed from which no
    snapshot was taken yet.

    Git itself does not check: it would take what is left of a truncated file for the whole index, and write a different
    tree."""
    if os.path.lexists(_seeding(repository)):
        return False
    paths = [index_path(repository), *_shared(repository)]
    return all(_checksum(path, repository.object_format) == "right" for path in paths)


def _shared(repository: Repository) -> list[bytes]:
    directory = repository.private_dir
    return [os.path.join(directory, name) for name in os.listdir(directory) if name.startswith(b"sharedindex.")]


def _checksum(path: bytes, algorithm: str) -> str:
    """Return whether the checksum at the end of an index is "right", "wrong", or (git can be configured to omit it)
    "none"."""
    if not is_plain_file(path):
        return "wrong"
    with open(path, "rb") as file:
        content = file.read()
    digest = new_digest(algorithm, len(content))
    end = len(content) - digest.digest_size
    digest.update(memoryview(content)[: max(end, 0)])
    if content[end:] == digest.digest():
        return "right"
    return "wrong" if any(content[end:]) else "none"


def tidy(repository: Repository, raw: Git) -> None:
    """Remove shared parts of a split index that the index no longer names; git would keep them for weeks."""
    names = [name for name in os.listdir(repository.private_dir) if name.startswith(b"sharedindex.")]
    if len(names) > 1:
        used = os.path.basename(raw.run("rev-parse", "--shared-index-path").rstrip(b"\n"))
        for name in names:
            if name != used:
                os.unlink(os.path.join(repository.private_dir, name))


def _seeding(repository: Repository) -> bytes:
    """The file that exists while the private index is being made and holds entries of the user's that do not match the
    disk."""
    return os.path.join(repository.private_dir, b"seeding")


def settle(repository: Repository) -> None:
    """Note that a snapshot was taken from what `seed` made, so that any process may continue from it."""
    clear(_seeding(repository))


def distrust(raw: Git, paths: Collection[bytes]) -> None:
    """Remove the stat data from these entries, so that the files are read again the next time."""
    if paths:
        named = sorted(paths) if len(paths) <= MOST_PATHSPECS else []
        entries = split(raw.run("ls-files", "-z", "-s", "--", *named))
        rows = [entry + b"\0" for entry in entries if entry.partition(b"\t")[2] in paths]
        raw.run("update-index", "-z", "--index-info", data=b"".join(rows))


def seed(repository: Repository, raw: Git, look: Callable[[set[bytes]], Directories], *, sparse: bool = False) -> Seed:
    """Make the private index from the user's, or make it empty if there is none.

    In a `sparse` checkout, paths flagged skip-worktree that are not on disk are kept; otherwise they count as deleted.
    `look` is called with the directories that have entries, before git is run for anything that makes it read rules; it
    returns all existing directories, freshly read."""
    path = index_path(repository)
    write_file(_seeding(repository), b"")
    for stale in (path, path + b".lock", *_shared(repository)):
        clear(stale)
    key = stat_key(repository.index_path)
    try:
        if not copy_index(repository.index_path, path):
            raw.run("read-tree", "--empty")
            return Seed()
        listing = raw.start("ls-files", "-z", "-s", "-v")
        if _checksum(path, repository.object_format) == "wrong":
            listing.kill()
            raise GitFailed("the checksum of the staging area is wrong")
        seed = Seed(key, listing.wait())
        suspicious = _flagged(repository, seed, sparse)
        seed.directories = parents(seed.paths)
        user = repository.user_git().view(GIT_INDEX_FILE=path)
        # any value of either, even one that a more specific scope overrides
        converting = user.start("config", "--get-regexp", r"^core\.(autocrlf|attributesfile)$", ok=(0, 1))
        try:
            directories = look(seed.directories)
        except BaseException:
            converting.kill()
            raise
        if converting.wait() or _conversion_possible(repository, seed, directories):
            suspicious += _converted(repository, raw, user, seed)
    except GitFailed:
        # the user's index is damaged: this is reported where it is captured, and the files are recorded anyway
        clear(path)
        raw.run("read-tree", "--empty")
        return Seed()
    if suspicious:
        raw.run("update-index", "-z", "--index-info", data=b"".join(suspicious))
        seed.as_is, seed.paths = False, paths(raw)
        seed.directories = parents(seed.paths)
    return seed


@reads("ls-files")
def _flagged(repository: Repository, seed: Seed, sparse: bool) -> list[bytes]:
    """Return rows that turn all other entries into ordinary ones: unmerged, intent-to-add and flagged entries, nested
    repositories."""
    seed.paths = re.findall(PLAIN, seed.listing)
    seed.plain = len(seed.paths) == seed.listing.count(b"\0") and not _may_be_intended(seed.listing)
    if seed.plain:
        return []
    null = repository.null_oid.encode()
    rows: list[bytes] = []
    ours: dict[bytes, bytes] = {}
    every: dict[bytes, None] = {}
    for entry in split(seed.listing):
        head, _, path = entry.partition(b"\t")
        tag, mode, oid, stage = head.split(b" ")
        every[path] = None
        if mode == b"160000":
            rows.append(b"0 %s\t%s\0" % (null, path))
        elif stage != b"0":
            rows.append(b"0 %s\t%s\0" % (null, path))
            ours.setdefault(path, b"%s %s 0\t%s\0" % (mode, oid, path))
        elif sparse and tag.upper() == b"S" and not os.path.lexists(repository.at(path)):
            continue  # outside the checkout: kept as it is
        elif tag != b"H" or _may_be_intended(oid):
            rows.append(b"%s %s 0\t%s\0" % (mode, oid, path))
    seed.paths = list(every)
    return rows + list(ours.values())


def _may_be_intended(text: bytes) -> bool:
    return any(empty in text for empty in EMPTY_BLOB.values())


@reads("check-attr")
def _converted(repository: Repository, raw: Git, user: Git, seed: Seed) -> list[bytes]:
    """Return rows that remove the stat data from entries that the user's git may have converted when adding them."""
    listing = [entry[2:].split(b"\t", 1) for entry in split(seed.listing) if entry[2:].startswith(b"100")]
    entries = [(head, path) for head, path in listing if head.endswith(b" 0")]
    oids = {path: head.split(b" ")[1] for head, path in entries}
    changed, line_ends = _with_conversion(user, list(oids))
    changed |= _of_other_size(repository, raw, {path: oids[path] for path in line_ends - changed})
    rows = []
    for head, path in entries:
        if path in changed:
            mode, oid, _ = head.split(b" ")
            rows.append(b"%s %s 0\t%s\0" % (mode, oid, path))
    return rows


def _of_other_size(repository: Repository, raw: Git, oids: dict[bytes, bytes]) -> set[bytes]:
    """Return the paths whose file and blob differ in size because line ends were converted."""
    if not oids:
        return set()
    output = raw.run("cat-file", "--batch-check=%(objectsize)", "--buffer", data=b"\n".join(oids.values()) + b"\n")
    return {path for path, size in zip(oids, output.split(b"\n"), strict=False) if _size(repository.at(path)) != size}


def _size(path: bytes) -> bytes:
    try:
        return b"%d" % os.lstat(path).st_size
    except OSError:
        return b""


def _conversion_possible(repository: Repository, seed: Seed, directories: Directories) -> bool:
    """Return whether any attribute file of the user's could make a blob differ from its file."""
    if os.path.exists(os.path.join(repository.common_dir, b"info", b"attributes")) or _personal_attributes():
        return True
    # in the index or beside a recorded file, ignored or not: git reads it wherever it is
    return b".gitattributes\0" in seed.listing or directories.may_have_attributes


def _personal_attributes() -> bool:
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.exists(os.path.join(home, "git", "attributes"))


def _with_conversion(user: Git, paths: list[bytes]) -> tuple[set[bytes], set[bytes]]:
    """Return the paths with an attribute that may change anything, and those whose line ends may be converted."""
    any_change: set[bytes] = set()
    line_ends: set[bytes] = set()
    if not paths:
        return any_change, line_ends
    automatic = user.text("config", "--get", "core.autocrlf", ok=(0, 1)).lower() not in ("", "false", "no", "off", "0")
    names = [name.decode() for name in ANY_CHANGE + LINE_ENDS]
    fields = split(user.run("check-attr", "-z", "--stdin", *names, data=b"\0".join(paths) + b"\0"))
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        if name in ANY_CHANGE:
            if value not in (b"unspecified", b"unset"):
                any_change.add(path)
        elif value not in (b"unspecified", b"unset") or (automatic and value == b"unspecified"):
            line_ends.add(path)
    return any_change, line_ends


def paths(raw: Git) -> list[bytes]:
    """Return all paths in the private index."""
    return split(raw.run("ls-files", "-z"))


def parents(paths: Iterable[bytes]) -> set[bytes]:
    """Return all directories that contain these paths, except the root."""
    found: set[bytes] = set()
    for path in paths:
        directory = path.rpartition(b"/")[0]
        while directory and directory not in found:
            found.add(directory)
            directory = directory.rpartition(b"/")[0]
    return found
