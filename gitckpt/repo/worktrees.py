"""The work trees of a repository: their git directories, and what identifies them in records."""

from __future__ import annotations

import os

from gitckpt.repo.journal import Journal
from gitckpt.repo.repository import Repository
from gitckpt.trajectory.undo import Identity


def git_dirs(repository: Repository) -> dict[str, bytes]:
    """Return the git directory of each work tree by its distinguishing name: "" is the main one. One that git was
    killed while creating is left out."""
    linked = os.path.join(repository.common_dir, b"worktrees")
    try:
        names = sorted(os.listdir(linked))
    except OSError:
        names = []
    found = {os.fsdecode(name): os.path.join(linked, name) for name in names}
    made = {name: path for name, path in found.items() if os.path.lexists(os.path.join(path, b"HEAD"))}
    return {"": repository.common_dir, **made}


def identity(journal: Journal) -> Identity:
    """Return the identity of the work tree that the journal belongs to."""
    current = journal.current()
    return Identity(journal.places(), current[0] if current else "")


def identities(repository: Repository) -> dict[str, Identity]:
    """Return the identities of all work trees, by name."""
    return {name: identity(Journal(_seen_from(repository, path))) for name, path in git_dirs(repository).items()}


def _seen_from(repository: Repository, git_dir: bytes) -> Repository:
    """Return the repository as seen from the work tree with this git directory, for its refs alone."""
    common, object_format = repository.common_dir, repository.object_format
    return Repository(repository.work_tree, git_dir, common, object_format, repository.cwd)
