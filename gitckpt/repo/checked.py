"""Check the values in a record, which anyone may have written: object ids, modes, and paths that may reach git or the
disk."""

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

#: A path component that is empty, `.`, `..`, or `.git` in any case.
_UNSAFE = rb"(?i)(?:\A|/)(?:\.{0,2}|\.git)(?:/|\Z)"


def _refuse(what: str, value: object) -> Damaged:
    shown = ascii(value)[:80]
    return Damaged(
        f"the record of a checkpoint has {shown} for {what}", "nothing was changed; gitckpt log shows the others"
    )


def oid(value: object) -> str:
    """Return an object id in hexadecimal. Raise Damaged for anything else, which git might read as an option."""
    if not isinstance(value, str) or not re.match(_OID, value):
        raise _refuse("an object id", value)
    return value


def entry_mode(value: object) -> str:
    """Return the mode of an index entry. Raise Damaged."""
    if value not in _ENTRY_MODES:
        raise _refuse("the mode of a file", value)
    return str(value)


def stage(value: object) -> int:
    """Return the stage of an unmerged entry. Raise Damaged."""
    if value not in (1, 2, 3) or isinstance(value, bool):
        raise _refuse("a stage", value)
    return int(str(value))


def permission_bits(value: object) -> int:
    """Return permission bits, written in octal. Raise Damaged."""
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
    """Return a path inside the work tree that is not git's own; a directory may end in `/`. Raise Damaged."""
    return safe(_bytes(value), directory=True)


def uncovered(value: Any) -> bytes | None:
    """Return a path that a snapshot does not hold, or None for one with git's own name, which no snapshot holds. Raise
    Damaged."""
    found = _bytes(value)
    return None if b".git" in found.lower().split(b"/") else safe(found, directory=True)


def safe(found: bytes, *, directory: bool = False) -> bytes:
    """Return the path if it stays inside the work tree and outside git's own files. Raise Damaged."""
    name = found.removesuffix(b"/") if directory else found
    if not name or b"\0" in name or re.search(_UNSAFE, name):
        raise _refuse("a path", found)
    return found
