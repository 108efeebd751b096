"""The way back: plan, record the present, write, verify. Rollback, undo, redo and a RETRY that restores are one
mechanism.

A line is opened at an event, and the work tree is made to match it. The present state is on record before the first
write, so each of them can be taken back; the line is opened after the last, so that one that was interrupted is found
again."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gitckpt.errors import Negative, Refused
from gitckpt.repo import restore as disk
from gitckpt.repo import staging as staging_area
from gitckpt.repo.repository import line_ref
from gitckpt.repo.staging import Staging
from gitckpt.repo.trees import Change, changes, check_objects, entries, tree_of, with_changes
from gitckpt.trajectory.decide import next_line
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.paths import data_path, path_data
from gitckpt.trajectory.plan import Plan, Situation, make_plan
from gitckpt.trajectory.session import MAIN, Session
from gitckpt.trajectory.undo import Operations, operations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitckpt.recorder import Recorder
    from gitckpt.repo.snapshot import Snapshot
    from gitckpt.repo.worktree import WorkTree
    from gitckpt.views.plan import PlanDocument, PlanStep

#: Seconds to wait for a lock of the user's on his staging area, where it is to be written.
INDEX_PATIENCE = 2.0


@dataclass(slots=True)
class Wish:
    """What is asked for. `target` is the event whose work tree is wanted; `paths` limit it, all when empty.

    `tree` replaces the target's tree where only parts of it are wanted (a hint), `head` the target's HEAD. `operation`
    is rollback, undo, redo, retry, continue or abort; `safety` the commit that undo goes back to, where it is not this
    operation's own event."""

    target: Event
    scope: str = "staged"
    paths: tuple[bytes, ...] = ()
    keep: bool = False
    operation: str = "rollback"
    safety: str = ""
    title: str = ""
    tree: Callable[[Snapshot], str] | None = None
    by_hand: tuple[str, ...] = ()
    head: dict[str, Any] | None = None

    @property
    def wanted_head(self) -> dict[str, Any] | None:
        """Where HEAD is to go (`head`, `branch`), or None where it stays."""
        if self.scope != "all":
            return None
        return self.head if self.head or self.tree is not None else self.target.git


@dataclass(slots=True)
class Prepared:
    """A plan with all that is needed to carry it out."""

    wish: Wish
    plan: Plan
    snapshot: Snapshot
    wanted_tree: str
    changes: list[Change]
    modes: dict[bytes, int | None]
    staging: Staging | None = None
    staging_note: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Outcome:
    """What a rollback did: its event, how many paths it changed, and what it has to say besides."""

    event: Event
    changed: int
    left: tuple[bytes, ...]
    notes: tuple[str, ...]
    commits_left: tuple[str, ...] = ()


