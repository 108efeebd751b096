"""Show output longer than the screen in the user's pager, as git does."""

from __future__ import annotations

import os
import shlex
import sys

#: The variables that name a pager, by precedence; an empty value, or `cat`, means none.
NAMED_IN = ("GITCKPT_PAGER", "GIT_PAGER", "PAGER")

#: Options for less: quit if everything fits, pass colours through, and leave the text on the screen.
LESS = "FRX"


def show_in_pager(content: bytes) -> bool:
    """Show the content; return False if no pager is available or standard input is not a terminal."""
    command = next((os.environ[name] for name in NAMED_IN if name in os.environ), "less")
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if not words or words == ["cat"] or sys.stdin is None or not sys.stdin.isatty():
        return False
    from gitckpt.process.foreground import run_with_input

    return run_with_input(words, content, {"LESS": os.environ.get("LESS", LESS)})
