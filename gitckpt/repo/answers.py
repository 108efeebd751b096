"""Parse what git prints. Output in an unknown form (from a wrapper on PATH, or a truncated file) is reported as a
failure of git: nothing is recorded or restored from a half-read answer."""

from __future__ import annotations

import os
from functools import wraps

from gitckpt.errors import REMEDIES as OF_THE_SYSTEM
from gitckpt.errors import Damaged, GitFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import ParamSpec, TypeVar

    Given = ParamSpec("Given")
    Read = TypeVar("Read")

    #: The modes before and after, the object ids before and after, git's status letter, the path.
    RawChange = tuple[bytes, bytes, bytes, bytes, bytes, bytes]

#: The number of digits in an object id, for SHA-1 and SHA-256.
LENGTHS = (40, 64)
DIGITS = "0123456789abcdef"

#: The hint for an index that git cannot read.
INDEX_ANEW = (
    '(cd "$(git rev-parse --git-dir)" && mv index index.damaged) && git reset makes it anew from HEAD, '
    "and changes no file"
)

#: The hint for files that git needs and we may not access.
TO_OPEN = "gitckpt doctor names what is closed to you, and the command that opens it"

#: What git prints when it may not write into the object store.
STORE_CLOSED = "insufficient permission for adding an object"

#: The hint for a ref whose name is needed as a directory of other refs.
TO_MOVE_A_REF = "git branch kept REF keeps the ref that is in the way; git update-ref --no-deref -d REF takes it away"

#: What git prints → the hint: for an index that it cannot read, for missing permissions, for ref names that clash, and
#: for what the system refuses.
REMEDIES = {
    **{os.strerror(number): f"{remedy}, and run the command again" for number, remedy in OF_THE_SYSTEM.items()},
    "index file smaller than expected": INDEX_ANEW,
    "index file corrupt": INDEX_ANEW,
    "Permission denied": TO_OPEN,
    STORE_CLOSED: TO_OPEN,
    "' exists; cannot create '": TO_MOVE_A_REF,
}


def unknown_form(command: str) -> GitFailed:
    """Return the error for output that cannot be parsed."""
    return GitFailed(
        f"git {command} answered in an unknown form, and nothing was made of it",
        "see that the git on PATH is git itself: git --version",
    )


def unreadable(what: str, error: GitFailed) -> Damaged:
    """Return the error for recorded data that git cannot read."""
    return Damaged(f"{what} cannot be read: {error}", "gitckpt verify names what is missing")


def reads(command: str) -> Callable[[Callable[Given, Read]], Callable[Given, Read]]:
    """Mark a function that parses the output of this git command: it raises GitFailed for output that it cannot
    parse."""

    def marked(function: Callable[Given, Read]) -> Callable[Given, Read]:
        @wraps(function)
        def reading(*arguments: Given.args, **options: Given.kwargs) -> Read:
            try:
                return function(*arguments, **options)
            except (ValueError, LookupError, StopIteration) as error:
                raise unknown_form(command) from error

        return reading

    return marked


def is_object_id(text: str) -> bool:
    """Return whether the text is a full object id."""
    return len(text) in LENGTHS and not text.strip(DIGITS)


def object_id(output: bytes, command: str) -> str:
    """Return the object id that git printed on a line of its own. Raise GitFailed if it printed anything else."""
    text = output.removesuffix(b"\n").decode("ascii", "replace")
    if not is_object_id(text):
        raise unknown_form(command)
    return text


def raw_changes(fields: Sequence[bytes], command: str) -> list[RawChange]:
    """Parse the output of `git diff-tree -z` and similar commands without `--name-status`, already split at NUL."""
    return reads(command)(_raw_changes)(fields)


def _raw_changes(fields: Sequence[bytes]) -> list[RawChange]:
    found: list[RawChange] = []
    for head, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_oid, new_oid, status = head.removeprefix(b":").split(b" ")
        found.append((old_mode, new_mode, old_oid, new_oid, status, path))
    return found


def remedy(complaint: str) -> str:
    """Return the hint for an error message of git's; "" if there is none but git's own words."""
    return next((remedy for words, remedy in REMEDIES.items() if words in complaint), "")
