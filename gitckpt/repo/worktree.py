"""One work tree, opened for writing: its lock, its private git, its snapshots, and the journal that events are written
to."""

from __future__ import annotations

import os
import time

from gitckpt.errors import GitFailed
from gitckpt.repo.cache import GIT_UMASK
from gitckpt.repo.in_force import SettingsInForce
from gitckpt.repo.journal import Journal
from gitckpt.repo.live import Attendance
from gitckpt.repo.lock import WorkTreeLock
from gitckpt.repo.message import recorded_head
from gitckpt.repo.presence import Novelty, ObjectsGone, is_collected
from gitckpt.repo.private import private_git
from gitckpt.repo.quarantine import Quarantine
from gitckpt.repo.repository import Repository, line_ref, tag_ref
from gitckpt.repo.snapshot import Snapshot, Snapshotter
from gitckpt.repo.trees import Change, changes_and_new, with_changes
from gitckpt.repo.writer import EMPTY_TREE, NOBODY, Writer, break_ref_locks
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.paths import path_data
from gitckpt.trajectory.session import next_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from gitckpt.config import Settings
    from gitckpt.repo.staging import Staging

    _Result = TypeVar("_Result")


#: How often a snapshot is repeated if a garbage collection has removed its objects.
ANEW = 4

#: Number of events after which a process checks whether packing is due.
EVENTS_BETWEEN = 100


