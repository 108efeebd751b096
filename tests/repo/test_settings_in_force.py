"""Who lives long goes by the settings as they are at each checkpoint, and not as they were when it began."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from project import Project

from gitckpt.repo.snapshot import Snapshot
from gitckpt.repo.worktree import WorkTree


def taken(tree: WorkTree) -> Snapshot:
    with tree.lock:
        snapshot = tree.snapshotter.take()
        tree.snapshotter.settle(snapshot)
    return snapshot


def held(project: Project, tree: WorkTree) -> set[str]:
    return set(project.held(taken(tree).tree))


def excludes(project: Project) -> str:
    path = project.root.parent / "excludes"
    path.write_text("*.tmp\n")
    return str(path)


def include(project: Project) -> None:
    (project.root.parent / "included").write_text(f"[core]\n\texcludesFile = {excludes(project)}\n")


#: What is done before a long-lived process begins, what while it lives, and whether `a.tmp` is content then.
CHANGES: dict[str, tuple[Callable[[Project], object], Callable[[Project], object], bool]] = {
    "rules set": (
        lambda project: None, lambda project: project.git("config", "core.excludesFile", excludes(project)), False,
    ),
    "rules unset": (
        lambda project: project.git("config", "core.excludesFile", excludes(project)),
        lambda project: project.git("config", "--unset", "core.excludesFile"), True,
    ),
    "rules set by the person": (
        lambda project: None,
        lambda project: project.git("config", "--global", "core.excludesFile", excludes(project)), False,
    ),
    "a file to include is made": (
        lambda project: project.git("config", "include.path", str(project.root.parent / "included")), include, False,
    ),
    "a branch with settings of its own": (
        lambda project: (
            include(project),
            project.git("config", "includeIf.onbranch:other.path", str(project.root.parent / "included")),
        ),
        lambda project: project.git("checkout", "-q", "-b", "other"), False,
    ),
    "too large": (
        lambda project: project.write(".gitckpt.yaml", "max_file_size: 2\n"),
        lambda project: project.write(".gitckpt.yaml", "max_file_size: 2M\n"), True,
    ),
    "ignored, and included": (
        lambda project: project.write(".git/info/exclude", "a.tmp\n"),
        lambda project: project.write(".gitckpt.yaml", 'include: ["*.tmp"]\n'), True,
    ),
    "letters count": (
        lambda project: (project.write(".git/info/exclude", "A.TMP\n"), project.git("config", "core.ignoreCase", "1")),
        lambda project: project.git("config", "core.ignoreCase", "0"), True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_settings_that_change_while_a_process_records_count_from_then_on(project: Project, name: str) -> None:
    before, change, is_content = CHANGES[name]
    before(project)
    project.write("a.tmp", "content")
    tree = project.tree()
    assert ("a.tmp" in held(project, tree)) is not is_content
    change(project)
    seen = held(project, tree)
    assert ("a.tmp" in seen) is is_content
    assert seen == set(project.held(project.snapshot().tree))


def test_a_checkout_that_becomes_sparse_while_a_process_records_deletes_nothing(project: Project) -> None:
    tree = project.tree()
    before = held(project, tree)
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/.gitignore")
    assert held(project, tree) == before
    project.git("sparse-checkout", "disable")
    assert held(project, tree) == before


def test_bad_settings_stop_no_process_that_records(project: Project) -> None:
    said: list[str] = []
    project.write(".git/info/exclude", "a.tmp\n")
    project.write(".gitckpt.yaml", 'include: ["*.tmp"]\n')
    project.write("a.tmp", "content")
    tree = WorkTree(project.repository(), said.append)
    taken(tree)
    project.write(".gitckpt.yaml", "include: 3\n")
    assert "a.tmp" in held(project, tree)
    assert "a.tmp" in held(project, tree)
    assert [line for line in said if ".gitckpt.yaml:1: include" in line and "from before" in line] == said != []
    project.write(".gitckpt.yaml", "")
    assert "a.tmp" not in held(project, tree)


def test_a_process_with_other_settings_leaves_one_that_records_with_its_own(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = project.tree()
    project.write("a.tmp", "content")
    assert "a.tmp" in held(project, tree)
    with monkeypatch.context() as other:
        other.setenv("XDG_CONFIG_HOME", str(project.root.parent))
        (project.root.parent / "git").mkdir()
        (project.root.parent / "git/ignore").write_text("*.tmp\n")
        assert "a.tmp" not in project.held(project.snapshot().tree)
    project.write("b.tmp", "content")
    assert {"a.tmp", "b.tmp"} <= held(project, tree)


def test_what_is_included_stays_so_when_rules_change(project: Project) -> None:
    project.write(".gitckpt.yaml", 'include: ["build/*.map"]\n')
    project.write("build/a.map", "content")
    tree = project.tree()
    for rules in ("build/\n", "build/\n*.log\n", "build\n"):
        project.write(".gitignore", rules)
        assert "build/a.map" in held(project, tree)
    assert "build/a.map" in project.held(project.snapshot().tree)
    project.write(".gitckpt.yaml", "")
    assert "build/a.map" not in held(project, tree)
