"""What a push would carry: the commits and objects that the other side lacks, and where each file is in them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitckpt.repo.answers import reads
from gitckpt.repo.trees import entries

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.repository import Repository

    #: The attribute files in a tree: path and object id of each.
    Attributes = frozenset[tuple[bytes, bytes]]

#: The mode of a submodule: a commit of another repository, which is not sent.
SUBMODULE = b"160000"


@dataclass(slots=True)
class Outgoing:
    """What is new to the other side.

    `events` are our commits, `others` the commits that they are bound to: the user's, and those of the user's staging
    area. `places` maps each new file, as object id and path, to the first commit that has it; `raw` are those of them
    that are in events, with the content as on disk. `attributes` maps each event to the attribute files in its tree.
    `objects` is the total number of objects."""

    events: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    places: dict[tuple[bytes, bytes], str] = field(default_factory=dict)
    raw: dict[tuple[bytes, bytes], str] = field(default_factory=dict)
    attributes: dict[str, Attributes] = field(default_factory=dict)
    objects: int = 0


def outgoing(repository: Repository, tips: Sequence[str], known: Collection[str], *, partial: bool) -> Outgoing:
    """Return what is reachable from these commits of sessions but not from anything `known` there. In a partial clone
    (`partial`), omit what was left at its origin."""
    git = repository.git
    border = [f"^{oid}" for oid in _here(git, known)]
    data = "".join(f"{oid}\n" for oid in (*tips, *border)).encode()
    missing = ["--exclude-promisor-objects"] if partial else []
    new = set(git.run("rev-list", "--objects", "--no-object-names", *missing, "--stdin", data=data).split())
    order = git.text("rev-list", "--topo-order", "--reverse", "--parents", "--stdin", data=data)
    commits = [row.split() for row in order.split("\n") if row]
    events = set(git.text("rev-list", "--first-parent", "--stdin", data=data).split())
    found = Outgoing(objects=len(new))
    changed = _changes(git, commits)
    for commit, *parents in commits:
        if commit not in events:
            found.others.append(commit)
        elif parents:  # a commit without parents is the root of all sessions
            found.events.append(commit)
        for mode, oid, path in changed.get(commit, ()):
            if oid in new and mode != SUBMODULE:
                found.places.setdefault((oid, path), commit)
                if commit in events:
                    found.raw.setdefault((oid, path), commit)
        if commit in events:
            parent = parents[0] if parents else ""
            before = found.attributes.get(parent)
            known_before = _attributes_of(git, parent) if before is None else before
            found.attributes[commit] = _attributes(known_before, changed.get(commit, ()))
    return found


def _here(git: Git, oids: Collection[str]) -> list[str]:
    """Return those of the objects that exist in this repository too."""
    data = "\n".join(sorted(set(oids))).encode() + b"\n"
    rows = git.text("cat-file", "--buffer", "--batch-check=%(objectname) %(objecttype)", data=data).split("\n")
    return [row.partition(" ")[0] for row in rows if row.endswith((" commit", " tag"))]


def _changes(git: Git, commits: Sequence[Sequence[str]]) -> dict[str, list[tuple[bytes, bytes, bytes]]]:
    """Return, by commit, mode, object id and path of what differs from its first parent; the id is "" for deleted
    paths."""
    data = "".join(f"{' '.join(row[:2])}\n" for row in commits).encode()
    return _read_changes(git.run("diff-tree", "--stdin", "-r", "-z", "--root", "--no-renames", data=data))


@reads("diff-tree")
def _read_changes(output: bytes) -> dict[str, list[tuple[bytes, bytes, bytes]]]:
    found: dict[str, list[tuple[bytes, bytes, bytes]]] = {}
    parts = iter(output.split(b"\0"))
    rows: list[tuple[bytes, bytes, bytes]] = []
    for part in parts:
        if part.startswith(b":"):
            _, mode, _, oid, status = part.split(b" ")
            rows.append((mode, b"" if status == b"D" else oid, next(parts)))
        elif part:
            rows = found.setdefault(part.strip().decode(), [])
    return found


def _is_attributes(path: bytes) -> bool:
    return os.path.basename(path) == b".gitattributes"


def _attributes_of(git: Git, commit: str) -> Attributes:
    held = entries(git, commit) if commit else {}
    return frozenset((path, oid) for path, (_, oid) in held.items() if _is_attributes(path))


def _attributes(before: Attributes, changed: Sequence[tuple[bytes, bytes, bytes]]) -> Attributes:
    rows = {path: oid for _, oid, path in changed if _is_attributes(path)}
    if not rows:
        return before
    held = dict(before) | rows
    return frozenset((path, oid) for path, oid in held.items() if oid)
