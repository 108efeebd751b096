"""What moves with which scope: files, the staging area, HEAD and its branch."""

from __future__ import annotations

from pathlib import Path

import pytest
from observation import differences
from project import Project
from sampling import others_slow

from gitckpt.errors import Refused

MOVED = "the staging area is untouched: HEAD is not at that checkpoint's commit; --scope all puts both back"
MERGING = "the staging area is untouched: the operation of git in progress is not the one of that checkpoint"


def head(project: Project) -> tuple[str, str]:
    """HEAD as a name, and the commit."""
    return project.git("symbolic-ref", "-q", "HEAD", ok=(0, 1)) or "detached", project.git(
        "rev-parse", "-q", "--verify", "HEAD", ok=(0, 1)
    )


def everything(project: Project) -> tuple[object, ...]:
    return project.disk(), project.staged(), head(project), project.status()


def stage_and_edit(project: Project) -> None:
    project.write("src/app.py", "staged\n")
    project.write("new", "staged\n")
    project.git("add", "src/app.py", "new")
    project.write("src/app.py", "edited\n")


def go_on(project: Project, *, commit: bool = False) -> None:
    project.write("src/app.py", "later\n")
    project.write("README.md", "later\n")
    project.git("add", "-A")
    if commit:
        project.git("commit", "-q", "-m", "later")
        project.write("README.md", "later still\n")


def test_files_alone(project: Project) -> None:
    stage_and_edit(project)
    project.checkpoint("C1")
    disk = project.disk()
    go_on(project)
    staged, where = project.staged(), head(project)
    project.roll_back("C1", "files")
    assert (project.disk(), project.staged(), head(project)) == (disk, staged, where)
    project.undo()
    assert (project.read("README.md"), project.staged()) == (b"later\n", staged)


def test_the_staging_area_too(project: Project) -> None:
    stage_and_edit(project)
    project.checkpoint("C1")
    before = everything(project)
    go_on(project)
    later = everything(project)
    assert project.roll_back("C1").notes == ()
    assert everything(project) == before
    project.undo()
    assert everything(project) == later


def test_the_staging_area_is_left_where_head_has_moved(project: Project) -> None:
    stage_and_edit(project)
    project.checkpoint("C1")
    disk = project.disk()
    go_on(project, commit=True)
    staged, where = project.staged(), head(project)
    assert project.roll_back("C1").notes == (MOVED,)
    assert (project.disk(), project.staged(), head(project)) == (disk, staged, where)


def test_the_staging_area_is_left_where_a_merge_has_begun(project: Project) -> None:
    project.git("checkout", "-q", "-b", "side")
    project.write("src/app.py", "side\n")
    project.commit("side")
    project.git("checkout", "-q", "main")
    project.write("src/app.py", "main\n")
    project.commit("main")
    project.checkpoint("C1")
    project.git("merge", "side", ok=(1,))
    staged = project.staged()
    assert project.roll_back("C1").notes == (MERGING,)
    assert (project.staged(), project.read("src/app.py")) == (staged, b"main\n")


def test_head_and_branch_too(project: Project) -> None:
    stage_and_edit(project)
    project.checkpoint("C1", session="s")
    before = everything(project)
    go_on(project, commit=True)
    project.write("third", "x")
    third = project.commit("third")
    later = everything(project)
    outcome = project.roll_back("C1", "all")
    assert everything(project) == before
    assert [line.partition(" ")[2] for line in outcome.commits_left] == ["third", "later"]
    assert project.git("reflog", "-1", "--format=%gs") == "gitckpt: rollback to s/C1"
    assert project.git("merge-base", outcome.event.commit, third) == third
    project.undo()
    assert everything(project) == later
    project.redo()
    assert everything(project) == before


def test_commits_left_behind_survive_garbage_collection(project: Project) -> None:
    project.checkpoint("C1", session="s")
    project.write("src/app.py", "later\n")
    later = project.commit("later")
    project.roll_back("C1", "all")
    project.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    project.git("gc", "-q", "--prune=now")
    project.undo()
    assert head(project) == ("refs/heads/main", later)


