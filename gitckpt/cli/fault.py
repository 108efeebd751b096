"""The report on a bug in gitckpt: enough to find it, and nothing private.

It contains versions, the command and the names of its options without values, error types, and places in code. It
contains no error messages, which may quote anything, no paths except inside packages, no values of arguments or of the
environment, and nothing from a repository."""

from __future__ import annotations

import os
import sys
import traceback

from gitckpt import __version__
from gitckpt.errors import GitckptError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Where reports should be sent.
ISSUES = "https://github.com/gitckpt/gitckpt/issues"

HOLDS = (
    "versions, the command and its option names, and places in gitckpt's code; no path, name, text or value of yours"
)


def fault(error: BaseException, arguments: Sequence[str]) -> GitckptError:
    """Return the error to report for a bug of ours, after writing the report to a file that only its owner can read."""
    lines = report_lines(error, arguments)
    path = _write(lines)
    where = f"a report is in {path} and holds {HOLDS}" if path else "; ".join(line.strip() for line in lines)
    return GitckptError(
        f"this is a fault of gitckpt: {type(error).__name__}: {error}\n{where}",
        f"please send it to {ISSUES}; nothing was lost: gitckpt log shows what is on record, gitckpt verify checks it",
    )


def _write(lines: Sequence[str]) -> str:
    """Return the path of the report file; "" if none can be written."""
    import tempfile

    try:
        with tempfile.NamedTemporaryFile("w", prefix="gitckpt-fault-", suffix=".txt", delete=False) as report:
            report.write("\n".join(lines) + "\n")
    except OSError:
        return ""
    return report.name


def report_lines(error: BaseException, arguments: Sequence[str]) -> list[str]:
    """Return the report, line by line."""
    return [
        f"gitckpt {__version__}, Python {sys.version.split()[0]}, {_git()}, {_platform()}",
        f"command: {' '.join(_command(arguments))}",
        *(line for cause in _chain(error) for line in _told(cause)),
    ]


def _git() -> str:
    import re

    from gitckpt.repo.gateway import Git

    try:
        answer = Git(os.fsencode(os.curdir)).text("version")
    except GitckptError:
        return "no git"
    version = re.match(r"git version \d+(\.\d+)*", answer)
    return version[0] if version else "a git of unknown version"


def _platform() -> str:
    system = os.uname()
    return f"{system.sysname} {system.release} {system.machine}"


def _command(arguments: Sequence[str]) -> list[str]:
    """Return the command and the names of its options; unknown names may be anything, and are left out."""
    known = _known()
    name = next(iter(arguments), "")
    words = [name if name in known else "(another)" if name else "(none)"]
    for argument in arguments[1:]:
        if argument == "--":
            break  # what follows is the command line of another program
        option = argument.partition("=")[0]
        if option in known.get(name, ()):
            words.append(option)
    return words


def _known() -> dict[str, set[str]]:
    """Map each command to the names of its options."""
    try:
        import typer

        from gitckpt.cli.app import app

        commands = getattr(typer.main.get_command(app), "commands", {})
        return {name: {o for p in command.params for o in p.opts} for name, command in commands.items()}
    except Exception:  # the bug may be here
        return {}


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and those that led to it, each once."""
    seen: set[int] = set()
    here: BaseException | None = error
    while here is not None and id(here) not in seen:
        seen.add(id(here))
        yield here
        here = here.__cause__ or here.__context__


def _told(error: BaseException) -> Iterator[str]:
    number = f", errno {error.errno}" if isinstance(error, OSError) and error.errno is not None else ""
    yield f"{type(error).__module__}.{type(error).__qualname__}{number}"
    for frame in traceback.extract_tb(error.__traceback__):
        place = _place(frame.filename)
        yield f"  {place}:{frame.lineno} in {frame.name}" if place else "  (elsewhere)"


def _place(filename: str) -> str:
    """Return the path inside its package for a file of ours, of a library or of Python; "" for any other."""
    import sysconfig

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    roots = {
        os.path.dirname(package): package + os.sep,
        **{
            root + os.sep: root + os.sep
            for root in map(sysconfig.get_path, ("purelib", "platlib", "stdlib", "platstdlib"))
        },
    }
    for root, below in roots.items():
        if filename.startswith(below):
            return os.path.relpath(filename, root)
    return filename if filename.startswith("<frozen ") else ""
