"""What a snapshot cannot hold is named, and is back in it as soon as it can be held."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest
import shim
import unprivileged
from observation import files_on_disk
from project import FILES, Project
from sampling import others_slow
from starting_points import BOUNDARY, held, nested

from gitckpt.errors import Refused


def test_a_file_over_the_limit_is_named_and_comes_back_when_it_shrinks(project: Project) -> None:
    project.git("config", "gitckpt.maxFileSize", "1000")
    for name in ("src/app.py", "untracked"):
        project.write(name, b"x" * 1000)
    assert set(held(project)) == {*FILES, "untracked"}
    for name in ("src/app.py", "untracked"):
        project.write(name, b"x" * 1001)
    snapshot = project.snapshot()
    reason = "larger than max_file_size (1001 of 1000 bytes)"
    assert snapshot.missing == {b"src/app.py": reason, b"untracked": reason}
    assert set(project.held(snapshot.tree)) == set(FILES) - {"src/app.py"}
    assert project.snapshot().missing == snapshot.missing
    for name in ("src/app.py", "untracked"):
        project.write(name, b"y" * 999)
    snapshot = project.snapshot()
    assert (project.held(snapshot.tree), snapshot.missing) == (files_on_disk(project.root), {})


def test_the_limit_itself_may_change(project: Project) -> None:
    project.write("large", b"x" * 5000)
    assert "large" in held(project)
    project.write(".gitckpt.yaml", "max_file_size: 4K\n")
    project.write("large", b"y" * 5000)
    assert "large" not in held(project)
    project.write(".gitckpt.yaml", "max_file_size: 1M\n")
    assert held(project)["large"] == ("100644", b"y" * 5000)


def test_special_files_are_named(project: Project, scratch: Path) -> None:
    os.mkfifo(project.root / "src" / "pipe")
    (scratch / "link").symlink_to(project.root)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(scratch / "link" / "socket"))
        snapshot = project.snapshot()
        assert snapshot.missing == {b"src/pipe": "a FIFO", b"socket": "a socket"}
        assert project.snapshot().missing == snapshot.missing
    assert set(project.held(snapshot.tree)) == set(FILES)
    project.remove("src/pipe")
    project.remove("socket")
    assert project.snapshot().missing == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_device_is_named(project: Project) -> None:
    try:
        os.mknod(project.root / "null", 0o20666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("no devices can be made here")
    assert project.snapshot().missing == {b"null": "a device"}


def test_a_tracked_file_that_a_special_file_replaced(project: Project) -> None:
    held(project)
    project.remove("README.md")
    os.mkfifo(project.root / "README.md")
    snapshot = project.snapshot()
    assert snapshot.missing == {b"README.md": "a FIFO"}
    assert set(project.held(snapshot.tree)) == set(FILES) - {"README.md"}


LOOK = """
from pathlib import Path
from project import Project
project = Project(Path.cwd())
snapshot = project.snapshot()
answer = [sorted(project.held(snapshot.tree)), {k.decode(): v for k, v in snapshot.missing.items()}]
"""


@pytest.mark.parametrize("recorded_before", [False, True])
def test_files_that_cannot_be_read_are_named(project: Project, recorded_before: bool) -> None:
    if recorded_before:
        held(project)
    for name in ("untracked", "src/app.py"):
        project.write(name, "nobody may read this\n", 0)
    reason = "no permission to read this file"
    expected = [sorted(set(FILES) - {"src/app.py"}), {"src/app.py": reason, "untracked": reason}]
    assert unprivileged.run(LOOK, project.root) == expected
    assert unprivileged.run(LOOK, project.root) == expected
    for name in ("untracked", "src/app.py"):
        (project.root / name).chmod(0o644)
    assert unprivileged.run(LOOK, project.root) == [sorted([*FILES, "untracked"]), {}]


@pytest.mark.parametrize("recorded_before", [False, True])
@pytest.mark.parametrize("mode", others_slow([0o000, 0o300, 0o600], lambda mode: mode == 0o600))
def test_of_a_directory_without_access_all_is_right_or_named(
    project: Project, recorded_before: bool, mode: int
) -> None:
    if recorded_before:
        held(project)
    project.write("src/app.py", "changed before the directory was closed\n")
    project.write("src/untracked", "x")
    truth = files_on_disk(project.root)
    (project.root / "src").chmod(mode)
    paths, missing = unprivileged.run(LOOK, project.root)
    (project.root / "src").chmod(0o755)
    assert {path for path in truth if path not in paths and not path.startswith(tuple(missing))} == set()
    assert all(path.split("/")[0] == "src" for path in missing)
    # where the directory can be passed through, what is known in it can be looked at
    assert "src/app.py" not in paths or mode == 0o300
    assert unprivileged.run(LOOK, project.root) == [sorted([*FILES, "src/untracked"]), {}]


def test_a_directory_too_deep_to_be_read_is_told_as_that(project: Project) -> None:
    deep = os.open(project.root, os.O_RDONLY)
    for _ in range(21):
        os.mkdir("d" * 200, dir_fd=deep)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    os.close(os.open("file", os.O_CREAT, dir_fd=deep))
    os.close(deep)
    snapshot = project.snapshot()
    shutil.rmtree(project.root / ("d" * 200))
    assert set(snapshot.missing.values()) == {"this directory cannot be read: File name too long"}
    assert set(project.held(snapshot.tree)) == set(FILES)


CLOSED_STORE = """
import os
from pathlib import Path
from gitckpt.errors import GitFailed
from project import Project
project = Project(Path.cwd())
store = project.root / ".git/objects"
for number in range(256):
    (store / f"{number:02x}").mkdir(exist_ok=True)
    (store / f"{number:02x}").chmod(0o555)