def test_commits_on_another_branch_that_undo_moves_back_are_kept_and_listed(project: Project) -> None:
    """Its tip is neither HEAD nor where the branch that HEAD returns to was: nothing else of the record keeps it."""
    project.git("switch", "-q", "-c", "side")
    project.checkpoint("C1", session="s")
    project.write("src/app.py", "second\n")
    second = project.commit("second")
    project.git("switch", "-q", "main")
    project.roll_back("C1", "all")
    project.write("src/app.py", "on side\n")
    on_side = project.commit("on side")
    project.git("switch", "-q", "main")
    outcome = project.undo()
    assert project.git("rev-parse", "side") == second
    assert [line.partition(" ")[2] for line in outcome.commits_left] == ["on side"]
    project.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    project.git("gc", "-q", "--prune=now")
    project.redo()
    assert project.git("rev-parse", "side") == on_side


def test_back_to_before_the_first_commit(home: Path, tmp_path: Path) -> None:
    project = Project.create(tmp_path / "new")
    project.write("a", "one\n")
    project.git("add", "a")
    project.checkpoint("C1")
    before = everything(project)
    project.commit("first")
    later = everything(project)
    project.roll_back("C1", "all")
    assert everything(project) == before
    assert head(project) == ("refs/heads/main", "")
    project.undo()
    assert everything(project) == later


PLACES = [("detached", "main"), ("main", "detached"), ("main", "side"), ("detached", "elsewhere")]


@pytest.mark.parametrize(
    ("then", "now"), others_slow(PLACES, lambda places: "main" in places[:1] or places[1] == "main")
)
def test_between_branches_and_a_detached_head(project: Project, then: str, now: str) -> None:
    def go(place: str) -> None:
        if place in ("detached", "elsewhere"):
            project.git("checkout", "-q", "--detach")
        else:
            project.git("checkout", "-q", "-B", place)

    go(then)
    project.checkpoint("C1")
    before = everything(project)
    go(now)
    project.write("src/app.py", "later\n")
    project.commit("later")
    later = everything(project)
    project.roll_back("C1", "all")
    assert everything(project) == before
    project.undo()
    assert everything(project) == later


def test_a_branch_that_was_deleted_comes_back(project: Project) -> None:
    project.git("checkout", "-q", "-b", "side")
    project.checkpoint("C1")
    before = everything(project)
    project.git("checkout", "-q", "main")
    project.git("branch", "-q", "-D", "side")
    project.roll_back("C1", "all")
    assert everything(project) == before


