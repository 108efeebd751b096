"""A user's repository, and gitckpt running in it as a new process would: nothing is kept in memory between calls."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from observation import Entry, Recorded, in_tree, of_the_user, on_disk

from gitckpt.hint import wish_of_hint
from gitckpt.protocol.blocks import Block
from gitckpt.recorder import Recorder
from gitckpt.repo.reader import Reader
from gitckpt.repo.repository import Repository, discover
from gitckpt.repo.snapshot import Snapshot
from gitckpt.repo.worktree import WorkTree
from gitckpt.restorer import Outcome, Restorer, restore_for_retry
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.plan import Plan
from gitckpt.wishes import Wish, wish_after_interruption, wish_to_redo, wish_to_undo

FILES = {
    ".gitignore": b"*.log\nbuild/\n",
    "README.md": b"# Project\n",
    "src/app.py": b"import lib\n",
    "src/lib/core.py": b"def core():\n    return 1\n",
    "tests/check.sh": b"#!/bin/sh\nexit 0\n",
}

#: The user's name and a fixed time: the same commits wherever the suite runs.
USER = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "User"), ("EMAIL", "user@example.com"), ("DATE", "1700000000 +0000"))
}


def create_template(root: Path) -> Path:
    """Create a repository with one commit and without hooks."""
    project = Project.create(root)
    for path, content in FILES.items():
        project.write(path, content, 0o755 if path.endswith(".sh") else 0o644)
    project.commit("first")
    return root


class Project:
    """A repository at `root`. Paths are relative to it; names that are not UTF-8 are given as by `os.fsdecode`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def create(cls, root: Path, *options: str) -> Project:
        """Create an empty repository. Its records need not survive a crash of the machine, so nothing waits for the
        disk.
        """
        root.mkdir(parents=True, exist_ok=True)
        project = cls(root)
        project.git("init", "-q", "-b", "main", "--template=", *options)
        project.git("config", "gitckpt.durable", "false")
        exclude = Path(project.git("rev-parse", "--path-format=absolute", "--git-path", "info/exclude"))
        exclude.parent.mkdir(exist_ok=True)
        exclude.write_text("# nothing\n")
        return project

    @classmethod
    def copy(cls, template: Path, root: Path) -> Project:
        """Copy a repository, with fresh times like a clone and a refreshed index."""
        project = cls(shutil.copytree(template, root, symlinks=True, copy_function=shutil.copy))
        project.git("update-index", "-q", "--refresh")
        return project

    # -- as the user

    def git_bytes(self, *arguments: str | bytes, data: bytes = b"", ok: tuple[int, ...] = (0,)) -> bytes:
        """Run git as the user; return its output."""
        environment = {**os.environ, **USER, "GIT_EDITOR": "true"}
        done = subprocess.run(["git", *arguments], cwd=self.root, input=data, env=environment, capture_output=True)
        assert done.returncode in ok, f"git {arguments}: {(done.stderr + done.stdout).decode()}"
        return done.stdout

    def git(self, *arguments: str | bytes, data: bytes = b"", ok: tuple[int, ...] = (0,)) -> str:
        """Do the same; return text without the line end."""
        return self.git_bytes(*arguments, data=data, ok=ok).decode("utf-8", "surrogateescape").rstrip("\n")

    def commit(self, message: str) -> str:
        """Commit everything; return the id of the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def write(self, path: str, content: str | bytes = b"", mode: int | None = None) -> None:
        """Write a file, creating its directories."""
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            full.chmod(mode)

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def remove(self, path: str) -> None:
        """Remove a file, a link or a whole directory."""
        full = self.root / path
        if full.is_dir() and not full.is_symlink():
            shutil.rmtree(full)
        else:
            full.unlink()

    def link(self, path: str, target: str | bytes) -> None:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(os.fsencode(target), os.fsencode(full))

    # -- what can be seen

    def disk(self) -> dict[str, Entry]:
        """Return the work tree, including ignored files."""
        return on_disk(self.root)

    def held(self, tree: str) -> dict[str, Recorded]:
        """Return the contents of a tree, or of an event's commit."""
        return in_tree(self.root, tree)

    def of_the_user(self) -> dict[str, object]:
        """Return everything in the git directory that belongs to the user."""
        return of_the_user(self.root)

    def staged(self) -> bytes:
        """Return the staging area with stages and flags."""
        return self.git_bytes("ls-files", "-z", "--stage", "-v", "-t")

    def status(self) -> bytes:
        """Return the output of `git status`, without touching the index."""
        return self.git_bytes("--no-optional-locks", "status", "--porcelain=v2", "-z", "--branch", "-uall")

    # -- gitckpt

    def repository(self, directory: str = "") -> Repository:
        return discover(os.fsencode(self.root / directory))

    def tree(self, directory: str = "") -> WorkTree:
        """Open the work tree anew."""
        return WorkTree(self.repository(directory))

    def snapshot(self) -> Snapshot:
        """Take a snapshot as a new process does."""
        tree = self.tree()
        with tree.lock:
            snapshot = tree.snapshotter.take()
        tree.close()
        return snapshot

    def checkpoint(self, id: str, *, session: str | None = None, **fields: Any) -> Event:
        """Record a CHECKPOINT block."""
        return self.record(checkpoint(id, **fields), session=session)

    def record(self, block: Block, *, session: str | None = None, restoring: bool = False) -> Event:
        """Record a block; with `restoring`, a RETRY restores the files."""
        tree = self.tree()
        recorder = Recorder(tree, name=session, restore=restore_for_retry if restoring else None)
        event = recorder.record(block)
        tree.close()
        return event

    def find(self, name: str) -> Event:
        return Reader(self.repository()).find(name).event

    def plan(self, name: str, scope: str = "staged", *, hint: bool = False, paths: tuple[bytes, ...] = ()) -> Plan:
        """Return the plan of a rollback without carrying it out."""
        tree = self.tree()
        restorer = Restorer(tree)
        with tree.lock:
            prepared = restorer.prepare(_wish(self, restorer, name, scope, hint=hint, paths=paths))
            restorer.release()
        tree.close()
        return prepared.plan

    def roll_back(
        self,
        name: str,
        scope: str = "staged",
        *,
        hint: bool = False,
        paths: tuple[bytes, ...] = (),
        keep: bool = False,
        directory: str = "",
    ) -> Outcome:
        """Roll back, as a new process does."""
        restorer = Restorer(self.tree(directory))
        return _carry_out(restorer, lambda: _wish(self, restorer, name, scope, hint=hint, paths=paths, keep=keep))

    def undo(self) -> Outcome:
        restorer = Restorer(self.tree())
        return _carry_out(restorer, lambda: wish_to_undo(restorer.tree))

    def redo(self) -> Outcome:
        restorer = Restorer(self.tree())
        return _carry_out(restorer, lambda: wish_to_redo(restorer.tree))

    def go_on(self) -> Outcome:
        """`rollback --continue`."""
        restorer = Restorer(self.tree())
        return _carry_out(restorer, lambda: wish_after_interruption(restorer.tree, abort=False))

    def abort(self) -> Outcome:
        """`rollback --abort`."""
        restorer = Restorer(self.tree())
        return _carry_out(restorer, lambda: wish_after_interruption(restorer.tree, abort=True))


def _carry_out(restorer: Restorer, wish: Any) -> Outcome:
    with restorer.tree.lock:
        outcome = restorer.apply(restorer.prepare(wish()))
    restorer.tree.close()
    return outcome


def _wish(
    project: Project,
    restorer: Restorer,
    name: str,
    scope: str,
    *,
    hint: bool,
    paths: tuple[bytes, ...],
    keep: bool = False,
) -> Wish:
    event = project.find(name)
    wish = wish_of_hint(restorer, event, scope=scope, keep=keep) if hint else Wish(event, scope, paths, keep)
    assert wish is not None, "the hint says that there is nothing to undo"
    return wish


def checkpoint(id: str, **fields: Any) -> Block:
    """Return a CHECKPOINT block as the reader returns it."""
    given: Mapping[str, Any] = {"phase": "implement", "done": [f"step {id}"], "next": "go on"} | fields
    return Block("checkpoint", id, id.removeprefix("C"), dict(given))


def retry(source: str, reason: str = "it failed", strategy: str = "another way") -> Block:
    """Return a RETRY block as the reader returns it."""
    return Block("retry", None, "", {"from": source, "reason": reason, "new_strategy": strategy})
