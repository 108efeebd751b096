"""What makes git, and gitckpt with it, slow."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from gitckpt.doctor.patient import Patient, Remark, in_repository, shown
from gitckpt.repo.gateway import split

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.repo.repository import Repository

#: Numbers from which on it is worth a remark.
MANY_FILES = 50_000
MANY_UNTRACKED = 5_000
MANY_LOOSE = 20_000

#: File systems on which every file access goes over a network.
REMOTE = ("nfs", "cifs", "smb", "9p", "fuse.sshfs", "afs", "ceph", "glusterfs", "lustre", "virtiofs", "drvfs")


@in_repository
def untracked(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Whether large directories that no rule ignores go into every snapshot."""
    found = split(repository.user_git().run("ls-files", "-z", "-o", "--exclude-standard"))
    if len(found) < MANY_UNTRACKED:
        return
    [(largest, number)] = Counter(path.partition(b"/")[0] for path in found).most_common(1)
    message = f"{len(found):,} untracked files go into snapshots, {number:,} of them in {os.fsdecode(largest)}"
    yield Remark("note", message, f"echo {shown(b'/' + largest)} >>.gitignore, if nobody needs to have them back")


@in_repository
def size(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Whether a large index is used without a file-system monitor."""
    tracked = repository.user_git().run("ls-files", "-z").count(b"\0")
    if tracked >= MANY_FILES and patient.config.get("core.fsmonitor", "false") in ("false", "0", "no", "off"):
        message = (
            f"{tracked:,} tracked files and no file-system monitor: git looks at each (gitckpt never runs a monitor)"
        )
        yield Remark("note", message, "git config core.fsmonitor true")


@in_repository
def loose_objects(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Whether there are many unpacked objects."""
    counts = dict(line.split(": ") for line in repository.git.text("count-objects", "-v").splitlines())
    if int(counts["count"]) >= MANY_LOOSE:
        yield Remark("note", f"{int(counts['count']):,} loose objects, {int(counts['size']) // 1024:,} MiB", "git gc")


@in_repository
def file_system(repository: Repository, patient: Patient) -> Iterator[Remark]:
    """Whether the files are on a network file system, as far as the system tells."""
    for path in dict.fromkeys((repository.work_tree, repository.git_dir)):
        kind = _kind(os.path.realpath(path))
        if kind.startswith(REMOTE):
            message = f"{os.fsdecode(path)} is on a network file system ({kind}): every look at a file takes long"
            yield Remark("note", message, "work on a local disk, where that can be")


def _kind(path: bytes) -> str:
    """Return the kind of file system that a path is on; "" if the system does not tell."""
    try:
        with open("/proc/self/mounts", "rb") as mounts:
            rows = [line.split(b" ")[1:3] for line in mounts]
    except OSError:
        return ""
    over = [(point, kind) for point, kind in rows if path == point or path.startswith(point.rstrip(b"/") + b"/")]
    return os.fsdecode(max(over, key=lambda row: len(row[0]))[1]) if over else ""
