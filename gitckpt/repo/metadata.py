"""What a snapshot says of a work tree beside its files: permission bits and empty directories."""

from __future__ import annotations

from gitckpt.errors import Damaged
from gitckpt.repo.recorded import recorded_empty, recorded_modes, recorded_umask
from gitckpt.repo.relative import told_under
from gitckpt.repo.trees import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.gateway import Git
    from gitckpt.repo.snapshot import Snapshot
    from gitckpt.trajectory.events import Event


def differing_metadata(git: Git, event: Event, snapshot: Snapshot) -> set[bytes]:
    """The paths whose permission bits differ between the event and the snapshot, and the empty directories that only
    one of them has. Directories end in `/`. Nothing where the record of the event cannot be read."""
    try:
        then, empty, umask = recorded_modes(event), set(recorded_empty(event)), recorded_umask(event)
    except Damaged:
        return set()
    now = snapshot.modes
    if umask != snapshot.umask:
        now = told_under(umask, now, snapshot.umask, entries(git, snapshot.tree), snapshot.empty)
    modes = {path for path in {*then, *now} if then.get(path) != now.get(path)}
    return modes | {path + b"/" for path in empty ^ {*snapshot.empty}}
