"""Making the work tree hold what a tree says: what stands in the way, permission bits, directories."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from project import FILES, Project
from sampling import others_slow
from starting_points import nested

from gitckpt.errors import GitFailed, Refused
from gitckpt.repo import restore, trees
from gitckpt.repo.worktree import WorkTree


def refused(project: Project) -> str:
    """The message of a rollback to C1 that is refused, and nothing changed."""
    before = project.disk(), project.of_the_user(), project.git("for-each-ref", "refs/gitckpt")
    with pytest.raises(Refused) as caught:
        project.roll_back("C1")
    assert (project.disk(), project.of_the_user(), project.git("for-each-ref", "refs/gitckpt")) == before
    return str(caught.value)


HEADING = "in the way, and not to be kept by the safety snapshot: 1 path; nothing was changed\n"


def directory_with_ignored_files(project: Project) -> None:
    project.write("data/kept.log", "nobody has a copy\n")


def repository_of_its_own(project: Project) -> None:
    nested(project.root / "data")


def repository_deep_inside(project: Project) -> None:
    Project.create(project.root / "data" / "deep" / "inner")


def special_file(project: Project) -> None:
    os.mkfifo(project.root / "data")


def special_file_inside(project: Project) -> None:
    (project.root / "data").mkdir()
    os.mkfifo(project.root / "data" / "pipe")


def large_file(project: Project) -> None:
    project.git("config", "gitckpt.maxFileSize", "100")
    project.write("data", b"x" * 101)


OBSTACLES: dict[Callable[[Project], None], str] = {
    directory_with_ignored_files: "a directory stands there with data/kept.log in it, which is not on record",
    repository_of_its_own: "a repository of its own stands there",
    repository_deep_inside: "a repository of its own stands there",
    special_file: "a special file stands there",
    special_file_inside: "a directory stands there with data/pipe in it, which is not on record",
    large_file: "a file larger than max_file_size stands there (101 bytes)",
}


OFTEN = (directory_with_ignored_files, repository_of_its_own, large_file)


@pytest.mark.parametrize(
    "obstacle", others_slow(OBSTACLES, lambda obstacle: obstacle in OFTEN), ids=lambda obstacle: obstacle.__name__
)
def test_what_cannot_be_kept_stands_in_the_way(project: Project, obstacle: Callable[[Project], None]) -> None:
    project.write("data", "a file at C1\n")
    project.write("src/app.py", "at C1\n")
    project.checkpoint("C1")
    project.remove("data")
    obstacle(project)
    project.write("src/app.py", "later\n")
    assert refused(project) == f"{HEADING}  data: {OBSTACLES[obstacle]}"
    standing = {path: entry for path, entry in project.disk().items() if path.startswith("data")}
    outcome = project.roll_back("C1", keep=True)
    assert b"data" in outcome.left
    assert {path: entry for path, entry in project.disk().items() if path.startswith("data")} == standing
    assert project.read("src/app.py") == b"at C1\n"
    project.undo()
    assert project.read("src/app.py") == b"later\n"


def test_an_ignored_file_in_the_way_is_kept_and_comes_back(project: Project) -> None:
    """Git's own checkout would overwrite it without a word."""
    project.write("result.log.txt", "at C1\n")
    project.checkpoint("C1")
    project.remove("result.log.txt")
    project.write(".gitignore", "*.log*\nbuild/\n")
    project.write("result.log.txt", "the only copy\n")
    before = project.disk()
    project.roll_back("C1")
    assert project.read("result.log.txt") == b"at C1\n"
    project.undo()
    assert project.disk() == before


def test_an_ignored_file_where_a_directory_comes_back(project: Project) -> None:
    project.write("out.log.d/deep/file", "at C1\n")
    project.checkpoint("C1")
    project.remove("out.log.d")
    project.write(".gitignore", "*.log*\n")
    project.write("out.log.d", "the only copy\n")
    before = project.disk()
    project.roll_back("C1")
    assert project.read("out.log.d/deep/file") == b"at C1\n"
    project.undo()
    assert project.disk() == before


