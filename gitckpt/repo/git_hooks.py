"""Git hooks in the user's repository: installed beside existing hooks, which run first, and removed without a trace."""

from __future__ import annotations

import os
import shlex
import stat

from gitckpt.errors import Refused
from gitckpt.repo.gateway import split
from gitckpt.repo.private import ASIDE, clear_abandoned, write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.repository import Repository

#: Hook → the gitckpt command that it runs; `"$@"` are the arguments that git gives it.
HOOKS = {"pre-commit": "validate --staged", "commit-msg": 'hook commit-msg "$@"'}

#: The second line of our hooks. A file without it is not ours.
MARK = b"# Put here by `gitckpt init --hooks`; `gitckpt init --remove` takes it out again."

#: Suffix for the name of an existing hook while ours is installed.
KEPT = b".before-gitckpt"

SCRIPT = """#!/bin/sh
{mark}
kept="$(dirname "$0")/{name}{kept}"
if [ -x "$kept" ]; then
    "$kept" "$@" || exit $?
fi
gitckpt={program}
[ -x "$gitckpt" ] || gitckpt="$(command -v gitckpt)" || {{
    echo "gitckpt is not installed any more, so {name} cannot check this commit." >&2
    echo "Install it again, remove $0, or commit with --no-verify." >&2
    exit 1
}}
exec "$gitckpt" {runs}
"""


def hooks_directory(repository: Repository) -> bytes:
    """Return where git looks for this repository's hooks. Raise Refused if all repositories of the user share that
    directory."""
    git = repository.user_git()
    command = ("config", "--show-scope", "-z", "--get-all", "--type=path", "core.hooksPath")
    shown = split(git.run(*command, ok=(0, 1)))
    # our own calls disable all hooks, with the scope `command`
    scopes = [(scope, path) for scope, path in zip(shown[::2], shown[1::2], strict=True) if scope != b"command"]
    if not scopes:
        return os.path.join(repository.common_dir, b"hooks")
    scope, path = scopes[-1]
    if scope not in (b"local", b"worktree"):
        raise Refused(
            f"core.hooksPath is set for all your repositories ({os.fsdecode(path)}), and a hook there would run in "
            "each of them",
            "git config --local core.hooksPath .git/hooks gives this repository hooks of its own; or call "
            "gitckpt validate --staged from your hooks there",
        )
    return os.path.join(repository.work_tree, path)


def script(name: str, program: str) -> bytes:
    """Return the text of the hook of this name; `program` is the command that runs gitckpt now."""
    return SCRIPT.format(
        mark=MARK.decode(), name=name, kept=KEPT.decode(), program=shlex.quote(program), runs=HOOKS[name]
    ).encode("utf-8", "surrogateescape")


def is_ours(path: bytes) -> bool:
    """Return whether the file is a hook of ours."""
    try:
        with open(path, "rb") as file:
            return MARK in file.read(1024)
    except OSError:
        return False


def install(directory: bytes, program: str) -> list[str]:
    """Install the hooks, and return a line for each. A hook that exists already still runs first."""
    told = []
    try:
        os.makedirs(directory, exist_ok=True)
        for name in HOOKS:
            told.append(_install(os.path.join(directory, name.encode()), name, program))
    except OSError as error:
        raise _not_written(directory, error) from error
    return told


def _install(path: bytes, name: str, program: str) -> str:
    kept = ""
    if os.path.lexists(path) and not is_ours(path):
        if os.path.lexists(path + KEPT):
            raise Refused(
                f"{os.fsdecode(path)} is not gitckpt's, and {os.fsdecode(path + KEPT)} is there already",
                "move one of them away",
            )
        does = "runs first" if os.access(path, os.X_OK) else "is not executable and runs no more than before"
        os.rename(path, path + KEPT)
        kept = f"; the one that was there {does}, as {name}{KEPT.decode()}"
    write_file(path, script(name, program), mode=0o755)
    return f"{os.fsdecode(path)}: runs gitckpt {HOOKS[name]}{kept}"


def remove(directory: bytes) -> list[str]:
    """Remove our hooks, restore the ones that were there before, and return a line for each."""
    told = []
    for name in HOOKS:
        path = os.path.join(directory, name.encode())
        try:
            clear_abandoned(path + ASIDE)
            if not is_ours(path):
                continue
            if os.path.lexists(path + KEPT):
                os.replace(path + KEPT, path)
                told.append(f"{os.fsdecode(path)}: as it was before")
            else:
                os.unlink(path)
                told.append(f"{os.fsdecode(path)}: removed")
        except OSError as error:
            raise _not_written(directory, error) from error
    return told


def installed(directory: bytes) -> dict[str, bool]:
    """Return, for each hook, whether git runs ours."""
    return {name: _runs(os.path.join(directory, name.encode())) for name in HOOKS}


def _runs(path: bytes) -> bool:
    return is_ours(path) and bool(os.stat(path).st_mode & stat.S_IXUSR)


def _not_written(directory: bytes, error: OSError) -> Refused:
    if os.path.lexists(directory) and not os.path.isdir(directory):
        return Refused(
            f"core.hooksPath is {os.fsdecode(directory)}, which is no directory: it switches hooks off",
            "git config --show-origin core.hooksPath tells who set it",
        )
    return Refused(
        f"cannot write the hooks in {os.fsdecode(directory)}: {error.strerror}", "make that directory writable"
    )
