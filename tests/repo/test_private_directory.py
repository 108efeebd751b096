"""The private git directory: a cache that mends itself, and in which no configuration of the user's has a say."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from observation import files_on_disk
from project import FILES, Project
from sampling import others_slow

from gitckpt.recorder import Recorder
from gitckpt.repo.access import opens

#: Bytes that a conversion would change: line ends of all kinds, keywords, encodings, no line end at all.
TELLING = {
    "crlf.txt": b"one\r\ntwo\r\n",
    "lf.txt": b"one\ntwo\n",
    "mixed.txt": b"one\r\ntwo\nthree\r",
    "ident.txt": b"$Id$ and $Id: 0123 $\n",
    "utf16.txt": "zwei Zeilen\r\n".encode("utf-16"),
    "binary.bin": bytes(range(256)),
    "secret.txt": b"clean me\n",
}

HOOKS = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
    "reference-transaction",
    "sendemail-validate",
]

CONVERSIONS = {
    "autocrlf": ({"core.autocrlf": "true"}, ""),
    "autocrlf input": ({"core.autocrlf": "input", "core.safecrlf": "true"}, ""),
    "eol": ({"core.eol": "crlf"}, "*.txt text eol=crlf\n"),
    "text": ({"core.safecrlf": "true"}, "*.txt text\n"),
    "ident": ({}, "* ident\n"),
    "encoding": ({}, "utf16.txt text working-tree-encoding=UTF-16\n"),
    "filter": ({"filter.f.clean": "tr a-z A-Z", "filter.f.smudge": "tr A-Z a-z"}, "*.txt filter=f\n"),
    "filter that fails": ({"filter.f.clean": "false", "filter.f.required": "true"}, "*.txt filter=f\n"),
    "filter process": ({"filter.f.process": "false", "filter.f.required": "true"}, "*.txt filter=f\n"),
    "attributes elsewhere": ({"filter.f.clean": "tr a-z A-Z"}, ""),
    "storage": ({"core.bigFileThreshold": "1", "core.compression": "0", "core.looseCompression": "9"}, ""),
    "file modes": ({"core.fileMode": "false", "core.symlinks": "false", "core.trustctime": "false"}, ""),
    "index": ({"index.version": "4", "index.sparse": "true", "core.untrackedCache": "true"}, ""),
    "split index": ({"core.splitIndex": "true", "index.skipHash": "true"}, ""),
    "names": ({"core.protectNTFS": "true", "core.quotePath": "false", "core.precomposeUnicode": "true"}, ""),
    "programs": ({"core.fsmonitor": "false", "diff.external": "false", "core.pager": "false"}, "* diff=x\n"),
    "signing": ({"commit.gpgSign": "true", "gpg.program": "false", "user.signingKey": "none"}, ""),
    "identity": ({"user.useConfigOnly": "true"}, ""),
    "status": ({"status.showUntrackedFiles": "no", "submodule.recurse": "true", "add.ignoreErrors": "false"}, ""),
    "odd": ({"core.checkStat": "minimal", "core.preloadIndex": "false", "core.sparseCheckout": "true"}, ""),
}


#: Those that change bytes, and one of each other kind.
COMMON = ("autocrlf", "eol", "ident", "encoding", "filter", "filter that fails", "index", "file modes")


def damage(name: str) -> Callable[[Path], None]:
    """What may have happened to one file of the private directory."""
    return {
        "emptied": lambda path: path.write_bytes(b""),
        "overwritten": lambda path: path.write_bytes(b"DIRC\0\0\0\2 no index, no JSON, nothing at all"),
        "a bit is another": lambda path: path.write_bytes(_with_another_bit(path.read_bytes())),
        "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        "deleted": lambda path: path.unlink(),
        "a directory": lambda path: (path.unlink(), (path / "x").mkdir(parents=True)),
        "unreadable": lambda path: path.chmod(0),
    }[name]


def _with_another_bit(content: bytes) -> bytes:
    """One bit of the name of an entry, or of the size of an extension, changed."""
    place = content.find(b"src/app.py")
    place = place if place >= 0 else content.find(b"link") + 7
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize("name", others_slow(CONVERSIONS, lambda name: name in COMMON))
def test_no_setting_of_the_user_changes_a_byte(project: Project, name: str) -> None:
    settings, attributes = CONVERSIONS[name]
    for path, content in TELLING.items():
        project.write(path, content)
    project.git("add", "crlf.txt", "mixed.txt")
    for key, value in settings.items():
        project.git("config", key, value)
    if attributes:
        project.write(".gitattributes", attributes)
    if name == "attributes elsewhere":
        project.write(".git/info/attributes", "*.txt filter=f\n")
    before = project.disk()
    snapshot = project.snapshot()
    assert project.held(snapshot.tree) == files_on_disk(project.root)
    if name in ("autocrlf", "filter", "filter that fails", "encoding"):
        project.checkpoint("C1")
        for path in TELLING:
            project.write(path, "gone\n")
        project.roll_back("C1")
        assert project.disk() == before


def test_no_hook_and_no_monitor_runs(project: Project, home: Path, tmp_path: Path) -> None:
    hooks, mark = tmp_path / "hooks", tmp_path / "mark"
    for directory in (hooks, project.root / ".git" / "hooks"):
        directory.mkdir()
        for hook in HOOKS:
            (directory / hook).write_text(f"#!/bin/sh\necho {hook} >>'{mark}'\nexit 1\n")
            (directory / hook).chmod(0o755)
    project.checkpoint("C1")
    project.git("config", "--global", "core.hooksPath", str(hooks))
    project.git("config", "core.fsmonitor", str(hooks / "fsmonitor-watchman"))
    project.write("src/app.py", "changed\n")
    project.checkpoint("C2")
    project.roll_back("C1", "all")
    project.undo()
    assert not mark.exists()


def test_what_is_in_it(project: Project) -> None:
    project.checkpoint("C1")
    private = project.root / ".git" / "gitckpt"
    names = {path.name.partition(".")[0] for path in private.iterdir()}
    assert names - {"sharedindex"} == {"HEAD", "config", "index", "info", "live", "lock", "refs", "scan", "staging"}
    assert os.readlink(private / "info" / "exclude") == str(project.root / ".git" / "info" / "exclude")
    assert (private / "info" / "attributes").read_text() == "* -text -filter -ident -working-tree-encoding -eol -crlf\n"


def test_it_is_written_only_where_it_is_not_as_it_should_be(project: Project) -> None:
    project.checkpoint("C1")
    private = project.root / ".git" / "gitckpt"
    fixed = [private / name for name in ("HEAD", "config", "info/attributes", "info/exclude")]
    before = [path.lstat().st_mtime_ns for path in fixed]
    project.checkpoint("C2")
    assert [path.lstat().st_mtime_ns for path in fixed] == before


def test_a_deleted_directory_is_made_again(project: Project) -> None:
    project.checkpoint("C1")
    project.write("src/app.py", "second\n")
    shutil.rmtree(project.root / ".git" / "gitckpt")
    event = project.checkpoint("C2")
    assert project.held(event.commit) == files_on_disk(project.root)
    project.roll_back("C1")
    assert project.read("src/app.py") == b"import lib\n"


def test_a_file_in_its_place_is_replaced(project: Project) -> None:
    project.write(".git/gitckpt", "not a directory\n")
    assert project.held(project.checkpoint("C1").commit) == files_on_disk(project.root)


DAMAGES = [
    *((name, how) for name in ("index", "scan.json", "sharedindex") for how in ("emptied", "overwritten", "deleted")),
    *((name, "overwritten") for name in ("config", "info/attributes", "info/exclude")),
    *((name, "a directory") for name in ("config", "index", "scan.json", "staging")),
    ("index", "cut"),
    ("index", "a bit is another"),
    ("sharedindex", "a bit is another"),
    ("index", "unreadable"),
]
OFTEN = DAMAGES[1:9:3] + DAMAGES[9:14:2] + [("index", "a directory"), ("sharedindex", "deleted")]


@pytest.mark.parametrize(("name", "how"), others_slow(DAMAGES, lambda case: case in OFTEN))
def test_a_damaged_file_is_mended_without_a_word(project: Project, name: str, how: str) -> None:
    project.write("notes.txt", "untracked\n")
    project.checkpoint("C1")
    private = project.root / ".git" / "gitckpt"
    for path in private.glob("sharedindex.*") if name == "sharedindex" else [private / name]:
        damage(how)(path)
    project.write("src/app.py", "second\n")
    event = project.checkpoint("C2")
    assert project.held(event.commit) == files_on_disk(project.root)
    assert project.held(project.find("C1").commit)["src/app.py"] == ("100644", b"import lib\n")


@pytest.mark.parametrize("share", [0.4, 0.6, 0.64])
def test_what_is_left_of_an_index_that_was_cut_is_no_index(project: Project, share: float) -> None:
    """Git does not look at the checksum: it takes the first entries, and a tree of the old ones, for all there is."""
    project.checkpoint("C1")
    project.write("notes.txt", "untracked\n")
    project.write("src/app.py", "first\n")
    project.checkpoint("C2")
    private = project.root / ".git" / "gitckpt"
    length = int((private / "index").stat().st_size * share)
    for path in (private / "index", *private.glob("sharedindex.*"), private / "scan.json"):
        path.write_bytes(path.read_bytes()[:length])
    project.write("src/app.py", "second\n")
    assert project.held(project.snapshot().tree) == files_on_disk(project.root)


@pytest.mark.parametrize("name", ["index.lock", "scratch.lock"])
def test_the_lock_of_a_git_that_was_killed_is_taken_away(project: Project, name: str) -> None:
    project.checkpoint("C1")
    lock = project.root / ".git" / "gitckpt" / name
    lock.write_bytes(b"")
    os.utime(lock, (1, 1))
    project.write("src/app.py", "second\n")
    assert project.held(project.checkpoint("C2").commit) == files_on_disk(project.root)
    assert not lock.exists()


def test_it_may_be_deleted_under_a_running_recorder(project: Project) -> None:
    recorder = Recorder(project.tree())
    recorder.save("one")
    shutil.rmtree(project.root / ".git" / "gitckpt")
    project.write("src/app.py", "second\n")
    event = recorder.save("two")
    assert project.held(event.commit) == files_on_disk(project.root)


def test_objects_that_the_private_index_knows_may_be_gone(project: Project) -> None:
    """Somebody deletes our refs and collects garbage: the index must not be trusted about what is left."""
    project.write("notes.txt", "untracked\n")
    project.write("more/notes.txt", "untracked too\n")
    event = project.checkpoint("C1")
    for name in project.git("for-each-ref", "--format=%(refname)", "refs/gitckpt").splitlines():
        project.git("update-ref", "-d", name)
    project.git("symbolic-ref", "-d", "refs/worktree/gitckpt/current")
    project.git("gc", "-q", "--prune=now")
    project.git("cat-file", "-e", event.commit, ok=(1, 128))
    project.write("src/app.py", "second\n")
    assert project.held(project.checkpoint("C1").commit) == files_on_disk(project.root)
    project.git("fsck", "--strict", "--no-dangling")


def test_the_same_objects_gone_under_a_running_recorder(project: Project) -> None:
    project.write("notes.txt", "untracked\n")
    recorder = Recorder(project.tree())
    recorder.save("one")
    for name in project.git("for-each-ref", "--format=%(refname)", "refs/gitckpt").splitlines():
        project.git("update-ref", "-d", name)
    project.git("gc", "-q", "--prune=now")
    project.write("src/app.py", "second\n")
    recorder = Recorder(recorder.tree, alone=True)
    assert project.held(recorder.save("two").commit) == files_on_disk(project.root)
    project.git("fsck", "--strict", "--no-dangling")


def test_the_users_exclude_file_counts_as_it_is_now(project: Project) -> None:
    project.write("a.tmp", "x")
    assert "a.tmp" in project.held(project.checkpoint("C1").commit)
    project.write(".git/info/exclude", "*.tmp\n")
    assert "a.tmp" not in project.held(project.checkpoint("C2").commit)


def test_the_users_own_ignore_file_may_have_any_name(project: Project, tmp_path: Path) -> None:
    names = ['with "quotes"', "with\\backslash", "with # and ;", " blank "]
    for number, name in enumerate(names):
        project.write(f"a.tmp{number}", "x")
        (tmp_path / name).write_text(f"*.tmp{number}\n")
        project.git("config", "core.excludesFile", str(tmp_path / name))
        others = {f"a.tmp{other}" for other in range(number)}
        assert set(project.held(project.checkpoint("C1").commit)) == {*FILES, *others}


@pytest.mark.parametrize("where", ["~/ignore", ".config/git/ignore", "$XDG_CONFIG_HOME"])
def test_the_users_own_ignore_file_is_found(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    file = {"~/ignore": home / "ignore", ".config/git/ignore": home / ".config/git/ignore"}.get(
        where, home / "x/git/ignore"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("*.tmp\n")
    if where.startswith("~"):
        project.git("config", "core.excludesFile", where)
    if where.startswith("$"):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "x"))
    project.write("a.tmp", "x")
    assert "a.tmp" not in project.held(project.checkpoint("C1").commit)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_files_of_somebody_elses_come_with_the_command_that_gives_them_back(project: Project) -> None:
    git_dir = project.root / ".git"
    os.chown(git_dir / "refs", 65534, 65534)
    own, others = os.fsencode(git_dir / "HEAD"), os.fsencode(git_dir / "refs")
    assert opens(own, os.fsencode(git_dir)) == f"chmod -R u+rwX {git_dir / 'HEAD'}"
    assert opens(others, os.fsencode(git_dir)) == f'sudo chown -R "$(id -un)" {git_dir}'
    git_dir.chmod(0o2775)  # as git init --shared makes it: what is theirs must not be taken from them
    assert opens(others, os.fsencode(git_dir)).startswith("git worktree add ../NAME")
