"""What a remote's list of refs says of sessions."""

from __future__ import annotations

from gitckpt.protocol.ids import is_legal
from gitckpt.repo.repository import REFS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitckpt.repo.journal import Lines


def sessions_in(refs: Mapping[str, str]) -> tuple[Lines, int]:
    """Session → line → commit of what refs of a remote are ours, and how many below ours are not of a form that gitckpt
    makes. Tags follow from the lines, and what was fetched from where is each repository's own."""
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
