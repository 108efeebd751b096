"""The sessions in a remote's list of refs."""

from __future__ import annotations

from gitckpt.protocol.ids import is_legal
from gitckpt.repo.repository import REFS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitckpt.repo.journal import Lines


def sessions_in(refs: Mapping[str, str]) -> tuple[Lines, int]:
    """Return session → line → commit for our refs on a remote, and the number of refs below ours whose form gitckpt
    never makes. Tags follow from the lines, and the marks of where a session was fetched from are local to each
    repository."""
    found: Lines = {}
    strange = 0
    for name, oid in refs.items():
        if not name.startswith(REFS):
            continue
        session, kind, *names = [*name.removeprefix(REFS).split("/"), "", ""]
        if kind == "from":
            continue
        if not is_legal(session) or kind not in ("heads", "tags") or names[1:] != ["", ""] or not is_legal(names[0]):
            strange += 1
        elif kind == "heads":
            found.setdefault(session, {})[names[0]] = oid
    return found, strange
