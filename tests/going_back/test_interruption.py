"""A rollback that is killed: between any two git calls, it can be finished and it can be taken back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import shim
from project import Project

from gitckpt.cli.status import status as print_status
from gitckpt.errors import Refused
from gitckpt.recorder import Recorder
from gitckpt.repo.reader import Reader

Everything = tuple[object, ...]

#: Kills whoever calls git for the n-th time, before git does anything. Calls at the same time count one by one; without
#: the directory that they are counted in, as when the test is over, none may go on counting.
KILL_AT = """
n=1
set -C
while ! command : >"$CALLS/$n"; do [ -d "$CALLS" ] || exit 1; n=$((n+1)); done 2>/dev/null
[ "$n" -eq "$KILL_AT" ] && { kill -9 $PPID; exit 1; }
exec "$GIT" "$@"
"""

#: The command as a process of its own, without what only its help needs.
COMMAND = "import sys; from gitckpt.cli import edge, rollback as r; sys.exit(edge.run(lambda: {}))"


def everything(project: Project) -> Everything:
    head = project.git("symbolic-ref", "-q", "HEAD", ok=(0, 1)), project.git("rev-parse", "HEAD")
    return project.disk(), project.staged(), head, project.status()


class Story:
    """A repository with C1, and later work; what it was then and now."""

    def __init__(self, project: Project) -> None:
        self.project = project
        project.write("src/app.py", "staged at C1\n")
        project.git("add", "src/app.py")
        project.write("src/app.py", "edited at C1\n")
        project.write("secret", "x", 0o600)
        (project.root / "empty").mkdir()
        project.checkpoint("C1", session="s")
        self.then = everything(project)
        project.remove("secret")
        project.remove("empty")
        project.write("new/file", "x", 0o600)
        project.link("link", "nowhere")
        project.commit("later")
        project.write("README.md", "edited later\n")
        self.now = everything(project)

    def goal(self, scope: str) -> Everything:
        """What a rollback makes of it; HEAD has moved since, so that the staging area stays with it, and what `git
        status` says is then neither."""
        return self.then if scope == "all" else (self.then[0], *self.now[1:3])


@pytest.fixture(scope="session")
def told(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """The story, told once; tests work on copies."""
    return Story(Project.copy(template, tmp_path_factory.mktemp("story") / "project"))


@pytest.fixture
def story(told: Story, home: Path, tmp_path: Path) -> Story:
    copy = Story.__new__(Story)
    copy.project, copy.then, copy.now = Project.copy(told.project.root, tmp_path / "project"), told.then, told.now
    return copy


def run(project: Project, place: Path, call: str, kill_at: int = 0) -> tuple[int, int]:
    """Run a command that is killed at its n-th git call; its exit status, and how often it called git."""
    calls = place / "calls"
    calls.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        shim.install(place / "bin", patch, KILL_AT)
        environment = {**os.environ, "CALLS": str(calls), "KILL_AT": str(kill_at)}
        done = subprocess.run(
            [sys.executable, "-c", COMMAND.format(call)], cwd=project.root, env=environment, capture_output=True
        )
    count = len(list(calls.iterdir()))
    for left in ("calls", "bin"):
        shutil.rmtree(place / left)
    return done.returncode, count


def finish(end: Callable[[], object]) -> bool:
    """Whether there was anything to finish or to take back."""
    try:
        end()
    except Refused as error:
        assert str(error) == "no rollback was interrupted in this work tree"
        return False
    return True


def check(story: Story, place: Path, kill_at: int, *, abort: bool, scope: str = "all") -> str:
    """Kill a rollback, then end it one way or the other; what had become of it."""
    project, goal = story.project, story.goal(scope)
    status, _ = run(project, place, f"r.rollback('C1', scope='{scope}', yes=True)", kill_at)
    found = everything(project)
    if status == 0:
        assert found[: len(goal)] == goal
        return "done before it came to this call"
    assert status == -9
    if not finish(project.abort if abort else project.go_on):
        assert everything(project) == found
        assert found == story.now or found[: len(goal)] == goal
        return "not begun" if found == story.now else "done"
    assert everything(project)[: len(goal)] == (story.now[: len(goal)] if abort else goal)
    assert not finish(project.abort)
    if not abort:
        project.undo()
    assert everything(project) == story.now
    return "interrupted"


#: The calls of git that a rollback with all that it can do makes; what comes before the first of the later ones only
#: looks.
CALLS = range(1, 61)
LATER = range(24, 58)


def test_it_calls_git_so_often_and_is_done(story: Story, tmp_path: Path) -> None:
    status, count = run(story.project, tmp_path, "r.rollback('C1', scope='all', yes=True)")
    assert (status, everything(story.project)) == (0, story.then)
    assert count in CALLS


@pytest.mark.parametrize("kill_at", LATER[::8])
def test_killed_and_finished(story: Story, tmp_path: Path, kill_at: int) -> None:
    check(story, tmp_path, kill_at, abort=False)


@pytest.mark.parametrize("kill_at", LATER[4::8])
def test_killed_and_taken_back(story: Story, tmp_path: Path, kill_at: int) -> None:
    check(story, tmp_path, kill_at, abort=True)


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["files", "staged", "all"])
@pytest.mark.parametrize("abort", [False, True])
@pytest.mark.parametrize("kill_at", CALLS)
def test_killed_anywhere(story: Story, tmp_path: Path, kill_at: int, abort: bool, scope: str) -> None:
    check(story, tmp_path, kill_at, abort=abort, scope=scope)


def interrupt(project: Project, call: str = "r.rollback('C1', yes=True)") -> None:
    """Kill a command right after git has written the files."""
    kill = 'case "$*" in *"read-tree -m -u"*) "$GIT" "$@"; kill -9 $PPID; exit 1;; esac; exec "$GIT" "$@"'
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


def test_nothing_was_interrupted(project: Project) -> None:
    two_checkpoints(project)
    for command in (project.go_on, project.abort):
        with pytest.raises(Refused) as caught:
            command()
        assert caught.value.hint == "gitckpt status shows where it stands"
