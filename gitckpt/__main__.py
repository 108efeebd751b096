"""`gitckpt`, and `python -m gitckpt`."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

#: Modules that register work for the end of the process, or that must be waited for there.
AT_THE_END = ("atexit", "threading")

#: How many more objects than before start a search for garbage. Python's 700 makes it search what a short command
#: imports and reads over and over; a long one still loses its garbage.
MANY_OBJECTS = 50_000


def console() -> NoReturn:
    """Run `main` as a process of its own, and exit with its status."""
    status = main()
    if not any(name in sys.modules for name in AT_THE_END):
        _leave(status)
    sys.exit(status)


def _leave(status: int) -> None:
    """Exit at once. A client waits for its hook, and interpreter shutdown costs a tenth of the hook's run time."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return  # the interpreter reports this at its own exit
    os._exit(status)


def main() -> int:
    """Run the command line in `sys.argv` and return the exit status. Commands that answer at once import next to
    nothing."""
    gc.set_threshold(MANY_OBJECTS)
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

    # shell completion passes no arguments; it puts them in the environment
    status = None if "_GITCKPT_COMPLETE" in os.environ else run_fast(arguments)
    if status is None:
        from gitckpt.cli.app import run_app

        status = run_app(arguments)
    return status


def _open_standard_streams() -> None:
    """Open /dev/null for each closed standard stream; otherwise the next file to be opened would get its descriptor."""
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
