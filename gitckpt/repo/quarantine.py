"""Objects out of reach of a garbage collection until a ref keeps them.

They are written beside the object store and not into it, delivered as one pack that is marked to be kept, and the mark
is taken away when the ref has moved. Dearer than writing into the store, so for the second try alone."""

from __future__ import annotations

import os

from gitckpt.repo.private import clear, directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository

#: What the names of our places beside the objects begin with.
ASIDE = b"gitckpt-"

#: What is in a mark of ours.
MARK = b"gitckpt\n"


class Quarantine:
    """A context in which `git` writes its objects aside. What was not moved is gone at its end."""

    def __init__(self, repository: Repository, git: Git, name: bytes = b"") -> None:
        self._git, self._objects = git, repository.objects_dir
        # inside the store, so that a pack is moved and not copied; git looks only at what it knows there
        self._aside = os.path.join(self._objects, ASIDE + (name or b"work-" + os.fsencode(repository.name)))
        self._repository = repository
        self._marks: list[bytes] = []

    @property
    def base(self) -> bytes:
        """What the name of a pack begins with, for `git pack-objects`."""
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
        """Put all that the commit needs and `kept` do not into the store. Raises GitFailed where some of it is gone."""
        hash = pack(self._git, self.base, commit, kept, options)
        claim(self._repository, hash)
        mark = os.path.join(self._objects, b"pack", b"pack-%s.keep" % hash)
        os.makedirs(os.path.dirname(mark), exist_ok=True)
        with open(mark, "wb") as file:
            file.write(MARK)
        self._marks.append(mark)
        self.move(hash)

    def move(self, hash: bytes) -> None:
        """Move a finished pack into the store, and see that it is on disk."""
        place = os.path.join(self._objects, b"pack")
        for ending in (b"rev", b"pack", b"idx"):  # the index last: with it git sees the pack
            found = b"%s-%s.%s" % (self.base, hash, ending)
            if os.path.exists(found):
                sync(found)
                os.rename(found, os.path.join(place, os.path.basename(found)))
        sync(place)


def sync(path: bytes) -> None:
    """Have a file, or the names in a directory, reach the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def pack(raw: Git, base: bytes, commit: str, kept: Sequence[str], options: Sequence[str] = ()) -> bytes:
    """Pack what the commit needs and `kept` do not; the pack's name. Raises GitFailed where some is gone."""
    data = "\n".join([commit, *(f"^{other}" for other in kept), ""]).encode()
    return raw.run("pack-objects", "-q", "--revs", "--sparse", "--window=0", *options, base, data=data).strip()


def own_packs(repository: Repository) -> bytes:
    """The directory with a file for each pack of ours. A cache: without it they are taken for somebody else's."""
    return os.path.join(repository.common_dir, b"gitckpt", b"packs")


def claim(repository: Repository, hash: bytes) -> None:
    """Note that a pack is ours, so that it may be folded into another."""
    directory(os.path.dirname(own_packs(repository)))
    directory(own_packs(repository))
    with open(os.path.join(own_packs(repository), b"pack-" + hash), "wb"):
        pass
