"""Undo and redo: exactly, in any number, also after new work."""

from __future__ import annotations

import pytest
from project import Project

from gitckpt.errors import Refused
from gitckpt.repo import worktree
from gitckpt.repo.journal import Journal


def states(project: Project, count: int) -> list[dict[str, object]]:
    """So many checkpoints, and what the work tree was at each."""
    pictures = []
    for number in range(1, count + 1):
        project.write("src/app.py", f"{number}\n")
        project.write(f"file-{number}", "x", 0o600)
        project.checkpoint(f"C{number}", session="s")
        pictures.append(dict[str, object](project.disk()))
    return pictures


def test_undo_is_exact(project: Project) -> None:
    states(project, 2)
    project.write("by hand", "never recorded\n", 0o755)
    project.link("link", "nowhere")
    (project.root / "empty").mkdir()
    project.remove("README.md")
    before = project.disk(), project.staged(), project.status()
    project.roll_back("C1")
    project.undo()
    assert (project.disk(), project.staged(), project.status()) == before


def test_undo_is_exact_after_new_work(project: Project) -> None:
    _, before = states(project, 2)
    project.roll_back("C1")
    project.write("src/app.py", "new work\n")
    project.checkpoint("C3")
    project.write("unrecorded", "new work\n")
    after = project.disk()
    project.undo()
    assert project.disk() == before
    project.redo()
    assert project.disk() == after


def test_a_chain_of_undos_and_redos(project: Project) -> None:
    one, two, three, four = states(project, 4)
    for name in ("C1", "C3", "C2"):
        project.roll_back(name)
    for expected in (three, one, four):
        project.undo()
        assert project.disk() == expected
    with pytest.raises(Refused):
        project.undo()
    for expected in (one, three, two):
        project.redo()
        assert project.disk() == expected
    with pytest.raises(Refused):
        project.redo()
    project.undo()
    assert project.disk() == three


def test_a_new_rollback_ends_what_can_be_redone(project: Project) -> None:
    states(project, 3)
    project.roll_back("C1")
    project.undo()
    project.roll_back("C2")
    with pytest.raises(Refused) as caught:
        project.redo()
    assert (str(caught.value), caught.value.hint) == (
        "there is no undo to take back in this work tree",
        "gitckpt undo takes back a rollback",
    )


def test_nothing_to_undo(project: Project) -> None:
    states(project, 1)
    before = project.disk(), project.of_the_user(), project.git("for-each-ref", "refs/gitckpt")
    with pytest.raises(Refused) as caught:
        project.undo()
    assert (str(caught.value), caught.value.hint) == (
        "there is no rollback to undo in this work tree",
        "gitckpt log shows what is on record",
    )
    assert (project.disk(), project.of_the_user(), project.git("for-each-ref", "refs/gitckpt")) == before


def test_it_is_all_on_record(project: Project) -> None:
    states(project, 2)
    project.roll_back("C1")
    project.undo()
    project.redo()
    events = Journal(project.repository()).session("s").events
    told = [(e.kind, e.line, e.subject) for e in events if e.kind == "rollback"]
    assert told == [
        ("rollback", "main", "rollback to s/C1: 2 paths"),
        ("rollback", "rollback-2", "undo of rollback to C1"),
        ("rollback", "undo-3", f"redo of undo to {events[3].commit[:12]}"),
    ]


def test_undo_of_some_paths_touches_no_others(project: Project) -> None:
    states(project, 2)
    project.roll_back("C1", paths=(b"src",))
    project.write("file-2", "new work\n")
    project.undo()
    assert (project.read("src/app.py"), project.read("file-2")) == (b"2\n", b"new work\n")


def test_undo_of_a_rollback_that_left_a_path(project: Project) -> None:
    project.write("data", "at C1\n")
    project.write("src/app.py", "at C1\n")
    project.checkpoint("C1")
    project.remove("data")
    project.write("data/only.log", "ignored\n")
    project.write("src/app.py", "later\n")
    before = project.disk()
    project.roll_back("C1", keep=True)
    project.undo()
    assert project.disk() == before


def test_undo_of_what_was_deleted_brings_all_of_it(project: Project) -> None:
    project.checkpoint("C1")
    project.write("binary", bytes(range(256)) * 100)
    project.write("tool", "#!/bin/sh\n", 0o755)
    project.write("odd \udcff\n name", "x", 0o600)
    project.write("deep/er/and/deeper", "x")
    project.link("deep/link", "er")
    before = project.disk()
    project.roll_back("C1")
    assert "binary" not in project.disk()
    project.undo()
    assert project.disk() == before


