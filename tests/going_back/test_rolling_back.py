"""A rollback: what comes back, what is left alone, what is on record before the first write, and that it is verified."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import shim
from observation import differences, traces
from project import Project

from gitckpt.errors import Damaged, Negative, Refused
from gitckpt.repo.journal import Journal
from gitckpt.trajectory.plan import Plan


def change_everything(project: Project) -> None:
    """A change of every kind."""
    project.write("src/app.py", "changed\n")
    (project.root / "tests" / "check.sh").chmod(0o644)
    project.remove("README.md")
    project.write("new/deep/file", "new\n")
    project.remove("src/lib")
    project.write("src/lib", "a file where a directory was\n")
    project.remove("link")
    project.write("link/inner", "a directory where a link was\n")
    project.remove("file")
    project.link("file", "link where a file was")
    (project.root / "private").chmod(0o644)
    project.remove("emptied/x")
    project.write("data/was-empty", "x")
    (project.root / "another empty one").mkdir()


def at_c1(project: Project) -> None:
    """More than the template has, and a checkpoint of it."""
    project.link("link", "src")
    project.write("file", b"bytes \0\xff\r\n")
    project.write("private", "secret\n", 0o600)
    project.write("emptied/x", "x")
    project.write("ignored.log", "not recorded\n")
    (project.root / "data").mkdir(mode=0o700)
    project.checkpoint("C1", session="s")


def test_everything_is_as_it_was(project: Project) -> None:
    at_c1(project)
    before = project.disk()
    change_everything(project)
    outcome = project.roll_back("C1")
    assert project.disk() == before
    assert (outcome.left, outcome.notes, outcome.commits_left) == ((), (), ())


def test_what_the_rules_ignore_is_left_alone(project: Project) -> None:
    at_c1(project)
    project.write("ignored.log", "changed\n")
    project.write("src/new.log", "new\n")
    project.write("build/out", "new\n")
    project.write("src/app.py", "changed\n")
    before = project.disk()
    project.roll_back("C1")
    after = project.disk()
    assert after.pop("src/app.py")[2] == b"import lib\n"
    assert before.pop("src/app.py")[2] == b"changed\n"
    assert after == before


def test_only_what_differs_is_written(project: Project) -> None:
    at_c1(project)
    project.write("src/app.py", "changed\n")
    project.write("new", "x")
    before = traces(project.root)
    project.roll_back("C1")
    after = traces(project.root)
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} == {
        "src/",
        "src/app.py",
        "new",
    }


def test_to_where_one_stands_nothing_is_written(project: Project) -> None:
    at_c1(project)
    before = traces(project.root), project.of_the_user()
    outcome = project.roll_back("C1")
    assert outcome.changed == 0
    assert traces(project.root) == before[0]
    assert differences(before[1], project.of_the_user()) == {}


def test_twice_is_as_good_as_once(project: Project) -> None:
    at_c1(project)
    change_everything(project)
    project.roll_back("C1")
    before = traces(project.root), project.of_the_user()
    assert project.roll_back("C1").changed == 0
    assert traces(project.root) == before[0]
    assert differences(before[1], project.of_the_user()) == {}


def test_the_present_is_on_record_first(project: Project) -> None:
    at_c1(project)
    change_everything(project)
    before = project.disk()
    event = project.roll_back("C1").event
    assert (event.kind, event.session, event.line) == ("rollback", "s", "main")
    assert event.opens == {"session": "s", "line": "rollback-2", "at": project.find("s/C1").commit}
    assert project.held(event.commit)["src/lib"] == ("100644", b"a file where a directory was\n")
    project.roll_back(event.commit)
    assert project.disk() == before


def test_history_only_grows(project: Project) -> None:
    at_c1(project)
    project.write("src/app.py", "two\n")
    c2 = project.checkpoint("C2")
    event = project.roll_back("C1").event
    c3 = project.checkpoint("C3")
    session = Journal(project.repository()).session("s")
    assert [e.id or e.kind for e in session.on_line("main")] == ["start", "C1", "C2", "rollback"]
    assert [e.id or e.kind for e in session.on_line("rollback-2")] == ["start", "C1", "C3"]
    assert (event.parents[0], c3.parents[0]) == (c2.commit, session.events[1].commit)
    assert Journal(project.repository()).current() == ("s", "rollback-2")


def test_any_checkpoint_in_any_order(project: Project) -> None:
    pictures = {}
    for number in range(1, 5):
        project.write("src/app.py", f"{number}\n")
        project.write(f"only-{number}", "x")
        if number > 1:
            project.remove(f"only-{number - 1}")
        project.checkpoint(f"C{number}")
        pictures[f"C{number}"] = project.disk()
    for name in ("C1", "C4", "C2", "C3", "C1"):
        project.roll_back(name)
        assert project.disk() == pictures[name]


def test_into_an_older_session(project: Project) -> None:
    project.checkpoint("C1", session="old")
    before = project.disk()
    project.write("src/app.py", "new\n")
    project.checkpoint("C1", session="new")
    later = project.disk()
    event = project.roll_back("old/C1").event
    assert project.disk() == before
    assert (event.session, (event.opens or {})["session"]) == ("new", "old")
    assert project.checkpoint("C2").session == "old"
    project.undo()
    assert project.disk() == later


def test_a_plan_changes_nothing(project: Project) -> None:
    at_c1(project)
    change_everything(project)
    before = project.of_the_user(), traces(project.root), project.git("for-each-ref", "refs/gitckpt")
    plan = project.plan("C1")
    assert plan.hash == project.plan("C1").hash
    assert differences(before[0], project.of_the_user()) == {}
    assert (traces(project.root), project.git("for-each-ref", "refs/gitckpt")) == before[1:]


def steps(plan: Plan) -> dict[str, tuple[str, str, bool]]:
    return {os.fsdecode(step.path): (step.action, step.reason, step.changed_since_last_event) for step in plan.steps}


def test_the_plan_says_what_becomes_of_each_path(project: Project) -> None:
    at_c1(project)
    change_everything(project)
    project.checkpoint("C2")
    project.write("by-hand", "x")
    project.write("src/app.py", "changed again\n")
    newer, missing = "newer than the target", "missing now"
    assert steps(project.plan("C1")) == {
        "README.md": ("restore", missing, False),
        "another empty one/": ("delete", "an empty directory that is newer", False),
        "by-hand": ("delete", newer, True),
        "data/": ("restore", "an empty directory", False),
        "data/was-empty": ("delete", newer, False),
        "emptied/": ("delete", "an empty directory that is newer", False),
        "emptied/x": ("restore", missing, False),
        "file": ("restore", "of another kind now", False),
        "link": ("restore", missing, False),
        "link/inner": ("delete", newer, False),
        "new/deep/file": ("delete", newer, False),
        "private": ("mode", "permission bits 600", False),
        "src/app.py": ("restore", "changed since", True),
        "src/lib": ("delete", newer, False),
        "src/lib/core.py": ("restore", missing, False),
        "tests/check.sh": ("mode", "the executable bit", False),
    }


def test_a_file_of_no_checkpoint_is_named_and_left(project: Project) -> None:
    at_c1(project)
    project.git("config", "gitckpt.maxFileSize", "1000")
    project.write("big", b"x" * 1001)
    project.write("src/app.py", "changed\n")
    before = project.disk()["big"]
    outcome = project.roll_back("C1")
    assert outcome.left == (b"big",)
    assert project.disk()["big"] == before


@pytest.mark.parametrize("rules", [".gitignore", "data/.gitignore", ".git/info/exclude"])
def test_a_rule_that_goes_away_deletes_nothing_it_protected(project: Project, rules: str) -> None:
    """Deletions are decided once, under the rules in force before the first write."""
    project.write("data/plain", "x")
    project.checkpoint("C1")
    project.write(rules, "gold\n")
    project.write("data/gold", "gold\n")
    project.roll_back("C1")
    assert project.read("data/gold") == b"gold\n"
    # now it is a file like any other, which is newer than the target
    before = project.disk()
    project.roll_back("C1")
    project.undo()
    assert project.disk() == before


def test_what_the_targets_rules_ignore_may_have_been_there_all_along(project: Project) -> None:
    project.write("cache/x", "ignored at C1\n")
    project.write(".gitignore", "cache/\n")
    project.checkpoint("C1")
    project.write(".gitignore", "")
    project.checkpoint("C2")
    outcome = project.roll_back("C1")
    assert outcome.left == (b"cache/x",)
    assert project.read("cache/x") == b"ignored at C1\n"


def test_permission_bits_of_a_directory_that_is_made_again(project: Project) -> None:
    """Git takes a directory away when its last file goes, and makes another."""
    project.write("private/one", "x")
    (project.root / "private").chmod(0o700)
    project.checkpoint("C1")
    before = project.disk()
    project.remove("private/one")
    project.write("private/two", "y")
    assert (project.root / "private").stat().st_mode & 0o777 == 0o700
    project.roll_back("C1")
    assert project.disk() == before


def test_permission_bits_of_a_file_that_is_written_again(project: Project) -> None:
    project.write("secret", "one\n", 0o600)
    project.write("tool", "one\n", 0o700)
    project.checkpoint("C1")
    before = project.disk()
    for name, mode in (("secret", 0o600), ("tool", 0o700)):
        project.write(name, "two\n", mode)
    project.roll_back("C1")
    assert project.disk() == before


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


@pytest.mark.parametrize("path", [b"sr", b"src/ap", b"*", b":(top)src", b"none"])
def test_a_path_that_names_nothing_is_refused(project: Project, path: bytes) -> None:
    project.checkpoint("C1", session="s")
    project.write("src/app.py", "changed\n")
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