class Restorer:
    """Rolls one work tree back. `recorder` is the one whose events stand before it, if it is a running one's."""

    def __init__(self, tree: WorkTree) -> None:
        self.tree = tree
        self.repository, self._raw = tree.repository, tree.raw

    # -- planning

    def prepare(self, wish: Wish) -> Prepared:
        """The plan. Nothing of the user's is changed. The caller holds the lock."""
        snapshot = self.tree.snapshotter.take()
        prepared = self._plan(wish, snapshot)
        _, held = self._obstacles(prepared)
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
        target_tree = wish.tree(snapshot) if wish.tree else tree_of(self._raw, wish.target.commit)
        found = [c for c in changes(self._raw, snapshot.tree, target_tree) if _selected(c.path, wish.paths)]
        prepared = Prepared(wish, Plan(wish.target.ref, wish.scope, ()), snapshot, target_tree, found, {})
        blocked, _ = self._obstacles(prepared)
        situation = self._situation(prepared, blocked)
        prepared.plan = make_plan(wish.target.ref, wish.scope, found, situation, wish.by_hand)
        done = {step.path for step in prepared.plan.changing}
        prepared.changes = [change for change in found if change.path in done]
        everything = not wish.paths and not wish.tree and len(prepared.changes) == len(found)
        if not everything:
            prepared.wanted_tree = with_changes(self.repository, self._raw, snapshot.tree, prepared.changes)
        prepared.modes = self._wanted_modes(prepared, situation)
        self._plan_staging(prepared)
        return prepared

    def _obstacles(self, prepared: Prepared) -> tuple[dict[bytes, str], set[bytes]]:
        limit = self.tree.settings.max_file_size
        return disk.obstacles(self.repository, prepared.changes, prepared.snapshot, limit)

    def _situation(self, prepared: Prepared, blocked: dict[bytes, str]) -> Situation:
        wish, snapshot = prepared.wish, prepared.snapshot
        deleted = [change.path for change in prepared.changes if change.status == "D"]
        whole = not wish.tree
        return Situation(
            blocked=blocked,
            ignored=disk.ignored_by(self.repository, self._raw, tree_of(self._raw, wish.target.commit), deleted),
            touched=self._touched(snapshot),
            uncovered={path: why for path, why in snapshot.missing.items() if _selected(path, wish.paths)},
            modes_now=_select(snapshot.modes, wish.paths) if whole else {},
            modes_then=_select(recorded_modes(wish.target), wish.paths) if whole else {},
            empty_now=[path for path in snapshot.empty if _selected(path, wish.paths)] if whole else [],
            empty_then=[path for path in recorded_empty(wish.target) if _selected(path, wish.paths)] if whole else [],
        )

    def _touched(self, snapshot: Snapshot) -> set[bytes]:
        """Paths that changed since the last event of this work tree was recorded."""
        last = self.last_event()
        if last is None:
            return set()
        return {change.path for change in changes(self._raw, tree_of(self._raw, last.commit), snapshot.tree)}

    def last_event(self) -> Event | None:
        """The event at the tip of the work tree's current line."""
        current = self.tree.journal.current()
        if current is None:
            return None
        tip = self.tree.journal.lines(current[0]).get(current[0], {}).get(current[1])
        return self.tree.tips({tip}).get(tip) if tip else None

    def _wanted_modes(self, prepared: Prepared, situation: Situation) -> dict[bytes, int | None]:
        modes: dict[bytes, int | None] = {}
        for step in prepared.plan.changing:
            path = step.path
            if path in situation.modes_then:
                modes[path] = situation.modes_then[path]
            elif path in situation.modes_now and step.action in ("mode", "restore"):
                modes[path] = None
        return modes

    def _plan_staging(self, prepared: Prepared) -> None:
        wish, snapshot = prepared.wish, prepared.snapshot
        recorded = recorded_staging(wish.target)
        if wish.scope == "files" or wish.tree is not None or wish.paths or recorded is None or snapshot.staging is None:
            return
        if wish.scope == "staged" and not snapshot.head.same_place(wish.target.git):
            prepared.staging_note = (
                "the staging area is untouched: HEAD or an operation of git is not where it was then"
            )
            return
        if not snapshot.staging.same_content(recorded):
            prepared.staging = recorded

    # -- doing

    def check(self, prepared: Prepared) -> None:
        """Raise Refused where the plan cannot be carried out without losing something, or where it could not be
        finished."""
        blocked = prepared.plan.blocked
        if blocked and not prepared.wish.keep:
            listed = "\n".join(f"  {os.fsdecode(step.path)}: {step.reason}" for step in blocked[:20])
            more = f"\n  and {len(blocked) - 20} more" if len(blocked) > 20 else ""
            raise Refused(
                f"{len(blocked)} paths stand in the way and cannot be kept by the safety snapshot; nothing was changed\n"
                f"{listed}{more}",
                "move them away, or leave them as they are with --keep",
            )
        if prepared.staging is not None:
            self._wait_for_index()
        if prepared.wish.wanted_head is not None:
            self._check_head(prepared)

    def _wait_for_index(self) -> None:
        lock = self.repository.index_path + b".lock"
        deadline = time.monotonic() + INDEX_PATIENCE
        while os.path.lexists(lock):
            if time.monotonic() > deadline:
                raise Refused(
                    f"the staging area is to be put back too, and {os.fsdecode(lock)} says that git is at work on it",
                    "wait for that git to end, or leave the staging area alone with --scope files",
                )
            time.sleep(0.05)

    def _check_head(self, prepared: Prepared) -> None:
        head, then = prepared.snapshot.head, prepared.wish.target.git
        if prepared.wish.head is None and (head.operation, head.operation_state) != (
            then.get("operation"),
            then.get("operation_state"),
        ):
            now, before = head.operation or "none", then.get("operation") or "none"
            raise Refused(
                f"the operation of git in progress is not that of the target (now: {now}, then: {before})",
                f"end it first: git {head.operation or 'status'} --abort, or use --scope staged",
            )

    def apply(self, prepared: Prepared, *, recorder: Recorder | None = None, retry: Event | None = None) -> Outcome:
        """Carry the plan out. Raises Negative where the work tree is then not as planned; the safety event is on
        record."""
        self.check(prepared)
        event, line = self._record_safety(prepared, recorder, retry)
        self._write(prepared)
        differences = self._verify(prepared)
        commits = self._move_head(prepared)
        if prepared.staging is not None:
            assert prepared.snapshot.staging is not None
            staging_area.restore(self.repository, prepared.snapshot.staging, prepared.staging)
        if prepared.plan.changing:
            staging_area.refresh(self.repository)
        if differences:
            raise Negative(
                "the work tree is not as planned after the rollback:\n" + "\n".join(differences[:20]),
                "gitckpt rollback --continue tries again; gitckpt rollback --abort goes back to where you were",
            )
        self._open_line(event, line, recorder)
        left = tuple(step.path for step in prepared.plan.steps if step.action == "leave")
        notes = [note for note in (prepared.staging_note, *prepared.notes) if note]
        return Outcome(event, len(prepared.plan.changing), left, tuple(notes), commits)

    def _record_safety(self, prepared: Prepared, recorder: Recorder | None, retry: Event | None) -> tuple[Event, str]:
        """Put the present state and the intent on record, on the line where work stands."""
        wish = prepared.wish
        target_session = self._session_of(wish.target)
        why = "retry" if retry else wish.operation if wish.operation in ("undo", "redo") else "rollback"
        line = next_line(target_session, why)
        opens = {"session": target_session.id, "line": line, "at": wish.target.commit}
        here = self._here(recorder) or target_session
        event = retry or Event(
            kind="rollback", session=here.id, line=self._here_line(here), seq=0, at="", subject=_subject(prepared),
            document={},
        )  # fmt: skip
        event.document["opens"] = opens
        event.document["rollback"] = self._intent(prepared)
        self.tree.draft(event, prepared.snapshot, here.lines)
        self.tree.publish(event, prepared.snapshot, here.lines)
        if recorder is not None and recorder.session is here:
            here.add(event)
        return event, line

    def _intent(self, prepared: Prepared) -> dict[str, Any]:
        wish = prepared.wish
        intent: dict[str, Any] = {
            "operation": wish.operation,
            "target": wish.target.commit,
            "target_ref": wish.target.ref,
            "scope": wish.scope,
            "plan": prepared.plan.hash,
            "tree": prepared.wanted_tree,
        }
        if wish.paths:
            intent["paths"] = [path_data(path) for path in wish.paths]
        if wish.keep:
            intent["keep"] = True
        if wish.tree is not None:
            intent["partial"] = True
        if wish.safety:
            intent["safety"] = wish.safety
        return intent

    def _session_of(self, event: Event) -> Session:
        return self.tree.journal.session(event.session)

    def _here(self, recorder: Recorder | None) -> Session | None:
        if recorder is not None and recorder.session is not None:
            return recorder.session
        current = self.tree.journal.current()
        session = self.tree.journal.session(current[0]) if current else None
        return session if session and session.lines else None

    def _here_line(self, session: Session) -> str:
        current = self.tree.journal.current()
        if current and current[0] == session.id and current[1] in session.lines:
            return current[1]
        return session.active_line if session.lines else MAIN

    def _write(self, prepared: Prepared) -> None:
        plan, repository = prepared.plan, self.repository
        newer = [s.path[:-1] for s in plan.changing if s.action == "delete" and s.path.endswith(b"/")]
        disk.remove_directories(repository, newer)
        umask = recorded_umask(prepared.wish.target) if prepared.wish.scope == "all" else disk.own_umask()
        disk.check_out(repository, self._raw, prepared.snapshot.tree, prepared.wanted_tree, umask)
        disk.make_directories(
            repository, (s.path[:-1] for s in plan.changing if s.action == "restore" and s.path.endswith(b"/"))
        )
        if prepared.modes:
            executable = {
                path for path, (mode, _) in entries(self._raw, prepared.wanted_tree).items() if mode == b"100755"
            }
            disk.set_modes(repository, prepared.modes, executable, umask)

    def _verify(self, prepared: Prepared) -> list[str]:
        """What is not as planned. Paths that were ignored before and are not now were never ours to plan."""
        after = self.tree.snapshotter.take(verifying=True)
        before = set(entries(self._raw, prepared.snapshot.tree)) if after.tree != prepared.wanted_tree else set()
        found = changes(self._raw, prepared.wanted_tree, after.tree) if after.tree != prepared.wanted_tree else []
        texts = {
            "A": "is there and should not be",
            "D": "is missing",
            "M": "is not as it was",
            "T": "is of another kind",
        }
        differences = [
            f"  {os.fsdecode(c.path)} {texts[c.status]}" for c in found if c.status != "A" or c.path in before
        ]
        for path, mode in prepared.modes.items():
            if mode is not None and disk.mode_of(self.repository, path) != mode:
                differences.append(f"  {os.fsdecode(path)} has other permission bits than {mode:o}")
        return differences

    def _open_line(self, event: Event, line: str, recorder: Recorder | None) -> None:
        opens = event.document["opens"]
        null = self.repository.null_oid
        self.tree.writer.publish([(line_ref(opens["session"], line), opens["at"], null)], "gitckpt: a line is opened")
        self.tree.writer.set_current(opens["session"], line)
        if recorder is not None and recorder.session is not None and recorder.session.id == opens["session"]:
            recorder.session.lines[line] = opens["at"]

    def _move_head(self, prepared: Prepared) -> tuple[str, ...]:
        """HEAD and branch as at the target; the commits that this leaves behind, which the safety event keeps."""
        wanted = prepared.wish.wanted_head
        if wanted is None:
            return ()
        from gitckpt.repo.branch import move_head

        return move_head(self.repository, prepared.snapshot.head, wanted, prepared.wish.target.ref)

    # -- wishes

    def release(self, prepared: Prepared) -> None:
        """Give up a plan that was only looked at."""
        self.tree.snapshotter.unsettle()

    def plan_document(self, prepared: Prepared) -> PlanDocument:
        """The plan as `rollback --dry-run --json` prints it."""
        plan = prepared.plan
        steps: list[PlanStep] = [
            {
                "action": step.action,
                "path": path_data(step.path),
                "reason": step.reason,
                "changed_since_last_event": step.changed_since_last_event,
            }
            for step in plan.steps
        ]
        return {
            "schema": "gitckpt.plan/1",
            "target": plan.target,
            "scope": plan.scope,
            "hash": plan.hash,
            "steps": steps,
            "by_hand": list(plan.by_hand),
        }

    def wish_to_undo(self) -> Wish:
        """What takes back the last rollback. Raises Refused where there is none."""
        state, events = self.operations()
        if state.interrupted is not None:
            raise _interrupted(state.interrupted)
        if not state.done:
            raise Refused("there is no rollback to undo in this work tree", "gitckpt log shows what is on record")
        done = state.done[-1]
        safety = done.document["rollback"].get("safety") or done.commit
        return self._wish_back(done, events[safety], "undo")

    def wish_to_redo(self) -> Wish:
        """What takes back the last undo. Raises Refused where there is none."""
        state, _ = self.operations()
        if state.interrupted is not None:
            raise _interrupted(state.interrupted)
        if not state.undone:
            raise Refused("there is no undo to take back in this work tree", "gitckpt undo takes back a rollback")
        return self._wish_back(state.undone[-1], state.undone[-1], "redo")

    def _wish_back(self, done: Event, target: Event, operation: str) -> Wish:
        intent = done.document["rollback"]
        paths = tuple(data_path(path) for path in intent.get("paths") or [])
        title = f"{operation} of {_named(done)}"
        return Wish(target, intent["scope"], paths, keep=bool(intent.get("keep")), operation=operation, title=title)

    def wish_after_interruption(self, *, abort: bool) -> Wish:
        """What finishes a rollback that was interrupted, or takes back what it had done. Raises Refused where there is
        none."""
        state, events = self.operations()
        begun = state.interrupted
        if begun is None:
            raise Refused("no rollback was interrupted in this work tree", "gitckpt status shows where it stands")
        intent = begun.document["rollback"]
        safety = intent.get("safety") or begun.commit
        paths = tuple(data_path(path) for path in intent.get("paths") or [])
        keep = bool(intent.get("keep"))
        if abort:
            return Wish(events[safety], intent["scope"], paths, keep, "abort", title=f"abort of {_named(begun)}")
        target = events.get(intent["target"]) or self.tree.journal.at([intent["target"]])[0]
        tree = intent["tree"] if intent.get("partial") else ""
        return Wish(
            target, intent["scope"], paths, keep, "continue", safety, f"continuation of {_named(begun)}",
            (lambda _: tree) if tree else None,
        )  # fmt: skip

    def operations(self) -> tuple[Operations, dict[str, Event]]:
        """The rollbacks of this work tree, and all its events by commit."""
        sessions = self.tree.journal.sessions()
        events = sorted((event for session in sessions for event in session.events), key=lambda event: event.at)
        opened = [(session.id, line) for session in sessions for line in session.lines]
        return operations(events, opened), {event.commit: event for event in events}


