"""A rollback of some paths, from anywhere, while others write, after a garbage collection."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
import shim
from project import FILES, Project
from situations import at_c1, change_everything

from gitckpt.errors import Damaged, Negative, Refused


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_new_files_obey_the_callers_umask(project: Project, umask: int) -> None:
    project.checkpoint("C1")
    project.remove("src")
    before = os.umask(umask)
    try:
        project.roll_back("C1")
    finally:
        os.umask(before)
    assert (project.root / "src" / "app.py").stat().st_mode & 0o777 == 0o666 & ~umask
    assert (project.root / "src" / "lib").stat().st_mode & 0o777 == 0o777 & ~umask


def test_from_a_subdirectory_it_is_the_whole_work_tree(project: Project) -> None:
    project.checkpoint("C1")
    before = project.disk()
    project.write("README.md", "changed\n")
    project.write("new", "x")
    project.roll_back("C1", directory="src/lib")
    assert project.disk() == before


def test_the_directory_one_stands_in_is_not_pulled_away(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.checkpoint("C1")
    project.write("new/place/file", "x")
    monkeypatch.chdir(project.root / "new" / "place")
    project.roll_back("C1", directory="new/place")
    assert (project.root / "new" / "place").is_dir()
    assert not (project.root / "new" / "place" / "file").exists()


def test_a_file_does_not_take_the_place_of_the_directory_one_stands_in(project: Project) -> None:
    project.write("place", "a file\n")
    project.checkpoint("C1")
    project.remove("place")
    project.write("place/below/file", "x")
    before, operations = project.disk(), len(project.tree().journal.operations())
    with pytest.raises(Refused, match="place: the directory that you are in"):
        project.roll_back("C1", directory="place/below")
    assert (project.disk(), len(project.tree().journal.operations())) == (before, operations)


def test_some_paths_only(project: Project) -> None:
    at_c1(project)
    change_everything(project)
    project.write("src/new", "x")
    before = project.disk()
    project.roll_back("C1", paths=(b"src", b"file"))
    after = project.disk()
    touched = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert touched == {"file", "src/app.py", "src/new", "src/lib", "src/lib/", "src/lib/core.py"}
    assert project.read("src/app.py") == b"import lib\n"
    project.undo()
    assert project.disk() == before


@pytest.mark.parametrize("path", [b"a/b", b"a"])
def test_a_path_below_what_is_a_file_now(project: Project, path: bytes) -> None:
    project.write("a/b", "one\n")
    project.write("a/c", "one\n")
    project.checkpoint("C1")
    project.remove("a")
    project.write("a", "a file now\n")
    before = project.disk()
    project.roll_back("C1", paths=(path,))
    assert project.read("a/b") == b"one\n"
    project.undo()
    assert project.disk() == before


def test_a_path_that_names_nothing_is_refused(project: Project) -> None:
    project.checkpoint("C1", session="s")
    project.write("src/app.py", "changed\n")
    for path in (b"sr", b"src/ap", b"*", b":(top)src", b"none"):
        with pytest.raises(Refused, match="^neither s/C1 nor the work tree has '"):
            project.roll_back("C1", paths=(path,))
    assert project.read("src/app.py") == b"changed\n"


def interfere(project: Project, patch: pytest.MonkeyPatch, command: str) -> None:
    """Run a command right after git has written the files."""
    script = f'"$GIT" "$@"; s=$?; case "$*" in *"read-tree -m -u"*) {command};; esac; exit $s'
    shim.install(project.root.parent / "bin", patch, script)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo other >{root}/src/app.py", "  src/app.py is not as it was"),
        ("rm {root}/src/app.py", "  src/app.py is missing"),
        ("rm {root}/src/app.py; ln -s x {root}/src/app.py", "  src/app.py is of another kind"),
        ("echo x >{root}/new", "  new is there and should not be"),
        ("chmod 644 {root}/secret", "  secret has other permission bits than 600"),
    ],
)
def test_a_work_tree_that_is_not_as_planned_is_told(
    project: Project, monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    project.write("secret", "one\n", 0o600)
    project.checkpoint("C1", session="s")
    at_c1_disk = project.disk()
    project.write("src/app.py", "changed\n")
    project.write("new", "x")
    project.write("secret", "two\n", 0o644)
    with monkeypatch.context() as patch:
        interfere(project, patch, command.format(root=project.root))
        if "secret" in command:
            patch.setattr(os, "chmod", lambda *_: None)
        with pytest.raises(Negative) as caught:
            project.roll_back("C1")
    assert str(caught.value) == f"the work tree is not as planned after the rollback:\n{said}"
    assert (caught.value.exit_status, caught.value.hint) == (
        1, "gitckpt rollback --continue tries again; gitckpt rollback --abort goes back to where you were",
    )  # fmt: skip
    project.go_on()
    assert project.disk() == at_c1_disk


def test_a_writer_in_the_middle_is_refused_and_can_be_taken_back(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.checkpoint("C1")
    project.write("src/app.py", "changed\n")
    script = f'case "$*" in *"read-tree -m -u"*) echo written meanwhile >"{project.root}/src/app.py";; esac; exec "$GIT" "$@"'
    with monkeypatch.context() as patch:
        shim.install(project.root.parent / "bin", patch, script)
        with pytest.raises(Refused, match="^the work tree changed while it was being rolled back"):
            project.roll_back("C1")
    assert project.read("src/app.py") == b"written meanwhile\n"
    project.abort()
    assert project.read("src/app.py") == b"changed\n"


def test_a_checkpoint_whose_commit_is_gone(project: Project) -> None:
    event = project.checkpoint("C1")
    project.checkpoint("C2")
    tree = project.tree()
    (project.root / ".git" / "objects" / event.commit[:2] / event.commit[2:]).unlink()
    before = project.disk(), project.of_the_user()
    with pytest.raises(Damaged):
        project.roll_back("C1")
    assert (project.disk(), project.of_the_user()) == before
    assert tree is not None


def test_submodules_do_not_move(project: Project, tmp_path: Path) -> None:
    other = Project.create(tmp_path / "other")
    other.write("s", "one\n")
    other.commit("one")
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "module")
    project.commit("with a module")
    project.git("config", "submodule.recurse", "true")
    project.checkpoint("C1")
    module = Project(project.root / "module")
    module.write("s", "two\n")
    module.write("s2", "new\n")
    head = module.commit("two")
    module.write("s", "three\n")
    project.write("src/app.py", "changed\n")
    before = {path: entry for path, entry in project.disk().items() if path.startswith("module")}
    project.roll_back("C1")
    assert {path: entry for path, entry in project.disk().items() if path.startswith("module")} == before
    assert (module.git("rev-parse", "HEAD"), project.read("src/app.py")) == (head, b"import lib\n")


def test_garbage_collection_takes_nothing_that_is_needed(project: Project) -> None:
    pictures = {}
    for number in (1, 2, 3):
        project.write("src/app.py", f"{number}\n")
        project.checkpoint(f"C{number}", session="s")
        pictures[f"C{number}"] = project.disk()
    project.roll_back("C1")
    project.write("src/app.py", "on another line\n")
    project.checkpoint("C4")
    project.git("checkout", "-q", "--detach")
    project.git("branch", "-q", "-D", "main")
    project.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    project.git("gc", "-q", "--prune=now", "--aggressive")
    for name in ("C3", "C1", "C2"):
        project.roll_back(f"s/{name}")
        assert project.disk() == pictures[name]
    project.git("fsck", "--strict", "--no-dangling")


def test_an_empty_directory_whose_place_a_file_keeps_that_the_targets_rules_ignore_is_left(project: Project) -> None:
    project.snapshot()
    project.remove("src/lib/core.py")
    project.write(".gitignore", "lib\n!lib/\n")  # a file of this name, but no directory
    project.checkpoint("C1", session="s")
    (project.root / "src/lib").rmdir()
    project.write("src/lib", "a file now\n")
    project.remove(".gitignore")
    before = project.disk()
    assert [(step.action, step.path) for step in project.plan("C1").steps] == [
        ("restore", b".gitignore"), ("leave", b"src/lib"), ("leave", b"src/lib/"),
    ]  # fmt: skip
    project.roll_back("C1")
    assert project.read("src/lib") == b"a file now\n"
    project.undo()
    assert project.disk() == before


def test_a_path_that_no_checkpoint_holds_is_refused(project: Project) -> None:
    project.write(".gitignore", "*.o\n")
    project.write("built.o", "one\n")
    project.write("only/built.o", "one\n")
    project.git("init", "-q", "nested")
    os.mkfifo(project.root / "pipe")
    project.checkpoint("C1", session="s")
    project.write("built.o", "two\n")
    project.write("nested/inner", "two\n")
    whys = {
        b"built.o": "a rule ignores it",
        b"only": "a rule ignores it",
        b"nested/inner": "a repository of its own: never entered, never touched",
        b"nested": "a repository of its own: never entered, never touched",
        b"pipe": "a FIFO",
    }
    for path, why in whys.items():
        with pytest.raises(Refused, match=f"^s/C1 does not hold '{path.decode()}', and nothing was changed: {why}$"):
            project.roll_back("C1", paths=(b"src", path))
    assert project.read("built.o") == b"two\n"


def test_what_is_taken_back_may_be_gone(project: Project) -> None:
    project.checkpoint("C1")
    project.remove("README.md")
    project.roll_back("C1", paths=(b"README.md",))
    project.remove("README.md")
    project.undo()
    assert not (project.root / "README.md").exists()
    project.redo()
    assert not (project.root / "README.md").exists()


def test_a_filter_that_does_not_end_holds_nothing_up_and_is_ended(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitckpt.repo.staging.FILTER_PATIENCE", 0.3)
    project.write(".gitattributes", "*.md filter=endless\n")
    project.commit("attributes")
    project.git("config", "filter.endless.clean", f"echo $$ >'{tmp_path}/filter'; exec sleep 100")
    project.checkpoint("C1")
    project.write("README.md", "# Another\n")
    project.roll_back("C1")
    assert project.read("README.md") == FILES["README.md"]
    state = ["ps", "-o", "stat=", "-p", (tmp_path / "filter").read_text().strip()]
    for _ in range(500):
        if subprocess.run(state, capture_output=True, text=True).stdout[:1] in ("", "Z"):
            break
        time.sleep(0.02)
    else:
        raise AssertionError("the filter goes on")
    assert [path.name for path in (project.root / ".git").rglob("*.lock")] == []
