"""What many events changed, as patches of bounded length."""

from __future__ import annotations

import pytest
from project import Project

from gitckpt.errors import Damaged
from gitckpt.repo import patches as module
from gitckpt.repo.patches import Patch, patches
from gitckpt.repo.reader import Reader


def commit(project: Project) -> tuple[str, str]:
    """A commit of all there is, with its parent."""
    return project.commit("next"), project.git("rev-parse", "HEAD~1")


def changed(project: Project, *pairs: tuple[str, str]) -> list[list[Patch]]:
    reader = Reader(project.repository())
    found = patches(reader.git, pairs)
    return [found[commit] for commit, _ in pairs]


def test_patches_of_several_events_from_one_call(project: Project) -> None:
    project.write("one.txt", "a\nb\n")
    first = commit(project)
    nothing = commit(project)
    project.write("one.txt", "a\nc\n")
    project.write("two.txt", "x")
    third = commit(project)
    [[new], none, [one, two]] = changed(project, first, nothing, third)
    assert (new.added, new.deleted, new.lines, new.notes) == (
        2,
        0,
        [b"@@ -0,0 +1,2 @@", b"+a", b"+b"],
        [b"new file mode 100644"],
    )
    assert none == []
    assert (one.added, one.deleted, one.lines) == (1, 1, [b"@@ -1,2 +1,2 @@", b" a", b"-b", b"+c"])
    assert two.lines == [b"@@ -0,0 +1 @@", b"+x", b"\\ No newline at end of file"]


def test_content_that_looks_like_the_output_itself(project: Project) -> None:
    name = project.git("rev-parse", "HEAD")
    content = f"{name}\ndiff --git a/x b/x\n@@ -1 +1 @@\n--- a/x\n+++ b/x\nBinary files differ\n"
    project.write("one.txt", content)
    first = commit(project)
    project.write("one.txt", "")
    [[new], [gone]] = changed(project, first, commit(project))
    assert new.lines[1:] == [b"+" + line for line in content.encode().splitlines()]
    assert gone.lines[1:] == [b"-" + line for line in content.encode().splitlines()]
    assert (new.added, gone.deleted, new.is_binary) == (6, 6, False)


def test_a_file_of_another_kind_a_binary_one_a_mode_and_odd_names(project: Project) -> None:
    project.write("kind", "text\n")
    project.write("run", "#!/bin/sh\n")
    commit(project)
    project.remove("kind")
    project.link("kind", "run")
    (project.root / "run").chmod(0o755)
    project.write("bytes", b"\0\1")
    project.write("odd\nname", "1\n")
    [[binary, gone, link, odd, run]] = changed(project, commit(project))
    assert (binary.is_binary, binary.lines) == (True, [])
    assert [gone.notes, link.notes] == [[b"deleted file mode 100644"], [b"new file mode 120000"]]
    assert odd.lines == [b"@@ -0,0 +1 @@", b"+1"]
    assert run.notes == [b"old mode 100644", b"new mode 100755"]


def test_no_driver_of_the_repository_is_asked(project: Project) -> None:
    project.git("config", "diff.evil.command", "touch ran; false")
    project.git("config", "diff.evil.textconv", "touch ran; cat")
    project.write(".gitattributes", "*.txt diff=evil\n")
    project.write("one.txt", "a\n")
    [[_, one]] = changed(project, commit(project))
    assert one.lines == [b"@@ -0,0 +1 @@", b"+a"]
    assert not (project.root / "ran").exists()


def test_long_files_and_long_lines_are_cut_and_counted(project: Project) -> None:
    project.write("lines", "x\n" * 1000)
    project.write("wide", "y" * 100_000 + "\nz\n")
    [[lines, wide]] = changed(project, commit(project))
    assert (lines.added, len(lines.lines), lines.left_out) == (1000, 400, 601)
    assert [len(line) for line in wide.lines[1:]] == [module.LONGEST_LINE + 1, 2]


def test_all_of_it_has_a_bound(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    project.write("a", "x" * 60 + "\n")
    project.write("b", "x" * 60 + "\n")
    project.write("c", "x" * 60 + "\n")
    [files] = changed(project, commit(project))
    assert [(file.added, len(file.lines), file.left_out) for file in files] == [(1, 2, 0), (1, 2, 0), (1, 0, 2)]


def test_what_is_missing_is_damage(project: Project) -> None:
    project.write("one.txt", "once upon a time\n")
    pair = commit(project)
    with pytest.raises(Damaged):
        changed(project, (pair[0], "2" * 40))
    blob = project.git("rev-parse", "HEAD:one.txt")
    project.write("one.txt", "git looks there too, where it can\n")
    (project.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(Damaged):
        changed(project, pair)
