"""`gitckpt init`: what other programs need to call gitckpt, written where they look for it, and taken out again."""

from __future__ import annotations

import os
import shutil
import sys

from gitckpt.cli import render
from gitckpt.errors import UsageError
from gitckpt.repo import git_hooks
from gitckpt.repo.repository import discover


def init(*, hooks: bool = False, remove: bool = False, show: bool = False) -> int:
    """Install git's hooks, show what would be written, or take them out."""
    if not (hooks or remove):
        raise UsageError(
            "nothing to set up was named; gitckpt needs no init to record and to go back",
            "gitckpt init --hooks adds the pre-commit and commit-msg hooks",
        )
    repository = discover()
    directory = git_hooks.hooks_directory(repository)
    if show:
        for name in git_hooks.HOOKS:
            path = os.fsdecode(os.path.join(directory, name.encode()))
            render.out([f"# {path}", git_hooks.script(name, program()).decode("utf-8", "replace")])
        return 0
    if remove:
        render.out(git_hooks.remove(directory) or ["there is nothing of gitckpt's to take out"])
        return 0
    render.out(git_hooks.install(directory, program()))
    return 0


def program() -> str:
    """The command that runs this gitckpt, as an absolute path where that can be told."""
    here = os.path.join(os.path.dirname(sys.executable), "gitckpt")
    invoked = shutil.which(sys.argv[0]) or ""
    for path in (os.path.abspath(invoked) if invoked else "", here):
        if os.path.basename(path) == "gitckpt" and os.access(path, os.X_OK):
            return path
    return shutil.which("gitckpt") or "gitckpt"
