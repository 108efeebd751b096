"""Find what a push would carry that is not meant for others: content that one of the user's filters keeps out of
commits, files that the user's rules ignore, keys and tokens."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from gitckpt.errors import Damaged
from gitckpt.repo.answers import reads
from gitckpt.repo.gateway import split
from gitckpt.repo.objects import read_objects
from gitckpt.repo.private import with_rules
from gitckpt.repo.restore import ignored_by
from gitckpt.repo.room import room
from gitckpt.repo.trees import tree_of
from gitckpt.trajectory.confidential import LONGEST, confidential_content, confidential_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from gitckpt.repo.gateway import Git
    from gitckpt.repo.outgoing import Attributes, Outgoing
    from gitckpt.repo.transport import Tell
    from gitckpt.repo.worktree import WorkTree

#: Size in bytes above which a file is read piece by piece.
LARGE = 1 << 24

#: Values of the attribute that name no filter.
NO_FILTER = (b"unspecified", b"unset", b"set", b"")


class Leak(NamedTuple):
    """A file that is not meant for others, the first commit that has it, and the reason. The path is b"" for the record
    of the commit itself."""

    path: bytes
    commit: str
    reason: str


def leaks(tree: WorkTree, found: Outgoing, tips: Iterable[str], tell: Tell) -> list[Leak]:
    """Return everything that a push of `found` would give away, sorted by path, with one reason each. `tips` are the
    commits to push."""
    reasons: dict[bytes, Leak] = {}
    for leak in (
        *_converted(tree, found),
        *(Leak(path, commit, why) for (_, path), commit in found.places.items() if (why := confidential_name(path))),
        *_ignored(tree, found, tips),
        *_secret(tree, found, tell),
    ):
        reasons.setdefault(leak.path or leak.commit.encode(), leak)
    return sorted(reasons.values(), key=lambda leak: (leak.path, leak.commit))


# -- content that a filter would have changed


def _converted(tree: WorkTree, found: Outgoing) -> Iterator[Leak]:
    """Yield new files of snapshots, which hold them as on disk, whose attributes name a filter in the snapshot itself
    or in the current work tree."""
    git = tree.repository.user_git()
    paths = {path for _, path in found.raw}
    filters = _filters(git, paths) if paths else {}
    for (_, path), commit in found.raw.items():
        if path in filters:
            yield _kept_out(path, commit, filters[path])
    by_attributes: dict[Attributes, dict[bytes, str]] = {}
    for (_, path), commit in found.raw.items():
        by_attributes.setdefault(found.attributes[commit], {}).setdefault(path, commit)
    for attributes, rows in by_attributes.items():
        then = _filters_then(git, attributes, set(rows) - filters.keys()) if attributes else {}
        yield from (_kept_out(path, rows[path], name) for path, name in then.items())


def _kept_out(path: bytes, commit: str, name: bytes) -> Leak:
    shown = name.decode("utf-8", "replace")
    return Leak(path, commit, f"the filter {shown} keeps this content out of commits; a snapshot has it as on disk")


def _filters(git: Git, paths: Collection[bytes], *options: str) -> dict[bytes, bytes]:
    """Return path → the filter that its attributes name."""
    if not paths:
        return {}
    data = b"".join(path + b"\0" for path in sorted(paths))
    return _read_filters(git.run("check-attr", *options, "-z", "--stdin", "filter", data=data))


@reads("check-attr")
def _read_filters(output: bytes) -> dict[bytes, bytes]:
    parts = split(output)
    rows = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {path: value for path, _, value in rows if value not in NO_FILTER}


def _filters_then(git: Git, attributes: Attributes, paths: Collection[bytes]) -> dict[bytes, bytes]:
    """Like `_filters`, under the attributes of a snapshot, which are put into a temporary index for that."""
    with room("leaks") as scratch:
        then = git.view(GIT_INDEX_FILE=os.path.join(scratch, b"index"))
        rows = b"".join(b"100644 %s\t%s\0" % (oid, path) for path, oid in sorted(attributes))
        then.run("update-index", "-z", "--index-info", data=rows)
        return _filters(then, paths, "--cached")


# -- files that the user's rules ignore


def _ignored(tree: WorkTree, found: Outgoing, tips: Iterable[str]) -> Iterator[Leak]:
    """Yield new files of snapshots that a rule ignores and git does not track. They came in through `include`, or
    through a rollback that was about to overwrite them."""
    tracked = set(split(tree.repository.git.run("ls-files", "-z")))
    rows = {path: commit for (_, path), commit in found.raw.items() if path not in tracked}
    committed = {path for oid, path in found.places if (oid, path) not in found.raw}
    rules = with_rules(tree.raw, tree.settings)
    with tree.lock:  # the rules are evaluated in a directory that all processes share
        for tip in tips:
            wanted = rows.keys() - committed
            for path in ignored_by(tree.repository, rules, tree_of(tree.raw, tip), wanted) if wanted else ():
                yield Leak(path, rows.pop(path), "a rule ignores it, and git does not track it")


# -- keys and tokens


def _secret(tree: WorkTree, found: Outgoing, tell: Tell) -> Iterator[Leak]:
    """Yield new files and event records that hold a secret. Each object is read once."""
    paths: dict[bytes, list[tuple[bytes, str]]] = {}
    for (oid, path), commit in found.places.items():
        paths.setdefault(oid, []).append((path, commit))
    records = {commit.encode(): [(b"", commit)] for commit in found.events}
    for number, (oid, why) in enumerate(_read(tree, [*paths, *records])):
        tell(number, len(paths) + len(records))
        if why:
            yield from (Leak(path, commit, why) for path, commit in (paths.get(oid) or records[oid]))


def _read(tree: WorkTree, oids: list[bytes]) -> Iterator[tuple[bytes, str]]:
    """Yield each object and the kind of secret it holds. Raise Damaged for an object that cannot be read."""
    git, sizes = tree.repository.git, _sizes(tree.repository.git, oids)
    large = [oid for oid in oids if sizes.get(oid, 0) > LARGE]
    for read in read_objects(git, tree.repository.object_format, (oid for oid in oids if sizes.get(oid, 0) <= LARGE)):
        if read.fault:
            raise Damaged(f"object {read.oid.decode()} is {read.fault}", "gitckpt verify tells what that harms")
        yield read.oid, confidential_content(read.content)
    for oid in large:
        yield oid, _in_pieces(git.stream("cat-file", "blob", oid))


def _sizes(git: Git, oids: Iterable[bytes]) -> Mapping[bytes, int]:
    data = b"\n".join(oids) + b"\n"
    rows = [row.split() for row in git.run("cat-file", "--buffer", "--batch-check", data=data).splitlines()]
    return {row[0]: int(row[2]) for row in rows if len(row) == 3}


def _in_pieces(pieces: Iterator[bytes]) -> str:
    """Return the kind of secret that the whole content holds. The end of each piece is searched again with the next."""
    why, held = "", bytearray()
    for piece in pieces:
        if why:
            continue  # read to the end, so that git can finish
        held += piece
        if len(held) >= LARGE >> 2:
            why = confidential_content(held)
            del held[:-LONGEST]
    return why or confidential_content(held)
