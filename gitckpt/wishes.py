"""What the restorer is asked to do: a rollback, an undo, a redo, or ending an interrupted rollback."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gitckpt.errors import Damaged, Refused
from gitckpt.repo import checked
from gitckpt.repo.recorded import recorded_git
from gitckpt.repo.worktrees import identity
from gitckpt.trajectory.paths import path_data
from gitckpt.trajectory.undo import Operations, is_operation, names_place, operations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitckpt.repo.journal import Journal
    from gitckpt.repo.snapshot import Snapshot
    from gitckpt.repo.worktree import WorkTree
    from gitckpt.trajectory.events import Event


@dataclass(slots=True)
class Wish:
    """A request to the restorer. `target` is the event whose work tree is wanted; `paths` limits it, empty for all.

    `tree` replaces the target's tree if only parts of it are wanted (a hint), `head` the target's HEAD. `branches`
    (name → commit, None to delete) are restored as well. `operation` is rollback, undo, redo, retry, continue or abort.
    `brought` is the tree that the operation to be reverted had made. `safety` is the commit that undo goes back to, if
    not this operation's own event. `ends` is the commit of the interrupted operation that this one finishes or reverts.
    """

    target: Event
    scope: str = "staged"
    paths: tuple[bytes, ...] = ()
    keep: bool = False
    operation: str = "rollback"
    safety: str = ""
    title: str = ""
    ends: str = ""
    tree: Callable[[Snapshot], str] | None = None
    by_hand: tuple[str, ...] = ()
    head: dict[str, Any] | None = None
    branches: dict[str, str | None] = field(default_factory=dict)
    brought: str = ""

    @property
    def wanted_head(self) -> dict[str, Any] | None:
        """Where HEAD goes (`head`, `branch`), or None if it stays."""
        if self.scope != "all":
            return None
        if self.head or self.tree is not None:
            return self.head
        return None if self.paths else recorded_git(self.target)


def operations_of(journal: Journal) -> Operations:
    """Return the rollbacks of this work tree, without those of fetched sessions, which were done elsewhere."""
    opened = [(session, line) for session, lines in journal.lines().items() for line in lines]
    return operations(filter(identity(journal).did, journal.operations()), opened)


def wish_to_undo(tree: WorkTree) -> Wish:
    """Return the wish that reverts the last rollback. Raises Refused if there is none."""
    state = operations_of(tree.journal)
    if state.interrupted is not None:
        raise _interrupted(state.interrupted)
    if not state.done:
        raise Refused("there is no rollback to undo in this work tree", _instead_of_undo(tree.journal))
    return _wish_back(state.done[-1], _safety(tree.journal, state.done[-1]), "undo")


def wish_to_redo(tree: WorkTree) -> Wish:
    """Return the wish that reverts the last undo. Raises Refused if there is none."""
    state = operations_of(tree.journal)
    if state.interrupted is not None:
        raise _interrupted(state.interrupted)
    if not state.undone:
        raise Refused("there is no undo to take back in this work tree", "gitckpt undo takes back a rollback")
    return _wish_back(state.undone[-1], _safety(tree.journal, state.undone[-1]), "redo")


def _instead_of_undo(journal: Journal) -> str:
    """Return what helps if there is nothing to undo. An older version did not record where a rollback was done, so one
    of its rollbacks may have been done here."""
    found = [event for event in journal.operations() if is_operation(event) and not names_place(event)]
    if not found:
        return "gitckpt log shows what is on record"
    last = max(found, key=lambda event: event.at)
    return (
        f"the last one on record, a {_named(last)}, is of an older gitckpt, which did not say where it was done: "
        f"gitckpt rollback {last.commit[:12]} goes to what was before it"
    )


def _safety(journal: Journal, operation: Event) -> Event:
    """Return the event that holds the state before the operation: its own, unless it finished another operation."""
    commit = operation.document["rollback"].get("safety")
    return journal.event(checked.oid(commit)) if commit else operation


def _wish_back(done: Event, target: Event, operation: str) -> Wish:
    intent = done.document["rollback"]
    paths = tuple(checked.path(path) for path in intent.get("paths") or [])
    return Wish(
        target, intent["scope"], paths, keep=bool(intent.get("keep")), operation=operation,
        title=f"{operation} of {_named(done)}", branches=_branches(target, "branches_were"),
        brought=checked.oid(intent["tree"]),
    )  # fmt: skip


def branch_rows(branches: Mapping[str, str | None]) -> list[list[Any]]:
    """Return branch names with their commits, as plain data for a record."""
    return [[path_data(os.fsencode(name)), commit] for name, commit in branches.items()]


def _branches(event: Event, which: str) -> dict[str, str | None]:
    """Return the branches on record under this key. Raises Damaged."""
    rows = event.document["rollback"].get(which) or []
    if not isinstance(rows, list) or any(not isinstance(row, list) or len(row) != 2 for row in rows):
        raise Damaged("the record of a rollback has no list of branches", "gitckpt log shows the others")
    return {os.fsdecode(checked.path(name)): checked.oid(oid) if oid is not None else None for name, oid in rows}


def wish_after_interruption(tree: WorkTree, *, abort: bool) -> Wish:
    """Return the wish that finishes an interrupted rollback, or with `abort` reverts it. Raises Refused without one."""
    begun = operations_of(tree.journal).interrupted
    if begun is None:
        raise Refused("no rollback was interrupted in this work tree", "gitckpt status shows where it stands")
    intent = begun.document["rollback"]
    safety = _safety(tree.journal, begun)
    paths = tuple(checked.path(path) for path in intent.get("paths") or [])
    keep = bool(intent.get("keep"))
    if abort:
        title = f"abort of {_named(begun)}"
        return Wish(
            safety,
            intent["scope"],
            paths,
            keep,
            operation="abort",
            safety=safety.commit,
            title=title,
            ends=begun.commit,
            branches=_branches(safety, "branches_were"),
            brought=checked.oid(intent["tree"]),
        )
    target = tree.journal.event(checked.oid(intent["target"]))
    partial = checked.oid(intent["tree"]) if intent.get("partial") else ""
    again = intent["operation"] if intent["operation"] in ("undo", "redo", "abort") else "continue"
    return Wish(
        target, intent["scope"], paths, keep, operation=again, safety=safety.commit,
        title=f"continuation of {_named(begun)}", ends=begun.commit, tree=(lambda _: partial) if partial else None,
        head=intent.get("head"), branches=_branches(begun, "branches"),
        brought=checked.oid(intent["brought"]) if intent.get("brought") else "",
    )  # fmt: skip


def _interrupted(event: Event) -> Refused:
    return Refused(
        f"a rollback was interrupted: {_named(event)}",
        "gitckpt rollback --continue finishes it, gitckpt rollback --abort takes it back",
    )


def _named(event: Event) -> str:
    """Return an operation in words for the user: `rollback to C6`."""
    intent = event.document["rollback"]
    return f"{intent['operation']} to {str(intent['target_ref']).rpartition('/')[2]}"
