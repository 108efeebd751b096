"""Pack our objects and refs, so that the store does not grow with each small edit and the user's commands do not slow
down.

Git itself packs only after commands that people type, and under the user's settings. So we pack what is ours alone:
objects that sessions need and the user's refs do not, and refs under `refs/gitckpt/`. A pack is verified and on disk
before anything is removed. A loose object is removed when it is in the pack just made, one of our packs when all of it
is in that pack. Nothing else is removed, because a process may have found an object there and so not written its
own."""

from __future__ import annotations

import fcntl
import os
import time

from gitckpt.errors import GitFailed
from gitckpt.repo.branch import free_moved, while_noted
from gitckpt.repo.collection import is_collecting
from gitckpt.repo.lock import lock_file
from gitckpt.repo.private import clear, directory, write_file
from gitckpt.repo.quarantine import ASIDE, MARK, Quarantine, claim, own_packs
from gitckpt.repo.repository import REFS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from gitckpt.repo.repository import Repository

#: Minimum number of loose objects to pack.
FEW = 32

#: Number of loose refs that slows down commands that read all refs; fewer are not worth rewriting a file of the user's.
MANY_REFS = 48

#: Seconds after which files that a process sets aside temporarily count as left over: longer than a snapshot takes.
LEFT = 86400.0

#: Suffixes of files beside a pack which say that it is reserved for something else.
RESERVED = (b"keep", b"promisor", b"mtimes", b"bitmap")

#: The configuration that git needs to recognize a directory as a repository.
VIEW_CONFIG = """\
[core]
	repositoryformatversion = 1
	bare = true
	sharedRepository = {shared}
[extensions]
	objectformat = {object_format}
"""


class Pack:
    """A pack of ours: its name without suffix, and its size in bytes."""

    __slots__ = ("name", "size")

    def __init__(self, name: bytes, size: int) -> None:
        self.name, self.size = name, size


