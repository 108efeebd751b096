"""What is unsafe: who may write where, what runs, what a power cut may lose."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from gitckpt.config import read_settings
from gitckpt.doctor.patient import Patient, Remark, in_repository, shown
from gitckpt.errors import GitFailed, UsageError
from gitckpt.repo.access import closed_in, opens
from gitckpt.repo.private import is_plain_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.repo.repository import Repository


@in_repository
def writers(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Whether every user may write into the git directory."""
    for path in dict.fromkeys((repository.common_dir, repository.git_dir, repository.objects_dir)):
        mode = os.stat(path).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            yield Remark("mend", f"anybody may write into {os.fsdecode(path)}", f"chmod -R o-w {shown(path)}")


@in_repository
def private_directory(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Whether gitckpt can keep its working files."""
    path = repository.private_dir
    if not os.path.lexists(path):
        yield Remark("ok", f"private directory {os.fsdecode(path)}, not made yet")
    elif os.path.islink(path) or not os.path.isdir(path):
        yield Remark("mend", f"{os.fsdecode(path)} is no directory", "gitckpt save makes it anew")
    elif not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        message = f"the private directory {os.fsdecode(path)} cannot be written"
        yield Remark("mend", message, opens(path, repository.git_dir))
    else:
        yield Remark("ok", f"private directory {os.fsdecode(path)} (a cache: it may be deleted at any time)")


@in_repository
def closed(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """What git needs but may not read or write."""
    for directory in dict.fromkeys((repository.common_dir, repository.git_dir)):
        path = closed_in(directory)
        if path is not None:
            message = f"{os.fsdecode(path)} is closed to you: git and gitckpt need it"
            yield Remark("mend", message, opens(path, directory))


@in_repository
def staging_area(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Whether the staging area can be read."""
    if os.path.lexists(repository.index_path) and not os.access(repository.index_path, os.R_OK):
        message = f"the staging area {os.fsdecode(repository.index_path)} is closed to you"
        yield Remark("mend", message, opens(repository.index_path, repository.git_dir))
        return
    try:
        repository.user_git().run("ls-files", "-z", "--unmerged")
    except GitFailed as error:
        yield Remark("mend", f"the staging area cannot be read: {error}", error.hint)


@in_repository
def settings(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Whether the configuration can be read, and what it asks for."""
    given = repository.user_git().run("config", "--list", "-z", "--includes")
    try:
        found = read_settings(repository.work_tree, given, os.environ)
    except UsageError as error:
        yield Remark("mend", str(error), error.hint or "correct it, then gitckpt doctor looks again")
        return
    if not found.durable:
        yield Remark(
            "note", "durable is off: a power cut may take the last checkpoints", "git config gitckpt.durable true"
        )
    if not (found.author_name and found.author_email):
        yield Remark(
            "note", "git has no identity of yours: events are by gitckpt", "git config --global user.name NAME"
        )


@in_repository
def hooks(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Which hooks git runs here. gitckpt's own git calls run none."""
    configured = patient.config.get("core.hookspath")
    directory = os.path.join(repository.common_dir, b"hooks")
    if configured:
        directory = os.path.join(repository.work_tree, os.fsencode(os.path.expanduser(configured)))
    where = f"core.hooksPath, {os.fsdecode(directory)}" if configured else os.fsdecode(directory)
    if not os.path.isdir(directory):
        if configured:
            yield Remark(
                "note", f"core.hooksPath names no directory, {configured}", "git config --unset core.hooksPath"
            )
        return
    names = sorted(name for name in os.listdir(directory) if not name.endswith(b".sample") and b"." not in name)
    run = [os.fsdecode(name) + _whose(os.path.join(directory, name)) for name in names if _runs(directory, name)]
    idle = [
        os.fsdecode(name)
        for name in names
        if is_plain_file(os.path.join(directory, name)) and not _runs(directory, name)
    ]
    if run:
        yield Remark("ok", f"hooks that git runs ({where}): {', '.join(run)}")
    if idle:
        paths = " ".join(shown(os.path.join(directory, os.fsencode(name))) for name in idle)
        yield Remark(
            "note", f"hooks that git does not run, for they are not executable: {', '.join(idle)}", f"chmod +x {paths}"
        )


def _runs(directory: bytes, name: bytes) -> bool:
    path = os.path.join(directory, name)
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _whose(path: bytes) -> str:
    """Return a note for a hook that calls gitckpt, else ""."""
    with open(path, "rb") as file:
        return " (calls gitckpt)" if b"gitckpt" in file.read(65536) else ""
