"""Plans a rollback: what the work tree holds, what the target holds, and what to do with each path.

Planning changes nothing of the user's. The caller holds the work tree's lock.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gitckpt.errors import Damaged, Refused
from gitckpt.repo import restore as disk
from gitckpt.repo.answers import INDEX_ANEW
from gitckpt.repo.branch import moves_to, tip_of
from gitckpt.repo.closed import not_to_be_changed, not_to_be_opened
from gitckpt.repo.index import parents
from gitckpt.repo.private import with_rules
from gitckpt.repo.recorded import (
    recorded_empty,
    recorded_git,
    recorded_missing,
    recorded_modes,
    recorded_staging,
    recorded_umask,
    refuse_unreadable,
)
from gitckpt.repo.relative import told_under
from gitckpt.repo.staging import Staging
from gitckpt.repo.trees import Change, changes, check_objects, entries, holds_path, tree_of, with_changes
from gitckpt.trajectory.paths import is_at_or_below
from gitckpt.trajectory.plan import Place, Plan, Situation, changed_modes, giving_way, make_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.repo.head import Head
    from gitckpt.repo.journal import OnRecord
    from gitckpt.repo.snapshot import Snapshot
    from gitckpt.repo.worktree import WorkTree
    from gitckpt.trajectory.events import Event
    from gitckpt.wishes import Wish


@dataclass(slots=True)
class Prepared:
    """A plan with everything that is needed to carry it out."""

    wish: Wish
    plan: Plan
    snapshot: Snapshot
    wanted_tree: str
    changes: list[Change]
    modes: dict[bytes, int | None]
    staging: Staging | None = None
    branch_tip: str | None = None
    notes: list[str] = field(default_factory=list)


class Planner:
    """Makes rollback plans for one work tree."""

    def __init__(self, tree: WorkTree) -> None:
        self.tree = tree
        self.repository, self._raw = tree.repository, tree.raw
        self._trees: dict[str, str] = {}
        self._on_record: OnRecord | None = None
        self._compared: dict[tuple[str, str], list[Change]] = {}

    def _tree_of(self, event: Event) -> str:
        if event.commit not in self._trees:
            self._trees[event.commit] = tree_of(self._raw, event.commit)
        return self._trees[event.commit]

    def prepare(self, wish: Wish) -> Prepared:
        """Return the plan for a wish. Nothing of the user's is changed. The caller holds the lock."""
        refuse_unreadable(wish.target)
        self._on_record, self._compared = None, {}
        snapshot = self.tree.snapshotter.take()
        self._refuse_unknown_paths(wish, snapshot)
        prepared = self._plan(wish, snapshot)
        _, held = self._obstacles(prepared)
        held |= self._still_there(wish, snapshot)
        if held:
            snapshot = self.tree.snapshotter.take(also=held)
            prepared = self._plan(wish, snapshot)
        check_objects(
            self.repository,
            self._raw,
            (c.new_oid for c in prepared.changes if c.status != "D" and c.new_mode != b"160000"),
        )
        return prepared

    def _plan(self, wish: Wish, snapshot: Snapshot) -> Prepared:
        target_tree = wish.tree(snapshot) if wish.tree else self._tree_of(wish.target)
        compared = self._compared[snapshot.tree, target_tree] = changes(self._raw, snapshot.tree, target_tree)
        differing = [change for change in compared if _selected(change.path, wish.paths)]
        outside = self._outside(wish, snapshot, differing)
        found = [change for change in differing if change.path not in outside]
        prepared = Prepared(wish, Plan(wish.target.ref, wish.scope, ()), snapshot, target_tree, found, {})
        blocked, _ = self._obstacles(prepared)
        situation = self._situation(prepared, blocked)
        prepared.plan = make_plan(wish.target.ref, wish.scope, found, situation, wish.by_hand)
        done = {step.path for step in prepared.plan.changing}
        prepared.changes = [change for change in found if change.path in done]
        everything = not wish.paths and not wish.tree and len(prepared.changes) == len(differing)
        if not everything:
            prepared.wanted_tree = with_changes(self.repository, self._raw, snapshot.tree, prepared.changes)
        prepared.modes = self._wanted_modes(prepared, situation)
        self._plan_staging(prepared)
        self._plan_head(prepared)
        return prepared

    def _plan_head(self, prepared: Prepared) -> None:
        wish, head = prepared.wish, prepared.snapshot.head
        if wish.wanted_head is None:
            return
        branch, commit = wish.wanted_head.get("branch"), wish.wanted_head.get("head")
        prepared.branch_tip = tip_of(self.repository, branch)
        now, then = Place(head.branch, head.commit), Place(branch, commit)
        stays = now.branch == branch and (branch is not None or now.commit == commit)
        moves = moves_to(self.repository, wish.branches | ({branch: commit} if branch is not None else {}))
        prepared.plan = replace(prepared.plan, head=None if stays else (now, then), moves=moves)

    def _still_there(self, wish: Wish, snapshot: Snapshot) -> set[bytes]:
        """Return the files created by the operation to be reverted that an ignore rule now keeps out of the
        snapshot."""
        if not wish.brought:
            return set()
        absent = self._brought(wish.brought) - set(entries(self._raw, snapshot.tree))
        return {path for path in absent if _selected(path, wish.paths) and disk.is_file(self.repository, path)}

    def _refuse_unknown_paths(self, wish: Wish, snapshot: Snapshot) -> None:
        """Raise Refused for a path that neither side holds: a mistyped or unrecorded path must not look like a
        successful rollback. Only a rollback is checked; other operations repeat paths that were checked before."""
        given = wish.paths if wish.operation == "rollback" else ()
        unknown = [path for path in given if path and not self._is_held(path, wish, snapshot)]
        if not unknown:
            return
        names = ", ".join(ascii(os.fsdecode(path)) for path in unknown)
        if any(os.path.lexists(self.repository.at(path)) for path in unknown):
            missing = recorded_missing(wish.target) | snapshot.missing
            why = next(
                (missing[m] for m in sorted(missing) for path in unknown if _related(m, path)), "a rule ignores it"
            )
            raise Refused(
                f"{wish.target.ref} does not hold {names}, and nothing was changed: {why}",
                "include in .gitckpt.yaml records what is ignored; gitckpt rollback ID --dry-run lists what differs",
            )
        raise Refused(
            f"neither {wish.target.ref} nor the work tree has {names}",
            "paths are meant from where you stand; gitckpt rollback ID --dry-run lists what differs",
        )

    def _is_held(self, path: bytes, wish: Wish, snapshot: Snapshot) -> bool:
        """Return whether either side has something on record at or below this path."""
        places = [*snapshot.empty, *recorded_empty(wish.target), *snapshot.modes, *recorded_modes(wish.target)]
        if any(is_at_or_below(place.rstrip(b"/"), [path]) for place in places):
            return True
        return any(holds_path(self._raw, tree, path) for tree in (self._tree_of(wish.target), snapshot.tree))

    def _outside(self, wish: Wish, snapshot: Snapshot, differing: Sequence[Change]) -> set[bytes]:
        """Return the differing paths to leave alone because a sparse checkout keeps them off the disk: those that the
        target lacks, or whose file there equals its staging area. Paths that the wish names are never left out."""
        staging, then = snapshot.staging, recorded_staging(wish.target)
        if not self.tree.settings.sparse or staging is None or then is None:
            return set()
        skipped = set(staging.skipped).difference(wish.paths)
        away = [c for c in differing if c.path in skipped and not os.path.lexists(self.repository.at(c.path))]
        if all(change.status == "D" for change in away):
            return {change.path for change in away}
        worked_on = {change.path for change in changes(self._raw, then.tree, self._tree_of(wish.target))}
        return {change.path for change in away if change.status == "D" or change.path not in worked_on}

    def _obstacles(self, prepared: Prepared) -> tuple[dict[bytes, str], set[bytes]]:
        limit = self.tree.settings.max_file_size
        return disk.obstacles(self.repository, prepared.changes, prepared.snapshot, limit)

    def _situation(self, prepared: Prepared, blocked: dict[bytes, str]) -> Situation:
        wish, snapshot = prepared.wish, prepared.snapshot
        deleted = [change.path for change in prepared.changes if change.status == "D"]
        whole = not wish.tree
        rules = with_rules(self._raw, self.tree.settings)
        ignored = disk.ignored_by(self.repository, rules, self._tree_of(wish.target), deleted)
        if wish.brought and ignored:
            # what the operation itself had created is removed, even if a rule ignores it
            ignored -= self._brought(wish.brought)
        ignored -= giving_way(prepared.changes, blocked)
        going = set(deleted) - ignored
        then = {
            path: mode
            for path, mode in recorded_modes(wish.target).items()
            if not disk.taken_directories(self.repository, [path.rstrip(b"/").rpartition(b"/")[0]], going)
        }
        empty = [path for path in recorded_empty(wish.target) if _selected(path, wish.paths)] if whole else []
        taken = disk.taken_directories(self.repository, empty, going)
        restored = {change.path for change in prepared.changes if change.status != "D"}
        now = self._modes_here(prepared)
        situation = Situation(
            blocked=blocked,
            unheld=recorded_missing(wish.target),
            ignored=ignored,
            touched=self._touched(snapshot),
            uncovered={path: why for path, why in snapshot.missing.items() if _selected(path, wish.paths)}
            | {path + b"/": why for path, why in taken.items()},
            modes_now=_select(self._modes_now(prepared, now), wish.paths) if whole else _of(now, restored),
            modes_then=_select(then, wish.paths) if whole else _of(then, restored),
            empty_now=[path for path in snapshot.empty if _selected(path, wish.paths)] if whole else [],
            empty_then=[path for path in empty if path not in taken],
        )
        return replace(situation, blocked=self._of_others(situation, restored) | blocked)

    def _of_others(self, situation: Situation, restored: set[bytes]) -> dict[bytes, str]:
        """Return the directories and permission bits that are to change but that we may not change: path → why."""
        directories = {path + b"/" for path in {*situation.empty_now} ^ {*situation.empty_then}}
        inside = not_to_be_opened(self.repository, {path[:-1] for path in directories})
        return {path + b"/": why for path, why in inside.items()} | not_to_be_changed(
            self.repository, changed_modes(situation) - restored - directories
        )

    def _brought(self, tree: str) -> set[bytes]:
        """Return the paths in a tree that may have been garbage-collected. If it is gone, return none; ignored files
        are then left as they are."""
        try:
            return set(entries(self._raw, tree))
        except Damaged:
            return set()

    def _modes_here(self, prepared: Prepared) -> dict[bytes, int]:
        """Return the present permission bits relative to the target's umask if the target was recorded in this work
        tree. An event of another work tree says nothing about the umask here; then return them as in the snapshot."""
        snapshot, target = prepared.snapshot, prepared.wish.target
        umask = recorded_umask(target)
        own = umask != snapshot.umask and target.worktree == self.repository.name
        if not own or target.session in self.on_record.origins:
            return snapshot.modes
        return told_under(umask, snapshot.modes, snapshot.umask, entries(self._raw, snapshot.tree), snapshot.empty)

    def _modes_now(self, prepared: Prepared, modes: dict[bytes, int]) -> dict[bytes, int]:
        """Return `modes` without those of directories that the target lacks: they are deleted, or are not ours."""
        if not any(path.endswith(b"/") for path in modes):
            return modes
        empty = recorded_empty(prepared.wish.target)
        then = parents([*entries(self._raw, prepared.wanted_tree), *(path + b"/" for path in empty)])
        return {path: mode for path, mode in modes.items() if not path.endswith(b"/") or path[:-1] in then}

    def _touched(self, snapshot: Snapshot) -> set[bytes]:
        """Return the paths that changed since the last event of this work tree was recorded."""
        last = self.last_event()
        if last is None:
            return set()
        tree = self._tree_of(last)
        # most often the target is that very event, and the same paths differ in either direction
        if (compared := self._compared.get((snapshot.tree, tree))) is None:
            compared = changes(self._raw, tree, snapshot.tree)
        return {change.path for change in compared}

    @property
    def on_record(self) -> OnRecord:
        """What the refs say; read once for a plan, which is made and carried out under the lock."""
        if self._on_record is None:
            self._on_record = self.tree.journal.on_record()
        return self._on_record

    def _lines_of(self, session: str) -> dict[str, str]:
        """Return the lines of a session, name → tip."""
        return self.on_record.lines.setdefault(session, {})

    def last_event(self) -> Event | None:
        """Return the event at the tip of the work tree's current line."""
        current = self.tree.journal.current()
        if current is None:
            return None
        tip = self._lines_of(current[0]).get(current[1])
        return self.tree.tips({tip}).get(tip) if tip else None

    def _wanted_modes(self, prepared: Prepared, situation: Situation) -> dict[bytes, int | None]:
        modes: dict[bytes, int | None] = {}
        for step in prepared.plan.changing:
            path = step.path
            if path in situation.modes_then:
                modes[path] = situation.modes_then[path]
            elif path in situation.modes_now and (step.action != "delete" or path.endswith(b"/")):
                # a deleted directory may be recreated for a file of the target
                modes[path] = None
        for path, mode in situation.modes_then.items():
            # git removes a directory with its last file, and later creates a new one
            if path.endswith(b"/") and any(change.path.startswith(path) for change in prepared.changes):
                modes.setdefault(path, mode)
        return modes

    def _plan_staging(self, prepared: Prepared) -> None:
        wish, snapshot = prepared.wish, prepared.snapshot
        recorded = recorded_staging(wish.target)
        if wish.scope == "files" or wish.tree is not None or recorded is None:
            return
        if snapshot.staging is None:
            if wish.wanted_head is not None:
                raise Refused(
                    "the staging area cannot be read, and so could not be put back later",
                    f"{INDEX_ANEW}; --scope files leaves it alone",
                )
            prepared.plan = replace(prepared.plan, staging_note="the staging area is untouched: it cannot be read")
            return
        if wish.scope == "staged" and not snapshot.head.same_place(recorded_git(wish.target)):
            prepared.plan = replace(prepared.plan, staging_note=_elsewhere(snapshot.head, recorded_git(wish.target)))
            return
        if wish.paths:
            recorded = self._limited(snapshot.staging, recorded, wish.paths)
        if not snapshot.staging.same_content(recorded):
            prepared.staging = recorded
            prepared.plan = replace(prepared.plan, staging=True)

    def _limited(self, present: Staging, recorded: Staging, paths: Sequence[bytes]) -> Staging:
        """Return the present staging area with the recorded state for these paths."""
        found = [c for c in changes(self._raw, present.tree, recorded.tree) if _selected(c.path, paths)]
        limited = Staging(with_changes(self.repository, self._raw, present.tree, found))
        limited.unmerged = [entry for entry in present.unmerged if not _selected(entry[3], paths)]
        limited.unmerged += [entry for entry in recorded.unmerged if _selected(entry[3], paths)]
        limited.intended = {path: mode for path, mode in present.intended.items() if not _selected(path, paths)}
        limited.intended |= {path: mode for path, mode in recorded.intended.items() if _selected(path, paths)}
        return limited