class Packing:
    """Packs one repository. If several processes try at once, one does it and the others leave it to that one."""

    def __init__(self, repository: Repository) -> None:
        self._repository, self._objects = repository, repository.objects_dir
        self._packs = os.path.join(self._objects, b"pack")
        self._own = os.path.join(repository.common_dir, b"gitckpt")
        self._names = own_packs(repository)

    def run(self) -> bool:
        """Pack what there is to pack, and return whether this process did it.

        Raise GitFailed, with nothing removed, if a pack cannot be made or is not as it should be."""
        if not all(os.access(place, os.W_OK) for place in (self._repository.common_dir, self._objects, self._packs)):
            return False
        directory(self._own)
        directory(self._names)
        descriptor = lock_file(os.path.join(self._own, b"packing-lock"))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return self._run()
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)

    def _run(self) -> bool:
        if is_collecting(self._repository):
            return False
        note = os.path.join(self._own, b"packing-refs")
        free_moved(self._repository, note, below=os.path.join(self._repository.common_dir, os.fsencode(REFS)))
        self._tidy()
        if self._loose_refs() >= MANY_REFS:
            while_noted(self._repository, lambda: pack_refs(self._repository), note=note)
        self._pack_objects()
        return True

    def _loose_refs(self) -> int:
        places = os.walk(os.path.join(self._repository.common_dir, REFS.encode()))
        return sum(len(names) for _, _, names in places)

    def _tidy(self) -> None:
        """Remove what killed processes left: marks on packs, and files set aside."""
        for name in os.listdir(self._packs):
            path = os.path.join(self._packs, name)
            if name.endswith(b".keep") and _age(path) > LEFT and _content(path) == MARK:
                os.unlink(path)
        for name in os.listdir(self._objects):
            path = os.path.join(self._objects, name)
            if name.startswith(ASIDE) and _age(path) > LEFT:
                clear(path)

    def _pack_objects(self) -> None:
        loose = loose_objects(self._objects)
        needed = self._needed()
        wanted = {oid: line for oid, line in needed.items() if oid in loose}
        if len(wanted) < FEW:
            return
        small = self._small_packs(sum(self._size(oid) for oid in wanted))
        held = {pack.name: self._held(pack.name) for pack in small}
        lines = wanted | {oid: needed.get(oid, oid) for oids in held.values() for oid in oids}
        name = self._make(lines)
        self._remove_loose(wanted)
        for pack in small:
            if pack.name != name:
                self._remove_pack(pack.name)

    def _needed(self) -> dict[bytes, bytes]:
        """Return object id → line with id and path, for everything that our refs need and the user's do not."""
        rows = self._repository.git.run("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
        refs = [row.split(b" ", 1) for row in rows if b" refs/worktree/gitckpt/" not in row]
        data = b"".join((b"" if name.startswith(REFS.encode()) else b"^") + oid + b"\n" for oid, name in refs)
        output = self._repository.git.run("rev-list", "--objects", "--missing=allow-any", "--stdin", data=data)
        return {line.partition(b" ")[0]: line for line in output.splitlines()}

    def _size(self, oid: bytes) -> int:
        try:
            return os.stat(self._path(oid)).st_size
        except OSError:
            return 0

    def _path(self, oid: bytes) -> bytes:
        return os.path.join(self._objects, oid[:2], oid[2:])

    def _small_packs(self, total: int) -> list[Pack]:
        """Return our packs that are to be merged with the new objects: in order of size, each that is at most twice as
        large as the new objects and the smaller packs together. So a store has few packs, and each object is packed
        only a few times."""
        if any(
            os.path.lexists(os.path.join(self._packs, name)) for name in (b"multi-pack-index", b"multi-pack-index.d")
        ):
            return []  # it names packs, and would still name one that we remove
        found = []
        for pack in sorted(self._own_packs(), key=lambda pack: pack.size):
            if pack.size > 2 * total:
                break
            found.append(pack)
            total += pack.size
        return found

    def _own_packs(self) -> list[Pack]:
        packs = []
        for name in os.listdir(self._names):
            base = os.path.join(self._packs, name)
            if os.path.exists(base + b".idx"):
                if not any(os.path.exists(b"%s.%s" % (base, ending)) for ending in RESERVED):
                    packs.append(Pack(name, os.stat(base + b".pack").st_size))
            elif not os.path.exists(base + b".pack"):
                os.unlink(os.path.join(self._names, name))  # git has repacked it into another pack
            elif _age(base + b".pack") > LEFT:
                self._remove_pack(name)  # a process was killed while adding or removing it: git does not see it
        return packs

    def _held(self, name: bytes) -> set[bytes]:
        return self._indexed(os.path.join(self._packs, name + b".idx"))

    def _indexed(self, index: bytes) -> set[bytes]:
        """Return the objects in a pack, from its index."""
        form = f"--object-format={self._repository.object_format}"
        rows = self._repository.git.run("show-index", form, data=_content(index)).splitlines()
        return {row.split(b" ")[1] for row in rows}

    def _make(self, lines: dict[bytes, bytes]) -> bytes:
        """Make a pack of these objects, verify it, put it in place permanently, and return its name."""
        git = self._repository.git.view()
        with Quarantine(self._repository, git, b"packing") as aside:
            options = ("-q", "--delta-base-offset", "--threads=1")
            command = ("-c", "pack.packSizeLimit=0", "pack-objects", *options, aside.base)
            hash = git.run(*command, data=b"\n".join(lines.values()) + b"\n").strip()
            index = aside.base + b"-%s.idx" % hash
            git.run("verify-pack", index)
            if not lines.keys() <= self._indexed(index):
                raise GitFailed("git pack-objects has made a pack that lacks objects; nothing was removed")
            claim(self._repository, hash)
            aside.move(hash)
        return b"pack-" + hash

    def _remove_loose(self, oids: Iterable[bytes]) -> None:
        for oid in oids:
            try:
                os.unlink(self._path(oid))
            except FileNotFoundError:
                pass

    def _remove_pack(self, name: bytes) -> None:
        """Remove a pack, its index first: without the index git does not look for the rest."""
        for ending in (b"idx", b"rev", b"pack"):
            clear(os.path.join(self._packs, b"%s.%s" % (name, ending)))
        clear(os.path.join(self._names, name))


def pack_refs(repository: Repository) -> None:
    """Pack our refs, and leave the user's where they are.

    Git packs all refs or none. So it runs in a view of the repository whose only loose refs are ours and whose packed
    refs are the real ones; it takes the usual locks."""
    if os.path.isdir(os.path.join(repository.common_dir, b"reftable")):
        return  # reftable compacts itself
    view = os.path.join(repository.common_dir, b"gitckpt", b"refs-view")
    clear(view)
    os.makedirs(os.path.join(view, b"refs"))
    write_file(os.path.join(view, b"HEAD"), b"ref: refs/heads/none\n")
    # the user's setting decides who may read the packed refs
    shared = repository.git.text("config", "--get", "core.sharedRepository", ok=(0, 1)) or "false"
    config = VIEW_CONFIG.format(shared=shared, object_format=repository.object_format)
    write_file(os.path.join(view, b"config"), config.encode())
    for name in (b"refs/gitckpt", b"packed-refs"):
        os.symlink(os.path.join(repository.common_dir, name), os.path.join(view, name))
    git = repository.git.view(GIT_DIR=view, GIT_OBJECT_DIRECTORY=repository.objects_dir, cwd=view)
    git.run("-c", "core.fsync=reference", "pack-refs", "--all", "--prune")


def loose_objects(objects: bytes, places: Collection[int] = range(256)) -> set[bytes]:
    """Return the names of all loose objects, or of those whose first byte is in `places`."""
    found: set[bytes] = set()
    for place in places:
        prefix = b"%02x" % place
        try:
            names = os.listdir(os.path.join(objects, prefix))
        except OSError:
            continue
        found.update(prefix + name for name in names if not name.startswith(b"tmp"))
    return found


def _content(path: bytes) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _age(path: bytes) -> float:
    return time.time() - os.lstat(path).st_mtime
