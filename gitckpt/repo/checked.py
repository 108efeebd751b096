"""What a record says is anybody's text until it is checked: ids of objects, modes, paths that may reach git or disk."""

from __future__ import annotations

import re

from gitckpt.errors import Damaged
from gitckpt.trajectory.paths import data_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OID = r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z"
_MODE = r"[0-7]{1,4}\Z"
_ENTRY_MODES = ("100644", "100755", "120000", "160000")

#: A part that leads up, says nothing, or is git's own, in any case of letters.
_UNSAFE = rb"(?i)(?:\A|/)(?:\.{0,2}|\.git)(?:/|\Z)"


def _refuse(what: str, value: object) -> Damaged:
    shown = ascii(value)[:80]
    return Damaged(
        f"the record of a checkpoint has {shown} for {what}", "nothing was changed; gitckpt log shows the others"
    )


def oid(value: object) -> str:
    """An object id in hexadecimal. Raises Damaged for anything else: it could be read as an option."""
    if not isinstance(value, str) or not re.match(_OID, value):
        raise _refuse("an object id", value)
    return value


def entry_mode(value: object) -> str:
    """The mode of an index entry. Raises Damaged."""
    if value not in _ENTRY_MODES:
        raise _refuse("the mode of a file", value)
    return str(value)


def stage(value: object) -> int:
    """The stage of an unmerged entry. Raises Damaged."""
    if value not in (1, 2, 3) or isinstance(value, bool):
        raise _refuse("a stage", value)
    return int(str(value))


def permission_bits(value: object) -> int:
    """Permission bits, written in octal. Raises Damaged."""
    text = str(value)
    if not re.match(_MODE, text):
        raise _refuse("permission bits", value)
    return int(text, 8)


def _bytes(value: Any) -> bytes:
    try:
        return data_path(value)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise _refuse("a path", value) from error


def path(value: Any) -> bytes:
    """A path inside the work tree that is none of git's own; one of a directory may end in `/`. Raises Damaged."""
    return safe(_bytes(value), directory=True)


def uncovered(value: Any) -> bytes | None:
    """A path that a snapshot does not hold; None for one with git's own name, which none does. Raises Damaged."""
    found = _bytes(value)
    return None if b".git" in found.lower().split(b"/") else safe(found, directory=True)


def safe(found: bytes, *, directory: bool = False) -> bytes:
    """The path, if it stays inside the work tree and out of git's own. Raises Damaged."""
    name = found.removesuffix(b"/") if directory else found
    if not name or b"\0" in name or re.search(_UNSAFE, name):
        raise _refuse("a path", found)
    return found
