"""Which program a command means, what environment it gets, and plain errors if it cannot run."""

from __future__ import annotations

import errno
import os

from gitckpt.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The values that Python may set LC_CTYPE to when it is started in the C locale (PEP 538).
COERCED_LOCALES = ("C.UTF-8", "C.utf8", "UTF-8")


class AgentNotStarted(UsageError):
    """The agent's command cannot run. `exit_status` is the shell's: 127 if it was not found, 126 if it is not
    executable."""

    def __init__(self, message: str, hint: str, exit_status: int) -> None:
        super().__init__(message, hint)
        self.exit_status = exit_status


def agent_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that we were started with: `environ` without the LC_CTYPE that Python adds in the C
    locale."""
    given = dict(environ)
    if given.get("LC_CTYPE") in COERCED_LOCALES and not _was_given("LC_CTYPE"):
        del given["LC_CTYPE"]
    return given


def _was_given(name: str) -> bool:
    try:
        with open("/proc/self/environ", "rb") as block:
            return any(entry.startswith(os.fsencode(name) + b"=") for entry in block.read().split(b"\0"))
    except OSError:
        return True


def find_program(argv: Sequence[str], env: Mapping[str, str], cwd: str) -> str:
    """Return the file that `argv` runs, found as a shell finds it: as is if it contains a slash, otherwise along PATH
    of `env`.

    `cwd` is the directory that relative names start from. Raises UsageError for an empty command, AgentNotStarted if
    there is no such program (127) or it cannot be executed (126).
    """
    if not argv or not argv[0]:
        raise UsageError("no command was given", "say which agent to run: gitckpt wrap -- COMMAND")
    found = [path for path in _candidates(argv[0], env) if os.path.exists(os.path.join(cwd, path))]
    for path in found:
        if _may_run(os.path.join(cwd, path)):
            return path
    raise not_started(argv[0], errno.EACCES if found else errno.ENOENT)


def _candidates(name: str, env: Mapping[str, str]) -> list[str]:
    if "/" in name:
        return [name]
    return [os.path.join(directory or ".", name) for directory in env.get("PATH", os.defpath).split(":")]


def _may_run(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def not_started(name: str, reason: int) -> AgentNotStarted:
    """Return the error for a command that the system would not run; `reason` is its errno."""
    if reason == errno.ENOENT:
        return AgentNotStarted(f"{name}: command not found", "is it installed, and is its directory in PATH?", 127)
    if reason == errno.EACCES:
        return AgentNotStarted(
            f"{name}: permission denied", f"is it a program? `chmod +x` makes a script one: {name}", 126
        )
    return AgentNotStarted(f"{name}: cannot be run: {os.strerror(reason)}", "try the same command without gitckpt", 126)
