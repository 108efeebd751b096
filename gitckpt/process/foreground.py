"""A command on the person's own terminal, waited for: what the demo shows, and what a person tries on files of old."""

from __future__ import annotations

import os
import subprocess

from gitckpt.process.command import agent_environment, find_program, not_started
from gitckpt.process.offspring import none_outliving

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def run_in_foreground(argv: Sequence[str], cwd: str) -> int:
    """Run it with our own standard streams; its exit status, negative for the signal that ended it."""
    return subprocess.run(argv, cwd=cwd, check=False).returncode


def run_elsewhere(argv: Sequence[str], cwd: str, variables: Mapping[str, str], *, output: int | None = None) -> int:
    """The same in a directory that is not the person's own: no `GIT_*` variable may lead the command back to his
    repository. `variables` are added; `output` is a descriptor for what it prints. Nothing that it has started outlives
    us when we are told to end. Raises UsageError where there is no such program."""
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
    """Run a program with these bytes as its input and our own terminal; whether there is such a program.

    One that goes before it has read everything, as a pager does, is no failure. Ctrl-C is for the program."""
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
