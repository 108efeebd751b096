"""Random steps between the checkpoints of several long-lived recorders, each of which remembers what it has seen.

Anything may change in between: through the user and their git, rules, settings, other gitckpt processes, and the other
recorders. After each checkpoint, what is on record is compared with the disk as seen by plain git and a directory walk.

    python tests/long_lived.py --steps 1000 --seed 1
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import wandering
from in_parts import run_in_parts
from observation import Entry
from project import Project, checkpoint, retry
from random_walk import ANY_REASON, LENGTH, Picture, agree, as_recorded

from gitckpt.errors import Refused
from gitckpt.recorder import Recorder
from gitckpt.repo.recorded import recorded_empty, recorded_modes, recorded_staging, recorded_umask
from gitckpt.restorer import restore_for_retry
from gitckpt.trajectory.events import Event

#: Git commands of the user, in addition to those in `wandering`.
GIT = (
    ("sparse-checkout", "set", "--no-cone", "/src/", "/d/", "/.gitignore"),
    ("sparse-checkout", "disable"),
    ("config", "core.excludesFile", "PERSONAL"),
    ("config", "--unset", "core.excludesFile"),
    ("checkout", "-q", "-f", "other"),
    ("pull", "-q", ".", "main"),
    ("reset", "-q", "--hard"),
)

RULES = ("", "*.txt\n", "d/\n", "excluded*\n", "sub*\n!sub dir/\n")


class LongLived:
    """A repository, and recorders that keep running."""

    def __init__(self, project: Project, seed: int, count: int = 3) -> None:
        self.project, self.random, self.story = project, Random(seed), [f"seed {seed}"]
        (project.root.parent / "personal").write_text("d/\n*.flt\n*.txt\n")
        wandering.settle(project, self.random)
        names = [None, *(f"s{number}" for number in range(1, count))]
        self.recorders = [Recorder(project.tree(), name=name, restore=restore_for_retry) for name in names]
        self.commits: list[str] = []
        self.number = 0

    def go(self, steps: int) -> None:
        """Take this many steps. Raises AssertionError, with the story so far, if a checkpoint differs from what is on
        disk.
        """
        acts = [self.wander, self.disturb, self.record, self.save, self.go_back, self.try_again, self.look]
        for _ in range(steps):
            try:
                self.random.choices(acts, [5, 4, 6, 2, 2, 1, 1])[0]()
            except Exception as error:
                raise AssertionError("\n".join([*self.story, repr(error)])) from error

    def wander(self) -> None:
        self.story.append(wandering.step(self.project, self.random))

    def disturb(self) -> None:
        """Make a change that a recorder relying on its memory easily overlooks."""
        acts = (self.git, self.rule, self.edit_unseen, self.swap, self.gut, self.close, self.wait)
        self.story.append(self.random.choices(acts, [5, 2, 1, 1, 1, 1, 1])[0]())

    def git(self) -> str:
        personal = str(self.project.root.parent / "personal")
        command = [personal if word == "PERSONAL" else word for word in self.random.choice(GIT)]
        self.project.git(*command, ok=wandering.ANY)
        return f"git {command}"

    def rule(self) -> str:
        name, content = self.random.choice((".git/info/exclude", ".gitignore")), self.random.choice(RULES)
        if (self.project.root / name).is_dir() or (self.project.root / name).is_symlink():
            return "no rule"
        self.project.write(name, content)
        return f"{name}: {content!r}"

    def files(self) -> list[Path]:
        found = [self.project.root / path for path in self.project.disk() if not path.endswith("/")]
        return [path for path in found if path.is_file() and not path.is_symlink()]

    def edit_unseen(self) -> str:
        """Write other content of the same size with the same time."""
        path = self.random.choice(self.files())
        if "/.git/" in str(path):
            return "no edit"
        status = path.stat()
        path.write_bytes(self.random.randbytes(status.st_size))
        os.utime(path, ns=(status.st_atime_ns, self.random.choice((status.st_mtime_ns, 10**18))))
        return f"edit {path} unseen"

    def swap(self) -> str:
        """Swap two directories."""
        first, second, aside = (self.project.root / name for name in ("d", "src", "aside"))
        if not (first.is_dir() and second.is_dir()):
            return "no swap"
        first.rename(aside)
        second.rename(first)
        aside.rename(second)
        return "swap"

    def gut(self) -> str:
        """Make a nested repository invalid for a while, or valid again."""
        head, aside = (self.project.root / "nested/.git" / name for name in ("HEAD", "HEAD.aside"))
        for old, new in ((head, aside), (aside, head)):
            if old.is_file():
                old.rename(new)
                return f"{old} goes to {new}"
        return "no repository inside"

    def close(self) -> str:
        path = self.random.choice(self.files())
        path.chmod(self.random.choice((0o600, 0o640, 0o644, 0o755, 0o700)))
        return f"bits of {path}"

    def wait(self) -> str:
        time.sleep(self.random.choice((0.03, 0.3)))
        return "wait"

    def record(self) -> None:
        self.number += 1
        chosen = self.random.randrange(len(self.recorders))
        self.story.append(f"recorder {chosen} records C{self.number}")
        self.compare(lambda: self.recorders[chosen].record(checkpoint(f"C{self.number}")))

    def save(self) -> None:
        """Record in a separate process."""
        self.number += 1
        self.story.append(f"another process records C{self.number}")
        self.compare(lambda: self.project.checkpoint(f"C{self.number}", session=self.random.choice((None, "s1", "s9"))))

    def look(self) -> None:
        if self.commits:
            self.story.append("another process looks")
            self.project.plan(self.random.choice(self.commits))

    def go_back(self) -> None:
        if not self.commits:
            return
        commit, scope = self.random.choice(self.commits), self.random.choice(("files", "staged", "all"))
        acts = (lambda: self.project.roll_back(commit, scope), self.project.undo, self.project.redo)
        act = self.random.choices(acts, [3, 1, 1])[0]
        self.story.append(f"another process goes back: {commit[:8]} {scope} or undo, redo")
        self.attempt(act)

    def try_again(self) -> None:
        """Let a long-lived recorder restore files for a RETRY."""
        recorder = self.random.choice(self.recorders)
        known = [event.id for event in recorder.session.events if event.id] if recorder.session else []
        if known:
            wanted = self.random.choice(known)
            self.story.append(f"a recorder retries from {wanted}")
            self.attempt(lambda: recorder.record(retry(wanted)))

    def attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Refused as error:
            self.story[-1] += f": refused, {error}"
            agree(f"it is refused for a reason: {error}", True, any(reason in str(error) for reason in ANY_REASON))

    def compare(self, record: Callable[[], Event]) -> None:
        """Check that what is on record is what is on disk: content, bits, links, empty directories, HEAD and staging
        area.
        """
        before = Picture(self.project)
        outside = self.outside(before)
        event = record()
        agree("a recording writes no file", before.disk, self.project.disk())
        content = {path: as_recorded(entry) for path, entry in before.covered.items()} | outside
        agree("a checkpoint holds what git calls content", content, self.project.held(event.commit))
        modes, umask = recorded_modes(event), recorded_umask(event)
        bits = {path: entry[1] for path, entry in before.covered.items() if entry[0] == "file"}
        told = {path: modes.get(os.fsencode(path), _plain(mode, umask)) for path, mode in bits.items()}
        agree("it tells the bits of each file", bits, told)
        agree("it tells where HEAD was", before.commit, event.git["head"])
        empty = {os.fsdecode(path) + "/" for path in recorded_empty(event)}
        agree("an empty directory is one", set(), {path for path in empty if _has_entries(before.disk, path)})
        staging = recorded_staging(event)
        if staging is not None and not staging.unmerged and not staging.intended:
            agree("it tells the staging area", self.project.git("write-tree"), staging.tree)
        self.commits.append(event.commit)

    def outside(self, picture: Picture) -> dict[str, tuple[str, bytes]]:
        """Return what a sparse checkout leaves out, as the index has it."""
        if self.project.git("config", "--bool", "core.sparseCheckout", ok=(0, 1)) != "true":
            return {}
        rows = self.project.git_bytes("ls-files", "-z", "-v", "-s").split(b"\0")
        found = {}
        for head, _, path in (row.partition(b"\t") for row in rows if row[:1] in (b"S", b"s")):
            _, mode, oid, _ = head.decode().split()
            above = {str(parent) for parent in Path(os.fsdecode(path)).parents}
            if os.fsdecode(path) not in picture.disk and above.isdisjoint(picture.disk):
                found[os.fsdecode(path)] = (mode, self.project.git_bytes("cat-file", "blob", oid))
        return found


def _plain(mode: int, umask: int) -> int:
    return (0o777 if mode & 0o100 else 0o666) & ~umask


def _has_entries(disk: dict[str, Entry], directory: str) -> bool:
    return any(path.startswith(directory) and path != directory for path in disk)


def live_long(template: Path, seed: int, steps: int) -> None:
    """Take this many steps in a fresh repository."""
    with tempfile.TemporaryDirectory() as directory:
        LongLived(Project.copy(template, Path(directory) / "project"), seed).go(steps)


if __name__ == "__main__":
    run_in_parts(
        live_long, document=__doc__ or "", steps=1000, length=LENGTH, said="every checkpoint is what was on disk"
    )
