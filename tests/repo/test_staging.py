"""The staging area: told without being touched, and put back with stages, intentions and flags."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import shim
from observation import differences
from project import Project
from sampling import others_slow
from starting_points import conflict

from gitckpt.repo import staging
from gitckpt.repo.staging import Staging


def captured(project: Project) -> Staging:
    tree = project.tree()
    return staging.Capture(tree.repository, tree.raw, missing_ok=False).wait()


def test_a_reading_that_nobody_wants_any_more_does_not_bar_the_next(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, script = project.tree(), 'case "$*" in *write-tree*) >"$GIT_INDEX_FILE.lock"; exec sleep 60;; esac'
    with monkeypatch.context() as patch:
        shim.install(tmp_path / "bin", patch, script + '\nexec $GIT "$@"')
        reading = staging.Capture(tree.repository, tree.raw, missing_ok=False)
        lock = Path(os.fsdecode(tree.repository.private_dir)) / "staging.lock"
        while not lock.exists():
            time.sleep(0.01)
        reading.kill()
    assert captured(project).tree == project.git("write-tree")


def staged_changes(project: Project) -> None:
    """One of everything that `git add`, `git rm` and `git mv` can do, and work on top of it."""
    project.write("src/app.py", "staged\n")
    project.write("new", "staged and new\n")
    project.git("add", "src/app.py", "new")
    project.git("update-index", "--chmod=-x", "tests/check.sh")
    project.git("mv", "README.md", "renamed.md")
    project.git("rm", "-q", "--cached", "src/lib/core.py")
    project.write("src/app.py", "later\n")


def intentions(project: Project) -> None:
    for path in ("planned", "planned too", "an *empty* one"):
        project.write(path, "" if "empty" in path else "content\n")
    project.write("a/program", "", 0o755)
    project.write("no program", "", 0o755)
    project.link("link", "nowhere")
    literal = [f":(literal){os.fsdecode(path)}" for path in INTENDED]
    project.git("add", "-N", *literal)
    for path in ("a/program", "link"):
        project.remove(path)
    (project.root / "no program").chmod(0o644)


#: What is on record of them: the modes of the index, whatever is on disk.
INTENDED = dict.fromkeys((b"an *empty* one", b"planned", b"planned too"), b"100644") | {
    b"a/program": b"100755", b"no program": b"100755", b"link": b"120000",
}  # fmt: skip


def flags(project: Project) -> None:
    project.git("update-index", "--skip-worktree", "README.md")
    project.git("update-index", "--assume-unchanged", "src/app.py")
    project.write("README.md", "local\n")
    project.write("src/app.py", "local\n")


def nothing_staged(project: Project) -> None:
    project.git("rm", "-r", "-q", "--cached", ".")


def a_file_for_a_directory(project: Project) -> None:
    project.remove("src")
    project.write("src", "a file\n")
    project.git("add", "-A")


def submodule(project: Project) -> None:
    project.git("update-index", "--add", "--cacheinfo", f"160000,{project.git('rev-parse', 'HEAD')},module")


SITUATIONS: dict[str, Callable[[Project], None]] = {
    "staged": staged_changes,
    "conflict": conflict,
    "intentions": intentions,
    "flags": flags,
    "nothing": nothing_staged,
    "file for directory": a_file_for_a_directory,
    "submodule": submodule,
}


def test_what_it_holds(project: Project) -> None:
    conflict(project)
    intentions(project)
    project.write("kept.log", "x")
    project.git("add", "-f", "kept.log")
    project.git("update-index", "--skip-worktree", "README.md")
    project.remove("README.md")
    area = captured(project)
    stages = project.git_bytes("ls-files", "-u", "-z").split(b"\0")[:-1]
    rows = [(*head.split(b" "), path) for head, _, path in (stage.partition(b"\t") for stage in stages)]
    assert sorted(area.unmerged) == sorted((mode, oid, stage, path) for mode, oid, stage, path in rows)
    assert [stage for _, _, stage, path in area.unmerged if path == b"both"] == [b"1", b"2", b"3"]
    assert area.intended == INTENDED
    assert (area.skipped, area.forced) == ([b"README.md"], [b"kept.log"])
    assert "both" not in project.held(area.tree)
    assert {"src/app.py", "kept.log", "README.md"} <= set(project.held(area.tree))


@pytest.mark.parametrize("situation", others_slow(SITUATIONS, lambda name: name in ("staged", "conflict")))
def test_telling_it_touches_nothing(project: Project, situation: str) -> None:
    SITUATIONS[situation](project)
    before = project.of_the_user()
    captured(project)
    project.checkpoint("C1")
    assert differences(before, project.of_the_user()) == {}


def test_a_lock_of_the_users_does_not_matter(project: Project) -> None:
    staged_changes(project)
    project.write(".git/index.lock", "")
    before = project.of_the_user()
    event = project.checkpoint("C1")
    assert project.held(event.git["staging"]["tree"])["src/app.py"] == ("100644", b"staged\n")
    assert differences(before, project.of_the_user()) == {}


TARGETS = [name for name in SITUATIONS if name != "flags"]
PAIRS = [
    (target, present) for target in TARGETS for present in ("staged", "intentions", "nothing", "file for directory")
]


@pytest.mark.parametrize(("target", "present"), others_slow(PAIRS, lambda pair: PAIRS.index(pair) % 5 == 0))
def test_it_is_put_back_exactly(project: Project, target: str, present: str) -> None:
    """From any staging area to any other, at one place of HEAD and of a merge."""
    conflict(project)
    if target != "conflict":
        project.git("add", "-A")
        SITUATIONS[target](project)
    wanted = project.staged(), project.status()
    project.checkpoint("C1")
    project.git("read-tree", "--reset", "-u", "HEAD")
    project.git("clean", "-fdq")
    SITUATIONS[present](project)
    project.roll_back("C1")
    assert (project.staged(), project.status()) == wanted


def test_flags_survive(project: Project) -> None:
    flags(project)
    project.write("new", "x")
    project.git("add", "new")
    wanted = project.staged()
    project.checkpoint("C1")
    for path in ("README.md", "src/app.py"):
        project.write(path, "later\n")
    project.git("rm", "-q", "--cached", "new")
    project.roll_back("C1")
    assert project.staged() == wanted
    assert (project.read("README.md"), project.read("src/app.py")) == (b"local\n", b"local\n")


@pytest.mark.parametrize("flag", ["skip-worktree", "assume-unchanged"])
def test_the_flag_of_an_entry_survives_though_its_content_is_put_back(project: Project, flag: str) -> None:
    project.write("src/app.py", "staged one\n")
    project.git("add", "src/app.py")
    project.git("update-index", f"--{flag}", "src/app.py")
    wanted = project.staged()
    project.checkpoint("C1")
    project.git("update-index", f"--no-{flag}", "src/app.py")
    project.write("src/app.py", "staged two\n")
    project.git("add", "src/app.py")
    project.git("update-index", f"--{flag}", "src/app.py")
    project.roll_back("C1")
    assert project.staged() == wanted


@pytest.mark.parametrize("instead", [None, "planned/inner"])
def test_an_intention_to_add_a_file_that_is_gone(project: Project, instead: str | None) -> None:
    intentions(project)
    project.git("rm", "-q", "--cached", "README.md")
    project.git("add", "-N", "README.md")
    for name in ("planned", "README.md"):
        project.remove(name)
    if instead:
        project.write(instead, "x")
    wanted, status = project.staged(), project.status()
    project.checkpoint("C1")
    project.git("reset", "-q")
    project.roll_back("C1")
    assert (project.staged(), project.status()) == (wanted, status)
    assert (project.root / "planned").is_dir() == bool(instead)


def test_a_merge_can_be_aborted_and_finished_after_a_rollback(project: Project) -> None:
    """Git must not see phantom edits: `merge --abort` refuses where an entry is not up to date."""
    conflict(project)
    merging = project.status()
    project.checkpoint("C1")
    project.write("both", "resolved\n")
    project.write("src/app.py", "changed\n")
    project.git("add", "both", "gone here", "gone there")
    project.roll_back("C1")
    assert project.status() == merging
    project.git("merge", "--abort")
    assert project.git("status", "--porcelain") == ""


@pytest.mark.parametrize("where", ["--local", "--global"])
def test_no_phantom_edits_under_a_conversion(project: Project, where: str) -> None:
    """Whether an entry is up to date depends on the user's configuration, his own one included."""
    project.git("config", where, "core.autocrlf", "true")
    project.write("crlf.txt", "one\r\ntwo\r\n")
    project.commit("with line ends")
    project.checkpoint("C1")
    project.remove("crlf.txt")
    project.roll_back("C1")
    assert project.read("crlf.txt") == b"one\r\ntwo\r\n"
    assert project.git("diff-files", "--name-only") == ""


