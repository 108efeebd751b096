"""Facts know the content that they rest on, and are stale once it has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from project import Project

from gitckpt.protocol.state import source_path
from gitckpt.repo.evidence import stale_facts
from gitckpt.trajectory.events import Event


def fact(text: str, source: str) -> dict[str, str]:
    return {"text": text, "source": source}


def record(project: Project, id: str, *facts: dict[str, str]) -> Event:
    return project.find(project.checkpoint(id, goal="g", facts=list(facts), todo=["t"]).commit)


def stale(project: Project, event: Event) -> list[str]:
    return [row["text"] for row in stale_facts(project.repository(), event)]


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("src/app.py:12", "src/app.py"), ("src/app.py:3-9", "src/app.py"), ("src/app.py:3:9", "src/app.py"),
        ("src/app.py#L3", "src/app.py"), ("src/app.py#L3-L9", "src/app.py"), ("`./src/app.py:1`", "src/app.py"),
        ("src/app.py", "src/app.py"), (" a b:7 ", "a b"), ("https://a.example:8080", ""), ("file:///etc/passwd:1", ""),
        ("", ""), ("C1", "C1"), ("模块.py:3", "模块.py"),
    ],
)  # fmt: skip
def test_the_path_in_a_source(source: str, path: str) -> None:
    assert source_path(source) == path


def test_a_fact_is_stale_once_its_file_has_changed(project: Project) -> None:
    project.write("link", b"")
    (project.root / "link").unlink()
    (project.root / "link").symlink_to("README.md")
    facts = [
        fact("imports lib", "src/app.py:1"), fact("returns 1", "./src/lib/core.py:2"), fact("a link", "link"),
        fact("absolute", f"{project.root}/README.md:1"), fact("elsewhere", "https://a.example/src/app.py:1"),
        fact("nowhere", "no/such.py:3"), fact("theirs", "../outside:1"), fact("git's", ".git/config:1"), fact("all", "src"),
    ]  # fmt: skip
    event = record(project, "C1", *facts)
    blob = project.git("rev-parse", "HEAD:src/app.py")
    assert event.document["sources"][0] == {"fact": 0, "path": "src/app.py", "blob": blob, "since": event.id}
    assert [row["path"] for row in event.document["sources"]] == ["src/app.py", "src/lib/core.py", "link", "README.md"]
    assert stale(project, event) == []
    project.write("src/app.py", "import other\n")
    assert stale(project, event) == ["imports lib"]
    (project.root / "src/lib/core.py").unlink()
    (project.root / "link").unlink()
    (project.root / "link").symlink_to("src")
    assert stale(project, event) == ["imports lib", "returns 1", "a link"]
    project.write("src/app.py", "import lib\n")
    assert stale(project, event) == ["returns 1", "a link"]


def test_saying_a_fact_again_is_not_looking_again(project: Project) -> None:
    old = fact("imports lib", "src/app.py:1")
    first = record(project, "C1", old)
    project.write("src/app.py", "import other\n")
    second = record(project, "C2", fact("new", "README.md:1"), old)
    assert [row["since"] for row in second.document["sources"]] == [second.id, first.id]
    assert stale(project, second) == ["imports lib"]
    third = record(project, "C3", fact("imports other", "src/app.py:1"))
    assert stale(project, third) == []
    (project.root / "src/app.py").unlink()
    assert stale(project, record(project, "C4", fact("imports other", "src/app.py:1"))) == ["imports other"]


def test_the_record_is_the_same_in_a_repository_of_the_longer_names(home: Path, tmp_path: Path) -> None:
    long = Project.create(tmp_path / "long", "--object-format=sha256")
    long.write("a.py", "x\n")
    event = record(long, "C1", fact("x", "a.py:1"))
    assert stale(long, event) == []
    long.write("a.py", "y\n")
    assert stale(long, event) == ["x"]


@pytest.mark.parametrize(
    "sources",
    [
        "x", ["x"], [{}], [{"fact": 9, "path": "a", "blob": "b", "since": "C1"}],
        [{"fact": 0, "path": "../../etc/passwd", "blob": "b", "since": "C1"}], [{"fact": "0", "path": 1, "blob": 2}],
        [{"fact": 0, "path": {"b64": "%"}, "blob": "b", "since": "C1"}],
    ],
)  # fmt: skip
def test_a_forged_record_is_read_by_nobody(project: Project, sources: Any) -> None:
    event = record(project, "C1", fact("imports lib", "src/app.py:1"))
    event.document["sources"] = sources
    assert stale(project, event) == []
