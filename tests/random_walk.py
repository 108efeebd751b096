"""Random walks through a repository that check the laws of recording and going back after each step.

    python tests/random_walk.py --steps 10000 --seed 1

A walk is determined by its seed; a broken law is reported with the seed and the steps that led to it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from random import Random
from typing import NamedTuple

import wandering
from in_parts import run_in_parts
from observation import Entry, differences
from project import Project

from gitckpt.errors import Refused

#: The number of steps in one repository before the next is begun.
LENGTH = 40

#: The reasons for which a rollback may refuse; nothing is changed then.
ANY_REASON = ("in the way", "operation of git in progress", "no rollback to undo", "no undo to take back")

SCOPES = ("files", "staged", "all")


class Picture:
    """Everything visible at one moment. `covered` is what a checkpoint of it must hold, according to plain git."""

    def __init__(self, project: Project) -> None:
        self.disk = project.disk()
        # git itself gives the second file of a split index a new time whenever it reads it
        self.users = {name: at for name, at in project.of_the_user().items() if "/sharedindex." not in name}
        self.staged = project.git_bytes("ls-files", "-z", "--stage")
        self.commit = project.git("rev-parse", "HEAD")
        self.head = (project.root / ".git" / "HEAD").read_text(), self.commit
        operation = project.root / ".git" / "MERGE_HEAD"
        self.operation = operation.read_bytes() if operation.exists() else b""
        self.of_git = (self.staged, self.head, self.operation)
        listed = project.git_bytes("ls-files", "-z", "-c", "-o", "--exclude-standard").split(b"\0")
        files = {path for path in map(os.fsdecode, listed) if path in self.disk}
        is_one = (path for path in self.disk if path.endswith("/.git/") and path + "HEAD" in self.disk)
        inside = [path.removesuffix(".git/") for path in is_one]
        self.nested = tuple(inside)
        self.covered = {path: self.disk[path] for path in files if not path.startswith(self.nested)}


def agree(law: str, wanted: object, found: object) -> None:
    """Raise AssertionError with the difference if the two are not equal."""
    if wanted != found:
        both = isinstance(wanted, dict) and isinstance(found, dict)
        raise AssertionError(f"{law}: {differences(wanted, found) if both else (wanted, found)}")


def ignored(project: Project, paths: set[str]) -> set[str]:
    """Return those of the paths that the current rules ignore."""
    names = b"".join(os.fsencode(path) + b"\0" for path in sorted(paths))
    found = project.git_bytes("check-ignore", "--no-index", "-z", "--stdin", data=names, ok=(0, 1))
    return set(map(os.fsdecode, found.split(b"\0"))) & paths


class Move(NamedTuple):
    """A rollback, an undo or a redo: its scope, and the state before and after it."""

    scope: str
    before: Picture
    after: Picture


class Walk:
    """One walk: a repository of some shape, and what is known about each moment that can be gone back to."""

    def __init__(self, project: Project, seed: int) -> None:
        self.project, self.random, self.story = project, Random(seed), [f"seed {seed}"]
        self.recorded: list[tuple[str, Picture]] = []
        self.done: list[Move] = []
        self.undone: list[Move] = []
        wandering.settle(project, self.random)
        self.record()

    def go(self, steps: int) -> None:
        """Take this many steps. Raises AssertionError, with the story so far, if a law does not hold."""
        for _ in range(steps):
            act = self.random.choices([self.wander, self.record, self.roll_back, self.undo, self.redo], [5, 3, 4, 1, 1])
            try:
                act[0]()
            except Exception as error:
                raise AssertionError("\n".join([*self.story, repr(error)])) from error

    def wander(self) -> None:
        self.story.append(wandering.step(self.project, self.random))

    def record(self) -> None:
        """Check that a recording holds everything that git calls content, and changes nothing."""
        before = Picture(self.project)
        self.story.append(f"record C{len(self.recorded)}")
        commit = self.project.checkpoint(f"C{len(self.recorded)}", session="s").commit
        after = Picture(self.project)
        agree("a recording writes no file", before.disk, after.disk)
        agree("a recording changes nothing of the user's", before.users, after.users)
        content = {path: as_recorded(entry) for path, entry in before.covered.items()}
        agree("a checkpoint holds what git calls content", content, self.project.held(commit))
        self.recorded.append((commit, before))

    def roll_back(self) -> None:
        number = self.random.randrange(len(self.recorded))
        (commit, target), scope = self.recorded[number], self.random.choice(SCOPES)
        move = self.move(f"roll back {scope} C{number}", lambda: self.project.roll_back(commit, scope), scope, target)
        if move is None:
            return
        self.done.append(move)
        self.undone.clear()
        if self.random.random() < 0.5:
            self.there_and_back(move)

    def there_and_back(self, move: Move) -> None:
        """Check that undo is the identity, and so is redo after it."""
        self.undo()
        self.assert_same(move.before, Picture(self.project))
        if self.random.random() < 0.5:
            self.redo()
            self.assert_same(move.after, Picture(self.project))

    def assert_same(self, then: Picture, now: Picture) -> None:
        agree("undo and redo bring every byte back", self.known(then), self.known(now))
        agree("and all of git", then.of_git, now.of_git)

    def known(self, picture: Picture) -> dict[str, Entry]:
        """Return everything except ignored directories without files, and directories that contain only those: nothing
        is known about them.
        """
        files = [path for path in picture.disk if not path.endswith("/")]
        bare = {path for path in picture.disk if path.endswith("/") and not any(f.startswith(path) for f in files)}
        unknown = ignored(self.project, bare)
        above = {path for path in bare if any(other.startswith(path) for other in unknown)}
        return {path: entry for path, entry in picture.disk.items() if path not in above}

    def undo(self) -> None:
        self.take_back("undo", self.project.undo, self.done, self.undone)

    def redo(self) -> None:
        self.take_back("redo", self.project.redo, self.undone, self.done)

    def take_back(self, name: str, act: Callable[[], object], taken: list[Move], given: list[Move]) -> None:
        last = taken[-1] if taken else Move("files", Picture(self.project), Picture(self.project))
        brought = last.after.disk.keys() - last.before.disk.keys()
        move = self.move(name, act, last.scope, last.before, brought)
        agree("what is not done is not taken back", True, move is None or bool(taken))
        if move is not None:
            taken.pop()
            given.append(move)

    def move(
        self, name: str, act: Callable[[], object], scope: str, target: Picture, brought: Collection[str] = ()
    ) -> Move | None:
        """Go back; return None if it was refused, in which case nothing may have changed. What an earlier move
        `brought` may disappear.
        """
        before = Picture(self.project)
        self.story.append(name)
        try:
            act()
        except Refused as error:
            agree(f"it is refused for a reason: {error}", True, any(reason in str(error) for reason in ANY_REASON))
            self.story[-1] += f": refused, {error}"
            after = Picture(self.project)
            agree("nothing is written where it is refused", before.disk | before.users, after.disk | after.users)
            return None
        move = Move(scope, before, Picture(self.project))
        self.check_files(move, target, brought)
        self.check_git(move, target)
        return move

    def check_files(self, move: Move, target: Picture, brought: Collection[str]) -> None:
        """Check that everything is as it was: anything else must have existed before, and what no checkpoint holds must
        still exist.
        """
        before, now, wanted = move.before, move.after, target.covered
        agree("it is as it was", wanted, {path: now.disk.get(path) for path in wanted})
        agree("no other repository comes or goes", before.nested, now.nested)
        more = {path for path in now.disk if path not in wanted and not path.endswith("/")}
        known = {path for path in more if now.disk[path] in (before.disk.get(path), target.disk.get(path))}
        agree("nothing new appears", more, known)
        newer = (more - ignored(self.project, more)) & before.covered.keys()
        agree("what is newer goes", set(), newer)
        gone = {path for path in before.disk.keys() - now.disk.keys() if not path.endswith("/")}
        lost = {path for path in gone - before.covered.keys() if not any(w.startswith(path + "/") for w in wanted)}
        agree("no ignored file is lost", set(), lost - set(brought))

    def check_git(self, move: Move, target: Picture) -> None:
        """Check that only what the scope includes has changed in git."""
        scope, before, now = move
        changed = {os.path.relpath(name, self.project.root) for name in differences(before.users, now.users)}
        if scope != "all":
            agree("git is left alone", set(), changed - {".git/index"})
        if scope == "files":
            agree("the staging area is left alone", before.staged, now.staged)
        elif target.commit == before.commit and target.operation == before.operation:
            agree("the staging area is as it was", target.staged, now.staged)
        if scope == "all":
            agree("git is as it was", target.of_git, now.of_git)


def as_recorded(entry: Entry) -> tuple[str, bytes]:
    kind, mode, content = entry
    return ("120000" if kind == "link" else "100755" if mode & 0o100 else "100644", content)


def walk(template: Path, seed: int, steps: int) -> None:
    """Walk in a fresh repository."""
    with tempfile.TemporaryDirectory() as directory:
        Walk(Project.copy(template, Path(directory) / "project"), seed).go(steps)


if __name__ == "__main__":
    run_in_parts(walk, document=__doc__ or "", steps=10_000, length=LENGTH, said="every law holds")
