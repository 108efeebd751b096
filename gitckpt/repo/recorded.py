"""What an event's record says about the work tree and git, beyond its tree. Every value is checked: see `checked`."""

from __future__ import annotations

import os

from gitckpt.errors import Damaged
from gitckpt.repo import checked
from gitckpt.repo.staging import Staging
from gitckpt.trajectory.events import FORMAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitckpt.trajectory.events import Event


def refuse_unreadable(event: Event) -> None:
    """Raise Damaged for an event that this version cannot read, and so cannot roll back to."""
    if event.format > FORMAT:
        raise Damaged(f"{event.ref} was written by a newer gitckpt (format {event.format})", "update gitckpt")
    if event.kind == "unreadable":
        raise Damaged(f"the record of {event.commit[:12]} cannot be read", "gitckpt log shows the others")


def _mapping(value: Any, what: str) -> dict[Any, Any]:
    if not isinstance(value or {}, dict):
        raise Damaged(f"the record of a checkpoint has {ascii(value)[:80]} for {what}")
    return value or {}


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value or [], list):
        raise Damaged(f"the record of a checkpoint has {ascii(value)[:80]} for {what}")
    return value or []


def recorded_modes(event: Event) -> dict[bytes, int]:
    """Return the permission bits on record, by path. Raise Damaged."""
    modes = _mapping(event.document.get("modes"), "permission bits")
    return {
        checked.path(path): checked.permission_bits(mode)
        for mode, paths in modes.items()
        for path in _list(paths, "paths")
    }


def recorded_umask(event: Event) -> int:
    """Return the umask that the permission bits on record are relative to. Raise Damaged."""
    return checked.permission_bits(event.document.get("umask") or "022") & 0o777


def recorded_empty(event: Event) -> list[bytes]:
    """Return the empty directories on record. Raise Damaged."""
    return [checked.path(path) for path in _list(event.document.get("empty"), "empty directories")]


def recorded_missing(event: Event) -> dict[bytes, str]:
    """Return what the snapshot did not hold, and why. Raise Damaged."""
    coverage = _mapping(event.document.get("coverage"), "coverage")
    rows = [_mapping(row, "coverage") for row in _list(coverage.get("missing"), "coverage")]
    found = {checked.uncovered(row.get("path")): str(row.get("reason")) for row in rows if row.get("path")}
    # no snapshot holds a path with git's own name, be it the staging area or the user's own `.GIT`: skip these
    return {path: reason for path, reason in found.items() if path is not None}


def recorded_git(event: Event) -> dict[str, Any]:
    """Return `head`, `branch`, `operation` and `operation_state` as on record. Raise Damaged."""
    record = _mapping(event.document.get("git"), "the state of git")
    head, branch = record.get("head"), record.get("branch")
    if head is not None:
        checked.oid(head)
    if branch is not None and (not isinstance(branch, str) or not branch):
        raise Damaged(f"the record of a checkpoint has {ascii(branch)[:80]} for a branch")
    if "branch_bytes" in record:  # the branch name is not UTF-8
        return record | {"branch": os.fsdecode(checked.path(record["branch_bytes"]))}
    return record


def recorded_staging(event: Event) -> Staging | None:
    """Return the staging area on record, or None if it could not be read then. Raise Damaged."""
    record = _mapping(recorded_git(event).get("staging"), "the staging area")
    if not record:
        return None
    staging = Staging(checked.oid(record.get("tree")))
    for row in _list(record.get("unmerged"), "unmerged entries"):
        mode, oid, stage, path = row if isinstance(row, list) and len(row) == 4 else (None, None, None, None)
        entry = (checked.entry_mode(mode).encode(), checked.oid(oid).encode())
        staging.unmerged.append((*entry, b"%d" % checked.stage(stage), checked.path(path)))
    for row in _list(record.get("intended"), "intended paths"):
        mode, path = row if isinstance(row, list) and len(row) == 2 else ("100644", row)
        staging.intended[checked.path(path)] = checked.entry_mode(mode).encode()
    return staging


def check_record(event: Event) -> None:
    """Check that everything in the record can be acted on. Raise Damaged."""
    for read in (recorded_modes, recorded_umask, recorded_empty, recorded_missing, recorded_git, recorded_staging):
        read(event)
    for name in ("opens", "rollback"):
        for key, value in _mapping(event.document.get(name), name).items():
            if key in ("session", "line", "at", "operation", "target", "ends", "safety") and not isinstance(value, str):
                raise Damaged(f"the record of a checkpoint has {ascii(value)[:80]} for {key}")