def test_a_copy_keeps_its_time_to_the_nanosecond(tmp_path: Path) -> None:
    source, target = tmp_path / "index", tmp_path / "copy"
    source.write_bytes(b"DIRC")
    os.utime(source, ns=(5, 1_234_567_890_123_456_789))
    assert staging.copy_index(os.fsencode(source), os.fsencode(target))
    assert (target.read_bytes(), target.stat().st_mtime_ns) == (b"DIRC", 1_234_567_890_123_456_789)
    assert not staging.copy_index(os.fsencode(tmp_path / "none"), os.fsencode(target))
    assert target.read_bytes() == b"DIRC"


def test_without_an_index_it_is_empty(project: Project) -> None:
    (project.root / ".git" / "index").unlink()
    area = captured(project)
    assert (project.held(area.tree), area.unmerged, area.intended) == ({}, [], {})
    project.git("read-tree", "HEAD")
    assert not captured(project).same_content(area)


def test_a_split_index_can_be_told_and_put_back(project: Project) -> None:
    project.git("config", "core.splitIndex", "true")
    project.git("update-index", "--split-index")
    staged_changes(project)
    wanted = project.staged()
    project.checkpoint("C1")
    project.git("reset", "-q")
    project.roll_back("C1")
    assert project.staged() == wanted