def test_undo_brings_back_a_deletion_of_a_tracked_file_that_a_rule_ignores(project: Project) -> None:
    """It is tracked, so a rule does not say that it may have been there all along."""
    project.write("kept.log", "tracked though ignored\n")
    project.git("add", "-f", "kept.log")
    project.commit("with a log")
    project.checkpoint("C1")
    project.remove("kept.log")
    before = project.disk()
    project.roll_back("C1")
    assert project.read("kept.log") == b"tracked though ignored\n"
    project.undo()
    assert project.disk() == before


def test_undo_takes_away_what_the_rollback_had_brought_though_a_newer_rule_ignores_it(project: Project) -> None:
    """The rollback put it where nothing was, so it had not been there all along."""
    project.write("dist/bundle.js", "built\n")
    project.checkpoint("C1")
    project.remove("dist")
    project.write(".gitignore", "dist/\n")
    before = project.disk()
    project.roll_back("C1")
    assert project.read("dist/bundle.js") == b"built\n"
    project.undo()
    assert project.disk() == before


def test_undo_leaves_no_empty_shell_above_an_empty_directory(project: Project) -> None:
    (project.root / "a" / "b" / "empty").mkdir(parents=True)
    project.checkpoint("C1")
    project.remove("a")
    before = project.disk()
    project.roll_back("C1")
    assert (project.root / "a" / "b" / "empty").is_dir()
    project.undo()
    assert project.disk() == before


def test_work_trees_undo_their_own(project: Project) -> None:
    project.git("worktree", "add", "-q", "-b", "side", str(project.root.parent / "linked"))
    linked = Project(project.root.parent / "linked")
    linked.checkpoint("C1")
    states(project, 2)
    project.roll_back("C1")
    with pytest.raises(Refused, match="no rollback to undo in this work tree"):
        linked.undo()


def test_the_order_is_that_of_what_was_done_though_the_clock_was_set_back(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = states(project, 3)
    project.roll_back("C2")
    monkeypatch.setattr(worktree, "_now", lambda: "2001-01-01T00:00:00.000000Z")
    project.checkpoint("C1", session="another")
    project.roll_back("s/C1")
    assert project.disk() == one
    for expected in (two, three):
        project.undo()
        assert project.disk() == expected
    for expected in (two, one):
        project.redo()
        assert project.disk() == expected


def test_undo_of_a_rollback_to_a_session_that_was_deleted_since(project: Project) -> None:
    project.write("dist/bundle.js", "built\n")
    project.checkpoint("C1", session="old")
    project.write(".gitignore", "dist/\n")
    project.write("dist/other.js", "built too\n")
    project.checkpoint("C1", session="s")
    project.write("src/app.py", "later\n")
    before = project.disk()
    project.roll_back("old/C1")
    for ref in project.git("for-each-ref", "--format=%(refname)", "refs/gitckpt/old").split():
        project.git("update-ref", "-d", ref)
    project.remove(".git/gitckpt")
    project.git("gc", "-q", "--prune=now")
    project.undo()
    assert project.disk() == before


def test_undo_removes_what_the_rollback_brought_though_a_rule_ignores_it_and_git_does_not_track_it(
    project: Project,
) -> None:
    project.write("data.log", "tracked all the same\n")
    project.git("add", "-f", "data.log")
    project.commit("with data")
    project.checkpoint("C1")
    project.git("checkout", "-q", "--detach", "HEAD~1")
    before = project.disk()
    project.roll_back("C1")
    there = project.disk()
    assert "data.log" in there
    project.undo()
    assert project.disk() == before
    project.redo()
    assert project.disk() == there


def test_a_directory_with_ignored_files_alone_is_not_asked_for_its_bits(project: Project) -> None:
    project.write("a/x/y.log", "ignored\n")
    (project.root / "a" / "x").chmod(0o700)
    project.checkpoint("C1")
    project.remove("a")
    project.write("a", "a file\n")
    project.roll_back("C1")
    assert not (project.root / "a").exists()


def test_a_directory_that_a_rule_ignores_comes_back_with_its_bits_where_a_file_in_it_had_to_be_held(
    project: Project,
) -> None:
    project.write("kept/file", "then\n")
    project.checkpoint("C1")
    project.write(".gitignore", "*\n!.gitignore\n")
    project.write("kept/file", "now\n")
    (project.root / "kept").chmod(0o700)
    project.remove(".git/gitckpt")
    before = project.disk()
    project.roll_back("C1")
    assert (project.read("kept/file"), project.disk()["kept/"][1]) == (b"then\n", 0o755)
    project.undo()
    assert project.disk() == before
