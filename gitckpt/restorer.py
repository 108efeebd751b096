"""Goes back: plan, record the present, write, verify. Rollback, undo, redo and a restoring RETRY share this mechanism.

A line is opened at an event, and the work tree is made to match that event. The present state is recorded before the
first write, so every operation can be reverted. The line is opened after the last write, so an interrupted operation is
detected.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gitckpt.errors import Negative, Refused
from gitckpt.planner import Planner, Prepared
from gitckpt.repo import branch as branches
from gitckpt.repo import restore as disk
from gitckpt.repo import staging as staging_area
from gitckpt.repo.closed import opened
from gitckpt.repo.directories import leads_through_link
from gitckpt.repo.naming import new_session_id
from gitckpt.repo.recorded import recorded_empty, recorded_git, recorded_umask
from gitckpt.repo.repository import line_ref
from gitckpt.repo.trees import changes, entries
from gitckpt.repo.user_index import INDEX_PATIENCE
from gitckpt.trajectory.decide import next_line
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.paths import path_data
from gitckpt.trajectory.session import MAIN, Session
from gitckpt.trajectory.undo import next_number
from gitckpt.views.text import count
from gitckpt.wishes import Wish, branch_rows

if TYPE_CHECKING:
    from gitckpt.recorder import Recorder


@dataclass(slots=True)
class Outcome:
    """What a rollback did: its event, how many paths it changed, which ones it left, and notes for the user."""

    event: Event
    changed: int
    left: tuple[bytes, ...]
    notes: tuple[str, ...]
    commits_left: tuple[str, ...] = ()


class Restorer(Planner):
    """Rolls one work tree back according to a plan."""

    def release(self) -> None:
        """Discard a plan that was only looked at."""
        self.tree.snapshotter.unsettle()

    def check(self, prepared: Prepared) -> None:
        """Raise Refused if carrying out the plan would lose something, or could not be completed."""
        blocked = prepared.plan.blocked
        if blocked and not prepared.wish.keep:
            listed = "\n".join(f"  {os.fsdecode(step.path)}: {step.reason}" for step in blocked[:20])
            more = f"\n  and {len(blocked) - 20} more" if len(blocked) > 20 else ""
            raise Refused(
                f"in the way, and not to be kept by the safety snapshot: {count(len(blocked), 'path')}; "
                f"nothing was changed\n{listed}{more}",
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
        head, then = prepared.snapshot.head, recorded_git(prepared.wish.target)
        branches.check_move(self.repository, head, prepared.wish.wanted_head or then)
        if prepared.wish.head is None and (head.operation, head.operation_state) != (
            then.get("operation"),
            then.get("operation_state"),
        ):
            now, before = head.operation or "none", then.get("operation") or "none"
            raise Refused(
                f"the operation of git in progress is not that of the target (now: {now}, then: {before})",
                f"{_ended_by(head.operation)}gitckpt rollback {prepared.wish.target.ref} --scope staged leaves HEAD "
                "where it is",
            )

    def apply(self, prepared: Prepared, *, recorder: Recorder | None = None, retry: Event | None = None) -> Outcome:
        """Carry out the plan. Raises Negative if the work tree is not as planned then; the safety event is on
        record."""
        self.check(prepared)
        prepared, event, line = self._record_safety_anew(prepared, recorder, retry)
        self._write(prepared)
        differences = self._verify(prepared)
        commits = self._move_head(prepared)
        touched = {change.path for change in prepared.changes} | set(prepared.modes)
        if prepared.staging is not None:
            assert prepared.snapshot.staging is not None
            touched |= staging_area.restore(self.repository, prepared.snapshot.staging, prepared.staging)
        staging_area.refresh(self.repository, touched)
        if differences:
            raise Negative(
                "the work tree is not as planned after the rollback:\n" + "\n".join(differences[:20]),
                "gitckpt rollback --continue tries again; gitckpt rollback --abort goes back to where you were",
            )
        self._open_line(event, line, recorder)
        left = tuple(step.path for step in prepared.plan.steps if step.action == "leave")
        notes = [note for note in (prepared.plan.staging_note, *prepared.notes) if note]
        return Outcome(event, len(prepared.plan.changing), left, tuple(notes), commits)

    def _record_safety_anew(
        self, prepared: Prepared, recorder: Recorder | None, retry: Event | None
    ) -> tuple[Prepared, Event, str]:
        """Record the safety event; try once more from a new snapshot if a garbage collection has removed the first
        one's objects."""
        if retry is not None:  # the recorder repeats the whole retry
            return prepared, *self._record_safety(prepared, recorder, retry)
        plans = [prepared]

        def record() -> tuple[Prepared, Event, str]:
            again = plans.pop() if plans else self.prepare(prepared.wish)
            if again.plan.hash != prepared.plan.hash:
                raise Refused("the work tree has changed meanwhile; nothing was done", "run the command again")
            return again, *self._record_safety(again, recorder, retry)

        done, event, line = self.tree.anew(record)
        # no event holds the trees made for the plan alone; a second try's quarantine has taken its own away, so plan
        # again
        return (done if done is prepared else self._plan(done.wish, done.snapshot)), event, line

    def _record_safety(self, prepared: Prepared, recorder: Recorder | None, retry: Event | None) -> tuple[Event, str]:
        """Record the present state and the intent, on the line where work stands."""
        wish = prepared.wish
        here, target_session = self._sessions(prepared, recorder)
        why = "retry" if retry else wish.operation if wish.operation in ("undo", "redo") else "rollback"
        line = next_line(target_session, why)
        opens = {"session": target_session.id, "line": line, "at": wish.target.commit}
        event = retry or Event(
            kind="rollback", session=here.id, line=self._here_line(here), seq=0, at="", subject=_subject(prepared),
            document={},
        )  # fmt: skip
        event.document["opens"] = opens
        event.document["rollback"] = self._intent(prepared)
        self.tree.draft(event, prepared.snapshot, here.lines)
        # keep the old tips of the branches reachable, whichever branch HEAD is on now
        tips = dict.fromkeys(move.before for move in prepared.plan.moves if move.before)
        event.parents = (*event.parents, *(tip for tip in tips if tip not in event.parents))
        self.tree.publish(event, prepared.snapshot, here.lines)
        if recorder is not None and recorder.session is here:
            here.add(event)
        return event, line

    def _intent(self, prepared: Prepared) -> dict[str, Any]:
        wish = prepared.wish
        intent: dict[str, Any] = {
            "operation": wish.operation,
            "number": next_number(self.tree.journal.operations(self.on_record)),
            "place": self.tree.writer.place(self.on_record.places),
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
        if wish.head is not None:
            intent["head"] = wish.head
        if wish.safety:
            intent["safety"] = wish.safety
        if wish.ends:
            intent["ends"] = wish.ends
        if wish.brought:
            intent["brought"] = wish.brought
        if wish.branches:
            intent["branches"] = branch_rows(wish.branches)
        if wish.wanted_head is not None:
            # a branch that is already in place is not moved, so undo does not take back later commits on it
            intent["branches_were"] = branch_rows({move.branch: move.before for move in prepared.plan.moves})
        return intent

    def _sessions(self, prepared: Prepared, recorder: Recorder | None) -> tuple[Session, Session]:
        """Return the session where work stands, and the one in which a line is opened at the target. That is the
        target's own session, unless it was fetched or belongs to another work tree: those are never written to."""
        here, target = self._here(recorder), prepared.wish.target
        if target.worktree != self.repository.name or target.session in self.on_record.origins:
            here = here or self._opened(prepared)
            return here, here
        home = self._session_of(target.session)
        return here or home, home

    def _opened(self, prepared: Prepared) -> Session:
        """Open a new session, because this work tree has none of its own."""
        session = Session(new_session_id(), (), {})
        start = Event(kind="start", session=session.id, line=MAIN, seq=0, at="", subject="start", document={})
        self.tree.draft(start, prepared.snapshot, {})
        self.tree.publish(start, prepared.snapshot, {})
        self.tree.writer.set_current(session.id, MAIN)
        session.add(start)
        return session

    def _session_of(self, id: str) -> Session:
        """Return the session with its lines only: events are not needed here, and a long session has many."""
        return Session(id, (), self._lines_of(id))

    def _here(self, recorder: Recorder | None) -> Session | None:
        if recorder is not None and recorder.session is not None:
            return recorder.session
        current = self.tree.journal.current()
        session = self._session_of(current[0]) if current else None
        return session if session and session.lines else None

    def _here_line(self, session: Session) -> str:
        current = self.tree.journal.current()
        if current and current[0] == session.id and current[1] in session.lines:
            return current[1]
        return session.active_line if session.lines else MAIN

    def _write(self, prepared: Prepared) -> None:
        then = recorded_umask(prepared.wish.target)
        exact = prepared.wish.scope == "all" or prepared.wish.operation not in ("rollback", "retry")
        umask = then if exact else then | disk.own_umask()  # restored files never get wider permissions than they had
        with opened(self.repository, (s.path for s in prepared.plan.changing if s.action != "mode")):
            self._write_content(prepared, umask)
        self.tree.snapshotter.follow(prepared.changes)
        self._set_modes(prepared, then, umask)

    def _set_modes(self, prepared: Prepared, then: int, umask: int) -> None:
        """Set permission bits. Files that were missing get bits according to `umask`. Files that were there get the
        recorded bits, relative to the umask `then` at the time, even if git has rewritten them."""
        modes, anew = dict(prepared.modes), {c.path for c in prepared.changes if c.status == "M"}
        if umask != then:
            modes = dict.fromkeys(anew) | modes
        if not modes:
            return
        executable = {path for path, (mode, _) in entries(self._raw, prepared.wanted_tree).items() if mode == b"100755"}
        new = {change.path for change in prepared.changes if change.status == "A"}
        for mask, chosen in ((umask, modes.keys() & new), (then, modes.keys() - new)):
            disk.set_modes(self.repository, {path: modes[path] for path in sorted(chosen)}, executable, mask)

    def _write_content(self, prepared: Prepared, umask: int) -> None:
        plan, repository = prepared.plan, self.repository
        newer = [s.path[:-1] for s in plan.changing if s.action == "delete" and s.path.endswith(b"/")]
        disk.remove_directories(repository, newer, recorded_empty(prepared.wish.target))
        disk.check_out(repository, self._raw, prepared.snapshot.tree, prepared.wanted_tree, umask)
        empty = [s.path[:-1] for s in plan.changing if s.action == "restore" and s.path.endswith(b"/")]
        with disk.under(umask):
            disk.make_directories(repository, empty)

    def _verify(self, prepared: Prepared) -> list[str]:
        """Return a line for each difference from the plan. Paths that were ignored and no longer are were never
        planned."""
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
        for step in prepared.plan.changing:
            if step.action == "restore" and step.path.endswith(b"/") and not self._is_directory(step.path[:-1]):
                differences.append(f"  {os.fsdecode(step.path)} is missing")
        for path, mode in prepared.modes.items():
            found_mode = disk.mode_of(self.repository, path)
            # a directory that held only ignored files is not recreated
            if mode is not None and found_mode != mode and not (found_mode is None and path.endswith(b"/")):
                differences.append(f"  {os.fsdecode(path)} has other permission bits than {mode:o}")
        return differences

    def _is_directory(self, path: bytes) -> bool:
        full = self.repository.at(path)
        return os.path.isdir(full) and not os.path.islink(full) and not leads_through_link(self.repository, path)

    def _open_line(self, event: Event, line: str, recorder: Recorder | None) -> None:
        opens = event.document["opens"]
        null = self.repository.null_oid
        self.tree.writer.publish([(line_ref(opens["session"], line), opens["at"], null)], "gitckpt: a line is opened")
        self.tree.writer.set_current(opens["session"], line)
        if recorder is not None and recorder.session is not None and recorder.session.id == opens["session"]:
            recorder.session.lines[line] = opens["at"]

    def _move_head(self, prepared: Prepared) -> tuple[str, ...]:
        """Move HEAD and branches to the target. Return the commits left behind, which the safety event keeps alive."""
        wanted = prepared.wish.wanted_head
        if wanted is None:
            return ()
        why, head = prepared.wish.target.ref, prepared.snapshot.head
        left = branches.left_behind(self.repository, head, wanted.get("head"), prepared.plan.moves)
        branches.move_head(self.repository, head, prepared.branch_tip, wanted, why)
        for name, before, after in prepared.plan.moves:
            if name != wanted.get("branch"):
                branches.set_branch(self.repository, name, after, before, f"gitckpt: back to {why}")
        return left


def restore_for_retry(recorder: Recorder, retry: Event, target: Event) -> Event:
    """Answer a RETRY by restoring the checkpoint that it names. The recorder holds the lock."""
    restorer = Restorer(recorder.tree)
    prepared = restorer.prepare(Wish(target, operation="retry"))
    return restorer.apply(prepared, recorder=recorder, retry=retry).event


def _subject(prepared: Prepared) -> str:
    wish = prepared.wish
    return wish.title or f"{wish.operation} to {wish.target.ref}: {count(len(prepared.plan.changing), 'path')}"


def _ended_by(operation: str | None) -> str:
    """Return the command that ends an operation of git's, as a prefix for another one; "" if none is in progress."""
    if operation is None:
        return ""
    return f"end it first: git {'bisect reset' if operation == 'bisect' else f'{operation} --abort'}, or "
