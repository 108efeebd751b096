"""What a snapshot learnt from the one before it changes what it costs, never what it holds."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import edits
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from observation import Recorded, files_on_disk
from project import Project
from sampling import others_slow

from gitckpt.repo.snapshot import Snapshot

SEVERAL_SCRIPTS = st.lists(edits.scripts, min_size=1, max_size=3)


def content(project: Project) -> dict[str, Recorded]:
    """What plain git takes for content: tracked, or not ignored."""
    listed = project.git_bytes("ls-files", "-z", "-c", "-o", "--exclude-standard").split(b"\0")
    on_disk = files_on_disk(project.root)
    return {path: on_disk[path] for path in map(os.fsdecode, listed) if path in on_disk}


def whole(project: Project, snapshot: Snapshot) -> tuple[object, ...]:
    """All of a snapshot, and of the empty directories those that no rule ignores."""
    names = b"".join(path + b"\0" for path in sorted(snapshot.empty))
    ignored = project.git_bytes("check-ignore", "--no-index", "-z", "--stdin", data=names, ok=(0, 1)).split(b"\0")
    empty = sorted(path for path in snapshot.empty if path not in ignored)
    return project.held(snapshot.tree), snapshot.modes, empty, snapshot.missing


def check(project: Project, scripts: Iterable[Iterable[edits.Edit]]) -> None:
    """One process that keeps all in memory, one new process for each snapshot, one without any memory: all see
    alike."""
    kept = project.tree()
    for script in scripts:
        edits.apply(project.root, script)
        with kept.lock:
            by_memory = whole(project, kept.snapshotter.take())
        kept.close()
        by_file = whole(project, project.snapshot())
        aside = project.root.parent / "private"
        shutil.move(project.root / ".git" / "gitckpt", aside)
        by_itself = whole(project, project.snapshot())
        shutil.rmtree(project.root / ".git" / "gitckpt")
        shutil.move(aside, project.root / ".git" / "gitckpt")
        assert by_memory == by_file == by_itself
        assert by_itself[0] == content(project)


def run(template: Path, scripts: list[list[edits.Edit]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        check(Project.copy(template, Path(directory) / "project"), scripts)


@settings(max_examples=5, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
@given(scripts=SEVERAL_SCRIPTS)
def test_memory_changes_nothing(template: Path, scripts: list[list[edits.Edit]]) -> None:
    run(template, scripts)


@pytest.mark.slow
@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(scripts=SEVERAL_SCRIPTS)
def test_memory_changes_nothing_however_long_one_tries(template: Path, scripts: list[list[edits.Edit]]) -> None:
    run(template, scripts)


def test_an_empty_directory_that_a_new_rule_ignores_is_no_longer_listed(project: Project) -> None:
    (project.root / "data" / "empty").mkdir(parents=True)
    assert project.snapshot().empty == [b"data/empty"]
    project.write(".gitignore", "data/\n")
    assert project.snapshot().empty == []


def test_nothing_changed_gives_the_same_tree_and_reads_nothing(project: Project) -> None:
    first = project.snapshot()
    index = project.root / ".git" / "gitckpt" / "index"
    before = index.stat().st_mtime_ns
    assert project.snapshot().tree == first.tree
    assert index.stat().st_mtime_ns == before


def test_another_process_may_record_in_between(project: Project) -> None:
    """What is kept in memory no longer fits the private index then, and is dropped."""
    kept = project.tree()
    with kept.lock:
        kept.snapshotter.take()
    project.write("a", "a")
    project.snapshot()
    project.remove("a")
    project.write("b", "b")
    with kept.lock:
        assert project.held(kept.snapshotter.take().tree) == files_on_disk(project.root)


FORMS = ("", "null", "[]", "{}", '{"version": 1}', '{"version": 99}', "\0", '{"version": 2, "index": [1, 2]}')


@pytest.mark.parametrize("text", others_slow(FORMS, lambda text: text in FORMS[3::4]))
def test_a_memory_of_another_form_is_dropped(project: Project, text: str) -> None:
    first = project.snapshot()
    project.write(".git/gitckpt/scan.json", text)
    assert project.snapshot().tree == first.tree


def test_more_new_directories_than_git_is_asked_about_one_by_one(project: Project) -> None:
    project.snapshot()
    for number in range(130):
        project.write(f"many/{number}/file", "x")
        project.write(f"many/{number}/file.log", "ignored")
    assert project.held(project.snapshot().tree) == content(project)
