"""`rollback --hint`: turns a step's rollback_hint into a wish that the restorer carries out. Nothing in the hint is
ever executed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitckpt.errors import Refused
from gitckpt.protocol.hints import (
    CleanNew,
    Hint,
    MoveBranch,
    Nothing,
    RemovePaths,
    RestoreAll,
    RestorePaths,
    RevertCommit,
    SwitchBranch,
    parse_hint,
)
from gitckpt.repo.revisions import object_named
from gitckpt.repo.trees import Change, changes, entries, tree_of, with_changes, with_patch_reversed
from gitckpt.restorer import Restorer
from gitckpt.trajectory.paths import is_at_or_below
from gitckpt.wishes import Wish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitckpt.repo.snapshot import Snapshot
    from gitckpt.trajectory.events import Event


@dataclass(slots=True)
class _Step:
    """A step whose hint is followed: its event, the parsed hint, the target event, and the target's files."""

    restorer: Restorer
    event: Event
    hint: Hint
    target: Event
    files: set[str]


def wish_of_hint(
    restorer: Restorer, event: Event, *, scope: str, keep: bool, paths: tuple[bytes, ...] = ()
) -> Wish | None:
    """Return what the hint of `event` asks for, limited to `paths` if any are given; None if there is nothing to undo.

    Raises Refused if the hint names a path that must not be touched, or nothing that can be carried out.
    """
    text = str(event.fields.get("rollback_hint") or "")
    if not text:
        raise Refused(
            f"{_name(event)} has no rollback_hint", f"gitckpt rollback {_name(event)} goes to that step itself"
        )
    first = parse_hint(text, exists=lambda path: False)
    target = _target(restorer, event, first.target)
    files = _names(entries(restorer.tree.raw, target.commit))
    hint = parse_hint(
        text, exists=lambda path: _exists(restorer, path, files), is_ref=lambda name: _is_branch(restorer, name)
    )
    step = _Step(restorer, event, hint, target, files)
    _refuse(step)
    if all(isinstance(action, Nothing) for action in hint.actions) and not hint.by_hand:
        return None
    wish = _wish(step, scope, keep)
    wish.paths = paths
    return wish


def _name(event: Event) -> str:
    return event.id or event.commit[:12]


def _target(restorer: Restorer, event: Event, named: str | None) -> Event:
    """Return the checkpoint that the hint names, looked up on the step's own line first. If it names none, return the
    state before the step."""
    session = restorer.tree.journal.session(event.session)
    before = session.chain(event.commit)[:-1]
    if named is None:
        states = [e for e in before if e.kind in ("checkpoint", "auto", "start")]
        if not states:
            raise Refused(f"there is no state on record before {_name(event)}", "gitckpt log shows what there is")
        return states[-1]
    on_line = [e for e in before if e.id == named]
    found = list(reversed(on_line)) or session.named(named)
    if not found:
        raise Refused(
            f"the rollback_hint of {_name(event)} names {named}, which is not on record",
            "gitckpt log lists what is; gitckpt rollback ID goes there",
        )
    return found[0]


def _names(tree: Iterable[bytes]) -> set[str]:
    """Return every file and directory of a tree, as text."""
    names: set[str] = set()
    for path in tree:
        name = os.fsdecode(path)
        while name and name not in names:
            names.add(name)
            name = name.rpartition("/")[0]
    return names


def _exists(restorer: Restorer, path: str, files: set[str]) -> bool:
    return path in files or (path != "" and os.path.lexists(restorer.repository.at(os.fsencode(path))))


def _is_branch(restorer: Restorer, name: str) -> bool:
    return restorer.repository.git.succeeds("show-ref", "--verify", "-q", f"refs/heads/{name}")


def _refuse(step: _Step) -> None:
    hint = step.hint
    if hint.refused:
        listed = "; ".join(f"{path!r}: {reason}" for path, reason in hint.refused)
        raise Refused(
            f"the rollback_hint of {_name(step.event)} names what may not be touched: {listed}",
            f"nothing was changed; gitckpt rollback {_name(step.target)} restores the whole step",
        )
    if not hint.actions and not hint.by_hand:
        raise Refused(
            f"the rollback_hint of {_name(step.event)} says nothing that can be carried out (P006)",
            f"gitckpt rollback {_name(step.target)} goes back to the state before the step",
        )


