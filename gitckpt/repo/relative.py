"""Convert permission bits that are on record relative to one umask to those relative to another."""

from __future__ import annotations

from gitckpt.repo.index import parents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def plain_mode(path: bytes, executable: bool, umask: int) -> int:
    """Return the permission bits that git and a umask give. A directory ends in `/`."""
    return (0o777 if executable or path.endswith(b"/") else 0o666) & ~umask


def told_under(
    umask: int, modes: Mapping[bytes, int], was: int, files: Mapping[bytes, tuple[bytes, bytes]], empty: Iterable[bytes]
) -> dict[bytes, int]:
    """Return the permission bits of everything in a tree that differ from what `umask` gives, where `modes` are those
    that differ from what the umask `was` gives. `files` are the entries of the tree, path → (mode, object id), and
    `empty` the empty directories beside it."""
    places = {path: mode == b"100755" for path, (mode, _) in files.items() if mode.startswith(b"100")}
    directories = parents([*files, *(path + b"/" for path in empty)])
    places |= dict.fromkeys((path + b"/" for path in directories), True)
    found = {path: modes.get(path, plain_mode(path, executable, was)) for path, executable in places.items()}
    differing = {path: mode for path, mode in found.items() if mode != plain_mode(path, places[path], umask)}
    return differing | {path: mode for path, mode in modes.items() if path not in places}
