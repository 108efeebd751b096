"""Find which event wrote each line of a file: git's own blame along a line of events, optionally with the file on disk
on top."""

from __future__ import annotations

import os
import re

from gitckpt.repo.answers import reads
from gitckpt.repo.gateway import Git
from gitckpt.repo.private import ATTRIBUTES
from gitckpt.repo.room import make_room, remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.repository import Repository

    #: The commit of the event that wrote the line, or None if none has yet; the line number, from 1; the line's bytes.
    Line = tuple[str | None, int, bytes]

#: The start of each entry of `blame --porcelain`: the commit, the line number there, the line number here.
HEADER = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) \d+ (\d+)(?: \d+)?\Z")


def blame(repository: Repository, tip: str, path: bytes, span: str = "") -> list[Line]:
    """Return the lines of a file in the snapshot of the event `tip`, or only those in `span` (`10,20`).

    Raise GitFailed if the snapshot has no such file."""
    return _lines(repository.git.run(*_command(span), tip, "--", path))


def blame_now(repository: Repository, tip: str, path: bytes, span: str = "") -> list[Line]:
    """Like `blame`, for the file as it is in the work tree now."""
    directory = make_room("blame")
    try:
        return _lines(_above(repository, tip, directory).run(*_command(span), "--", path))
    finally:
        remove(directory)


def _above(repository: Repository, tip: str, directory: bytes) -> Git:
    """Return git for a repository whose HEAD is the event, so that git treats the files on disk as uncommitted changes
    to it."""
    for name in (b"refs", b"objects", b"info"):
        os.mkdir(os.path.join(directory, name))
    version = 1 if repository.object_format == "sha256" else 0
    settings = f"[core]\nrepositoryformatversion = {version}\nbare = false\nautocrlf = false\n"
    if version:
        settings += f"[extensions]\nobjectformat = {repository.object_format}\n"
    for name, content in (
        (b"HEAD", tip.encode() + b"\n"), (b"config", settings.encode()), (b"info/attributes", ATTRIBUTES)
    ):  # fmt: skip
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)
    variables: dict[str, bytes | str] = {
        "GIT_DIR": directory, "GIT_WORK_TREE": repository.work_tree, "GIT_OBJECT_DIRECTORY": repository.objects_dir,
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
    }  # fmt: skip
    return Git(repository.work_tree, variables)


def _command(span: str) -> list[str]:
    return ["blame", "--porcelain", "--first-parent", *([f"-L{span}"] if span else [])]


@reads("blame")
def _lines(output: bytes) -> list[Line]:
    found: list[Line] = []
    commit, number = b"", 0
    for row in output.split(b"\n")[:-1]:
        if row.startswith(b"\t"):
            found.append((None if not commit.strip(b"0") else commit.decode(), number, row[1:]))
        elif header := HEADER.match(row):
            commit, number = header[1], int(header[2])
    return found