def _selected(path: bytes, paths: Sequence[bytes]) -> bool:
    """Return whether a path is asked for: it is at or below one of `paths`, or a file where one of them needs a
    directory."""
    name = path.rstrip(b"/")
    return not paths or is_at_or_below(name, paths) or any(wanted.startswith(name + b"/") for wanted in paths)


def _elsewhere(head: Head, then: dict[str, Any]) -> str:
    """Say why `--scope staged` does not restore the staging area, and what does."""
    if (head.operation, head.operation_state) != (then.get("operation"), then.get("operation_state")):
        return "the staging area is untouched: the operation of git in progress is not the one of that checkpoint"
    return "the staging area is untouched: HEAD is not at that checkpoint's commit; --scope all puts both back"


def _related(missing: bytes, path: bytes) -> bool:
    """Return whether a missing path is at `path`, above it or below it."""
    return is_at_or_below(missing, [path]) or is_at_or_below(path, [missing])


def _of(modes: dict[bytes, int], paths: set[bytes]) -> dict[bytes, int]:
    return {path: mode for path, mode in modes.items() if path in paths}


def _select(modes: dict[bytes, int], paths: Sequence[bytes]) -> dict[bytes, int]:
    return {path: mode for path, mode in modes.items() if _selected(path, paths)}
