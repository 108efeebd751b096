"""What is longer than the screen, in the pager that the person has chosen, as git does it."""

from __future__ import annotations

import os
import shlex
import sys

#: Where a pager is named, the nearest first; an empty one, or `cat`, means none.
NAMED_IN = ("GITCKPT_PAGER", "GIT_PAGER", "PAGER")

#: less ends by itself where all fits, lets colours through, and leaves the text on the screen.
LESS = "FRX"


def show_in_pager(content: bytes) -> bool:
    """Show it; False where there is no pager to be had, or nobody at the keyboard."""
    command = next((os.environ[name] for name in NAMED_IN if name in os.environ), "less")
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if not words or words == ["cat"] or sys.stdin is None or not sys.stdin.isatty():
        return False
    from gitckpt.process.foreground import run_with_input

    return run_with_input(words, content, {"LESS": os.environ.get("LESS", LESS)})
