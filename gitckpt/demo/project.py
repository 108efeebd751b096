"""The project of `gitckpt demo`: a small TypeScript application that uses moment, in git, with uncommitted work of the
user.

The files ship below `project/`. What a package cannot hold as is (dot files, names outside ASCII, CRLF line ends,
permission bits, links) is created when the project is set up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gitckpt.errors import GitFailed, Refused

SHIPPED: Final = Path(__file__).parent / "project"

#: Shipped name → name in the project.
RENAMED: Final = {
    "gitignore": ".gitignore",
    "editorconfig": ".editorconfig",
    "docs/room-board.zh.md": "docs/会议室看板.md",
    "src/locales/zh-dates.ts": "src/locales/中文日期.ts",
}

#: Files that ship with LF and get CRLF.
CRLF: Final = ("src/legacy/report.js",)

EXECUTABLE: Final = ("scripts/release.sh",)

#: Path of a link → what it points to.
LINKS: Final = {"docs/README.md": "../README.md"}

#: The user's work in progress when the agent starts: an uncommitted edit, an untracked file, an ignored file.
README_EDIT: Final = "\nAsk Lin before changing the reminders: the front desk relies on them.\n"
UNCOMMITTED: Final = {
    "notes.txt": "- the timer on the third floor runs 2 minutes late\n- 前台要求提醒提前 15 分钟\n",
    ".env": "BOOKINGS_TOKEN=only-on-this-machine\n",
}

#: A fixed author and time, so that the commit id is the same everywhere.
AUTHOR: Final = {"NAME": "Lin Wei", "EMAIL": "lin.wei@example.com", "DATE": "2026-08-24T09:30:00+08:00"}

#: No ignore rules, attributes or hooks from the machine's configuration.
SETTINGS: Final = ("core.excludesFile=", "core.attributesFile=", "core.hooksPath=/dev/null")

NEW_OR_EMPTY: Final = "gitckpt demo DIR, where DIR is new or empty"


def create_project(directory: str | os.PathLike[str]) -> None:
    """Make `directory` a git repository with one commit of the project, an edit, an untracked file and an ignored file.

    The commit id is always the same, regardless of the caller's configuration, hooks and `GIT_*` variables. Raises
    Refused if the directory exists and is not empty, or cannot be written; GitFailed if git fails.
    """
    root = Path(directory)
    try:
        refuse_unless_empty(root)
        root.mkdir(parents=True, exist_ok=True)
        write_files(root)
        commit_all(root)
        leave_work_of_the_person(root)
    except OSError as error:
        reason = f"{error.strerror}: {error.filename}" if error.filename else str(error)
        raise Refused(f"the demo project cannot be written to {root}: {reason}", NEW_OR_EMPTY) from error


def refuse_unless_empty(root: Path) -> None:
    """Raise Refused if `root` exists and is not an empty directory."""
    if not os.path.lexists(root):
        return
    if not root.is_dir():
        raise Refused(f"{root} exists and is not a directory", NEW_OR_EMPTY)
    if any(root.iterdir()):
        raise Refused(f"{root} is not empty, and the demo writes over nothing", NEW_OR_EMPTY)


def shipped_files() -> Iterator[tuple[str, bytes]]:
    """Yield the project path and the bytes of every file that ships."""
    for file in sorted(SHIPPED.rglob("*")):
        if file.is_file():
            name = file.relative_to(SHIPPED).as_posix()
            content = file.read_bytes()
            yield RENAMED.get(name, name), content.replace(b"\n", b"\r\n") if name in CRLF else content


def write_files(root: Path) -> None:
    """Write the files, with their permission bits whatever the umask, and the links."""
    for path, content in shipped_files():
        name = os.fsdecode(path.encode())  # UTF-8 on disk, whatever the locale is
        write_file(root / name, content, 0o755 if path in EXECUTABLE else 0o644)
    for path, target in LINKS.items():
        (root / path).symlink_to(target)


def write_file(file: Path, content: bytes, mode: int = 0o644) -> None:
    """Write one file, creating its parent directories."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    file.chmod(mode)


def commit_all(root: Path) -> None:
    """Create the repository and its one commit. Raises GitFailed."""
    try:
        from git import Git
        from git.exc import GitError
    except ImportError as error:
        raise GitFailed(f"git could not be used: {error}", "install git 2.30 or newer") from error
    git = Git(root)
    git.update_environment(**surroundings(root.resolve()))
    git.set_persistent_git_options(c=list(SETTINGS))
    try:
        git.init("--quiet", "--template=", "--object-format=sha1", "--initial-branch=main")
        git.add("--all")
        git.commit("--quiet", "--no-gpg-sign", message="Room board: calendar, timer, reminders and the monthly report")
    except GitError as error:
        raise GitFailed(f"the repository of the demo could not be made: {error}") from error


def surroundings(root: Path) -> dict[str, str]:
    """Return an environment in which git works only on this repository and reads only its own configuration."""
    git_dir = root / ".git"
    pinned = {
        "GIT_DIR": git_dir,
        "GIT_COMMON_DIR": git_dir,
        "GIT_WORK_TREE": root,
        "GIT_INDEX_FILE": git_dir / "index",
        "GIT_OBJECT_DIRECTORY": git_dir / "objects",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
        "GIT_NAMESPACE": "",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "0",
        "GIT_ATTR_NOSYSTEM": "1",
    }
    people = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in AUTHOR.items()}
    return {name: str(value) for name, value in pinned.items()} | people


def leave_work_of_the_person(root: Path) -> None:
    """Create the edit of README.md, the untracked notes and the ignored settings."""
    with (root / "README.md").open("a", encoding="utf-8", newline="") as readme:
        readme.write(README_EDIT)
    for path, text in UNCOMMITTED.items():
        write_file(root / path, text.encode())
