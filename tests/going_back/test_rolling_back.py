"""A rollback: what comes back, what is left alone, what is on record before the first write, and that it is verified."""

from __future__ import annotations

import os

import pytest
from observation import differences, traces
from project import Project
from situations import at_c1, change_everything

from gitckpt.repo.journal import Journal
from gitckpt.trajectory.plan import Plan


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


def test_names_that_git_does_not_take_are_left_and_bar_no_way(project: Project) -> None:
    """They are in the record, as what a snapshot lacks; a record is checked before it is followed."""
    project.write(".GIT/config", "mine\n")
    (project.root / "src" / ".Git").mkdir(mode=0o700)
    at_c1(project)
    before = project.disk()
    project.write("src/.gIT", "mine too\n")
    project.write("src/app.py", "changed\n")
    changed = project.disk()
    outcome = project.roll_back("C1")
    assert outcome.left == (b".GIT/config", b"src/.gIT")
    assert project.disk() == before | {"src/.gIT": changed["src/.gIT"]}
    project.undo()
    assert project.disk() == changed


def test_letters_count_whatever_the_configuration_says(project: Project) -> None:
    project.git("config", "core.ignoreCase", "true")
    project.write("Data/Notes", "first\n")
    project.commit("of the first spelling")
    project.checkpoint("C1")
    before = project.disk()
    (project.root / "Data" / "Notes").rename(project.root / "Data" / "notes")
    (project.root / "src").rename(project.root / "SRC")
    project.write("readme.md", "beside README.md\n")
    changed = project.disk()
    project.roll_back("C1")
    assert project.disk() == before
    project.undo()
    assert project.disk() == changed


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


def test_an_ignored_file_in_the_way_of_a_tracked_directory_is_planned_to_go_and_comes_back(project: Project) -> None:
    project.write(".gitignore", "*\n!.gitignore\n")
    project.checkpoint("C1")
    project.remove("tests")
    project.write("tests", "kept\n", 0o600)
    before = project.disk()
    steps = {step.path: step.action for step in project.plan("C1").steps}
    assert steps == {b"tests": "delete", b"tests/check.sh": "restore"}
    project.roll_back("C1")
    between = project.disk()
    project.roll_back("C1")
    project.remove(".git/gitckpt")
    project.undo()
    assert project.disk() == between
    project.undo()
    assert project.disk() == before


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


def test_permission_bits_of_a_directory_do_not_pass_to_the_file_in_its_place(project: Project) -> None:
    project.write("data", "a file\n")
    project.checkpoint("C1")
    before = project.disk()
    project.remove("data")
    project.write("data/inner", "x")
    (project.root / "data").chmod(0o700)
    project.roll_back("C1")
    assert project.disk() == before


def test_an_empty_directory_that_was_filled_and_closed_is_empty_again(project: Project) -> None:
    (project.root / "data").mkdir()
    project.checkpoint("C1")
    before = project.disk()
    project.write("data/inner", "x")
    (project.root / "data").chmod(0o700)
    project.roll_back("C1")
    assert project.disk() == before


def test_a_closed_directory_that_is_newer_goes_and_one_with_ignored_files_is_left(project: Project) -> None:
    project.checkpoint("C1", session="s")
    for name in ("empty", "filled/deep", "logs"):
        (project.root / name).mkdir(parents=True, mode=0o700)
    project.write("filled/deep/inner", "x")
    project.write("logs/kept.log", "x")
    plan = project.plan("C1")
    assert [(step.action, step.path) for step in plan.steps] == [
        ("delete", b"empty/"), ("delete", b"filled/deep/inner"),
    ]  # fmt: skip
    project.roll_back("C1")
    assert {path for path in project.disk() if path.endswith("/")} == {"logs/", "src/", "src/lib/", "tests/"}
    assert project.disk()["logs/"] == ("directory", 0o700, b"")


def test_permission_bits_of_a_file_that_is_written_again(project: Project) -> None:
    project.write("secret", "one\n", 0o600)
    project.write("tool", "one\n", 0o700)
    project.checkpoint("C1")
    before = project.disk()
    for name, mode in (("secret", 0o600), ("tool", 0o700)):
        project.write(name, "two\n", mode)
    project.roll_back("C1")
    assert project.disk() == before


def test_an_empty_directory_with_bits_of_its_own_comes_back_where_a_file_is_now(project: Project) -> None:
    project.remove("src/lib/core.py")
    (project.root / "src/lib").chmod(0o700)
    project.checkpoint("C1")
    before = project.disk()
    (project.root / "src/lib").chmod(0o755)
    project.write("src/lib/core.py", "back\n")
    project.roll_back("C1")
    assert project.disk() == before


def test_a_newer_empty_directory_with_bits_of_its_own_goes(project: Project) -> None:
    project.checkpoint("C1")
    before = project.disk()
    (project.root / "newer").mkdir(0o700)
    (project.root / "src/lib").chmod(0o700)
    project.remove("src/lib/core.py")
    project.roll_back("C1")
    assert project.disk() == before


def test_a_file_that_comes_back_where_a_directory_is_has_its_own_bits(project: Project) -> None:
    project.checkpoint("C1")
    before = project.disk()
    project.remove("src/app.py")
    (project.root / "src/app.py").mkdir(0o700)
    project.roll_back("C1")
    assert project.disk() == before


def test_a_file_that_comes_back_where_a_directory_had_an_empty_one_in_it(project: Project) -> None:
    project.write("a", "a file\n")
    project.checkpoint("C1")
    before = project.disk()
    project.remove("a")
    (project.root / "a" / "x").mkdir(parents=True)
    (project.root / "a" / "x").chmod(0o700)
    project.roll_back("C1")
    assert project.disk() == before


def test_outside_a_sparse_checkout_only_what_was_worked_on_is_brought_back(project: Project) -> None:
    committed = project.read("README.md")
    project.checkpoint("C1")
    project.write("README.md", "work\n")
    project.checkpoint("C2")
    project.write("README.md", committed.decode())
    project.git("update-index", "-q", "--refresh")  # what git takes for changed it leaves on disk
    project.git("sparse-checkout", "set", "--no-cone", "/src/", "/.gitignore")
    project.git("update-index", "--cacheinfo", f"100644,{project.git('rev-parse', ':.gitignore')},README.md")
    project.git("update-index", "--skip-worktree", "README.md")
    project.roll_back("C1", "files")
    assert not (project.root / "README.md").exists()
    project.roll_back("C2", "files")
    assert project.read("README.md") == b"work\n"
    project.remove("README.md")
    project.roll_back("C1", "files", paths=(b"README.md",))
    assert project.read("README.md") == committed
