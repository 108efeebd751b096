"""`rollback --hint`: what a step's rollback_hint asks for, in Chinese and English, and nothing beyond it."""

from __future__ import annotations

from pathlib import Path

import pytest
from project import Project
from sampling import others_slow

from gitckpt.errors import Refused
from gitckpt.hint import wish_of_hint
from gitckpt.repo.journal import Journal
from gitckpt.restorer import Restorer

C1, C2, NEW = b"at C1\n", b"changed by C2\n", b"made by C2\n"
FILES = ("src/app.py", "src/other.py", "docs/read me.md")


def step(project: Project, hint: str, before: str = "C1", name: str = "C2") -> None:
    """A checkpoint, and a step after it that changes all files and makes some, with a hint how to undo it."""
    for path in FILES:
        project.write(path, C1)
    project.checkpoint(before, session="s")
    for path in FILES:
        project.write(path, C2)
    for path in ("new.txt", "src/new.py", "tmp/scratch"):
        project.write(path, NEW)
    project.checkpoint(name, rollback_hint=hint)


def contents(project: Project) -> dict[str, bytes]:
    """What the step touched."""
    paths = (*FILES, "new.txt", "src/new.py", "tmp/scratch")
    return {path: project.read(path) for path in paths if (project.root / path).exists()}


CHANGED = dict.fromkeys(FILES, C2) | dict.fromkeys(("new.txt", "src/new.py", "tmp/scratch"), NEW)


def but(*gone: str, **changed: bytes) -> dict[str, bytes]:
    """The state after the step, but for these."""
    names = {"app": "src/app.py", "other": "src/other.py", "read": "docs/read me.md"}
    state = CHANGED | {names[name]: content for name, content in changed.items()}
    return {path: content for path, content in state.items() if path not in gone}


NEWER = ("new.txt", "src/new.py", "tmp/scratch")

HINTS = {
    # paths
    "git checkout src/app.py": but(app=C1),
    "回退到 CHECKPOINT 1，git checkout src/app.py撤销": but(app=C1),
    "用 git checkout src/app.py 撤销": but(app=C1),
    "back to C1 with `git checkout -- src/app.py src/other.py`": but(app=C1, other=C1),
    "git restore 'docs/read me.md'": but(read=C1),
    "git restore --source C1 src/app.py": but(app=C1),
    "git checkout C1 -- src/other.py": but(other=C1),
    "恢复 src/app.py": but(app=C1),
    "restore src/app.py from C1": but(app=C1),
    "git checkout src": but(app=C1, other=C1),
    "gitckpt rollback C1 --path src/app.py": but(app=C1),
    "git checkout new.txt": but("new.txt"),
    # the whole tree
    "C1": but(*NEWER, app=C1, other=C1, read=C1),
    "回退到 C1": but(*NEWER, app=C1, other=C1, read=C1),
    "退回检查点 1": but(*NEWER, app=C1, other=C1, read=C1),
    "back to checkpoint 1": but(*NEWER, app=C1, other=C1, read=C1),
    "git checkout .": but(*NEWER, app=C1, other=C1, read=C1),
    "git reset --hard": but(*NEWER, app=C1, other=C1, read=C1),
    "git stash -u && git stash drop": but(*NEWER, app=C1, other=C1, read=C1),
    "gitckpt rollback C1": but(*NEWER, app=C1, other=C1, read=C1),
    "回到上一个检查点": but(*NEWER, app=C1, other=C1, read=C1),
    # what is new
    "git clean -fd": but(*NEWER),
    "git clean -fd tmp": but("tmp/scratch"),
    # removing
    "rm new.txt": but("new.txt"),
    "rm -rf tmp src/new.py": but("tmp/scratch", "src/new.py"),
    "删除 new.txt": but("new.txt"),
    "delete the temporary file new.txt": but("new.txt"),
    # several
    "git checkout src/app.py && rm new.txt": but("new.txt", app=C1),
    "删除 new.txt，git checkout src/other.py": but("new.txt", other=C1),
}


#: One for each action in each language; the others are for the slow run.
FEW = (
    "回退到 CHECKPOINT 1，git checkout src/app.py撤销", "restore src/app.py from C1", "回退到 C1", "git stash -u && git stash drop",
    "git clean -fd tmp", "rm -rf tmp src/new.py", "delete the temporary file new.txt", "删除 new.txt，git checkout src/other.py",
)  # fmt: skip


