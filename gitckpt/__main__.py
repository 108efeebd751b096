"""`gitckpt`, and `python -m gitckpt`."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the command line in `sys.argv`; the exit status. What answers at once imports next to nothing."""
    _open_standard_streams()
    arguments = sys.argv[1:]
    from gitckpt.cli import edge

    return edge.run(lambda: _run(arguments), json="--json" in arguments)


def _run(arguments: list[str]) -> int:
    if arguments in (["--version"], ["-V"]):
        from gitckpt import __version__
        from gitckpt.cli import render

        render.out([f"gitckpt {__version__}"])
        return 0
    from gitckpt.cli.fast import run_fast

    # a shell that asks what may follow gives no arguments; they are in the environment
    status = None if "_GITCKPT_COMPLETE" in os.environ else run_fast(arguments)
    if status is None:
        from gitckpt.cli.app import run_app

        status = run_app(arguments)
    return status


def _open_standard_streams() -> None:
    """A closed standard stream is like /dev/null; else the next file that is opened would take its place."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def validate() -> int:
    """`gitckpt-validate`, as pre-commit runs it: `gitckpt validate` with the same arguments."""
    sys.argv[1:1] = ["validate"]
    return main()


if __name__ == "__main__":
    sys.exit(main())
