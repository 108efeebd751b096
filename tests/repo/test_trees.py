"""Trees: what differs, what is made of parts, and that nothing damaged goes unseen before the first write."""

from __future__ import annotations

import os
import zlib

import pytest
from observation import differences, files_on_disk
from project import FILES, Project
from sampling import others_slow

from gitckpt.errors import Damaged
from gitckpt.repo import trees
from gitckpt.repo.trees import Change


def rows(changes: list[Change]) -> list[tuple[str, bytes, bytes, bytes, bool]]:
    return [(c.status, c.path, c.old_mode, c.new_mode, c.content_changed) for c in changes]


def two_trees(project: Project) -> tuple[str, str]:
    """A tree, and one with a change of every kind."""
    before = project.snapshot().tree
    project.write("src/app.py", "two\n")
    (project.root / "tests" / "check.sh").chmod(0o644)
    project.remove("README.md")
    project.link("README.md", "src")
    project.remove("src/lib")
    project.write("src/lib", "a file now\n")
    project.write("新 file\n", "new\n")
    return before, project.snapshot().tree


def test_what_differs(project: Project) -> None:
    before, after = two_trees(project)
    raw = project.tree().raw
    assert rows(trees.changes(raw, before, after)) == [
        ("T", b"README.md", b"100644", b"120000", True),
        ("M", b"src/app.py", b"100644", b"100644", True),
        ("A", b"src/lib", b"000000", b"100644", True),
        ("D", b"src/lib/core.py", b"100644", b"000000", True),
        ("M", b"tests/check.sh", b"100755", b"100644", False),
        ("A", "新 file\n".encode(), b"000000", b"100644", True),
    ]
    assert trees.changes(raw, after, after) == []


def test_a_tree_made_of_parts(project: Project) -> None:
    before, after = two_trees(project)
    tree = project.tree()
    changes = trees.changes(tree.raw, before, after)
    assert trees.with_changes(tree.repository, tree.raw, before, changes) == after
    assert trees.with_changes(tree.repository, tree.raw, before, []) == before
    back = trees.changes(tree.raw, after, before)
    assert trees.with_changes(tree.repository, tree.raw, after, back) == before
    some = [change for change in changes if change.path == b"src/app.py"]
    made = trees.with_changes(tree.repository, tree.raw, before, some, [b"README.md"])
    expected = {path: ("100755" if path.endswith(".sh") else "100644", content) for path, content in FILES.items()}
    del expected["README.md"]
    assert project.held(made) == expected | {"src/app.py": ("100644", b"two\n")}


def test_a_tree_lists_each_file_with_its_mode(project: Project) -> None:
    tree = project.snapshot().tree
    listed = trees.entries(project.tree().raw, tree)
    assert {os.fsdecode(path): mode.decode() for path, (mode, _) in listed.items()} == {
        path: mode for path, (mode, _) in files_on_disk(project.root).items()
    }


def test_a_file_as_it_was(project: Project) -> None:
    project.link("link", "src/app.py")
    project.write("*", "a star\n")
    commit, git = project.checkpoint("C1").commit, project.repository().git
    project.write("src/app.py", "later\n")
    assert trees.blob_at(git, commit, b"src/app.py") == b"import lib\n"
    assert trees.blob_at(git, commit, b"link") == b"src/app.py"
    assert trees.blob_at(git, commit, b"*") == b"a star\n"
    assert [trees.blob_at(git, commit, path) for path in (b"none", b"src", b"?")] == [None] * 3


def test_a_patch_can_be_applied(project: Project) -> None:
    before, after = two_trees(project)
    git = project.repository().git
    patch = trees.patch(git, before, after)
    project.git("read-tree", before)
    project.git_bytes("apply", "--cached", "-", data=patch)
    assert project.git("write-tree") == after
    assert trees.patch(git, before, after, [b"nothing"]) == b""
    assert b"\x1b[" in trees.patch(git, before, after, colour=True)


def test_how_much_changed(project: Project) -> None:
    project.write("long", "".join(f"{number}\n" for number in range(50)))
    project.write("binary", b"\0\1")
    before = project.snapshot().tree
    (project.root / "long").rename(project.root / "moved")
    project.write("moved", project.read("moved") + b"one more\n")
    project.write("binary", b"\0\2")
    after = project.snapshot().tree
    assert trees.numstat(project.repository().git, before, after) == [
        (None, None, b"binary", None),
        (1, 0, b"moved", b"long"),
    ]


