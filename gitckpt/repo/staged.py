"""Staged content, for validation before a commit. Only reads blobs; no file, index or stash is touched."""

from __future__ import annotations

import os

from gitckpt.repo.answers import raw_changes, reads
from gitckpt.repo.gateway import split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository

#: What a file must contain to be read as protocol: the marker, in ASCII or full width.
MARKERS = (b"===", "＝＝＝".encode())

#: Bytes above which a staged file counts as data, not a transcript.
LARGEST = 32 * 1024 * 1024


def staged_contents(repository: Repository) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of every staged file that may contain blocks, as it would be committed.

    `git commit -a` and `git commit PATH` prepare their own index and name it in the environment of their hooks.
    """
    index = os.environ.get("GIT_INDEX_FILE", "")
    git = repository.git
    if index and os.path.realpath(os.fsencode(index)).startswith(repository.common_dir + b"/"):
        git = git.view(GIT_INDEX_FILE=os.path.realpath(os.fsencode(index)))
    base = (
        "HEAD"
        if git.succeeds("rev-parse", "-q", "--verify", "HEAD")
        else git.object_id("hash-object", "-t", "tree", "--stdin")
    )
    command = ("diff-index", "--cached", "-r", "-z", "--no-renames", "--diff-filter=AMT", base)
    fields = split(git.run(*command))
    for _, mode, _, oid, _, path in raw_changes(fields, "diff-index"):
        if mode in (b"100644", b"100755") and _size(git, oid) <= LARGEST:
            content = git.run("cat-file", "blob", oid)
            if any(marker in content for marker in MARKERS) and b"\0" not in content:
                yield os.fsdecode(path), content


@reads("cat-file -s")
def _size(git: Git, oid: bytes) -> int:
    return int(git.text("cat-file", "-s", oid))
