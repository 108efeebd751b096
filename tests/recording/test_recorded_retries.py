"""What a RETRY does to history and to the files."""

from __future__ import annotations

import pytest
from project import Project, retry

from gitckpt.repo.journal import Journal
from gitckpt.trajectory.session import Session


def session(project: Project, id: str) -> Session:
    return Journal(project.repository()).session(id)


def story(session: Session, line: str = "main") -> list[str]:
    return [event.id or event.kind for event in session.on_line(line)]


def test_a_retry_forks_and_leaves_the_files(project: Project) -> None:
    c1 = project.checkpoint("C1", session="s")
    project.write("src/app.py", "a failed attempt\n")
    event = project.record(retry("CHECKPOINT 1"))
    assert (event.id, event.line, event.opens, event.answers_to) == (
        "R1", "main", {"session": "s", "line": "retry-2", "at": c1.commit}, [],
    )  # fmt: skip
    assert project.held(event.commit)["src/app.py"] == ("100644", b"a failed attempt\n")
    assert project.read("src/app.py") == b"a failed attempt\n"
    project.checkpoint("C2")
    found = session(project, "s")
    assert story(found) == ["start", "C1", "R1"]
    assert story(found, "retry-2") == ["start", "C1", "C2"]


def test_a_retry_of_one_that_never_reported_answers_to_its_name(project: Project) -> None:
    for number in (5, 6):
        project.write("src/app.py", f"{number}\n")
        project.checkpoint(f"C{number}", session="s")
    event = project.record(retry("C7", "moment.duration 不兼容", "用 dayjs-duration"))
    assert event.subject == "R1 (for C7) from C6: moment.duration 不兼容 → 用 dayjs-duration"
    assert (event.answers_to, project.find(event.commit).answers_to) == (["C7"], ["C7"])
    assert project.find("C7").commit == event.commit
    project.checkpoint("C8")
    assert story(session(project, "s"), "retry-2") == ["start", "C5", "C6", "C8"]


def test_a_retry_of_something_unknown_forks_at_the_last_checkpoint(project: Project) -> None:
    c1 = project.checkpoint("C1", session="s")
    event = project.record(retry("whatever it was"))
    assert event.opens == {"session": "s", "line": "retry-2", "at": c1.commit}
    assert event.answers_to == []


def test_a_retry_before_anything_else_forks_at_the_start(project: Project) -> None:
    event = project.record(retry("C1"))
    assert (event.opens or {})["at"] == event.parents[0]
    assert event.answers_to == ["C1"]


def test_a_retry_that_restores_puts_the_files_back_and_can_be_undone(project: Project) -> None:
    project.write("src/app.py", "good\n")
    project.checkpoint("C1", session="s")
    project.write("src/app.py", "bad\n")
    project.write("new", "bad too\n")
    before = project.disk()
    event = project.record(retry("C1"), restoring=True)
    assert (event.kind, event.id, (event.opens or {})["line"]) == ("retry", "R1", "retry-2")
    assert project.read("src/app.py") == b"good\n"
    assert not (project.root / "new").exists()
    project.checkpoint("C2")
    assert story(session(project, "s"), "retry-2") == ["start", "C1", "C2"]
    project.undo()
    assert project.disk() == before


@pytest.mark.parametrize("source", ["C9", "unknown"])
def test_a_retry_of_what_is_not_on_record_restores_nothing(project: Project, source: str) -> None:
    project.checkpoint("C1")
    project.write("src/app.py", "later\n")
    project.record(retry(source), restoring=True)
    assert project.read("src/app.py") == b"later\n"


def test_retries_in_a_row(project: Project) -> None:
    project.checkpoint("C1", session="s")
    for attempt in range(3):
        project.write("src/app.py", f"attempt {attempt}\n")
        project.checkpoint("C2")
        project.record(retry("C1"), restoring=True)
        assert project.read("src/app.py") == b"import lib\n"
    found = session(project, "s")
    assert list(found.lines) == ["main", "retry-2", "retry-3", "retry-4"]
    assert [story(found, line) for line in found.lines] == [
        ["start", "C1", "C2", "R1"], ["start", "C1", "C2", "R2"], ["start", "C1", "C2", "R3"], ["start", "C1"],
    ]  # fmt: skip