class WorkTree:
    """A work tree that is recorded or rolled back.

    With `lenient`, invalid settings of gitckpt are reported and ignored, so that they do not block a rollback. Hold
    `lock` around everything that takes a snapshot or moves a ref."""

    def __init__(
        self, repository: Repository, say: Callable[[str], None] | None = None, *, lenient: bool = False
    ) -> None:
        self.repository = repository
        in_force = SettingsInForce(repository, say, lenient=lenient)
        self.settings = in_force.settings
        self.raw = private_git(repository, self.settings)
        self.lock = WorkTreeLock(
            repository.private_dir,
            say,
            make=lambda: private_git(repository, self.settings),
            mend=self._mend,
        )
        for git in (self.raw, repository.git):
            git.keep_open(lambda: self.lock.descriptor)
        self.journal = Journal(repository)
        self.writer = Writer(repository, self.raw, _author(self.settings), self.lock, durable=self.settings.durable)
        self.snapshotter = Snapshotter(repository, self.raw, in_force)
        self._tips: dict[str, Event] = {}
        self._trees: dict[str, str] = {}
        self._new: dict[tuple[str, str], list[bytes]] = {}
        self._quarantine: Quarantine | None = None
        self._attendance = Attendance(repository)
        self._published = 0

    def _mend(self) -> None:
        """Remove the locks left by a git that was killed together with the previous gitckpt."""
        from gitckpt.repo.branch import free_moved

        break_ref_locks(self.repository)
        free_moved(self.repository)

    def close(self) -> None:
        """Keep what was learned for the next process."""
        with self.lock:
            self.snapshotter.close()
        self._attendance.leave()
        if self._published:
            self._pack_if_due(ending=True)

    def _pack_if_due(self, *, ending: bool = False) -> None:
        if not self.settings.pack:
            return
        from gitckpt.repo.upkeep import pack_if_due

        pack_if_due(self.repository, self._published, ending=ending)

    def anew(self, work: Callable[[], _Result]) -> _Result:
        """Run work that takes a snapshot and publishes it. If a garbage collection has removed its objects, run it
        again.

        The repeated work starts from a new private index, and writes nothing where the collection can reach it."""
        try:
            return work()
        except GitFailed as error:
            if not is_collected(error) or not os.path.isdir(self.repository.objects_dir):
                raise
        try:
            with Quarantine(self.repository, self.raw) as self._quarantine:
                return self._repeated(work)
        finally:
            self._quarantine = None

    def _repeated(self, work: Callable[[], _Result]) -> _Result:
        """Repeat the work, at most ANEW + 1 times. An object that the collection has not removed yet is not written
        again, and may disappear during the work; the next repetition writes it."""
        for _ in range(ANEW):
            self.snapshotter.renew()
            try:
                return work()
            except ObjectsGone:
                pass
        self.snapshotter.renew()
        return work()

    def tips(self, commits: set[str]) -> dict[str, Event]:
        """Return the events at these commits. A commit without an event is left out."""
        unknown = commits - set(self._tips)
        if unknown:
            self._tips = {event.commit: event for event in self.journal.at(unknown)} | self._tips
        return {commit: self._tips[commit] for commit in commits if commit in self._tips}

    def know(self, events: Sequence[Event]) -> None:
        """Take these as the events at their commits, so that `tips` need not read them."""
        self._tips |= {event.commit: event for event in events}

    def changes(self, commit: str, tree: str) -> list[Change]:
        """Return the paths in which a tree differs from that of an event's commit. Raise Damaged if one cannot be read.

        If the next event after this one has that tree, git need not be asked again which objects are new."""
        found, new = changes_and_new(self.raw, commit, tree)
        self._new = {(commit, tree): new}
        return found

    def draft(self, event: Event, snapshot: Snapshot, lines: dict[str, str], after: int = 0) -> Event:
        """Complete the event with its place in history: sequence number, time, parents, and what the record says about
        git.

        `lines` are the current lines of its session, name → commit; its number is higher than `after`.
        """
        tips = self.tips(set(lines.values()))
        tip = lines.get(event.line, "")
        event.seq = 1 + max((after, *(other.seq for other in tips.values() if other.session == event.session)))
        event.at = _now()
        event.worktree = self.repository.name
        document = event.document
        document["git"] = _git_record(snapshot)
        document["coverage"] = {
            "missing": [{"path": path_data(p), "reason": r} for p, r in sorted(snapshot.missing.items())]
        }
        document["modes"] = {f"{mode:03o}": paths for mode, paths in _by_mode(snapshot.modes).items()}
        document["umask"] = f"{snapshot.umask:03o}" if snapshot.umask != GIT_UMASK else None
        document["empty"] = [path_data(path) for path in sorted(snapshot.empty)]
        event.flag = _flag(document, len(snapshot.missing))
        event.parents = (tip or self.writer.root(), *self._bound(snapshot, tips.get(tip), document["git"]))
        return event

    def _bound(self, snapshot: Snapshot, before: Event | None, record: dict[str, Any]) -> list[str]:
        """Return further parents: they bind the event to the user's commit, and protect that and the staging area from
        gc."""
        bound = []
        head = snapshot.head.commit
        if head and (before is None or recorded_head(before) != head):
            bound.append(head)
        staging = snapshot.staging
        if staging and (staging.unmerged or staging.tree not in (snapshot.head.tree, snapshot.tree)):
            record["staging"]["commit"] = commit = self._staging_commit(staging)
            bound.append(commit)
        return bound

    def _staging_commit(self, staging: Staging) -> str:
        """Return a commit that holds the staging area's tree, with a parent that holds its unmerged stages, if any. The
        same staging area always gives the same commit."""
        parents = []
        if staging.unmerged:
            rows = [Change.addition(mode, oid, b"%s/%s" % (stage, path)) for mode, oid, stage, path in staging.unmerged]
            empty = self.raw.object_id("hash-object", "-t", "tree", "-w", "--stdin")
            tree = with_changes(self.repository, self.raw, empty, rows)
            parents = [self.writer.commit(tree, [], "gitckpt: unmerged stages\n", NOBODY, NOBODY)]
        return self.writer.commit(staging.tree, parents, "gitckpt: staging area\n", NOBODY, NOBODY)

    def publish(
        self, event: Event, snapshot: Snapshot, lines: dict[str, str], *, tags: tuple[str, ...] = (), opened: str = ""
    ) -> Event:
        """Write the event and move its line to it, in one transaction; `tags` are ids to tag it with.

        `opened` is the name of a line that the event opens in its own session, at `event.opens["at"]`. Raise
        ObjectsGone, with the event off the record again, if a garbage collection has removed objects that it needs.
        """
        self._attendance.attend(event.session)
        before = lines.get(event.line, "")
        novelty = Novelty(self.repository, self.raw, partial=self.settings.partial_clone)
        known = self._known_objects(before, snapshot)
        if self._quarantine:
            novelty.start(before, snapshot.head.commit, snapshot.tree, known)
        seconds = int(time.time())
        event.commit = self.writer.write(event, snapshot.tree, seconds)
        null = self.repository.null_oid
        updates = [(line_ref(event.session, event.line), event.commit, before or null)]
        updates += [(tag_ref(event.session, id), event.commit, "") for id in tags]
        # another process may have opened a line here; then recording does not continue on this one
        updates += [(line_ref(event.session, name), "", null) for name in next_lines(lines) if name != opened]
        if opened and event.opens:
            updates.append((line_ref(event.session, opened), event.opens["at"], null))
        if self._quarantine:
            novelty.listed()
            novelty.deliver(self._quarantine, event.commit)
        self._move(updates, event, novelty)
        if not self._quarantine:
            try:
                novelty.start(before, snapshot.head.commit, snapshot.tree, known)
                root = () if before else (event.parents[0], EMPTY_TREE[self.repository.object_format])
                new = [*novelty.listed(), *(oid.encode() for oid in root)]
                novelty.secure(event.commit, new, self._staged_anew(event, before))
            except ObjectsGone:
                self._withdraw(event, updates, lines)
                raise
        self._tips[event.commit] = event
        self._trees = {event.commit: snapshot.tree}
        self.snapshotter.settle(snapshot)
        self._published += 1
        if self._published % EVENTS_BETWEEN == 0:
            self._pack_if_due()
        if opened and event.opens:
            lines[opened] = event.opens["at"]
        return event

    def _move(self, updates: Sequence[tuple[str, str, str]], event: Event, novelty: Novelty) -> None:
        try:
            self.writer.publish(updates, f"gitckpt: {event.kind}")
        except GitFailed:
            # git does not move a ref to a missing object
            novelty.look([event.commit.encode()])
            raise

    def _known_objects(self, before: str, snapshot: Snapshot) -> list[bytes] | None:
        """Return the objects that an event of this snapshot adds to the one at `before`; None if git has to be
        asked."""
        if self._trees.get(before) == snapshot.tree:
            return []
        head = snapshot.head
        if not before and head.commit and head.tree == snapshot.tree:
            return [head.commit.encode(), snapshot.tree.encode()]
        return self._new.get((before, snapshot.tree))

    def _staged_anew(self, event: Event, before: str) -> list[str]:
        """Return the commit of the staging area, if no ref protects it yet."""
        tip = self._tips.get(before)
        bound = (event.git.get("staging") or {}).get("commit")
        return [bound] if bound and not (tip and bound in tip.parents) else []

    def _withdraw(self, event: Event, updates: Sequence[tuple[str, str, str]], lines: dict[str, str]) -> None:
        """Move the refs of an event that is not intact back to where they were."""
        null, undone = self.repository.null_oid, []
        for name, new, old in updates:
            if new and old:
                undone.append((name, old, new))
            elif new:
                undone.append((name, self._tagged_before(event, lines) or null, new))
        self.writer.publish(undone, f"gitckpt: not whole: {event.kind}")

    def _tagged_before(self, event: Event, lines: dict[str, str]) -> str:
        """Return the checkpoint that had the event's id before it."""
        session = self.journal.session(event.session, lines)
        earlier = [e for e in session.named(event.id or "") if e.kind == "checkpoint"]
        return earlier[0].commit if earlier else ""