def test_a_commits_change_taken_out_again(project: Project) -> None:
    project.write("src/app.py", "import lib\nsecond\n")
    second = project.commit("second")
    project.write("README.md", "third\n")
    tree = project.tree()
    now = project.snapshot().tree
    reverted = trees.with_patch_reversed(tree.repository, tree.raw, now, second)
    assert reverted is not None
    assert project.held(reverted) == files_on_disk(project.root) | {"src/app.py": ("100644", b"import lib\n")}
    project.write("src/app.py", "all is different\n")
    assert trees.with_patch_reversed(tree.repository, tree.raw, project.snapshot().tree, second) is None


def tips(project: Project) -> str:
    return project.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/gitckpt")


def object_path(project: Project, oid: str) -> str:
    return f".git/objects/{oid[:2]}/{oid[2:]}"


def spoil(project: Project, oid: str, how: str) -> None:
    path = project.root / object_path(project, oid)
    path.chmod(0o644)
    match how:
        case "missing":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(path.read_bytes()[:-4])
        case "other bytes":
            path.write_bytes(zlib.compress(b"blob 4\0evil"))
        case "another kind":
            path.write_bytes(zlib.compress(b"tree 0\0"))
        case "noise":
            path.write_bytes(b"\xff" * 40)


HOW = ("missing", "empty", "cut", "other bytes", "another kind", "noise")


@pytest.mark.parametrize("how", others_slow(HOW, lambda how: how in ("missing", "cut", "other bytes")))
def test_a_damaged_blob_is_found_before_anything_is_written(project: Project, how: str) -> None:
    """A loose object with other bytes in it would be checked out in silence."""
    project.write("src/app.py", "only in C1\n")
    project.write("README.md", "also only in C1\n")
    project.checkpoint("C1")
    for path in ("src/app.py", "README.md"):
        project.write(path, "now\n")
    oid = project.git("rev-parse", f"{project.find('C1').commit}:src/app.py")
    spoil(project, oid, how)
    before = project.disk(), project.of_the_user(), tips(project)
    with pytest.raises(Damaged) as caught:
        project.roll_back("C1")
    assert (str(caught.value), caught.value.hint) == (
        f"object {oid} of the checkpoint is missing or damaged",
        "nothing was changed; gitckpt verify names what is missing, and the checkpoints that are whole",
    )
    assert (project.disk(), project.of_the_user(), tips(project)) == before


@pytest.mark.parametrize("what", ["tree", "subtree", "commit"])
@pytest.mark.parametrize("how", others_slow(["missing", "noise"], lambda how: how == "missing"))
def test_a_damaged_tree_or_commit_is_found_before_anything_is_written(project: Project, what: str, how: str) -> None:
    project.write("src/lib/core.py", "only in C1\n")
    event = project.checkpoint("C1")
    project.write("src/lib/core.py", "now\n")
    project.checkpoint("C2")
    oid = project.git(
        "rev-parse",
        {"tree": f"{event.commit}^{{tree}}", "subtree": f"{event.commit}:src/lib", "commit": event.commit}[what],
    )
    spoil(project, oid, how)
    before = project.disk(), project.of_the_user(), tips(project)
    with pytest.raises(Damaged):
        project.roll_back("C1")
    after = project.disk(), project.of_the_user(), tips(project)
    assert after[0] == before[0]
    assert differences(before[1], after[1]) == {}
    assert after[2] == before[2]


def test_what_does_not_change_need_not_be_there(project: Project) -> None:
    project.write("same", "same in both\n")
    project.write("other", "one\n")
    project.checkpoint("C1")
    project.write("other", "two\n")
    spoil(project, project.git("hash-object", "same"), "missing")
    project.roll_back("C1")
    assert project.read("other") == b"one\n"


def test_many_objects_are_checked(project: Project) -> None:
    oids = []
    for number in range(40):
        oids.append(project.git("hash-object", "-w", "--stdin", data=b"%d\n" % number * 50).encode())
    tree = project.tree()
    trees.check_objects(tree.repository, tree.raw, oids)
    trees.check_objects(tree.repository, tree.raw, [])
    trees.check_objects(tree.repository, tree.raw, [project.git("hash-object", "-w", "--stdin").encode()])
    spoil(project, oids[37].decode(), "other bytes")
    with pytest.raises(Damaged, match=oids[37].decode()):
        trees.check_objects(tree.repository, tree.raw, oids)


def test_the_tree_of_a_commit(project: Project) -> None:
    raw, event = project.tree().raw, project.checkpoint("C1")
    assert trees.tree_of(raw, event.commit) == project.git("rev-parse", f"{event.commit}^{{tree}}")
    for name in ("0" * 40, "f" * 40, "no-such", "--help"):
        with pytest.raises(Damaged):
            trees.tree_of(raw, name)
