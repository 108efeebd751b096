"""An agent that carries the migration out in the current directory. It goes on after each block only when that is on
record, so that what follows a block is never taken for what preceded it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from migration import STEPS


def events() -> int:
    """How many events are on record."""
    count = ["git", "rev-list", "--count", "--first-parent", "--glob=refs/gitckpt/*/heads/*"]
    root = 1  # the constant commit that every session hangs on
    return int(subprocess.run(count, capture_output=True, check=True).stdout) - root


def main() -> None:
    end = time.monotonic() + 60
    for number, step in enumerate(STEPS, start=2):
        for name, content in step.files.items():
            Path(name).write_text(content)
        sys.stdout.write(f"I am at {step.id} now.\n{step.block}")
        sys.stdout.flush()
        while events() < number and time.monotonic() < end:
            time.sleep(0.01)


main()