def _flag(document: dict[str, Any], missing: int) -> str:
    words = [word for word in ("unterminated", "late") if document.get(word)]
    if missing:
        words.append(f"{missing} {'path' if missing == 1 else 'paths'} not covered")
    return ", ".join(words)


def _author(settings: Settings) -> str:
    name = "".join(c for c in settings.author_name if c.isprintable() and c not in "<>").strip()
    email = "".join(c for c in settings.author_email if c.isprintable() and c not in "<> ")
    return f"{name} <{email}>" if name else ""


def _now() -> str:
    """Return the current time in UTC, RFC 3339, to the microsecond."""
    nanoseconds = time.time_ns()
    moment = time.gmtime(nanoseconds // 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", moment) + f".{nanoseconds // 1000 % 1_000_000:06d}Z"


def _git_record(snapshot: Snapshot) -> dict[str, Any]:
    head, staging = snapshot.head, snapshot.staging
    record: dict[str, Any] = {"head": head.commit, "branch": head.branch}
    if head.branch is not None and not isinstance(path_data(os.fsencode(head.branch)), str):
        record["branch"], record["branch_bytes"] = ascii(head.branch)[1:-1], path_data(os.fsencode(head.branch))
    if head.operation:
        record["operation"], record["operation_state"] = head.operation, head.operation_state
    if staging:
        record["staging"] = {"tree": staging.tree}
        if staging.unmerged:
            record["staging"]["unmerged"] = [
                [mode.decode(), oid.decode(), int(stage), path_data(path)]
                for mode, oid, stage, path in staging.unmerged
            ]
        if staging.intended:
            record["staging"]["intended"] = [
                path_data(path) if mode == b"100644" else [mode.decode(), path_data(path)]
                for path, mode in staging.intended.items()
            ]
    return record


def _by_mode(modes: dict[bytes, int]) -> dict[int, list[Any]]:
    grouped: dict[int, list[Any]] = {}
    for path, mode in sorted(modes.items()):
        grouped.setdefault(mode, []).append(path_data(path))
    return grouped
