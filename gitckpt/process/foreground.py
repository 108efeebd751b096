"""A command on the person's own terminal, waited for: what the demo shows."""

from __future__ import annotations

import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def run_in_foreground(argv: Sequence[str], cwd: str) -> int:
    """Run it with our own standard streams; its exit status, negative for the signal that ended it."""
    return subprocess.run(argv, cwd=cwd, check=False).returncode
