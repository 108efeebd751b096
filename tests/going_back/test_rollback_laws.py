"""Whatever was done to a work tree: a rollback makes it what it was, twice is as good as once, and undo brings it back."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

import edits
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from observation import Entry, differences, files_on_disk
from project import Project

from gitckpt.errors import Refused
from gitckpt.repo.reader import Reader
from gitckpt.repo.recorded import recorded_empty


def check(project: Project, before: Sequence[edits.Edit], after: Sequence[edits.Edit]) -> None:
    edits.apply(project.root, before)
    target = project.checkpoint("C1", session="s").commit
    edits.apply(project.root, after)
    changed, users = project.disk(), project.of_the_user()
    try:
        project.roll_back("C1", "files")
    except Refused as error:
        assert "in the way" in str(error)
        assert project.disk() == changed
        return
    assert differences(users, project.of_the_user()).keys() <= {str(project.root / ".git" / "index")}
    exposed = _check_target(project, target, changed.keys())
    there = project.disk()
    if not exposed:
        assert project.roll_back("C1", "files").changed == 0
        assert project.disk() == there
        project.undo()
    project.undo()
    assert _content(project) == _without_ignored_directories(project, changed)
    project.redo()
    assert _content(project) == _without_ignored_directories(project, there)


def _content(project: Project) -> dict[str, Entry]:
    return _without_ignored_directories(project, project.disk())


def _without_ignored_directories(project: Project, disk: dict[str, Entry]) -> dict[str, Entry]:
    """All that is on record or was never touched: of directories without a file that a rule ignores nothing is known."""
    files = [path for path in disk if not path.endswith("/")]
    bare = [path for path in disk if path.endswith("/") and not any(file.startswith(path) for file in files)]
    names = "".join(f"{path}\0" for path in bare).encode()
    ignored = (
        project.git_bytes("check-ignore", "--no-index", "-z", "--stdin", data=names, ok=(0, 1)).decode().split("\0")
    )
    return {path: entry for path, entry in disk.items() if path not in ignored}


def _check_target(project: Project, target: str, before: Collection[str]) -> set[str]:
    """What is in the target is there. What is there besides was there before, and is ignored by the target's rules or
    was so before; the latter is given: it is a file like any other now, and the next rollback may take it."""
    wanted, found = project.held(target), files_on_disk(project.root)
    assert {path: entry for path, entry in found.items() if path in wanted} == wanted
    more = {path for path in found if path not in wanted}
    assert more <= set(before)
    names = "".join(f"{path}\0" for path in more).encode()
    ignored = (
        project.git_bytes("check-ignore", "--no-index", "-z", "--stdin", data=names, ok=(0, 1)).decode().split("\0")
    )
    exposed = more - set(ignored)
    safety = project.held(Reader(project.repository()).journal.session("s").events[-1].commit)
    assert not exposed & safety.keys()
    empty = set(project.snapshot().empty) - set(recorded_empty(project.find(target)))
    return exposed | {os.fsdecode(path) for path in empty}


def run(template: Path, before: Sequence[edits.Edit], after: Sequence[edits.Edit]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        check(Project.copy(template, Path(directory) / "project"), before, after)


@settings(max_examples=5, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
@given(before=edits.scripts, after=edits.scripts)
def test_rollback_then_undo_is_the_identity(template: Path, before: list[edits.Edit], after: list[edits.Edit]) -> None:
    run(template, before, after)


@pytest.mark.slow
@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(before=edits.scripts, after=edits.scripts)
def test_rollback_then_undo_is_the_identity_however_long_one_tries(
    template: Path, before: list[edits.Edit], after: list[edits.Edit]
) -> None:
    run(template, before, after)
