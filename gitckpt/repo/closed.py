"""Handle directories without write permission. A rollback opens those that the user owns while it writes in them,
because it restores what was in them; the record of the previous state has their permission bits."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from gitckpt.repo.directories import leads_through_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from gitckpt.repo.repository import Repository

#: The capability to do what only a file's owner may do: CAP_FOWNER of <linux/capability.h>.
FOR_ALL_FILES = 1 << 3


def not_to_be_opened(repository: Repository, paths: Collection[bytes]) -> dict[bytes, str]:
    """Return paths in directories that another user owns and in which we may not create or remove anything: path →
    why."""
    parents = {path.rpartition(b"/")[0] for path in paths}
    places = {parent: _deepest_directory(repository, parent) for parent in parents}
    closed = {
        place for place in set(places.values()) if _is_closed(repository, place) and not _is_own(repository, place)
    }
    found = {path: places[path.rpartition(b"/")[0]] for path in paths}
    return {
        path: f"no permission to write in {os.fsdecode(place or b'the work tree')}"
        for path, place in found.items()
        if place in closed
    }


def not_to_be_changed(repository: Repository, paths: Iterable[bytes]) -> dict[bytes, str]:
    """Return paths whose permission bits only another user may change: path → why. A directory ends in `/`."""
    others = [path for path in paths if not _is_own(repository, path.rstrip(b"/"))]
    if others and _owns_all():
        return {}
    return dict.fromkeys(others, "it is somebody else's, who alone can change its permission bits")


@contextmanager
def opened(repository: Repository, paths: Iterable[bytes]) -> Iterator[None]:
    """Open the closed directories that we own on the way to the paths, and close them again at the end."""
    modes: dict[bytes, int] = {}
    try:
        for place in sorted({above for path in paths for above in _above(path)}):
            _open(repository, place, modes)
        yield
    finally:
        for place, mode in modes.items():
            if _is_directory(repository, place):
                os.chmod(repository.at(place), mode)


def _open(repository: Repository, place: bytes, modes: dict[bytes, int]) -> None:
    if _is_directory(repository, place) and _is_closed(repository, place) and _is_own(repository, place):
        full = repository.at(place)
        modes[place] = stat.S_IMODE(os.lstat(full).st_mode)
        os.chmod(full, modes[place] | stat.S_IRWXU)


def _is_directory(repository: Repository, place: bytes) -> bool:
    full = repository.at(place)
    return os.path.isdir(full) and not os.path.islink(full) and not leads_through_link(repository, place)


def _is_closed(repository: Repository, place: bytes) -> bool:
    effective = os.access in os.supports_effective_ids
    return not os.access(repository.at(place), os.W_OK | os.X_OK, effective_ids=effective)


def _is_own(repository: Repository, place: bytes) -> bool:
    try:
        return os.lstat(repository.at(place)).st_uid == os.geteuid()
    except OSError:
        return True  # a missing directory will be created, and is ours then


def _above(path: bytes) -> list[bytes]:
    """Return the directories that contain a path, starting with the work tree itself."""
    parts = path.rstrip(b"/").split(b"/")
    return [b"/".join(parts[:count]) for count in range(len(parts))]


def _owns_all() -> bool:
    """Return whether this process may act as the owner of any file: root may, except in some containers."""
    try:
        with open("/proc/self/status", "rb") as file:
            rights = next(line.split()[1] for line in file if line.startswith(b"CapEff:"))
    except (OSError, StopIteration):  # not Linux
        return os.geteuid() == 0
    return bool(int(rights, 16) & FOR_ALL_FILES)


def _deepest_directory(repository: Repository, path: bytes) -> bytes:
    """Return the deepest directory on the way to this one, itself included, that exists and is not behind or itself a
    link."""
    for place in (*_above(path)[1:], path):
        if not _is_directory(repository, place):
            return place.rpartition(b"/")[0]
    return path