@pytest.mark.parametrize("hint", others_slow(HINTS, lambda hint: hint in FEW))
def test_a_hint_does_what_it_says_and_undo_takes_it_back(project: Project, hint: str) -> None:
    step(project, hint)
    before = project.disk()
    project.roll_back("C2", hint=True)
    assert contents(project) == HINTS[hint]
    project.undo()
    assert project.disk() == before


@pytest.mark.parametrize(
    "hint",
    ["本步只读不写，无需回退", "无需回退", "read-only, nothing to undo", "No changes were made, no rollback needed"],
)
def test_nothing_to_undo(project: Project, hint: str) -> None:
    step(project, hint)
    before = project.disk(), project.git("for-each-ref", "refs/gitckpt")
    restorer = Restorer(project.tree())
    with restorer.tree.lock:
        assert wish_of_hint(restorer, project.find("C2"), scope="staged", keep=False) is None
    assert (project.disk(), project.git("for-each-ref", "refs/gitckpt")) == before


@pytest.mark.parametrize(
    ("hint", "listed", "state"),
    [
        ("npm uninstall dayjs", ("npm uninstall dayjs",), CHANGED),
        ("git checkout src/app.py; npm uninstall dayjs", ("npm uninstall dayjs",), but(app=C1)),
        ("还原变量 API_KEY", ("还原变量 API_KEY",), CHANGED),
        ("git switch main", ("git switch main (or roll back with --scope all)",), CHANGED),
        ("git reset --soft HEAD~1", ("git reset --soft HEAD~1 (or roll back with --scope all)",), CHANGED),
    ],
)
def test_what_is_left_to_a_person(
    project: Project, hint: str, listed: tuple[str, ...], state: dict[str, bytes]
) -> None:
    step(project, hint)
    assert project.plan("C2", hint=True).by_hand == listed
    project.roll_back("C2", hint=True)
    assert contents(project) == state


@pytest.mark.parametrize(
    ("hint", "why"),
    [
        ("rm -rf /etc/hosts", "'/etc/hosts': outside the work tree"),
        ("git checkout ../other", "'../other': may lead out of the work tree"),
        ("rm .git/config", "'.git/config': inside git's own directory"),
        ("git checkout ':(top)src'", "':(top)src': pathspec magic; write the path itself"),
        ("rm *.txt", "'*.txt': a pattern; name the paths"),
        ("删除 ~/notes.md", "'~/notes.md': outside the work tree"),
        ("git checkout src/app.py && rm $HOME/x.txt", "'$HOME/x.txt': a variable; name the path"),
    ],
)
def test_a_path_that_may_not_be_touched_is_refused_by_name(project: Project, hint: str, why: str) -> None:
    step(project, hint)
    before = project.disk(), project.of_the_user(), project.git("for-each-ref", "refs/gitckpt")
    with pytest.raises(Refused) as caught:
        project.roll_back("C2", hint=True)
    assert str(caught.value) == f"the rollback_hint of C2 names what may not be touched: {why}"
    assert caught.value.hint == "nothing was changed; gitckpt rollback C1 restores the whole step"
    assert (project.disk(), project.of_the_user(), project.git("for-each-ref", "refs/gitckpt")) == before


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("", "C2 has no rollback_hint"),
        ("回滚", "the rollback_hint of C2 says nothing that can be carried out (P006)"),
        ("undo it", "the rollback_hint of C2 says nothing that can be carried out (P006)"),
        ("back to C77", "the rollback_hint of C2 names C77, which is not on record"),
        ("git revert 0123456", "the rollback_hint of C2 names '0123456', which is no commit here"),
    ],
)
def test_a_hint_that_cannot_be_carried_out(project: Project, hint: str, message: str) -> None:
    step(project, hint)
    before = project.disk(), project.git("for-each-ref", "refs/gitckpt")
    with pytest.raises(Refused) as caught:
        project.roll_back("C2", hint=True)
    assert (str(caught.value), project.disk(), project.git("for-each-ref", "refs/gitckpt")) == (message, *before)


def test_a_hint_is_never_run(project: Project, tmp_path: Path) -> None:
    step(
        project, f"git checkout src/app.py; touch {tmp_path}/pwned; $(touch {tmp_path}/pwned); `touch {tmp_path}/pwned`"
    )
    project.roll_back("C2", hint=True)
    assert not (tmp_path / "pwned").exists()
    assert project.read("src/app.py") == C1


def test_the_target_is_looked_up_on_the_steps_own_line(project: Project) -> None:
    step(project, "回退到 C1")
    project.roll_back("start")
    project.write("src/app.py", "another C1\n")
    project.checkpoint("C1")
    project.roll_back("C2@main", hint=True)
    assert contents(project) == HINTS["C1"]


