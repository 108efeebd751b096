"""`gitckpt demo`: the whole story in a throw-away repository."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile

from gitckpt.cli import render
from gitckpt.config import choice
from gitckpt.process.foreground import run_in_foreground


def demo(directory: str | None, *, language: str, pause: float) -> int:
    """Tell the story; return 0 if all of its commands and checks succeeded."""
    from gitckpt.demo.story import run_demo

    choice(language, ("zh", "en"), "--lang")
    where = directory or tempfile.mkdtemp(prefix="gitckpt-demo-")
    return run_demo(where, _run, _say, lang=language, pause=pause, program=_program())


def _program() -> str:
    """Return what the user types for this gitckpt: its name if the shell finds it, otherwise its path."""
    own = os.path.realpath(sys.argv[0])
    if os.path.realpath(shutil.which("gitckpt") or "") == own:
        return "gitckpt"
    if os.path.basename(own) == "gitckpt" and os.access(own, os.X_OK):
        return shlex.quote(os.path.abspath(sys.argv[0]))
    return f"{shlex.quote(sys.executable)} -m gitckpt"


def _run(arguments: list[str], cwd: str) -> int:
    """Run a real gitckpt command line on the user's terminal."""
    sys.stdout.flush()
    return run_in_foreground([sys.executable, "-m", "gitckpt", *arguments], cwd)


def _say(text: str) -> None:
    render.out([text])
