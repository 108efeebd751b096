"""`gitckpt demo`: the whole story in a throw-away repository."""

from __future__ import annotations

import sys
import tempfile

from gitckpt.cli import render
from gitckpt.config import choice
from gitckpt.process.foreground import run_in_foreground


def demo(directory: str | None, *, language: str, pause: float) -> int:
    """Tell the story; 0 where every command and check of it held."""
    from gitckpt.demo.story import run_demo

    choice(language, ("zh", "en"), "--lang")
    where = directory or tempfile.mkdtemp(prefix="gitckpt-demo-")
    return run_demo(where, _run, _say, lang=language, pause=pause)


def _run(arguments: list[str], cwd: str) -> int:
    """Run one real command line of ours, on the person's own terminal."""
    sys.stdout.flush()
    return run_in_foreground([sys.executable, "-m", "gitckpt", *arguments], cwd)


def _say(text: str) -> None:
    render.out([text])
