"""What an event's record says of the work tree and of git, beyond its tree."""

from __future__ import annotations

from gitckpt.repo.staging import Staging
from gitckpt.trajectory.paths import data_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.trajectory.events import Event


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
