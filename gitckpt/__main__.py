"""`gitckpt`, and `python -m gitckpt`."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

#: What tells others of the end of the process, or has to be waited for.
AT_THE_END = ("atexit", "threading")


def console() -> NoReturn:
    """`gitckpt` as a process of its own: `main`, and the end."""
    status = main()
    if not any(name in sys.modules for name in AT_THE_END):
        _leave(status)
    sys.exit(status)


def _leave(status: int) -> None:
    """End at once: a client waits for its hook, and taking everything apart costs a tenth of what that takes."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return  # it is for the interpreter to say so
    os._exit(status)


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
    console()