def test_without_a_target_it_is_the_state_before_the_step(project: Project) -> None:
    for path in FILES:
        project.write(path, "before anything\n")
    project.checkpoint("C0", session="s")
    step(project, "git checkout src/app.py")
    project.roll_back("C2", hint=True)
    assert project.read("src/app.py") == C1


def test_the_first_step_goes_back_to_the_start(project: Project) -> None:
    project.write("src/app.py", C2)
    project.checkpoint("C1", rollback_hint="git checkout src/app.py")
    project.write("src/app.py", "later\n")
    project.roll_back("C1", hint=True)
    assert project.read("src/app.py") == C2


def test_permission_bits_come_back_with_a_path(project: Project) -> None:
    project.write("secret", "one\n", 0o600)
    project.checkpoint("C1")
    project.write("secret", "two\n", 0o600)
    project.checkpoint("C2", rollback_hint="git checkout secret")
    project.roll_back("C2", hint=True)
    assert (project.read("secret"), (project.root / "secret").stat().st_mode & 0o777) == (b"one\n", 0o600)


def test_a_commit_is_reverted_in_the_files_alone(project: Project) -> None:
    project.write("src/app.py", "import lib\nby the commit\n")
    commit = project.commit("a commit of the step")
    project.write("README.md", "not of the commit\n")
    project.checkpoint("C1", rollback_hint=f"git revert {commit[:10]}")
    project.roll_back("C1", hint=True)
    assert (project.read("src/app.py"), project.read("README.md")) == (b"import lib\n", b"not of the commit\n")
    assert project.git("rev-parse", "HEAD") == commit
    project.undo()
    assert project.read("src/app.py") == b"import lib\nby the commit\n"


def test_a_commit_that_no_longer_fits_is_refused(project: Project) -> None:
    project.write("src/app.py", "by the commit\n")
    commit = project.commit("a commit of the step")
    project.write("src/app.py", "quite another\n")
    project.checkpoint("C1", rollback_hint=f"git revert {commit}")
    with pytest.raises(Refused) as caught:
        project.roll_back("C1", hint=True)
    assert str(caught.value) == (
        f"what commit {commit[:12]} changed has changed again since: it cannot be taken out by itself"
    )
    assert project.read("src/app.py") == b"quite another\n"


def moved_branch(project: Project) -> str:
    """A step that commits, and would have the commit taken back with the files as they are."""
    first = project.git("rev-parse", "HEAD")
    project.checkpoint("C1", session="s")
    project.write("src/app.py", C2)
    project.commit("by the step")
    project.checkpoint("C2", rollback_hint="git reset --soft HEAD~1")
    return first


def test_a_branch_is_moved_only_under_scope_all(project: Project) -> None:
    first = moved_branch(project)
    second = project.git("rev-parse", "HEAD")
    project.roll_back("C2", hint=True)
    assert project.git("rev-parse", "HEAD") == second
    outcome = project.roll_back("C2", "all", hint=True)
    assert (project.git("rev-parse", "main"), project.read("src/app.py")) == (first, C2)
    assert [line.partition(" ")[2] for line in outcome.commits_left] == ["by the step"]
    project.undo()
    assert project.git("rev-parse", "main") == second


def test_switching_back_under_scope_all(project: Project) -> None:
    project.checkpoint("C1", session="s")
    project.git("checkout", "-q", "-b", "side")
    project.write("src/app.py", C2)
    project.checkpoint("C2", rollback_hint="git switch main")
    project.roll_back("C2", "all", hint=True)
    assert project.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert project.read("src/app.py") == b"import lib\n"
    project.undo()
    assert project.git("symbolic-ref", "HEAD") == "refs/heads/side"


def test_a_branch_that_is_none_is_left_to_a_person(project: Project) -> None:
    step(project, "git checkout src/app.py && git checkout no-such-branch")
    assert project.plan("C2", "all", hint=True).by_hand == ("git checkout no-such-branch",)
    project.roll_back("C2", "all", hint=True)
    assert contents(project) == but(app=C1)


def test_it_is_on_record_as_what_it_was(project: Project) -> None:
    step(project, "git checkout src/app.py")
    event = project.roll_back("C2", hint=True).event
    assert event.subject == "rollback by the hint of C2 to s/C1"
    assert event.document["rollback"]["partial"] is True
    assert Journal(project.repository()).current() == ("s", "rollback-2")