def test_empty_directories_and_recorded_files_give_way(project: Project) -> None:
    project.write("data", "a file at C1\n")
    project.checkpoint("C1")
    project.remove("data")
    project.write("data/recorded", "x")
    (project.root / "data" / "empty" / "too").mkdir(parents=True)
    before = project.disk()
    project.roll_back("C1")
    assert project.read("data") == b"a file at C1\n"
    project.undo()
    assert project.disk() == before


def test_a_repository_where_recorded_files_were_is_left_alone(project: Project) -> None:
    project.write("lib/a", "at C1\n")
    project.checkpoint("C1")
    Project.create(project.root / "lib")
    project.write("lib/a", "now part of another repository\n")
    assert "lib/a: inside lib: a repository of its own: never entered, never touched" in refused(project)
    project.roll_back("C1", keep=True)
    assert project.read("lib/a") == b"now part of another repository\n"


def test_nothing_is_written_through_a_link(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("mine\n")
    project.write("d/f", "at C1\n")
    project.checkpoint("C1")
    project.remove("d")
    project.link("d", str(outside))
    project.roll_back("C1")
    assert (outside / "f").read_text() == "mine\n"
    assert not (project.root / "d").is_symlink()
    assert project.read("d/f") == b"at C1\n"
    project.undo()
    assert (project.root / "d").is_symlink()
    assert (outside / "f").read_text() == "mine\n"


def leave_by_a_link(project: Project, path: str, outside: Path) -> None:
    """Put a link that leads out of the work tree where a directory was, and a rule that ignores it."""
    project.remove(path)
    project.link(path, str(outside))
    project.write(".gitignore", f"{path}\n")


def test_no_directory_is_made_through_a_link(project: Project, tmp_path: Path) -> None:
    (project.root / "d" / "empty").mkdir(parents=True)
    project.checkpoint("C1")
    (tmp_path / "outside").mkdir()
    leave_by_a_link(project, "d", tmp_path / "outside")
    outcome = project.roll_back("C1")
    assert list((tmp_path / "outside").iterdir()) == []
    assert (project.root / "d").is_symlink()
    assert b"d/empty/" in outcome.left


def test_no_permission_bits_are_changed_through_a_link(project: Project, tmp_path: Path) -> None:
    project.write("d/private/kept.log", "ignored\n")
    (project.root / "d" / "private").chmod(0o700)
    project.checkpoint("C1")
    (tmp_path / "outside" / "private").mkdir(parents=True)
    (tmp_path / "outside" / "private").chmod(0o755)
    leave_by_a_link(project, "d", tmp_path / "outside")
    project.roll_back("C1")
    assert (tmp_path / "outside" / "private").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("place", ["d", "d/empty"])
def test_an_ignored_file_where_an_empty_directory_was_is_left(project: Project, place: str) -> None:
    (project.root / "d" / "empty").mkdir(parents=True)
    project.checkpoint("C1")
    project.remove(place)
    project.write(place, "the only copy\n")
    project.write(".gitignore", f"{place}\n")
    project.write("src/app.py", "later\n")
    project.roll_back("C1")
    assert (project.read(place), project.read("src/app.py")) == (b"the only copy\n", b"import lib\n")


def checked_out(project: Project) -> tuple[WorkTree, str, str]:
    """A work tree, its own tree, and one where src/app.py is another."""
    before = project.snapshot().tree
    project.write("src/app.py", "two\n")
    after = project.snapshot().tree
    project.write("src/app.py", FILES["src/app.py"])
    tree = project.tree()
    with tree.lock:
        assert tree.snapshotter.take().tree == before
    return tree, before, after


def test_checking_out_writes_what_differs(project: Project) -> None:
    tree, before, after = checked_out(project)
    restore.check_out(tree.repository, tree.raw, before, after)
    assert project.read("src/app.py") == b"two\n"


def test_a_file_that_changed_since_the_snapshot_stops_it(project: Project) -> None:
    tree, before, after = checked_out(project)
    project.write("src/app.py", "written meanwhile\n")
    with pytest.raises(Refused) as caught:
        restore.check_out(tree.repository, tree.raw, before, after)
    assert str(caught.value).startswith("the work tree changed while it was being rolled back: ")
    assert caught.value.hint == "stop what writes there, and try again"
    assert project.read("src/app.py") == b"written meanwhile\n"


PLACES = ("../escaped", ".git/config", ".git", "a/../../escaped", "x/.GIT/hooks/y", "./x")


@pytest.mark.parametrize("path", others_slow(PLACES, lambda path: path in PLACES[::4]))
def test_a_tampered_tree_cannot_write_where_no_work_tree_is(project: Project, path: str) -> None:
    tree, before, _ = checked_out(project)
    everything = project.disk(), project.of_the_user()
    oid = project.git("hash-object", "-w", "--stdin", data=b"evil\n")
    for depth, name in enumerate(reversed(path.split("/"))):
        content = (b"40000 " if depth else b"100644 ") + name.encode() + b"\0" + bytes.fromhex(oid)
        oid = project.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=content)
    with pytest.raises((GitFailed, Refused)):
        restore.check_out(tree.repository, tree.raw, before, oid)
    assert (project.disk(), project.of_the_user()) == everything
    assert not (project.root.parent / "escaped").exists()


