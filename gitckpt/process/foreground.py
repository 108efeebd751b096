"""Runs a command on the user's own terminal and waits for it: for the demo, and for trials on an event's files."""

from __future__ import annotations

import os
import subprocess

from gitckpt.process.command import agent_environment, find_program, not_started
from gitckpt.process.offspring import none_outliving

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def run_in_foreground(argv: Sequence[str], cwd: str) -> int:
    """Run a command with our own standard streams. Return its exit status, negative for the signal that ended it."""
    return subprocess.run(argv, cwd=cwd, check=False).returncode


def run_elsewhere(argv: Sequence[str], cwd: str, variables: Mapping[str, str], *, output: int | None = None) -> int:
    """Run a command in a directory other than the user's own, without any `GIT_*` variable that could lead it back to
    the user's repository. `variables` are added; `output` is a descriptor for its standard output. If we are told to
    end, nothing that it has started outlives us. Return its exit status as above. Raises UsageError if there is no such
    program."""
    given = agent_environment(os.environ)
    environment = {name: value for name, value in given.items() if not name.startswith(("GIT_", "GITCKPT_"))}
    find_program(argv, environment, cwd)
    with none_outliving():
        try:
            running = subprocess.Popen(argv, cwd=cwd, env=environment | dict(variables), stdout=output)
        except OSError as error:
            raise not_started(argv[0], error.errno or 0) from error
        return running.wait()


def run_with_input(argv: Sequence[str], content: bytes, variables: Mapping[str, str]) -> bool:
    """Run a program with `content` as its input, on our own terminal. Return whether there is such a program.

    A program that exits before it has read everything, such as a pager, is no failure. Ctrl-C is left to the program.
    """
    import signal

    environment = agent_environment(os.environ) | dict(variables)
    held = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        running = subprocess.Popen(argv, stdin=subprocess.PIPE, env=environment)
        running.communicate(content)
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, held)
    return True
