"""What becomes of a snapshot when git fails in the middle, or files change while they are read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import shim
from observation import files_on_disk
from project import FILES, Project
from starting_points import held

from gitckpt.errors import GitFailed


@pytest.mark.parametrize("durable", ["true", "false"])
def test_a_file_that_git_cannot_store_is_named_or_stops_it_all(project: Project, durable: str) -> None:
    """Nothing else is as bad as a tree that holds the bytes of another day and does not say so."""
    project.git("config", "gitckpt.durable", durable)
    held(project)
    content = b"cannot be stored\n"
    oid = project.git("hash-object", "--stdin", data=content)
    obstacle = project.root / ".git" / "objects" / oid[:2]
    obstacle.write_text("in the way\n")
    project.write("src/app.py", content)
    try:
        snapshot = project.snapshot()
    except GitFailed:
        pass
    else:
        assert set(snapshot.missing) == {b"src/app.py"}
        assert set(project.held(snapshot.tree)) == set(FILES) - {"src/app.py"}
    obstacle.unlink()
    assert held(project) == files_on_disk(project.root)


@pytest.mark.parametrize("failures", [1, 2, 100])
def test_a_git_that_fails_to_add_is_not_believed_to_have_added(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    held(project)
    project.write("src/app.py", "changed\n")
    project.write("new", "new\n")
    count = f'case "$*" in *--add*) n=0; read n <"{tmp_path}/n"; echo $((n+1)) >"{tmp_path}/n"; [ $n -lt {failures} ] && exit 128;; esac'
    (tmp_path / "n").write_text("0\n")
    shim.install(tmp_path / "bin", monkeypatch, f'{count}; exec "$GIT" "$@"')
    snapshot = project.snapshot()
    recorded = project.held(snapshot.tree)
    right = {
        path: entry for path, entry in files_on_disk(project.root).items() if os.fsencode(path) not in snapshot.missing
    }
    assert recorded == right
    assert bool(snapshot.missing) == (failures == 100)


def test_a_file_that_changes_while_it_is_read_is_named(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("src/app.py", "changed\n")
    project.write("src/calm.py", "calm\n")
    file = project.root / "src" / "app.py"
    shim.install(
        tmp_path / "bin",
        monkeypatch,
        f'"$GIT" "$@"; s=$?; case "$*" in *update-index*) echo x >>"{file}";; esac; exit $s',
    )
    snapshot = project.snapshot()
    assert snapshot.missing == {b"src/app.py": "unstable: it changed while it was recorded"}
    assert project.held(snapshot.tree)["src/calm.py"] == ("100644", b"calm\n")


def test_a_file_that_changes_once_is_read_again(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("src/app.py", "changed\n")
    file, mark = project.root / "src" / "app.py", tmp_path / "mark"
    change = f'[ -e "{mark}" ] || {{ : >"{mark}"; echo second >"{file}"; }}'
    shim.install(tmp_path / "bin", monkeypatch, f'"$GIT" "$@"; s=$?; case "$*" in *--add*) {change};; esac; exit $s')
    snapshot = project.snapshot()
    assert (project.held(snapshot.tree), snapshot.missing) == (files_on_disk(project.root), {})
    assert project.read("src/app.py") == b"second\n"


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_file_that_vanishes_while_it_is_read(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    for name in ("src/app.py", "fleeting", "steady"):
        project.write(name, "new\n")
    vanish = f'case "$*" in *--add*) rm -f "{project.root}/fleeting" "{project.root}/src/app.py";; esac'
    script = f'{vanish}; exec "$GIT" "$@"' if when == "before" else f'"$GIT" "$@"; s=$?; {vanish}; exit $s'
    shim.install(tmp_path / "bin", monkeypatch, script)
    snapshot = project.snapshot()
    assert (project.held(snapshot.tree), snapshot.missing) == (files_on_disk(project.root), {})
    assert set(project.held(snapshot.tree)) == {*FILES, "steady"} - {"src/app.py"}


def test_under_a_busy_writer_every_file_has_one_of_its_contents(project: Project) -> None:
    """Files are replaced, made and deleted all the time; no snapshot fails, and none holds what never was."""
    busy = project.root / "busy"
    busy.mkdir()
    script = (
        "i=0; while :; do i=$((i+1)); echo whole >t; mv t f$((i%7)); rm -f f$(((i+3)%7)); mkdir -p d; rmdir d; done"
    )
    with subprocess.Popen(["sh", "-c", script], cwd=busy) as writer:
        try:
            for _ in range(8):
                recorded = held(project)
                seen = {path: content for path, (_, content) in recorded.items() if path.startswith("busy/f")}
                assert set(seen.values()) <= {b"whole\n"}
                assert {path for path in recorded if not path.startswith("busy/")} == set(FILES)
        finally:
            writer.kill()
