"""Git's garbage collection at the worst moments: what is reported as recorded is whole, and stays so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import shim
from project import Project

from gitckpt.errors import GitFailed
from gitckpt.recorder import Recorder
from gitckpt.repo.collection import is_collecting
from gitckpt.repo.presence import ObjectsGone

#: Before, or after, the first moves of refs by this script's caller: everything that nothing refers to is taken.
PRUNE_BEFORE = 'case "$*" in *update-ref*) [ -e $0.done ] || { : >$0.done; $GIT -C $WHERE prune --expire=now; };; esac'
TAKE_AFTER = """
case "$*" in *update-ref*)
    $GIT "$@"; status=$?
    [ -e $0.done ] || { : >$0.done; rm $WHERE/.git/objects/$TAKEN; }
    exit $status;;
esac
"""
TAKE_ALWAYS = """
case "$*" in *pack-objects*) rm -f $WHERE/.git/objects/gitckpt-work-/$TAKEN;; *update-ref*)
    $GIT "$@"; status=$?; rm -f $WHERE/.git/objects/$TAKEN; exit $status;;
esac
"""
GO_ON = '\nexec "$GIT" "$@"'


@pytest.fixture
def before(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project with C1 on record and another file since."""
    project.checkpoint("C1", session="run")
    project.write("new", "content that is nowhere else\n")
    oid = project.git("hash-object", "new")
    monkeypatch.setenv("WHERE", str(project.root))
    monkeypatch.setenv("TAKEN", f"{oid[:2]}/{oid[2:]}")
    yield project


def is_whole(project: Project, commit: str) -> bool:
    """Whether all that the commit needs can be read."""
    environment = {**os.environ, "GIT_NO_REPLACE_OBJECTS": "1"}
    command = ["git", "rev-list", "--objects", "--quiet", commit]
    return subprocess.run(command, cwd=project.root, env=environment, capture_output=True).returncode == 0


def references(project: Project) -> list[str]:
    return project.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/gitckpt").splitlines()


