"""What is in a snapshot and what is not: every row of the table in docs/design.md."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
import shim
import unprivileged
from observation import files_on_disk
from project import FILES, Project
from sampling import others_slow

from gitckpt.errors import GitFailed

NAMES = (
    "with blank", " leading", "trailing ", "quote\"'`", "back\\slash", "tab\there", "line\nbreak", "-rf", "--", ":(top)x",
    ":!x", "*", "?[a-z]", "{a,b}", "$HOME", "~", "#x#", "%s", "中文 名.txt", "cafe\u0301", "caf\u00e9", "🦊", "\udcff\udcfe", "\x01\x7f",
    "...", ".hidden", "trailing.", "HEAD", "CON", "git~1", "a" * 255, "d/" * 60 + "deep", "gitmodules", "dot.git", "x.git/y",
)  # fmt: skip

LINKS = ("nowhere", "src", "../outside", "/etc/hostname", "self", "two\nlines", " ", "\udcff", "x" * 2000)

BOUNDARY = "a repository of its own: never entered, never touched"


def held(project: Project) -> dict[str, tuple[str, bytes]]:
    return project.held(project.snapshot().tree)


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


def test_any_name(project: Project) -> None:
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


def test_a_large_file_that_does_not_shrink(project: Project) -> None:
    content = os.urandom(9 * 1024 * 1024)
    project.write("random.bin", content)
    assert held(project)["random.bin"] == ("100644", content)


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


def nested(root: Path, *, commit: bool = True) -> None:
    """A repository of its own with a file in it."""
    other = Project.create(root)
    other.write("inner", "x")
    if commit:
        other.commit("inner")


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


def test_a_name_that_git_does_not_take_is_named(project: Project) -> None:
    project.write(".GIT/config", "x")
    project.write("src/.Git/x", "x")
    project.write("src/app.py", "changed\n")
    snapshot = project.snapshot()
    assert project.held(snapshot.tree)["src/app.py"] == ("100644", b"changed\n")
    assert set(snapshot.missing) == {b".GIT/config", b"src/.Git/x"}


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
