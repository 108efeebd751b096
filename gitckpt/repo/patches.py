"""The changes of many events as patches, with a single git call, and for each file no more than a person would read."""

from __future__ import annotations

from gitckpt.errors import GitFailed
from gitckpt.repo.answers import is_object_id, unknown_form, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gitckpt.repo.gateway import Git

#: Maximum lines kept of one file's patch, and maximum bytes kept of one line.
MOST_LINES = 400
LONGEST_LINE = 2000

#: Bytes of all patches together after which lines are counted but no longer kept.
MOST_BYTES = 24 * 1024 * 1024


class Patch:
    """The changes to one file. `lines` are its hunks as git prints them, from the first `@@` line on; `added` and
    `deleted` count all lines, kept or not; `left_out` is how many are not kept. `is_binary` says that git shows no
    lines; `notes` are the header lines other than the names (`new file mode 100644`)."""

    __slots__ = ("added", "deleted", "is_binary", "left_out", "lines", "notes")

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.notes: list[bytes] = []
        self.added = self.deleted = self.left_out = 0
        self.is_binary = False

    def take_header(self, line: bytes) -> None:
        if line.startswith((b"Binary files ", b"GIT binary patch")):
            self.is_binary = True
        elif not line.startswith((b"index ", b"--- ", b"+++ ")):
            self.notes.append(line)

    def take(self, line: bytes, *, keep: bool) -> None:
        self.added += line.startswith(b"+")
        self.deleted += line.startswith(b"-")
        if keep and len(self.lines) < MOST_LINES:
            self.lines.append(line)
        else:
            self.left_out += 1


def patches(git: Git, pairs: Sequence[tuple[str, str]]) -> dict[str, list[Patch]]:
    """Return, by commit, the changes against its parent, given as (commit, parent): a patch for each file, in git's
    path order. A file that became a link, or vice versa, has two: its deletion and its creation.

    Raise Damaged if the changes of a commit cannot be read.
    """
    found: dict[str, list[Patch]] = {commit: [] for commit, _ in pairs}
    if not pairs:
        return found
    command = (
        "diff-tree",
        "--stdin",
        "-r",
        "-p",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--submodule=short",
    )
    data = "".join(f"{commit} {parent}\n" for commit, parent in pairs).encode()
    try:
        _read(_lines(git.stream(*command, data=data)), found)
    except GitFailed as error:
        raise unreadable("a checkpoint", error) from error
    return found


def _read(lines: Iterable[bytes], found: dict[str, list[Patch]]) -> None:
    """Parse patches line by line. Every content line inside a patch starts with a sign, so content cannot look like a
    commit id or the start of the next file."""
    files: list[Patch] | None = None
    patch: Patch | None = None
    in_hunks, kept = False, 0
    for line in lines:
        if line.startswith(b"diff --git ") and files is not None:
            patch, in_hunks = Patch(), False
            files.append(patch)
        elif _is_commit(line):
            files, patch = found.get(line.decode()), None
        elif patch is None:
            raise unknown_form("diff-tree -p")
        elif in_hunks or line.startswith(b"@@ "):
            in_hunks = True
            patch.take(line, keep=kept < MOST_BYTES)
            kept += len(line) if not patch.left_out else 0
        else:
            patch.take_header(line)


def _is_commit(line: bytes) -> bool:
    return is_object_id(line.decode("ascii", "replace"))


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of the output, cutting longer lines after LONGEST_LINE + 1 bytes."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line[: LONGEST_LINE + 1] for line in whole)
        rest = rest[: LONGEST_LINE + 1]
    if rest:
        yield rest
