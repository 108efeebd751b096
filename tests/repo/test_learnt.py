"""What one snapshot keeps for the next is given up as soon as it may no longer hold."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from project import Project

from gitckpt.repo.directories import Directories, is_settled
from gitckpt.repo.private import index_path
from gitckpt.repo.repository import discover
from gitckpt.repo.snapshot import Snapshot
from gitckpt.repo.staging import Staging, refresh
from gitckpt.repo.worktree import WorkTree


def staging_of(tree: WorkTree) -> Staging:
    with tree.lock:
        staging = tree.snapshotter.take().staging
    assert staging is not None
    return staging


@pytest.fixture
def tree(project: Project) -> WorkTree:
    return WorkTree(discover(os.fsencode(project.root)))


def test_a_staging_area_with_new_stat_data_alone_is_the_same(project: Project, tree: WorkTree) -> None:
    before = staging_of(tree)
    os.utime(project.root / "README.md", ns=(1, 1))
    project.git("update-index", "--refresh")
    assert staging_of(tree) is before


@pytest.mark.parametrize(
    "change",
    [
        ("update-index", "--chmod=+x", "README.md"),
        ("update-index", "--skip-worktree", "README.md"),
        ("rm", "-q", "--cached", "README.md"),
        ("add", "-N", "empty"),
        ("add", "empty"),
    ],
)
def test_anything_else_is_seen(project: Project, tree: WorkTree, change: tuple[str, ...]) -> None:
    project.write("empty", "")
    before = staging_of(tree)
    project.git(*change)
    after = staging_of(tree)
    assert not after.same_content(before) or after.skipped != before.skipped


def test_an_intention_that_becomes_an_empty_file_is_seen(project: Project, tree: WorkTree) -> None:
    project.write("empty", "")
    project.git("add", "-N", "empty")
    assert staging_of(tree).intended == {b"empty": b"100644"}
    project.git("add", "empty")
    assert staging_of(tree).intended == {}


def test_a_tracked_file_under_a_new_rule_is_told_though_the_index_is_the_same(project: Project, tree: WorkTree) -> None:
    assert staging_of(tree).forced == []
    project.write(".gitignore", "README.md\n")
    assert staging_of(tree).forced == [b"README.md"]


def test_permissions_that_change_are_seen_in_a_directory_that_was_read(project: Project) -> None:
    project.write("kept/file", "x")
    time.sleep(0.05)  # else it is read again in any case
    raw = WorkTree(discover(os.fsencode(project.root))).raw
    directories = Directories(os.fsencode(project.root), raw)
    directories.look({b"kept"}, [])
    assert directories.known[b"kept"].mode == (project.root / "kept").stat().st_mode & 0o7777
    os.chmod(project.root / "kept", 0o701)
    directories.look({b"kept"}, [])
    assert directories.known[b"kept"].mode == 0o701
    assert b"kept" in directories.changed


@pytest.mark.parametrize("count", [3, 150])
def test_edits_are_no_longer_seen_after_a_refresh(project: Project, count: int) -> None:
    paths = [f"many/file {n}*[?].txt" for n in range(count)]
    for path in paths:
        project.write(path, path)
    project.git("add", "-A")
    for path in paths:
        os.utime(project.root / path, ns=(10**9, 10**9))
    project.write("many/untracked", "x")
    stale = project.git("diff-files", "--name-only", "-z")
    tree = project.tree()
    with tree.lock:
        refresh(tree.repository, {os.fsencode(path) for path in paths} | {b"many/untracked", b"many", b"gone"})
    assert stale.count("\0") == count
    assert project.git("diff-files", "--name-only", "-z") == ""
    assert project.git("ls-files", "-o") == "many/untracked"


def test_a_refresh_without_an_index_makes_none(home: Path, tmp_path: Path) -> None:
    project = Project.create(tmp_path / "new")
    repository = discover(os.fsencode(project.root))
    refresh(repository, {b"some"})
    assert not os.path.exists(repository.index_path)
    assert not os.path.exists(index_path(repository))


def anew(project: Project) -> Snapshot:
    """A snapshot by who has learnt nothing."""
    project.remove(".git/gitckpt")
    return project.snapshot()


def taken(tree: WorkTree) -> Snapshot:
    with tree.lock:
        snapshot = tree.snapshotter.take()
        tree.snapshotter.settle(snapshot)
    return snapshot


def told(project: Project, snapshot: Snapshot) -> tuple[object, ...]:
    return project.held(snapshot.tree), snapshot.missing, snapshot.modes, sorted(snapshot.empty)


def become_settled(project: Project) -> None:
    time.sleep(0.03)  # a younger directory is read again in any case


def test_a_directory_that_becomes_a_repository_by_what_is_in_its_git_directory_is_one(project: Project) -> None:
    project.write("nested/file", "x")
    project.git("init", "-q", "--template=", "aside")
    (project.root / "nested/.git").mkdir()
    become_settled(project)
    tree = project.tree()
    assert "nested/file" in project.held(taken(tree).tree)
    for entry in (project.root / "aside/.git").iterdir():
        entry.rename(project.root / "nested/.git" / entry.name)
    seen = taken(tree)
    assert b"nested" in seen.missing
    assert told(project, seen) == told(project, anew(project))


def test_a_repository_that_is_one_no_more_has_content(project: Project) -> None:
    project.git("init", "-q", "nested")
    project.write("nested/file", "x")
    become_settled(project)
    tree = project.tree()
    assert b"nested" in taken(tree).missing
    project.remove("nested/.git/HEAD")
    seen = taken(tree)
    assert project.held(seen.tree)["nested/file"] == ("100644", b"x")
    assert told(project, seen) == told(project, anew(project))


def test_a_directory_of_the_same_moment_that_takes_the_name_of_another_is_another(project: Project) -> None:
    for path in ("a/x/sub", "a/y/sub/inner"):
        (project.root / path).mkdir(parents=True)
    become_settled(project)
    directories = Directories(os.fsencode(project.root), project.tree().raw)
    directories.look(set(), [])
    (project.root / "a/x").rename(project.root / "a/z")
    (project.root / "a/y").rename(project.root / "a/x")
    # as if both had been made within one tick of the clock
    directories.known[b"a/x/sub"].stamp = (project.root / "a/x/sub").stat().st_ctime_ns
    directories.look(set(), [])
    assert directories.known[b"a/x/sub"].children == [b"inner"]


@pytest.mark.parametrize(
    ("stamp", "age", "settled"),
    [
        (10**18 + 1, 10_000_000, False),
        (10**18 + 1, 30_000_000, True),
        (10**18, 30_000_000, False),
        (10**18, 1_900_000_000, False),
        (10**18, 2_100_000_000, True),
        (10**18 + 1, -30_000_000, False),
    ],
)
def test_the_time_of_a_directory_tells_once_it_cannot_be_given_again(stamp: int, age: int, settled: bool) -> None:
    assert is_settled(stamp, stamp + age) is settled


def test_a_seed_that_nobody_has_come_to_use_is_made_anew(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(".gitattributes", "*.txt text eol=crlf\n")
    project.write("a.txt", "a\r\nb\r\n")
    os.utime(project.root / "a.txt", (10**9, 10**9))
    project.commit("git holds other line ends than the file has")
    child = os.fork()
    if child == 0:
        monkeypatch.setattr("gitckpt.repo.index._converted", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        taken(project.tree())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert project.held(project.snapshot().tree)["a.txt"] == ("100644", b"a\r\nb\r\n")


@pytest.mark.parametrize("count", [1, 150])
def test_an_edit_within_a_second_whose_time_was_put_back_is_seen_by_another_process(
    project: Project, count: int
) -> None:
    names = [f"file{number}" for number in range(count)]

    def edit(content: str) -> None:
        for name in names:
            project.write(name, content)
            os.utime(project.root / name, (10**9, 10**9))

    edit("one")
    tree = project.tree()
    taken(tree)
    time.sleep(1.02 - time.time() % 1)  # a second begins
    edit("two")
    assert {project.held(taken(tree).tree)[name][1] for name in names} == {b"two"}
    edit("six")
    become_settled(project)
    # nothing of what the first one knows is told to it
    assert {project.held(project.snapshot().tree)[name][1] for name in names} == {b"six"}


def test_a_snapshot_that_comes_to_nothing_teaches_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = project.tree()
    taken(tree)
    project.write("new", "x")
    become_settled(project)
    with monkeypatch.context() as patched:
        patched.setattr("gitckpt.repo.snapshot.Changes.apply", lambda changes: os.stat("/nowhere"))
        with pytest.raises(FileNotFoundError):
            taken(tree)
    assert "new" in project.held(taken(tree).tree)


def test_a_file_whose_time_was_put_back_is_no_obstacle_to_a_rollback(project: Project) -> None:
    project.checkpoint("C1")
    time.sleep(1.02 - time.time() % 1)  # a second begins
    project.write("README.md", "other\n")
    os.utime(project.root / "README.md", (10**9, 10**9))
    project.roll_back("C1")
    assert project.read("README.md") == b"# Project\n"


LARGE = b"x" * 5000


def limit_to(project: Project, size: int) -> None:
    project.git("config", "gitckpt.maxFileSize", str(size))


def _large(project: Project) -> None:
    limit_to(project, 1000)
    project.write("src/new/large", LARGE)


def _large_by_a_pattern(project: Project) -> None:
    limit_to(project, 1000)
    project.git("config", "gitckpt.include", "src/*.log")
    project.write("src/some.log", LARGE)


def _pattern_goes(project: Project) -> None:
    project.git("config", "--unset", "gitckpt.include")


def _pattern_goes_and_limit_too(project: Project) -> None:
    _pattern_goes(project)
    limit_to(project, 10_000)


def _fifo(project: Project) -> None:
    os.mkfifo(project.root / "src/some.log")


def _fifo_becomes_an_ignored_file(project: Project) -> None:
    project.remove("src/some.log")
    project.write("src/some.log", "ignored")


def _becomes_a_repository(project: Project) -> None:
    project.git("init", "-q", "--template=", "src/new")


def _goes_behind_a_link(project: Project) -> None:
    (project.root / "src/new").rename(project.root / "src/other")
    project.write("src/other/large", "small")
    project.link("src/new", "other")


def _forced(project: Project) -> None:
    project.write("build/kept", "x")
    project.git("add", "-f", "build/kept")


def _forced_no_more(project: Project) -> None:
    project.git("rm", "-q", "--cached", "build/kept")
    project.remove("build/kept")


def _on_disk_outside_of_the_checkout(project: Project) -> None:
    project.git("sparse-checkout", "set", "--no-cone", "/src/")
    project.write("README.md", b"# Project\n", 0o700)


def _gone_outside_of_the_checkout(project: Project) -> None:
    project.remove("README.md")


def _in_the_way_outside_of_the_checkout(project: Project) -> None:
    project.git("sparse-checkout", "set", "--no-cone", "/src/")
    project.write("tests", "a file")


def _out_of_the_way(project: Project) -> None:
    project.remove("tests")


def _outside_of_the_checkout(project: Project) -> None:
    project.git("sparse-checkout", "set", "--no-cone", "/src/")


def _fifo_outside_of_the_checkout(project: Project) -> None:
    (project.root / "tests").mkdir()
    os.mkfifo(project.root / "tests/check.sh")


def _repository_outside_of_the_checkout(project: Project) -> None:
    project.git("init", "-q", "--template=", "tests")


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(_in_the_way_outside_of_the_checkout, _out_of_the_way, id="sparse, a file in the way"),
        pytest.param(_outside_of_the_checkout, _fifo_outside_of_the_checkout, id="sparse, a FIFO"),
        pytest.param(_outside_of_the_checkout, _repository_outside_of_the_checkout, id="sparse, a repository"),
        pytest.param(_fifo, _fifo_becomes_an_ignored_file, id="fifo"),
        pytest.param(_large, _becomes_a_repository, id="repository"),
        pytest.param(_large, _goes_behind_a_link, id="link"),
        pytest.param(_large_by_a_pattern, _pattern_goes, id="pattern"),
        pytest.param(_large_by_a_pattern, _pattern_goes_and_limit_too, id="pattern and limit"),
        pytest.param(_forced, _forced_no_more, id="ignored directory"),
        pytest.param(_on_disk_outside_of_the_checkout, _gone_outside_of_the_checkout, id="sparse"),
    ],
)
def test_another_process_tells_what_one_without_a_memory_would(
    project: Project, first: Callable[[Project], None], then: Callable[[Project], None]
) -> None:
    first(project)
    become_settled(project)
    project.snapshot()
    then(project)
    become_settled(project)
    seen = told(project, project.snapshot())
    assert told(project, project.snapshot()) == seen
    assert seen == told(project, anew(project))


@pytest.mark.parametrize("memory", ["whole", "lost", "in one process"])
def test_what_was_recorded_is_not_when_the_limit_is_lowered(project: Project, memory: str) -> None:
    project.write("large", LARGE)
    tree = project.tree()
    assert "large" in project.held(taken(tree).tree)
    tree.close()
    if memory == "lost":
        project.remove(".git/gitckpt/scan.json")
    limit_to(project, 1000)
    seen = taken(tree) if memory == "in one process" else project.snapshot()
    assert list(seen.missing) == [b"large"]
    assert "large" not in project.held(seen.tree)


def test_a_file_in_a_repository_where_files_are_tracked_is_not_content_whatever_its_time(project: Project) -> None:
    project.write("nested/tracked", "x")
    project.commit("no repository yet")
    project.git("init", "-q", "--template=", "nested")
    time.sleep(1.02 - time.time() % 1)  # a second begins
    project.git("update-index", "--force-write-index")
    project.write("nested/file", "x")
    os.utime(project.root / "nested/file", (10**9, 10**9))
    seen = project.snapshot()
    assert list(seen.missing) == [b"nested"]
    assert "nested/file" not in project.held(seen.tree)


def test_a_directory_that_a_rollback_has_emptied_of_recorded_files_is_ignored_again(project: Project) -> None:
    project.checkpoint("C1")
    project.write("build/kept", "x")
    project.git("add", "-f", "build/kept")
    project.checkpoint("C2")
    project.write("build/ignored", "x")
    (project.root / "build").chmod(0o700)
    project.roll_back("C1")
    become_settled(project)
    assert told(project, project.snapshot()) == told(project, anew(project))


def test_a_memory_in_which_a_bit_has_turned_is_dropped(project: Project) -> None:
    project.write("private", "x", 0o600)
    wanted = told(project, project.snapshot())
    memory = project.read(".git/gitckpt/scan.json")
    assert b'"private": 384' in memory
    for turned in (memory.replace(b'"private": 384', b'"private": 385'), memory.replace(b'"umask": 1', b'"umask": 9')):
        project.write(".git/gitckpt/scan.json", turned)
        assert told(project, project.snapshot()) == wanted


@pytest.mark.parametrize("text", ["[" * 100_000, '{"umask": Infinity}', '{"version": ' + "9" * 5000 + "}"])
def test_a_memory_that_python_cannot_take_is_dropped(project: Project, text: str) -> None:
    wanted = told(project, project.snapshot())
    project.write(".git/gitckpt/scan.json", text)
    assert told(project, project.snapshot()) == wanted
