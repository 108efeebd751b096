"""A rollback that is killed can be finished, and it can be taken back. That this is so at any call of git: tests/crashes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
import shim
from project import Project

from gitckpt.cli.status import status as print_status
from gitckpt.errors import Refused
from gitckpt.recorder import Recorder
from gitckpt.repo.reader import Reader

Everything = tuple[object, ...]

#: The command as a process of its own, without what only its help needs.
COMMAND = "import sys; from gitckpt.cli import edge, rollback as r; sys.exit(edge.run(lambda: {}))"


def everything(project: Project) -> Everything:
    head = project.git("symbolic-ref", "-q", "HEAD", ok=(0, 1)), project.git("rev-parse", "HEAD")
    return project.disk(), project.staged(), head, project.status()


def interrupt(project: Project, call: str = "r.rollback('C1', yes=True)", after: str = "read-tree -m -u") -> None:
    """Kill a command right after a call of git: the one that writes the files, if no other is given."""
    kill = f'case "$*" in *"{after}"*) "$GIT" "$@"; kill -9 $PPID; exit 1;; esac; exec "$GIT" "$@"'
    place = project.root.parent / "kill"
    with pytest.MonkeyPatch.context() as patch:
        shim.install(place, patch, kill)
        done = subprocess.run([sys.executable, "-c", COMMAND.format(call)], cwd=project.root, capture_output=True)
    shutil.rmtree(place)
    assert done.returncode == -9, done.stderr


def two_checkpoints(project: Project, session: str = "s") -> None:
    for number in (1, 2):
        project.write("src/app.py", f"{session} {number}\n")
        project.checkpoint(f"C{number}", session=session)


def status(project: Project, capfd: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> str:
    patch.chdir(project.root)
    capfd.readouterr()
    print_status()
    return capfd.readouterr().out


@pytest.mark.parametrize("target", ["C1", "old/C1"])
def test_the_next_command_names_it(
    project: Project, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    two_checkpoints(project, "old")
    two_checkpoints(project, "s")
    assert "interrupted" not in status(project, capfd, monkeypatch)
    interrupt(project, f"r.rollback('{target}', yes=True)")
    for command in (project.undo, project.redo):
        with pytest.raises(Refused) as caught:
            command()
        assert (str(caught.value), caught.value.hint) == (
            "a rollback was interrupted: rollback to C1",
            "gitckpt rollback --continue finishes it, gitckpt rollback --abort takes it back",
        )
    shown = status(project, capfd, monkeypatch)
    assert "interrupted" in shown
    assert f"{'old' if target.startswith('old') else 's'}/C1" in shown
    project.go_on()
    assert "interrupted" not in status(project, capfd, monkeypatch)


@pytest.mark.parametrize("abort", [False, True])
def test_work_after_it_is_not_lost(project: Project, abort: bool) -> None:
    two_checkpoints(project)
    interrupt(project)
    project.write("src/app.py", "work in between\n")
    project.write("new", "work in between\n")
    between = project.disk()
    project.abort() if abort else project.go_on()
    assert project.read("src/app.py") == (b"s 2\n" if abort else b"s 1\n")
    safety = Reader(project.repository()).journal.session("s").events[-1]
    project.roll_back(safety.commit)
    assert project.disk() == between


def test_recording_goes_on_though_it_was_not_finished(project: Project) -> None:
    two_checkpoints(project)
    interrupt(project)
    Recorder(project.tree()).save("as it is")
    project.abort()
    assert project.read("src/app.py") == b"s 2\n"


@pytest.mark.parametrize("abort", [False, True])
def test_one_that_is_interrupted_again(project: Project, abort: bool) -> None:
    two_checkpoints(project)
    before = project.disk()
    interrupt(project)
    project.write("src/app.py", "neither\n")
    interrupt(project, "r.rollback(resume=True, yes=True)")
    project.abort() if abort else project.go_on()
    if not abort:
        assert project.read("src/app.py") == b"s 1\n"
        project.undo()
    assert project.disk() == before


@pytest.mark.parametrize("abort", [False, True])
def test_an_undo_that_is_interrupted(project: Project, abort: bool) -> None:
    two_checkpoints(project)
    later = project.disk()
    project.roll_back("C1")
    earlier = project.disk()
    interrupt(project, "r.undo()")
    if abort:
        project.abort()
        assert project.disk() == earlier
        project.undo()
        assert project.disk() == later
    else:
        project.go_on()
        assert project.disk() == later
        project.redo()
        assert project.disk() == earlier


def test_a_retry_that_restores_and_is_interrupted(project: Project) -> None:
    two_checkpoints(project)
    before = project.disk()
    interrupt(project, "r.retry('C1', reason='a', strategy='b')")
    assert project.find("R1").kind == "retry"
    project.go_on()
    assert project.read("src/app.py") == b"s 1\n"
    project.undo()
    assert project.disk() == before


@pytest.mark.parametrize("abort", [False, True])
def test_a_hint_that_is_interrupted(project: Project, abort: bool) -> None:
    project.checkpoint("C1")
    project.write("src/app.py", "by the step\n")
    project.write("README.md", "by the step\n")
    project.checkpoint("C2", rollback_hint="git checkout src/app.py")
    before = project.disk()
    interrupt(project, "r.rollback('C2', hint=True, yes=True)")
    project.abort() if abort else project.go_on()
    if not abort:
        assert (project.read("src/app.py"), project.read("README.md")) == (b"import lib\n", b"by the step\n")
        project.undo()
    assert project.disk() == before


def test_a_hint_that_moves_a_branch_and_is_interrupted(project: Project) -> None:
    first = project.git("rev-parse", "HEAD")
    project.write("src/app.py", "by the step\n")
    second = project.commit("by the step")
    project.checkpoint("C1", session="s")
    project.write("new", "x")
    project.checkpoint("C2", rollback_hint="git reset --soft HEAD~1 && rm new")
    interrupt(project, "r.rollback('C2', hint=True, scope='all', yes=True)")
    assert project.git("rev-parse", "HEAD") == second
    project.go_on()
    assert project.git("rev-parse", "HEAD") == first
    assert not (project.root / "new").exists()


def on_another_branch(project: Project) -> None:
    """C1 on `main`, which has gone on since; work now stands on a branch whose name is no UTF-8."""
    project.checkpoint("C1", session="s")
    project.write("README.md", "later on main\n")
    project.commit("later on main")
    project.git("checkout", "-q", "-b", os.fsdecode(b"side-\xff"))
    project.write("README.md", "on the side\n")
    project.commit("on the side")


def branches(project: Project) -> tuple[object, ...]:
    return everything(project), project.git("for-each-ref", "refs/heads")


@pytest.mark.parametrize("after", ["-m gitckpt: rollback to s/C1 refs/heads/main", "symbolic-ref -m"])
@pytest.mark.parametrize("abort", [False, True])
def test_every_branch_is_put_back_where_it_was(project: Project, after: str, abort: bool) -> None:
    on_another_branch(project)
    before = branches(project)
    interrupt(project, "r.rollback('C1', scope='all', yes=True)", after)
    assert branches(project) != before
    project.abort() if abort else project.go_on()
    if not abort:
        project.undo()
    assert branches(project) == before


@pytest.mark.parametrize("abort", [False, True])
def test_an_undo_that_is_interrupted_puts_every_branch_back(project: Project, abort: bool) -> None:
    on_another_branch(project)
    before = branches(project)
    project.roll_back("C1", "all")
    then = branches(project)
    interrupt(project, "r.undo()", "symbolic-ref -m")
    project.abort() if abort else project.go_on()
    assert branches(project) == (then if abort else before)


def test_nothing_was_interrupted(project: Project) -> None:
    two_checkpoints(project)
    for command in (project.go_on, project.abort):
        with pytest.raises(Refused) as caught:
            command()
        assert caught.value.hint == "gitckpt status shows where it stands"
