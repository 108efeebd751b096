"""Objects that a partial clone has left at its origin: that they are missing here is not damage."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gitckpt.repo.repository import Repository

#: The object id in git's message about an object that no remote has promised.
MISSING = re.compile(rb"'?([0-9a-f]{40,64})'?")


def not_promised(repository: Repository, lost: Mapping[bytes, Mapping[bytes, bytes]]) -> set[bytes]:
    """Return the lost objects that no remote has promised; `lost` is tree → object → path.

    Nothing is fetched: git walks what is here, and names the first object that is missing."""
    objects = {oid for found in lost.values() for oid in found}
    if not objects or not _is_partial(repository):
        return objects
    missed: set[bytes] = set()
    pending = set(lost)
    while pending and (oid := _first_missed(repository, sorted(pending))):
        missed.add(oid)
        pending = {tree for tree in pending if not missed & set(lost[tree])}
    return missed & objects


def _is_partial(repository: Repository) -> bool:
    pattern = r"^(extensions\.partialclone|remote\..*\.promisor)$"
    return repository.git.succeeds("config", "--get-regexp", pattern)


def _first_missed(repository: Repository, trees: Sequence[bytes]) -> bytes:
    """Return the first object below these trees that is neither here nor promised; b"" if there is none."""
    call = repository.git.start(
        "rev-list", "--objects", "--quiet", "--missing=allow-promisor", "--stdin",
        data=b"\n".join(trees) + b"\n", ok=(0, 128),
    )  # fmt: skip
    call.wait()
    found = MISSING.search(call.stderr) if call.status else None
    return found[1] if found else b""
