"""Where HEAD is, and what git is in the middle of; and that neither is asked of git more often than needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from project import Project

from gitckpt.repo.head import Head, Heads

Seen = tuple[str | None, str | None, str | None, str | None]


def seen(heads: Heads) -> Seen:
    head = heads.read(heads.start())
    return head.commit, head.tree, head.branch, head.operation


def look(project: Project) -> Seen:
    return seen(Heads(project.repository()))


def truth(project: Project, operation: str | None = None) -> Seen:
    """What git says."""
    commit, tree = (
        project.git("rev-parse", "-q", "--verify", name, ok=(0, 1)) or None for name in ("HEAD", "HEAD^{tree}")
    )
    return commit, tree, project.git("symbolic-ref", "-q", "--short", "HEAD", ok=(0, 1)) or None, operation


def two_branches(project: Project) -> None:
    """`main` and `side` that do not go together."""
    project.git("checkout", "-q", "-b", "side")
    project.write("src/app.py", "side\n")
    project.commit("side")
    project.git("checkout", "-q", "main")
    project.write("src/app.py", "main\n")
    project.commit("main")


def mail(project: Project) -> str:
    patch = project.root.parent / "patch"
    patch.write_text(project.git("format-patch", "-1", "--stdout", "side") + "\n")
    return str(patch)


OPERATIONS: dict[str, Callable[[Project], object]] = {
    "merge": lambda project: project.git("merge", "side", ok=(1,)),
    "rebase": lambda project: project.git("rebase", "side", ok=(1,)),
    "cherry-pick": lambda project: project.git("cherry-pick", "side", ok=(1,)),
    "revert": lambda project: project.git("revert", "--no-edit", "HEAD~1", ok=(0, 1)),
    "am": lambda project: project.git("am", "--3way", mail(project), ok=(0, 1, 128)),
    "bisect": lambda project: project.git("bisect", "start", "HEAD", "HEAD~1"),
}


def test_on_a_branch(project: Project) -> None:
    assert look(project) == truth(project)
    assert look(project)[2] == "main"


def test_a_branch_in_a_folder(project: Project) -> None:
    project.git("checkout", "-q", "-b", "feature/名/x")
    assert look(project) == truth(project)


def test_a_detached_head_is_on_no_branch(project: Project) -> None:
    project.git("checkout", "-q", "--detach")
    assert look(project) == truth(project)
    assert look(project)[2] is None


def test_before_the_first_commit(home: Path, tmp_path: Path) -> None:
    assert look(Project.create(tmp_path / "new")) == (None, None, "main", None)


def test_packed_references(project: Project) -> None:
    project.git("pack-refs", "--all")
    assert look(project) == truth(project)


def test_a_head_that_points_to_another_symbolic_reference(project: Project) -> None:
    project.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    project.git("symbolic-ref", "HEAD", "refs/heads/alias")
    assert look(project)[:2] == truth(project)[:2]


def test_in_a_linked_work_tree(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = Project(tmp_path / "linked")
    linked.write("a", "a")
    linked.commit("in the linked one")
    assert look(linked) == truth(linked)
    assert look(linked)[2] == "side"
    assert look(project) == truth(project)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_in_progress(project: Project, name: str) -> None:
    two_branches(project)
    OPERATIONS[name](project)
    assert look(project) == truth(project, name)
    states = [Heads(project.repository()) for _ in range(2)]
    first, second = (heads.read(heads.start()) for heads in states)
    assert first.operation_state == second.operation_state != None  # noqa: E711
    record = {"head": first.commit, "operation": first.operation, "operation_state": first.operation_state}
    assert second.same_place(record)
    assert not second.same_place({**record, "operation_state": "another"})
    assert not second.same_place({})


def test_two_states_of_one_operation_are_told_apart(project: Project) -> None:
    project.write("b", "b")
    project.commit("second")
    two_branches(project)
    project.git("bisect", "start", "HEAD", "HEAD~2")
    before = Heads(project.repository())
    first = before.read(before.start())
    project.git("bisect", "skip", ok=(0, 1, 2))
    second = before.read(before.start())
    assert (first.operation, second.operation) == ("bisect", "bisect")
    assert first.operation_state != second.operation_state


def test_same_place() -> None:
    head = Head("1" * 40, "2" * 40, "main")
    assert head.same_place({"head": "1" * 40, "branch": "another"})
    assert not head.same_place({"head": "3" * 40, "branch": "main"})
    assert not head.same_place({"head": "1" * 40, "operation": "merge", "operation_state": "x"})


def test_one_that_is_kept_sees_every_move(project: Project) -> None:
    heads = Heads(project.repository())
    moves: list[tuple[str, ...]] = [
        ("commit", "-q", "--allow-empty", "-m", "a"),
        ("commit", "-q", "--allow-empty", "-m", "b", "--amend"),
        ("checkout", "-q", "-b", "side"),
        ("commit", "-q", "--allow-empty", "-m", "c"),
        ("checkout", "-q", "main"),
        ("reset", "-q", "--soft", "HEAD~1"),
        ("pack-refs", "--all"),
        ("checkout", "-q", "--detach"),
        ("update-ref", "HEAD", "refs/heads/side"),
        ("symbolic-ref", "HEAD", "refs/heads/unborn"),
        ("symbolic-ref", "HEAD", "refs/heads/main"),
        ("update-ref", "-d", "refs/heads/main"),
    ]
    for move in moves:
        project.git(*move)
        assert seen(heads) == truth(project), move
        assert seen(heads) == truth(project), move


def test_a_branch_that_is_another_name_of_one_moves_with_it(project: Project) -> None:
    project.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    project.git("symbolic-ref", "HEAD", "refs/heads/alias")
    old = os.path.join(project.root, ".git/refs/heads/alias")
    os.utime(old, (10**9, 10**9))  # not so young that git is asked in any case
    os.utime(os.path.join(project.root, ".git/refs/heads/main"), (10**9, 10**9))
    heads = Heads(project.repository())
    before = seen(heads)
    project.commit("one more")
    assert seen(heads)[:2] == truth(project)[:2] != before[:2]
