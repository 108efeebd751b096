"""Reading objects: each is compared with its name, and none that is damaged hides another."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from project import Project

from gitckpt.errors import GitFailed
from gitckpt.repo.gateway import Git
from gitckpt.repo.objects import read_objects


def spoil(project: Project, oid: str, content: bytes | None) -> None:
    path = project.root / ".git" / "objects" / oid[:2] / oid[2:]
    path.unlink()
    if content is not None:
        path.write_bytes(content)


def test_objects_come_in_order_and_the_faulty_ones_are_told_apart(project: Project) -> None:
    contents = [b"", b"\n\n", b"x" * 200_000, b"missing", b"cut", b"rubbish", b"other", b"last\n"]
    oids = [project.git("hash-object", "-w", "--stdin", data=content) for content in contents]
    whole = (project.root / ".git" / "objects" / oids[1][:2] / oids[1][2:]).read_bytes()
    cut = (project.root / ".git" / "objects" / oids[4][:2] / oids[4][2:]).read_bytes()
    for number, spoilt in ((3, None), (4, cut[:-6]), (5, b"rubbish"), (6, whole)):
        spoil(project, oids[number], spoilt)
    found = list(read_objects(project.repository().git, "sha1", [oid.encode() for oid in oids]))
    assert [read.oid.decode() for read in found] == oids
    assert [bytes(read.content) for read in found if not read.fault] == [contents[number] for number in (0, 1, 2, 7)]
    # git says `missing` of a file that it cannot make sense of at all
    assert [read.fault for read in found[3:7]] == ["missing", "damaged", "missing", "damaged"]


def test_any_cut_of_a_loose_object_is_found(project: Project) -> None:
    oid = project.git("hash-object", "-w", "--stdin", data=b"some content\n")
    path = project.root / ".git" / "objects" / oid[:2] / oid[2:]
    content = path.read_bytes()
    for size in range(len(content)):
        spoil(project, oid, content[:size])
        [read] = read_objects(project.repository().git, "sha1", [oid.encode()])
        assert read.fault, size


def test_a_stream_gives_all_and_raises_at_its_end(tmp_path: Path, project: Project) -> None:
    git = project.repository().git
    data = b"".join(b"%d\n" % number for number in range(100_000))
    oid = project.git("hash-object", "-w", "--stdin", data=data)
    assert b"".join(git.stream("cat-file", "blob", oid)) == data
    with pytest.raises(GitFailed, match="exit status 128"):
        list(git.stream("cat-file", "blob", "0" * 40))


def test_a_stream_that_nobody_reads_to_its_end_leaves_nothing_behind(project: Project) -> None:
    git: Git = project.repository().git
    oid = project.git("hash-object", "-w", "--stdin", data=os.urandom(3_000_000))
    before = sorted(os.listdir("/proc/self/fd")), children()
    stream = git.stream("cat-file", "blob", oid)
    assert len(next(stream)) > 0
    stream.close()
    assert (sorted(os.listdir("/proc/self/fd")), children()) == before


def children() -> list[str]:
    """The processes that this one has started, dead ones that nobody has waited for included."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