try:
    answer = [path.decode() for path in project.snapshot().missing]
except GitFailed as error:
    answer = error.hint
"""


def test_where_the_store_takes_nothing_no_file_is_blamed(project: Project) -> None:
    project.write("new", "a blob that is in no store yet\n")
    hint = unprivileged.run(CLOSED_STORE, project.root)
    assert hint == "gitckpt doctor names what is closed to you, and the command that opens it"


@pytest.mark.parametrize("commit", [True, False])
def test_a_repository_inside_is_a_boundary(project: Project, commit: bool) -> None:
    nested(project.root / "vendor" / "lib", commit=commit)
    project.write("vendor/plain", "x")
    project.write("src/app.py", "changed\n")
    snapshot = project.snapshot()
    assert snapshot.missing == {b"vendor/lib": BOUNDARY}
    assert set(project.held(snapshot.tree)) == {*FILES, "vendor/plain"}
    assert project.held(snapshot.tree)["src/app.py"] == ("100644", b"changed\n")
    assert project.snapshot().missing == snapshot.missing


def test_a_directory_that_becomes_a_repository_and_ceases_to_be_one(project: Project) -> None:
    held(project)
    nested(project.root / "src")
    snapshot = project.snapshot()
    assert snapshot.missing == {b"src": BOUNDARY}
    assert set(project.held(snapshot.tree)) == {".gitignore", "README.md", "tests/check.sh"}
    shutil.rmtree(project.root / "src" / ".git")
    assert held(project) == files_on_disk(project.root)


def test_a_submodule_is_a_boundary(project: Project, tmp_path: Path) -> None:
    nested(tmp_path / "other")
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "other"), "module")
    project.commit("with a module")
    snapshot = project.snapshot()
    assert snapshot.missing == {b"module": BOUNDARY}
    assert set(project.held(snapshot.tree)) == {*FILES, ".gitmodules"}


@pytest.mark.parametrize("content", ["", "gitdir: nowhere\n", "no link at all\n"])
def test_a_file_called_git_that_leads_nowhere_makes_no_boundary(project: Project, content: str) -> None:
    project.write("odd/.git", content)
    project.write("odd/file", "x")
    snapshot = project.snapshot()
    assert (set(project.held(snapshot.tree)), snapshot.missing) == ({*FILES, "odd/file"}, {})


def test_a_name_that_git_does_not_take_is_named(project: Project) -> None:
    project.write(".GIT/config", "x")
    project.write("src/.Git/x", "x")
    project.write("src/app.py", "changed\n")
    snapshot = project.snapshot()
    assert project.held(snapshot.tree)["src/app.py"] == ("100644", b"changed\n")
    assert set(snapshot.missing) == {b".GIT/config", b"src/.Git/x"}


def test_a_link_that_git_does_not_take_is_named_and_not_overwritten(project: Project) -> None:
    """Git leaves it out without a word."""
    project.write(".gitmodules", "")
    project.checkpoint("C1")
    project.remove(".gitmodules")
    for name in (".gitmodules", "src/.GitModules", ".gitmodules~1"):
        project.link(name, "nowhere")
    snapshot = project.snapshot()
    reason = "git takes no link of this name"
    assert snapshot.missing == {b".gitmodules": reason, b"src/.GitModules": reason}
    assert set(project.held(snapshot.tree)) == {*FILES, ".gitmodules~1"}
    with pytest.raises(Refused, match=r"\.gitmodules"):
        project.roll_back("C1")
    assert (project.root / ".gitmodules").is_symlink()


def test_of_new_directories_git_is_asked_about_many_at_a_time(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = "d/" * 200
    project.write(f"{deep}file", "x")
    (project.root / "d" / "d" / "build" / "empty").mkdir(parents=True)
    os.mkfifo(project.root / "d" / "d" / "build" / "pipe")
    (project.root / deep / "build").mkdir()
    calls = tmp_path / "calls"
    log = f'case "$*" in *check-ignore*) echo asked >>"{calls}";; esac'
    shim.install(tmp_path / "bin", monkeypatch, f'{log}; exec "$GIT" "$@"')
    snapshot = project.snapshot()
    assert set(project.held(snapshot.tree)) == {*FILES, f"{deep}file"}
    assert (snapshot.missing, snapshot.empty) == ({}, [])
    assert len(calls.read_text().splitlines()) < 10
    calls.unlink()
    project.write(f"{deep}file", "y")
    assert (project.snapshot().missing, calls.exists()) == ({}, False)