def _wish(step: _Step, scope: str, keep: bool) -> Wish:
    actions = step.hint.actions
    by_hand = list(step.hint.by_hand)
    head = None
    for action in actions:
        if isinstance(action, MoveBranch | SwitchBranch):
            if scope == "all":
                head = _head(step, action)
            else:
                by_hand.append(f"{_written(action)} (or roll back with --scope all)")
    title = f"rollback by the hint of {_name(step.event)} to {step.target.ref}"
    whole = any(isinstance(action, RestoreAll) for action in actions) and not any(
        isinstance(action, RevertCommit) for action in actions
    )
    if whole or (scope == "all" and any(isinstance(action, SwitchBranch) for action in actions)):
        return Wish(step.target, scope, keep=keep, title=title, by_hand=tuple(by_hand), head=head)
    return Wish(
        step.target, scope, keep=keep, title=title, by_hand=tuple(by_hand), head=head, tree=lambda now: _tree(step, now)
    )


def _written(action: MoveBranch | SwitchBranch) -> str:
    if isinstance(action, SwitchBranch):
        return f"git switch {action.name}"
    return f"git reset --{action.mode} {action.ref or 'HEAD'}"


def _head(step: _Step, action: MoveBranch | SwitchBranch) -> dict[str, str | None]:
    """Return where HEAD goes: its present branch at another revision, or another branch."""
    git = step.restorer.repository.git
    revision = f"refs/heads/{action.name}" if isinstance(action, SwitchBranch) else action.ref or "HEAD"
    commit = _commit_of(step, revision)
    branch = (
        action.name
        if isinstance(action, SwitchBranch)
        else git.text("symbolic-ref", "-q", "--short", "HEAD", ok=(0, 1))
    )
    return {"head": commit, "branch": branch or None}


def _commit_of(step: _Step, revision: str) -> str:
    commit = object_named(step.restorer.repository.git, f"{revision}^{{commit}}")
    if commit is None:
        raise Refused(f"the rollback_hint of {_name(step.event)} names {revision!r}, which is no commit here")
    return commit


def _tree(step: _Step, now: Snapshot) -> str:
    """Return the present work tree with the actions applied to it, as a tree."""
    restorer = step.restorer
    raw, repository = restorer.tree.raw, restorer.repository
    differences = changes(raw, now.tree, tree_of(raw, step.target.commit))
    present = set(entries(raw, now.tree))
    wanted: dict[bytes, Change] = {}
    removed: set[bytes] = set()
    for action in step.hint.actions:
        match action:
            case RestoreAll():
                wanted |= {change.path: change for change in differences}
            case RestorePaths(paths=paths):
                wanted |= _restored(differences, _bytes(paths), step.files)
            case CleanNew(paths=paths):
                new = [change for change in differences if change.status == "D"]
                wanted |= {c.path: c for c in new if not paths or is_at_or_below(c.path, _bytes(paths))}
            case RemovePaths(paths=paths):
                removed |= {path for path in present if is_at_or_below(path, _bytes(paths))}
    tree = with_changes(repository, raw, now.tree, list(wanted.values()), removed)
    for action in step.hint.actions:
        if isinstance(action, RevertCommit):
            tree = _reverted(step, tree, action.rev)
    return tree


def _bytes(paths: Iterable[str]) -> list[bytes]:
    """Return the paths as git has them. The root, `.` in a hint, is b"" here."""
    return [b"" if path == "." else os.fsencode(path) for path in paths]


def _restored(differences: list[Change], paths: list[bytes], files: set[str]) -> dict[bytes, Change]:
    """Return the changes that restore `paths`. A directory regains its old content and keeps new files; a file that the
    target does not have is deleted."""
    found = {}
    for change in differences:
        for path in paths:
            exact = change.path == path and os.fsdecode(path) not in files
            if (change.status != "D" and is_at_or_below(change.path, [path])) or (change.status == "D" and exact):
                found[change.path] = change
    return found


def _reverted(step: _Step, tree: str, revision: str) -> str:
    commit = _commit_of(step, revision)
    reverted = with_patch_reversed(step.restorer.repository, step.restorer.tree.raw, tree, commit)
    if reverted is None:
        raise Refused(
            f"what commit {commit[:12]} changed has changed again since: it cannot be taken out by itself",
            f"gitckpt rollback {_name(step.target)} restores the whole step",
        )
    return reverted
