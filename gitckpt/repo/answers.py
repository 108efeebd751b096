"""Reading what git printed. An answer of an unknown form is a failure of git (a wrapper on PATH, a torn file), and is
told as one: nothing is recorded or restored by half-read answers."""

from __future__ import annotations

from functools import wraps

from gitckpt.errors import Damaged, GitFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import ParamSpec, TypeVar

    Given = ParamSpec("Given")
    Read = TypeVar("Read")

    #: Modes and object ids before and after, git's status letter, the path.
    RawChange = tuple[bytes, bytes, bytes, bytes, bytes, bytes]

#: Digits of an object id, SHA-1 and SHA-256.
LENGTHS = (40, 64)
DIGITS = frozenset("0123456789abcdef")

#: What helps where git cannot read the staging area.
INDEX_ANEW = (
    '(cd "$(git rev-parse --git-dir)" && mv index index.damaged) && git reset makes it anew from HEAD, '
    "and changes no file"
)

#: What helps where we have no right to what git needs.
TO_OPEN = "gitckpt doctor names what is closed to you, and the command that opens it"

#: What git says where it may not write into the object store.
STORE_CLOSED = "insufficient permission for adding an object"

#: What helps where a ref has the name of a directory that others need.
TO_MOVE_A_REF = "git branch kept REF keeps the ref that is in the way; git update-ref --no-deref -d REF takes it away"

#: What git says, and what helps: of a staging area that it cannot read, what it has no right to, names that clash.
REMEDIES = {
    "index file smaller than expected": INDEX_ANEW,
    "index file corrupt": INDEX_ANEW,
    "Permission denied": TO_OPEN,
    STORE_CLOSED: TO_OPEN,
    "' exists; cannot create '": TO_MOVE_A_REF,
}


def unknown_form(command: str) -> GitFailed:
    """The error for an answer that cannot be read."""
    return GitFailed(
        f"git {command} answered in an unknown form, and nothing was made of it",
        "see that the git on PATH is git itself: git --version",
    )


def unreadable(what: str, error: GitFailed) -> Damaged:
    """The error for what is on record and git cannot read."""
    return Damaged(f"{what} cannot be read: {error}", "gitckpt verify names what is missing")


def reads(command: str) -> Callable[[Callable[Given, Read]], Callable[Given, Read]]:
    """Marks a function that reads what this git command printed: it raises GitFailed for what it cannot read."""

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
    """Whether this is an object id, whole."""
    return len(text) in LENGTHS and DIGITS.issuperset(text)


def object_id(output: bytes, command: str) -> str:
    """The object id that git printed on a line of its own. Raises GitFailed where it printed anything else."""
    text = output.removesuffix(b"\n").decode("ascii", "replace")
    if not is_object_id(text):
        raise unknown_form(command)
    return text


def raw_changes(fields: Sequence[bytes], command: str) -> list[RawChange]:
    """What `git diff-tree -z` and its like print without `--name-status`, split at NUL."""
    return reads(command)(_raw_changes)(fields)


def _raw_changes(fields: Sequence[bytes]) -> list[RawChange]:
    found: list[RawChange] = []
    for head, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_oid, new_oid, status = head.removeprefix(b":").split(b" ")
        found.append((old_mode, new_mode, old_oid, new_oid, status, path))
    return found


def remedy(complaint: str) -> str:
    """What helps against what git complains of; "" where only its own words may tell."""
    return next((remedy for words, remedy in REMEDIES.items() if words in complaint), "")
