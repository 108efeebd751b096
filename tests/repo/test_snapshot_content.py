"""What is in a snapshot and what is not: every row of the table in docs/design.md."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from observation import files_on_disk
from project import FILES, Project
from starting_points import BOUNDARY, held, nested

NAMES = (
    "with blank", " leading", "trailing ", "quote\"'`", "back\\slash", "tab\there", "line\nbreak", "-rf", "--", ":(top)x",
    ":!x", "*", "?[a-z]", "{a,b}", "$HOME", "~", "#x#", "%s", "中文 名.txt", "cafe\u0301", "caf\u00e9", "🦊", "\udcff\udcfe", "\x01\x7f",
    "...", ".hidden", "trailing.", "HEAD", "CON", "git~1", "a" * 255, "d/" * 60 + "deep", "gitmodules", "dot.git", "x.git/y",
)  # fmt: skip


LINKS = ("nowhere", "src", "../outside", "/etc/hostname", "self", "two\nlines", " ", "\udcff", "x" * 2000)


def test_the_bytes_on_disk(project: Project) -> None:
    project.write("src/app.py", b"changed \0\xff\r\n")
    project.remove("README.md")
    project.write("untracked", b"")
    project.write("deep/er/tool", b"#!/bin/sh\n", 0o755)
    project.write("tests/check.sh", FILES["tests/check.sh"], 0o644)
    snapshot = project.snapshot()
    assert project.held(snapshot.tree) == {
        ".gitignore": ("100644", FILES[".gitignore"]),
        "deep/er/tool": ("100755", b"#!/bin/sh\n"),
        "src/app.py": ("100644", b"changed \0\xff\r\n"),
        "src/lib/core.py": ("100644", FILES["src/lib/core.py"]),
        "tests/check.sh": ("100644", FILES["tests/check.sh"]),
        "untracked": ("100644", b""),
    }
    assert (snapshot.missing, snapshot.modes, snapshot.empty) == ({}, {}, [])


def test_a_file_of_any_name_is_held(project: Project) -> None:
    for name in NAMES:
        project.write(name, f"content of {name!a}\n")
    snapshot = project.snapshot()
    assert project.held(snapshot.tree) == files_on_disk(project.root)
    for name in NAMES:
        project.write(name, "second\n")
    assert held(project) == files_on_disk(project.root)
    assert snapshot.missing == {}


def test_links_are_links(project: Project, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "treasure").write_text("never read\n")
    for number, target in enumerate(LINKS):
        project.link(f"links/{number}", target)
    project.link("self", "self")
    recorded = held(project)
    assert recorded == files_on_disk(project.root)
    assert {recorded[f"links/{number}"] for number in range(len(LINKS))} == {
        ("120000", os.fsencode(target)) for target in LINKS
    }


def test_a_directory_that_became_a_link_is_not_followed(project: Project, tmp_path: Path) -> None:
    project.snapshot()
    shutil.move(project.root / "src", tmp_path / "moved")
    project.link("src", str(tmp_path / "moved"))
    assert held(project) == files_on_disk(project.root)
    assert "src/app.py" not in held(project)


def test_ignored_files_are_not_in_it(project: Project) -> None:
    project.write("a.log", "x")
    project.write("build/out/o", "x")
    project.write("src/.gitignore", "*.tmp\n!keep.tmp\n/only-here\n")
    for name in ("src/a.tmp", "src/keep.tmp", "src/only-here", "src/lib/only-here", "src/lib/b.tmp"):
        project.write(name, "x")
    snapshot = project.snapshot()
    expected = {*FILES, "src/.gitignore", "src/keep.tmp", "src/lib/only-here"}
    assert (set(project.held(snapshot.tree)), snapshot.missing) == (expected, {})


def test_ignored_files_that_the_configuration_includes(project: Project) -> None:
    project.write(".gitckpt.yaml", "include: ['*.log', 'build/**/keep']\n")
    for name in ("a.log", "src/b.log", "build/out/keep", "build/out/drop"):
        project.write(name, "one\n")
    assert set(held(project)) == {*FILES, ".gitckpt.yaml", "a.log", "build/out/keep"}
    project.write("a.log", "two\n")
    project.remove("build/out/keep")
    assert {path: content for path, (_, content) in held(project).items() if path not in FILES} == {
        ".gitckpt.yaml": project.read(".gitckpt.yaml"),
        "a.log": b"two\n",
    }
    project.write(".gitckpt.yaml", "include: []\n")
    assert set(held(project)) == {*FILES, ".gitckpt.yaml"}


@pytest.mark.parametrize("added", ["before", "after"])
def test_a_file_that_is_tracked_though_a_rule_ignores_it(project: Project, added: str) -> None:
    project.write("kept.log", "one\n")
    project.write("build/kept", "one\n")
    if added == "after":
        assert set(held(project)) == set(FILES)
    project.git("add", "-f", "kept.log", "build/kept")
    assert held(project)["kept.log"] == ("100644", b"one\n")
    project.write("kept.log", "two\n")
    project.write("build/kept", "two\n")
    assert (held(project)["kept.log"], held(project)["build/kept"]) == (("100644", b"two\n"),) * 2
    project.git("rm", "-q", "--cached", "-f", "kept.log")
    assert set(held(project)) == {*FILES, "build/kept"}


def test_a_tracked_file_that_a_rule_ignores_may_go_and_come_back(project: Project) -> None:
    project.remove("src/app.py")
    project.write(".gitignore", "*\n")
    assert "src/app.py" not in held(project)
    project.write("src/app.py", "back\n")
    assert held(project)["src/app.py"] == ("100644", b"back\n")


def test_a_tracked_file_that_a_rule_ignores_is_named_while_it_is_too_large(project: Project) -> None:
    project.write(".gitckpt.yaml", "max_file_size: 1K\n")
    project.write("large.log", "small at first\n")
    project.git("add", "-f", "large.log")
    project.write("large.log", "x" * 2000)
    for name in ("first", "second"):
        project.write(name, "the root directory has changed")
        assert list(project.snapshot().missing) == [b"large.log"]
    project.write("large.log", "small\n")
    assert held(project)["large.log"] == ("100644", b"small\n")


def test_a_tracked_file_that_a_rule_ignores_does_not_come_back_through_a_link(project: Project, tmp_path: Path) -> None:
    project.write(".gitignore", "*\n")
    project.remove("src")
    held(project)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "app.py").write_text("not ours\n")
    project.link("src", tmp_path / "elsewhere")
    snapshot = project.snapshot()
    assert "src/app.py" not in project.held(snapshot.tree)
    assert snapshot.missing == {}


def test_a_change_of_rules(project: Project) -> None:
    for name in ("a.log", "b.tmp", "src/c.tmp"):
        project.write(name, "x")
    assert set(held(project)) == {*FILES, "b.tmp", "src/c.tmp"}
    project.write(".gitignore", "*.tmp\n")
    assert set(held(project)) == {*FILES, "a.log"}
    project.write("src/.gitignore", "!c.tmp\n")
    assert set(held(project)) == {*FILES, "a.log", "src/.gitignore", "src/c.tmp"}
    project.remove(".gitignore")
    assert set(held(project)) == {*FILES, "a.log", "b.tmp", "src/.gitignore", "src/c.tmp"} - {".gitignore"}
    project.write(".git/info/exclude", "b.tmp\nsrc\n")
    assert set(held(project)) == {"README.md", "a.log", "src/app.py", "src/lib/core.py", "tests/check.sh"}
    project.write(".git/info/exclude", "")
    project.write("personal", "a.log\n")
    project.git("config", "core.excludesFile", str(project.root / "personal"))
    assert set(held(project)) == {*FILES, "b.tmp", "personal", "src/.gitignore", "src/c.tmp"} - {".gitignore"}


def test_a_rule_that_ignores_a_tracked_file_changes_nothing(project: Project) -> None:
    held(project)
    project.write(".gitignore", "*\n")
    project.write("src/app.py", "changed\n")
    assert held(project) == files_on_disk(project.root)


def test_a_large_file_that_does_not_shrink(project: Project) -> None:
    content = os.urandom(9 * 1024 * 1024)
    project.write("random.bin", content)
    assert held(project)["random.bin"] == ("100644", content)


def test_permission_bits_and_empty_directories_are_listed(project: Project) -> None:
    for path, mode in (("src/app.py", 0o600), ("tests/check.sh", 0o700), ("new", 0o4755)):
        project.write(path, "x", mode)
    for path in ("empty", "deep/empty"):
        (project.root / path).mkdir(parents=True)
    (project.root / "src" / "lib").chmod(0o700)
    (project.root / "empty").chmod(0o1777)
    snapshot = project.snapshot()
    assert snapshot.modes == {
        b"src/app.py": 0o600, b"tests/check.sh": 0o700, b"new": 0o4755, b"src/lib/": 0o700, b"empty/": 0o1777,
    }  # fmt: skip
    assert sorted(snapshot.empty) == [b"deep/empty", b"empty"]
    again = project.snapshot()
    assert (again.modes, sorted(again.empty)) == (snapshot.modes, sorted(snapshot.empty))
    project.write("empty/file", "x")
    (project.root / "src/app.py").chmod(0o644)
    project.remove("new")
    later = project.snapshot()
    assert later.modes == {b"tests/check.sh": 0o700, b"src/lib/": 0o700, b"empty/": 0o1777}
    assert later.empty == [b"deep/empty"]


def make(project: Project, path: str, kind: str) -> None:
    match kind:
        case "file":
            project.write(path, "file\n")
        case "tool":
            project.write(path, "tool\n", 0o755)
        case "link":
            project.link(path, "target")
        case "directory":
            project.write(f"{path}/inner", "inner\n")
            project.write(f"{path}/deeper/inner", "inner\n")
        case "empty":
            (project.root / path).mkdir()
        case "FIFO":
            os.mkfifo(project.root / path)
        case "repository":
            nested(project.root / path)


KINDS = ("nothing", "file", "tool", "link", "directory", "empty", "FIFO", "repository")


def test_every_kind_may_turn_into_every_other(project: Project) -> None:
    paths = {f"{old}-{new}": (old, new) for old in KINDS for new in KINDS}
    for path, (old, _) in paths.items():
        make(project, path, old)
    first = project.snapshot()
    for path, (old, new) in paths.items():
        if old != "nothing":
            project.remove(path)
        make(project, path, new)
    second = project.snapshot()
    boundaries = tuple(f"{path}/" for path, (_, new) in paths.items() if new == "repository")
    expected = {path: entry for path, entry in files_on_disk(project.root).items() if not path.startswith(boundaries)}
    assert project.held(second.tree) == expected
    for snapshot, at in ((first, 0), (second, 1)):
        reasons = {path: {"FIFO": "a FIFO", "repository": BOUNDARY}.get(kinds[at]) for path, kinds in paths.items()}
        assert snapshot.missing == {os.fsencode(path): reason for path, reason in reasons.items() if reason}
        assert sorted(snapshot.empty) == sorted(
            os.fsencode(path) for path, kinds in paths.items() if kinds[at] == "empty"
        )


def test_letters_count_in_names_though_the_configuration_is_of_a_disk_where_they_do_not(project: Project) -> None:
    """`core.ignoreCase` of a repository that was copied from there; in ignore rules it counts all the same."""
    project.git("config", "core.ignoreCase", "true")
    project.write("Notes.txt", "of the first spelling\n")
    project.write("Data/x", "of the first spelling\n")
    project.git("add", "-A")
    project.snapshot()
    project.write("notes.txt", "of the second\n")
    project.write("data/x", "of the second\n")
    project.write("X.LOG", "ignored by *.log\n")
    project.write("Build/out", "ignored by build/\n")
    project.write("src/BUILD/out", "ignored too\n")
    expected = files_on_disk(project.root)
    for path in ("X.LOG", "Build/out", "src/BUILD/out"):
        del expected[path]
    assert project.held(project.snapshot().tree) == expected
    project.git("add", "-f", "X.LOG")
    assert "X.LOG" in project.held(project.snapshot().tree)
