"""Resolve paths that the user gives, relative to the current directory."""

from __future__ import annotations

import os

from gitckpt.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.repo.repository import Repository


def from_here(repository: Repository, paths: Sequence[str]) -> tuple[bytes, ...]:
    """Return the paths relative to the root of the work tree. Raise Refused for a path outside it, and for git's
    own."""
    return tuple(_from_here(repository, path) for path in paths)


def _from_here(repository: Repository, path: str) -> bytes:
    if not path:
        raise Refused("'' is no path", "give a path inside the work tree")
    top = os.path.realpath(repository.work_tree)
    full = os.path.normpath(os.path.join(os.path.realpath(repository.cwd), os.fsencode(path)))
    # the last component may be a link, and then the link itself is meant
    directory, name = os.path.split(full)
    full = os.path.join(os.path.realpath(directory), name) if full != top else top
    if full != top and not full.startswith(top + b"/"):
        raise Refused(f"{path!r} is outside of the work tree", "give a path inside it")
    relative = full[len(top) + 1 :]
    if b".git" in relative.lower().split(b"/"):
        raise Refused(f"{path!r} is git's own", "give a path of the work tree")
    return relative
