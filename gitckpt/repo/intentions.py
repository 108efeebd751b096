"""Intent-to-add entries of the staging area (`git add -N`): reading them with their modes, and setting them again."""

from __future__ import annotations

import os
import re

from gitckpt.repo.private import clear

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository

#: The flag of an index entry that only says that a file will be added (git's CE_INTENT_TO_ADD).
INTENT_TO_ADD = 1 << 29

#: Name, in the private directory, of a temporary work tree for `note`.
SHOWN = b"intended"


def intended(git: Git, entries: Iterable[bytes], empty: bytes) -> dict[bytes, bytes]:
    """Return path → mode of the intent-to-add entries of an index; `entries` are as `ls-files -z -s -v` prints them.
    Such an entry looks like an `empty` file."""
    modes = {
        entry.partition(b"\t")[2]: entry.split(b" ", 2)[1] for entry in entries if empty in entry.partition(b"\t")[0]
    }
    if not modes:
        return {}
    few = list(modes) if len(modes) <= 1000 else []
    output = git.run("ls-files", "-z", "-s", "--debug", "--", *few)
    flags = re.finditer(rb"\t([^\0]+)\0(?:  .*\n){4}.*flags: ([0-9a-f]+)\n", output)
    return {match[1]: modes[match[1]] for match in flags if match[1] in modes and int(match[2], 16) & INTENT_TO_ADD}


def note(repository: Repository, git: Git, wanted: Mapping[bytes, bytes]) -> None:
    """Record the intent to add these files, given as path → mode.

    Git takes the mode from the file on disk, and the file may be gone by now. So git runs on a work tree with only
    stand-ins for these files."""
    if not wanted:
        return
    shown = os.path.join(repository.private_dir, SHOWN)
    clear(shown)
    os.mkdir(shown)
    try:
        for path, mode in wanted.items():
            _stand_in(os.path.join(shown, path), mode)
        view = git.view("core.fileMode=true", "core.symlinks=true", cwd=shown, GIT_WORK_TREE=shown)
        data = b"\0".join(sorted(wanted)) + b"\0"
        view.run("add", "-N", "-f", "--pathspec-from-file=-", "--pathspec-file-nul", data=data)
    finally:
        clear(shown)


def _stand_in(path: bytes, mode: bytes) -> None:
    """Create a file or link of that mode."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if mode == b"120000":
        os.symlink(b"nowhere", path)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o700 if mode == b"100755" else 0o600))
