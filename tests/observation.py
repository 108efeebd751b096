"""Pictures of what is on disk, in a tree and in a git directory, for comparison as a whole."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

#: Kind, permission bits, content: the target of a link, b"" if it has none. Directories end in `/`.
Entry = tuple[str, int, bytes]

#: The mode as git writes it, and the content.
Recorded = tuple[str, bytes]

KINDS = {stat.S_IFREG: "file", stat.S_IFLNK: "link", stat.S_IFDIR: "directory", stat.S_IFIFO: "FIFO"}


def on_disk(root: Path) -> dict[str, Entry]:
    """Return everything below `root` except the `.git` at its top. Links are not followed."""
    found: dict[str, Entry] = {}
    _walk(root, "", found)
    found.pop(".git", None)
    return {path: entry for path, entry in found.items() if not path.startswith(".git/")}


def _walk(root: Path, prefix: str, found: dict[str, Entry]) -> None:
    for entry in sorted(os.scandir(root / prefix), key=lambda entry: entry.name):
        path, mode = prefix + entry.name, entry.stat(follow_symlinks=False).st_mode
        kind = KINDS.get(stat.S_IFMT(mode), "special")
        if kind == "directory":
            found[path + "/"] = (kind, stat.S_IMODE(mode), b"")
            _walk(root, path + "/", found)
        elif kind == "link":
            found[path] = (kind, 0, os.fsencode(os.readlink(entry.path)))
        else:
            content = Path(entry.path).read_bytes() if kind == "file" else b""
            found[path] = (kind, stat.S_IMODE(mode), content)


def files_on_disk(root: Path) -> dict[str, Recorded]:
    """Return all files and links below `root` in the form in which a complete snapshot records them."""
    return {
        path: ("120000" if kind == "link" else "100755" if mode & 0o100 else "100644", content)
        for path, (kind, mode, content) in on_disk(root).items()
        if kind in ("link", "file")
    }


def traces(root: Path) -> dict[str, tuple[int, ...]]:
    """Return inode and times of everything below `root` except git's own: what a write would change."""
    found: dict[str, tuple[int, ...]] = {}
    for path in on_disk(root):
        status = os.lstat(root / path)
        found[path] = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
    return found


def in_tree(root: Path, tree: str) -> dict[str, Recorded]:
    """Return the contents of a tree, or of a commit's tree, read with plain git."""
    listing = _look(root, "ls-tree", "-r", "-z", "--full-tree", tree)
    rows = [row.partition(b"\t") for row in listing.split(b"\0") if row]
    names = [(head.split()[0].decode(), head.split()[2], os.fsdecode(path)) for head, _, path in rows]
    blobs = iter(_contents(root, [oid for mode, oid, _ in names if mode != "160000"]))
    return {path: (mode, b"" if mode == "160000" else next(blobs)) for mode, _, path in names}


def _contents(root: Path, oids: list[bytes]) -> list[bytes]:
    output, position, found = _look(root, "cat-file", "--batch", data=b"\n".join(oids) + b"\n"), 0, []
    for _ in oids:
        end = output.index(b"\n", position)
        size = int(output[position:end].split()[2])
        found.append(output[end + 1 : end + 1 + size])
        position = end + size + 2
    return found


def _look(root: Path, *arguments: str, data: bytes = b"") -> bytes:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1"}
    done = subprocess.run(["git", *arguments], cwd=root, input=data, env=environment, check=True, capture_output=True)
    return done.stdout


def of_the_user(root: Path) -> dict[str, object]:
    """Return everything that belongs to the user in the git directory: references by value, every file by content and
    time.

    What gitckpt keeps for itself is left out, and so is the object store, which only grows.
    """
    git_dir, common = (
        Path(os.fsdecode(line))
        for line in _look(root, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir").splitlines()
    )
    found: dict[str, object] = {"references": _references(root)}
    for top in dict.fromkeys((git_dir, common)):
        for directory, names, files in os.walk(top):
            inside = os.path.relpath(directory, top)
            names[:] = [name for name in names if not _is_ours(os.path.normpath(os.path.join(inside, name)))]
            for name in files:
                path = Path(directory, name)
                found[str(path)] = (path.read_bytes(), path.lstat().st_mtime_ns)
    return found


def _is_ours(path: str) -> bool:
    return path in ("gitckpt", "objects", "refs/gitckpt", "refs/worktree/gitckpt", "worktrees")


def _references(root: Path) -> list[str]:
    rows = _look(root, "for-each-ref", "--format=%(refname) %(objectname) %(symref)").decode().splitlines()
    return [row for row in rows if not row.startswith(("refs/gitckpt/", "refs/worktree/gitckpt/"))]


def differences(before: dict[str, object], after: dict[str, object]) -> dict[str, tuple[object, object]]:
    """Return, by name, where two pictures disagree."""
    names = sorted(before.keys() | after.keys())
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}