def test_permission_bits(project: Project) -> None:
    (project.root / "d").mkdir()
    project.link("link", "src/app.py")
    repository = project.repository()
    modes = {
        b"src/app.py": 0o600,
        b"d/": 0o700,
        b"README.md": None,
        b"tests/check.sh": None,
        b"gone": 0o600,
        b"link": 0o777,
    }
    for path in ("README.md", "tests/check.sh"):
        (project.root / path).chmod(0o606)
    restore.set_modes(repository, modes, {b"tests/check.sh"}, 0o027)
    seen = {
        path: (project.root / path).lstat().st_mode & 0o7777
        for path in ("src/app.py", "d", "README.md", "tests/check.sh")
    }
    assert seen == {"src/app.py": 0o600, "d": 0o700, "README.md": 0o640, "tests/check.sh": 0o750}


def test_empty_directories(project: Project) -> None:
    repository = project.repository()
    restore.make_directories(repository, [b"a/b/c", b"d"])
    project.write("d/file", "x")
    restore.remove_directories(repository, [b"a/b/c", b"a/b", b"d", b"none"])
    assert [path for path in ("a/b", "d", "d/file") if (project.root / path).exists()] == ["d", "d/file"]
    (project.root / "stand" / "here").mkdir(parents=True)
    restore.remove_directories(project.repository("stand/here"), [b"stand/here", b"stand"])
    assert (project.root / "stand" / "here").is_dir()


def test_rules_of_a_tree(project: Project) -> None:
    project.write(".gitignore", "*.tmp\n")
    project.write("src/.gitignore", "!keep.tmp\n/data/\n")
    tree_id = project.snapshot().tree
    project.write(".gitignore", "")
    project.remove("src/.gitignore")
    project.write(".git/info/exclude", "private\n")
    tree = project.tree()
    paths = [b"a.tmp", b"src/a.tmp", b"src/keep.tmp", b"src/data/x", b"data/x", b"private", b"plain", b":(top)x", b"-x"]
    assert restore.ignored_by(tree.repository, tree.raw, tree_id, paths) == {
        b"a.tmp",
        b"src/a.tmp",
        b"src/data/x",
        b"private",
    }
    assert restore.ignored_by(tree.repository, tree.raw, tree_id, []) == set()
    assert not (project.root / ".git" / "gitckpt" / "rules").exists()
    assert trees.entries(tree.raw, tree_id)