@pytest.mark.parametrize("script", [PRUNE_BEFORE, TAKE_AFTER], ids=["before", "after"])
def test_objects_taken_around_the_move_of_the_ref_are_made_anew(
    before: Project, script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim.install(tmp_path / "bin", monkeypatch, script + GO_ON)
    event = before.checkpoint("C2")
    assert (tmp_path / "bin" / "git.done").exists()
    assert is_whole(before, event.commit)
    assert before.held(event.commit)["new"] == ("100644", b"content that is nowhere else\n")
    assert before.git("rev-parse", "refs/gitckpt/run/heads/main", "refs/gitckpt/run/tags/C2").split() == [
        event.commit,
        event.commit,
    ]
    assert [path.name for path in (before.root / ".git/objects").glob("gitckpt*")] == []
    assert [path.name for path in (before.root / ".git/objects/pack").glob("*.keep")] == []


@pytest.mark.parametrize("id", ["C2", "C1"])
def test_what_cannot_be_made_whole_is_not_on_record(
    before: Project, id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = references(before)
    with monkeypatch.context() as patch:
        shim.install(tmp_path / "bin", patch, TAKE_ALWAYS + GO_ON)
        with pytest.raises(ObjectsGone, match="a garbage collection has taken objects of the checkpoint"):
            before.checkpoint(id)
    assert references(before) == known
    assert is_whole(before, before.checkpoint(id).commit)


def test_the_start_of_a_session_is_made_anew_too(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE", str(project.root))
    shim.install(tmp_path / "bin", monkeypatch, PRUNE_BEFORE + GO_ON)
    project.write("new", "content\n")
    event = project.checkpoint("C1", session="run")
    assert (event.seq, is_whole(project, event.commit)) == (2, True)


def test_the_safety_event_of_a_rollback_is_made_anew(
    before: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        shim.install(tmp_path / "bin", patch, PRUNE_BEFORE + GO_ON)
        outcome = before.roll_back("C1")
    assert is_whole(before, outcome.event.commit)
    assert not (before.root / "new").exists()
    before.undo()
    assert before.read("new") == b"content that is nowhere else\n"


def test_a_rollback_of_some_paths_is_made_anew_too(
    before: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before.write("src/app.py", "changed\n")
    with monkeypatch.context() as patch:
        shim.install(tmp_path / "bin", patch, PRUNE_BEFORE + GO_ON)
        before.roll_back("C1", paths=(b"src",))
    assert (before.read("src/app.py"), before.read("new")) == (b"import lib\n", b"content that is nowhere else\n")
    before.undo()
    assert before.read("src/app.py") == b"changed\n"


def test_while_a_collection_is_at_work_objects_go_where_it_takes_nothing(before: Project) -> None:
    (before.root / ".git/gc.pid").write_text(f"{os.getpid()} {os.uname().nodename}")
    event = before.checkpoint("C2")
    # what it may still take is all that it saw before, and was loose
    for loose in before.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").splitlines():
        if loose not in before.git("rev-list", "--objects", "--no-object-names", event.parents[0], "HEAD").split():
            (before.root / ".git/objects" / loose[:2] / loose[2:]).unlink(missing_ok=True)
    assert is_whole(before, event.commit)


def test_a_collection_is_seen(project: Project, tmp_path: Path) -> None:
    repository, pid_file = project.repository(), project.root / ".git/gc.pid"
    assert not is_collecting(repository)
    for content, expected in [
        (f"{os.getpid()} {os.uname().nodename}", True),
        ("1 another-machine", True),
        (f"{2**22 + 1} {os.uname().nodename}", False),
        ("junk", True),
    ]:
        pid_file.write_text(content)
        assert is_collecting(repository) is expected, content
    os.utime(pid_file, (0, 0))
    assert not is_collecting(repository)
    pid_file.unlink()
    linked = tmp_path / "linked"
    project.git("worktree", "add", "-q", str(linked))
    for directory, expected in [(project.root / "src", True), (linked, True), (project.root / ".git", True)]:
        with running("prune", directory):
            assert is_collecting(repository) is expected, directory
    elsewhere = Project.create(tmp_path / "elsewhere").root
    with running("prune", elsewhere), running("prune-packed", project.root):
        assert not is_collecting(repository)


@contextmanager
def running(word: str, directory: Path) -> Iterator[None]:
    """A git that has this word in its command line, and takes its time."""
    command = ["git", "-c", "alias.wait=!echo ready; sleep 60; :", "wait", word]
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


COLLECTIONS = ["git gc -q --prune=now", "git prune --expire=now", "git repack -qad"]


@contextmanager
def again_and_again(command: str, directory: Path) -> Iterator[None]:
    """A command that is run over and over; it ends with this process, whatever happens."""
    loop = f"while kill -0 {os.getpid()}; do {command}; done"
    process = subprocess.Popen(["sh", "-c", loop], cwd=directory, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def record_for(project: Project, seconds: float, most: int) -> tuple[list[str], int]:
    """Record changes, some of them only planned to be rolled back; the commits, and how often it was refused."""
    recorder, commits, refused, start = Recorder(project.tree()), [], 0, time.monotonic()
    for number in range(most):
        project.write("src/app.py", f"step {number}\n")
        project.write(f"new/{number}", f"new {number}\n")
        try:
            commits.append(recorder.save(f"step {number}").commit)
        except GitFailed:
            refused += 1
        if time.monotonic() - start > seconds:
            break
    return commits, refused


@pytest.mark.parametrize("command", ["; ".join(COLLECTIONS[:2])])
def test_what_is_reported_while_git_collects_is_whole(project: Project, command: str) -> None:
    with again_and_again(command, project.root):
        commits, _ = record_for(project, 2.0, 10)
    assert commits and [commit for commit in commits if not is_whole(project, commit)] == []
    project.git("fsck", "--connectivity-only")


@pytest.mark.slow
def test_packing_recording_and_collecting_at_once_lose_nothing(project: Project) -> None:
    commits, start = [], time.monotonic()
    packing = f"{sys.executable} -P -m gitckpt.repo.upkeep ."
    with again_and_again(packing, project.root), again_and_again(COLLECTIONS[2], project.root):
        while time.monotonic() - start < 60:
            found, _ = record_for(project, 10.0, 100)
            commits += found
    assert commits and [commit for commit in commits if not is_whole(project, commit)] == []
    project.git("fsck", "--connectivity-only")


@pytest.mark.slow
@pytest.mark.parametrize("command", [*COLLECTIONS, "; ".join(COLLECTIONS)])
def test_what_is_reported_while_git_collects_is_whole_for_long(project: Project, command: str) -> None:
    with again_and_again(command, project.root):
        commits, refused = record_for(project, 60.0, 10_000)
    assert len(commits) > 10 * refused
    assert [commit for commit in commits if not is_whole(project, commit)] == []
    project.git("fsck", "--connectivity-only")


def test_what_a_power_cut_left_empty_is_written_again(project: Project) -> None:
    """Git takes an empty file for the object that it is called after."""
    for number, content in enumerate(("one\n", "two\n"), 1):
        project.write("src/app.py", content)
        project.checkpoint(f"C{number}", session="s")
    oid = project.git("rev-parse", "refs/gitckpt/s/tags/C1:src/app.py")
    path = project.root / ".git" / "objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    path.write_bytes(b"")
    project.write("src/app.py", "one\n")
    project.checkpoint("C3", session="s")
    project.write("src/app.py", "three\n")
    for name in ("C3", "C1"):
        project.roll_back(name)
        assert project.read("src/app.py") == b"one\n"
    project.git("fsck", "--strict")
