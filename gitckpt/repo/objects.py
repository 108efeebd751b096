"""Read objects and check them against their ids: git itself does not check that a loose object holds what its name
says."""

from __future__ import annotations

from gitckpt.trajectory.remedies import DAMAGED, MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gitckpt.repo.gateway import Git


class Read:
    """One object as read: `kind` is commit, tree, blob or tag.

    `fault` is "", MISSING or DAMAGED; an object with a fault has neither kind nor content."""

    __slots__ = ("content", "fault", "kind", "oid")

    def __init__(self, oid: bytes, kind: bytes = b"", content: bytes | memoryview = b"", fault: str = "") -> None:
        self.oid, self.kind, self.content, self.fault = oid, kind, content, fault


def read_objects(git: Git, object_format: str, oids: Iterable[bytes]) -> Iterator[Read]:
    """Yield each of these objects, in this order, with its content checked against its id. Memory holds one at a time.

    Never raises for an object that is missing or damaged: its `fault` says so."""
    rest = list(oids)
    while rest:
        count = 0
        for found in _read(git, object_format, rest):
            count += 1
            yield found
        if count < len(rest):
            # git exits at an object that it cannot unpack: that one is damaged, and we continue after it
            yield Read(rest[count], fault=DAMAGED)
        rest = rest[count + 1 :]


def _read(git: Git, object_format: str, oids: Sequence[bytes]) -> Iterator[Read]:
    """Yield the objects up to the first that git cannot unpack."""
    import hashlib  # slow to import, and most importers of this module read no object

    output = _Output(git.stream("cat-file", "--batch", "--buffer", data=b"\n".join(oids) + b"\n", ok=(0, 128)))
    new_hash = hashlib.sha256 if object_format == "sha256" else hashlib.sha1
    for oid in oids:
        name, _, rest = output.line().partition(b" ")
        kind, _, size = rest.partition(b" ")
        if name != oid:
            return
        if not size:
            yield Read(oid, fault=MISSING)
            continue
        content = output.take(int(size) + 1)
        if content is None:
            return
        digest = new_hash(rest + b"\0", usedforsecurity=False)
        digest.update(content[:-1])
        whole = digest.hexdigest().encode() == oid
        yield Read(oid, kind, content[:-1]) if whole else Read(oid, fault=DAMAGED)


class _Output:
    """Git's output, read by line or by number of bytes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._held, self._position = pieces, b"", 0
        self._view = memoryview(b"")

    def line(self) -> bytes:
        """Return the next line without its line end; b"" at the end of the output."""
        while (end := self._held.find(b"\n", self._position)) < 0:
            if not self._more(1):
                return b""
        start, self._position = self._position, end + 1
        return self._held[start:end]

    def take(self, size: int) -> memoryview | None:
        """Return the next `size` bytes; None if fewer are left."""
        end = self._position + size
        if end > len(self._held):
            if not self._more(end - len(self._held)):
                return None
            end = size
        start, self._position = self._position, end
        return self._view[start:end]

    def _more(self, size: int) -> bool:
        """Read at least `size` further bytes (`size` is positive), and return whether there were that many."""
        pieces, total = [self._held[self._position :]], 0
        while total < size and (piece := next(self._pieces, b"")):
            pieces.append(piece)
            total += len(piece)
        self._held, self._position = b"".join(pieces), 0
        self._view = memoryview(self._held)
        return total >= size