def restore_for_retry(recorder: Recorder, retry: Event, target: Event) -> Event:
    """Answer a RETRY by putting the work tree back to the checkpoint it names. The recorder holds the lock."""
    restorer = Restorer(recorder.tree)
    prepared = restorer.prepare(Wish(target, operation="retry"))
    return restorer.apply(prepared, recorder=recorder, retry=retry).event


def _interrupted(event: Event) -> Refused:
    return Refused(
        f"a rollback was interrupted: {_named(event)}",
        "gitckpt rollback --continue finishes it, gitckpt rollback --abort takes it back",
    )


def _named(event: Event) -> str:
    """An operation for a person: `rollback to C6`."""
    intent = event.document["rollback"]
    return f"{intent['operation']} to {str(intent['target_ref']).rpartition('/')[2]}"


def recorded_modes(event: Event) -> dict[bytes, int]:
    """The permission bits on record, by path."""
    modes = event.document.get("modes") or {}
    return {data_path(path): int(str(mode), 8) for mode, paths in modes.items() for path in paths}


def recorded_umask(event: Event) -> int:
    """The umask that the permission bits on record are relative to."""
    return int(str(event.document.get("umask") or "022"), 8)


def recorded_empty(event: Event) -> list[bytes]:
    """The empty directories on record."""
    return [data_path(path) for path in event.document.get("empty") or []]


def recorded_staging(event: Event) -> Staging | None:
    """The staging area on record, or None where it could not be read then."""
    record = event.git.get("staging")
    if not record:
        return None
    staging = Staging(record["tree"])
    for mode, oid, stage, path in record.get("unmerged") or []:
        staging.unmerged.append((mode.encode(), oid.encode(), b"%d" % stage, data_path(path)))
    staging.intended = [data_path(path) for path in record.get("intended") or []]
    return staging


def _selected(path: bytes, paths: Sequence[bytes]) -> bool:
    name = path.rstrip(b"/")
    return not paths or any(name == wanted or name.startswith(wanted + b"/") or wanted == b"" for wanted in paths)


def _select(modes: dict[bytes, int], paths: Sequence[bytes]) -> dict[bytes, int]:
    return {path: mode for path, mode in modes.items() if _selected(path, paths)}


def _subject(prepared: Prepared) -> str:
    wish = prepared.wish
    return wish.title or f"{wish.operation} to {wish.target.ref}: {len(prepared.plan.changing)} paths"
