"""Keep objects out of reach of a garbage collection until a ref protects them.

They are written beside the object store instead of into it, and delivered as one pack that is marked as kept; the mark
is removed when the ref has moved. This is more expensive than writing into the store, so an event uses it only on a
second attempt."""

from __future__ import annotations

import os

from gitckpt.repo.private import clear, directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository

#: Name prefix of our directories inside the object store.
ASIDE = b"gitckpt-"

#: The content of our marks.
MARK = b"gitckpt\n"


class Quarantine:
    """A context in which `git` writes its objects aside. At its end, whatever was not moved is removed."""

    def __init__(self, repository: Repository, git: Git, name: bytes = b"") -> None:
        self._git, self._objects = git, repository.objects_dir
        # inside the store, so that a pack is moved, not copied; git ignores unknown names there
        self._aside = os.path.join(self._objects, ASIDE + (name or b"work-" + os.fsencode(repository.name)))
        self._repository = repository
        self._marks: list[bytes] = []

    @property
    def base(self) -> bytes:
        """The path prefix of a pack, for `git pack-objects`."""
        return os.path.join(self._aside, b"pack", b"pack")

    def __enter__(self) -> Quarantine:
        clear(self._aside)
        os.makedirs(os.path.join(self._aside, b"pack"))
        quoted = self._objects.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
        self._git.set(GIT_OBJECT_DIRECTORY=self._aside, GIT_ALTERNATE_OBJECT_DIRECTORIES=b'"%s"' % quoted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._git.set(GIT_OBJECT_DIRECTORY=self._objects, GIT_ALTERNATE_OBJECT_DIRECTORIES=b"")
        for mark in self._marks:
            clear(mark)
        clear(self._aside)

    def deliver(self, commit: str, kept: Sequence[str], options: Sequence[str]) -> None:
        """Move everything that the commit needs and `kept` do not into the store. Raise GitFailed if some of it is
        gone."""
        hash = pack(self._git, self.base, commit, kept, options)
        claim(self._repository, hash)
        mark = os.path.join(self._objects, b"pack", b"pack-%s.keep" % hash)
        os.makedirs(os.path.dirname(mark), exist_ok=True)
        with open(mark, "wb") as file:
            file.write(MARK)
        self._marks.append(mark)
        self.move(hash)

    def move(self, hash: bytes) -> None:
        """Move a finished pack into the store, and make sure that it is on disk."""
        place = os.path.join(self._objects, b"pack")
        for ending in (b"rev", b"pack", b"idx"):  # the index last: it makes git see the pack
            found = b"%s-%s.%s" % (self.base, hash, ending)
            if os.path.exists(found):
                sync(found)
                os.rename(found, os.path.join(place, os.path.basename(found)))
        sync(place)


def sync(path: bytes) -> None:
    """Flush a file, or the names in a directory, to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def pack(raw: Git, base: bytes, commit: str, kept: Sequence[str], options: Sequence[str] = ()) -> bytes:
    """Pack what the commit needs and `kept` do not, and return the pack's name. Raise GitFailed if some of it is
    gone."""
    data = "\n".join([commit, *(f"^{other}" for other in kept), ""]).encode()
    return raw.run("pack-objects", "-q", "--revs", "--sparse", "--window=0", *options, base, data=data).strip()


def own_packs(repository: Repository) -> bytes:
    """The directory with a file for each pack of ours. It is a cache: without it, our packs are taken for someone
    else's."""
    return os.path.join(repository.common_dir, b"gitckpt", b"packs")


def claim(repository: Repository, hash: bytes) -> None:
    """Note that a pack is ours, so that it may be merged into another."""
    directory(os.path.dirname(own_packs(repository)))
    directory(own_packs(repository))
    with open(os.path.join(own_packs(repository), b"pack-" + hash), "wb"):
        pass