@pytest.mark.parametrize("branch", ["--help", "-d", "@", "HEAD"])
def test_a_branch_whose_name_looks_like_something_else(project: Project, branch: str) -> None:
    """Git's porcelain makes none of these, its plumbing does."""
    first = project.git("rev-parse", "HEAD")
    project.git("update-ref", f"refs/heads/{branch}", first)
    project.git("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    project.checkpoint("C1")
    second = project.commit("second")
    project.roll_back("C1", "all")
    assert project.git("rev-parse", f"refs/heads/{branch}") == first
    project.undo()
    assert project.git("rev-parse", f"refs/heads/{branch}") == second
    assert project.git("symbolic-ref", "HEAD") == f"refs/heads/{branch}"


def test_a_branch_whose_name_is_not_utf_8(project: Project) -> None:
    project.git("checkout", "-q", "-b", "caf\udce9")
    project.checkpoint("C1")
    before = project.git("for-each-ref", "refs/heads")
    project.write("src/app.py", "later\n")
    project.roll_back("C1", "all")
    assert project.git("for-each-ref", "refs/heads") == before
    assert project.read("src/app.py") == b"import lib\n"


def test_what_was_committed_on_the_other_branch_is_kept_and_comes_back(project: Project) -> None:
    """The branch of the checkpoint has moved on since, and HEAD is elsewhere: its commits are left behind too."""
    project.checkpoint("C1", session="s")
    project.write("src/app.py", "later on main\n")
    later = project.commit("later on main")
    project.git("checkout", "-q", "-b", "side", "HEAD~1")
    outcome = project.roll_back("C1", "all")
    assert head(project)[0] == "refs/heads/main"
    assert [line.partition(" ")[2] for line in outcome.commits_left] == ["later on main"]
    project.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    project.git("gc", "-q", "--prune=now")
    assert project.git("cat-file", "-t", later, ok=(0, 128)) == "commit"
    project.undo()
    assert head(project)[0] == "refs/heads/side"
    assert project.git("rev-parse", "main") == later


def test_undo_and_redo_leave_a_branch_alone_that_they_had_not_moved(project: Project) -> None:
    """A commit made since on the branch that undo had gone back to, and had found where it was, stays on it."""
    project.git("checkout", "-q", "-b", "side")
    project.write("src/app.py", "side\n")
    side = project.commit("side")
    project.checkpoint("C1", session="s")
    project.git("checkout", "-q", "main")
    project.roll_back("C1", "all")
    assert project.undo().commits_left == ()
    assert head(project)[0] == "refs/heads/main"
    project.write("src/app.py", "later\n")
    later = project.commit("later on main")
    assert project.redo().commits_left == ()
    assert (head(project), project.git("rev-parse", "main")) == (("refs/heads/side", side), later)
    project.undo()
    assert head(project) == ("refs/heads/main", later)


def test_every_branch_that_is_moved_stays_reachable(project: Project) -> None:
    """Undo puts two branches back, and HEAD is on neither: what was committed on both since is named, and kept."""
    project.checkpoint("C1", session="s")
    project.write("src/app.py", "first\n")
    first = project.commit("first")
    project.git("checkout", "-q", "-b", "side")
    project.roll_back("C1", "all")
    later = {}
    for branch in ("main", "side"):
        project.git("checkout", "-q", "-f", branch)
        project.write("src/app.py", f"later on {branch}\n")
        later[branch] = project.commit(f"later on {branch}")
    project.git("checkout", "-q", "--detach", "HEAD~1")
    outcome = project.undo()
    assert {line.partition(" ")[2] for line in outcome.commits_left} == {"later on main", "later on side"}
    assert project.git("rev-parse", "main", "side").split() == [first, first]
    project.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    project.git("gc", "-q", "--prune=now")
    assert [project.git("cat-file", "-t", oid, ok=(0, 128)) for oid in later.values()] == ["commit", "commit"]


def test_a_plan_tells_what_becomes_of_head_branch_and_staging_area(project: Project) -> None:
    stage_and_edit(project)
    first = project.git("rev-parse", "HEAD")
    project.checkpoint("C1", session="s")
    go_on(project, commit=True)
    second = project.git("rev-parse", "HEAD")
    plan = project.plan("C1", "all")
    assert (plan.head, plan.moves, plan.staging) == (None, (("main", second, first),), True)
    project.git("checkout", "-q", "--detach")
    detached = project.plan("C1", "all")
    assert (detached.head, detached.moves) == (((None, second), ("main", first)), (("main", second, first),))
    assert detached.hash != plan.hash
    untouched = project.plan("C1")
    assert (untouched.head, untouched.moves, untouched.staging, untouched.staging_note) == (None, (), False, MOVED)


def test_a_branch_that_is_checked_out_elsewhere_is_refused_before_anything_is_written(
    project: Project, tmp_path: Path
) -> None:
    project.checkpoint("C1")
    project.git("checkout", "-q", "-b", "side")
    project.git("worktree", "add", "-q", str(tmp_path / "linked"), "main")
    project.write("src/app.py", "later\n")
    before = project.disk(), project.of_the_user(), project.git("for-each-ref", "refs/gitckpt")
    with pytest.raises(Refused, match="^branch main is checked out in another work tree$") as caught:
        project.roll_back("C1", "all")
    assert caught.value.hint == "roll back without --scope all"
    assert (project.disk(), project.git("for-each-ref", "refs/gitckpt")) == (before[0], before[2])
    assert differences(before[1], project.of_the_user()) == {}


def test_another_operation_in_progress_is_refused_before_anything_is_written(project: Project) -> None:
    project.write("src/app.py", "two\n")
    project.commit("two")
    project.checkpoint("C1", session="s")
    project.git("bisect", "start", "HEAD", "HEAD~1")
    project.write("README.md", "later\n")
    before = project.disk(), project.of_the_user(), project.git("for-each-ref", "refs/gitckpt")
    with pytest.raises(Refused) as caught:
        project.roll_back("C1", "all")
    assert (str(caught.value), caught.value.hint) == (
        "the operation of git in progress is not that of the target (now: bisect, then: none)",
        "end it first: git bisect reset, or gitckpt rollback s/C1 --scope staged leaves HEAD where it is",
    )
    assert (project.disk(), project.of_the_user(), project.git("for-each-ref", "refs/gitckpt")) == before


def test_a_merge_in_progress_comes_back_whole(project: Project) -> None:
    project.git("checkout", "-q", "-b", "side")
    project.write("src/app.py", "side\n")
    project.commit("side")
    project.git("checkout", "-q", "main")
    project.write("src/app.py", "main\n")
    project.commit("main")
    project.git("merge", "side", ok=(1,))
    project.checkpoint("C1")
    before = everything(project)
    project.write("src/app.py", "resolved\n")
    project.git("add", "src/app.py")
    project.roll_back("C1", "all")
    assert everything(project) == before
    project.git("merge", "--abort")
    assert project.read("src/app.py") == b"main\n"


@pytest.mark.parametrize("scope", ["staged", "all"])
def test_a_lock_on_the_staging_area_is_waited_for_and_then_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    monkeypatch.setattr("gitckpt.restorer.INDEX_PATIENCE", 0.1)
    stage_and_edit(project)
    project.checkpoint("C1")
    go_on(project)
    project.write(".git/index.lock", "")
    before = project.disk(), project.of_the_user()
    with pytest.raises(Refused) as caught:
        project.roll_back("C1", scope)
    assert caught.value.hint == "wait for that git to end, or leave the staging area alone with --scope files"
    assert (project.disk(), project.of_the_user()) == before
    project.roll_back("C1", "files")
    assert project.read("src/app.py") == b"edited\n"
    assert (project.root / ".git" / "index.lock").exists()


def test_a_staging_area_that_could_not_be_read_then_is_left_as_it_is(project: Project) -> None:
    project.checkpoint("C0")
    index = project.read(".git/index")
    project.write(".git/index", "damaged\n")
    project.checkpoint("C1")
    project.write(".git/index", index)
    go_on(project)
    staged = project.staged()
    project.roll_back("C1")
    assert (project.staged(), project.read("README.md")) == (staged, b"# Project\n")


def test_paths_limit_the_staging_area(project: Project) -> None:
    stage_and_edit(project)
    project.checkpoint("C1")
    go_on(project)
    project.roll_back("C1", paths=(b"src/app.py",))
    assert project.git_bytes("cat-file", "blob", ":src/app.py") == b"staged\n"
    assert project.git_bytes("cat-file", "blob", ":README.md") == b"later\n"
    assert (project.read("src/app.py"), project.read("README.md")) == (b"edited\n", b"later\n")


def test_paths_keep_head_where_it_is(project: Project) -> None:
    project.checkpoint("C1")
    go_on(project, commit=True)
    where = head(project)
    project.roll_back("C1", "all", paths=(b"src/app.py",))
    assert head(project) == where
    assert (project.read("src/app.py"), project.read("README.md")) == (b"import lib\n", b"later still\n")


def test_a_staging_area_that_cannot_be_read(project: Project) -> None:
    project.checkpoint("C1")
    project.write("src/app.py", "later\n")
    index = project.root / ".git" / "index"
    index.write_bytes(b"DIRC damaged")
    before = project.disk()
    with pytest.raises(Refused, match="the staging area cannot be read"):
        project.roll_back("C1", "all")
    assert project.disk() == before
    assert project.roll_back("C1").notes == ("the staging area is untouched: it cannot be read",)
    assert (project.read("src/app.py"), index.read_bytes()) == (b"import lib\n", b"DIRC damaged")
