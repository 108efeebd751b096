"""`rollback`, `undo` and `redo`: what is planned, what is done, what is told, and what is refused."""

from __future__ import annotations

import re

import pytest
from commandline import Place, checkpoint, stable

UNDO = "gitckpt: to take it back: gitckpt undo\n"


@pytest.fixture
def worked(recorded: Place) -> Place:
    """After C3 a person has edited a recorded file, added one, and has an ignored one too."""
    recorded.write("a.txt", "by hand\n")
    recorded.write("mine.txt", "mine\n")
    recorded.write("x.log", "ignored\n")
    return recorded


def texts(place: Place) -> dict[str, str]:
    return {name: content.decode() for name, (kind, _, content) in place.bytes().items() if kind == "file"}


AT_C1 = {
    ".gitignore": "*.log\n", "a.txt": "a at C1\n", "new1.txt": "new at C1\n", "src/b.txt": "b as committed\n",
    "x.log": "ignored\n",
}  # fmt: skip


# -- the plan


def test_a_dry_run_shows_the_plan_and_changes_nothing(worked: Place) -> None:
    before, users, ids = worked.bytes(), worked.users(), worked.ids()
    assert worked.ok("rollback", "C1", "--dry-run") == (
        0,
        b"Roll back to run/C1, scope staged: 1 path to restore, 3 paths to delete\n"
        b"Restore (1)\n"
        b"! a.txt  changed since\n"
        b"Delete (3)\n"
        b"! mine.txt  newer than the target\n"
        b"  new2.txt  newer than the target\n"
        b"  new3.txt  newer than the target\n"
        b"! changed since the last recorded event; what is there now is saved first\n",
        "",
    )
    assert (worked.bytes(), worked.users(), worked.ids()) == (before, users, ids)


def test_the_plan_as_json_is_what_a_rollback_then_does(worked: Place) -> None:
    plan = worked.ok("rollback", "C1", "-n", "--json").json
    assert {step["path"]: step["action"] for step in plan["steps"]} == {
        "a.txt": "restore", "mine.txt": "delete", "new2.txt": "delete", "new3.txt": "delete",
    }  # fmt: skip
    done = worked.ok("rollback", "C1", "--json").json
    assert done["plan"] == plan
    assert done["safety"] == worked.json("log")["events"][-1]["commit"]
    assert (done["verified"], done["left"], done["notes"]) == (True, 0, [])
    assert texts(worked) == AT_C1


# -- there and back


def test_rollback_undo_and_redo(worked: Place) -> None:
    before, users = worked.bytes(), worked.users()
    assert worked.ok("rollback", "C1") == (0, b"rolled back to C1, 4 paths, verified\n", UNDO)
    assert texts(worked) == AT_C1
    after = worked.bytes()
    assert worked.ok("undo").out == "undone: as before the rollback, 4 paths, verified\n"
    assert worked.bytes() == before
    assert worked.ok("redo").out == "redone: as before the undo, 4 paths, verified\n"
    assert worked.bytes() == after
    worked.ok("undo", "--json")
    assert worked.bytes() == before
    worked.ok("redo", "--json")
    assert worked.bytes() == after
    assert {**worked.users(), "index": ""} == {**users, "index": ""}


def test_each_rollback_is_undone_in_its_turn_also_after_new_work(worked: Place) -> None:
    first = worked.bytes()
    worked.ok("rollback", "C2")
    second = worked.bytes()
    worked.ok("rollback", "C1")
    worked.write("later.txt", "later work\n")
    worked.ok("record", stdin=checkpoint("8"))
    worked.ok("undo")
    assert worked.bytes() == second
    worked.ok("undo")
    assert worked.bytes() == first
    assert worked.ok("show", "C8", "--path", "later.txt").out == "later work\n"


def test_rollback_to_where_one_is_changes_nothing(recorded: Place) -> None:
    before = recorded.bytes()
    assert recorded.ok("rollback", "C3").out == "rolled back to C3, 0 paths, verified\n"
    assert recorded.bytes() == before


def test_a_checkpoint_goes_by_many_names(worked: Place) -> None:
    names = {"C2": "C2", "2": "C2", "c2": "C2", "run/C2": "C2", "C2@main": "C2", "start": "C1", "last": "C3"}
    for name, id in names.items():
        assert worked.ok("show", name, "--path", "a.txt").out == f"a at {id}\n"


def test_a_commit_id_and_an_older_one_of_the_same_id_are_names_too(worked: Place) -> None:
    commit = worked.json("show", "C1")["commit"]
    worked.ok("rollback", commit[:10])
    assert worked.read("a.txt") == "a at C1\n"
    worked.ok("record", stdin=checkpoint("1", "again"))
    worked.write("a.txt", "later\n")
    worked.ok("rollback", "C1~1")
    assert worked.read("a.txt") == "a at C1\n"


def test_where_a_checkpoint_was_found_is_said(worked: Place) -> None:
    worked.ok("rollback", "C1")
    answer = worked.ok("rollback", "C3")
    assert answer.err == f"gitckpt: C3 is not on the current line (rollback-2); it was found on line main\n{UNDO}"
    worked.ok("record", "--session", "second", stdin=checkpoint("9"))
    assert worked.ok("rollback", "C2").err == f"gitckpt: C2 was found in session run\n{UNDO}"


# -- less than all


def test_only_the_paths_that_are_named_go_back_seen_from_where_one_stands(worked: Place) -> None:
    worked.write("src/b.txt", "b by hand\n")
    assert worked.ok("rollback", "C1", "--path", "a.txt", "--path", "new2.txt").out == (
        "rolled back to C1, 2 paths, verified\n"
    )
    assert texts(worked) == {
        ".gitignore": "*.log\n", "a.txt": "a at C1\n", "mine.txt": "mine\n", "new1.txt": "new at C1\n",
        "new3.txt": "new at C3\n", "src/b.txt": "b by hand\n", "x.log": "ignored\n",
    }  # fmt: skip
    worked.ok("rollback", "C1", "--path", "b.txt", cwd=worked.path / "src")
    assert worked.read("src/b.txt") == "b as committed\n"
    worked.ok("rollback", "C1", "--path", "../new3.txt", cwd=worked.path / "src")
    assert not (worked.path / "new3.txt").exists()
    assert worked.read("mine.txt") == "mine\n"


LEADS_OUT = {
    "../work": "outside of the work tree",
    "/etc/passwd": "outside of the work tree",
    "src/../../x": "outside of the work tree",
    ".git": "git's own",
    ".git/config": "git's own",
    "src/../.git/hooks": "git's own",
    "src/.GIT/x": "git's own",
}


def test_a_path_that_leads_out_is_refused(worked: Place) -> None:
    before, ids = worked.bytes(), worked.ids()
    for path, why in LEADS_OUT.items():
        answer = worked.run("rollback", "C1", "--path", path)
        assert (answer.status, answer.out) == (3, "")
        assert answer.err.startswith(f"gitckpt: {path!r} is {why}\n")
    assert (worked.bytes(), worked.ids()) == (before, ids)


def test_a_path_that_neither_side_knows_is_refused_by_name(worked: Place) -> None:
    before, ids = worked.bytes(), worked.ids()
    answer = worked.run("rollback", "C1", "--path", "a.tx")
    assert (answer.status, answer.out) == (3, "")
    assert "'a.tx'" in answer.err
    assert (worked.bytes(), worked.ids()) == (before, ids)


def test_scopes_move_files_staging_area_and_branch(worked: Place) -> None:
    first = worked.git("rev-parse", "HEAD")
    worked.git("add", "-A")
    worked.git("commit", "-q", "-m", "second")
    second = worked.git("rev-parse", "HEAD")
    assert "the staging area is untouched: HEAD is not at that checkpoint's commit; --scope all puts both back" in (
        worked.ok("rollback", "C1").err
    )
    assert (worked.git("rev-parse", "HEAD"), worked.read("a.txt")) == (second, "a at C1\n")
    worked.ok("undo")
    answer = worked.ok("rollback", "C1", "--scope", "all")
    assert "commit no longer on the branch, kept by run/" in answer.err and " second\n" in answer.err
    assert (worked.git("rev-parse", "HEAD"), worked.git("symbolic-ref", "HEAD")) == (first, "refs/heads/main")
    assert worked.git("status", "--porcelain").splitlines() == [" M a.txt", "?? new1.txt"]
    worked.ok("undo")
    assert (worked.git("rev-parse", "HEAD"), worked.git("status", "--porcelain")) == (second, "")


def test_scope_files_leaves_the_staging_area(worked: Place) -> None:
    worked.git("add", "-A")
    staged = worked.git("ls-files", "-s")
    worked.ok("rollback", "C1", "--scope", "files")
    assert (worked.git("ls-files", "-s"), worked.read("a.txt")) == (staged, "a at C1\n")
    worked.ok("undo")
    worked.ok("rollback", "C1", "--scope", "staged")
    assert worked.git("diff", "--cached", "--name-only") == ""


def test_what_cannot_be_saved_first_stands_in_the_way_unless_it_may_stay(place: Place) -> None:
    place.write("d", "a file\n")
    place.ok("record", "--session", "s", stdin=checkpoint("1"))
    (place.path / "d").unlink()
    place.write("d/x.log", "ignored, and nowhere else\n")
    place.write("a.txt", "later\n")
    before, ids = place.bytes(), place.ids()
    answer = place.run("rollback", "C1")
    assert answer.status == 3
    assert "\n  d: a directory stands there with d/x.log in it, which is not on record\n" in answer.err
    assert answer.err.endswith("→ move them away, or leave them as they are with --keep\n")
    assert (place.bytes(), place.ids()) == (before, ids)
    assert place.ok("rollback", "C1", "--keep").err.startswith("gitckpt: left as it is: d: ")
    assert (place.read("a.txt"), place.read("d/x.log")) == ("a as committed\n", "ignored, and nowhere else\n")


# -- by the hint


def hinted(place: Place, hint: str, id: str = "5") -> Place:
    """A step C4, then a step that changed two files and says how to undo itself."""
    place.ok("record", stdin=checkpoint("4"))
    place.write("a.txt", "a at C5\n")
    place.write("src/b.txt", "b at C5\n")
    place.ok("record", stdin=checkpoint(id, hint=hint))
    return place


def test_a_hint_is_followed_and_what_is_a_command_is_left_to_the_person(recorded: Place) -> None:
    place = hinted(recorded, "若失败，回退到 C4，git checkout a.txt 撤销，再 npm uninstall dayjs")
    answer = place.ok("rollback", "--hint", "C5")
    assert answer.out.endswith("1 path, verified\n")
    assert "gitckpt: by hand: npm uninstall dayjs\n" in answer.err
    assert (place.read("a.txt"), place.read("src/b.txt")) == ("a at C3\n", "b at C5\n")
    place.ok("undo")
    assert place.read("a.txt") == "a at C5\n"


def test_a_hint_with_nothing_to_undo_changes_nothing(recorded: Place) -> None:
    place = hinted(recorded, "本步只读不写，无需回退")
    before, ids = place.bytes(), place.ids()
    assert place.ok("rollback", "--hint", "C5").out == "the rollback_hint of C5 says that there is nothing to undo\n"
    assert (place.bytes(), place.ids()) == (before, ids)


def test_a_hint_with_nothing_to_undo_is_json_where_json_is_asked_for(recorded: Place) -> None:
    plan = hinted(recorded, "read-only, nothing to undo").ok("rollback", "--hint", "C5", "--dry-run", "--json").json
    assert (plan["schema"], plan["steps"]) == ("gitckpt.plan/1", [])


def test_path_limits_what_a_hint_does(recorded: Place) -> None:
    place = hinted(recorded, "back to C4, git checkout a.txt src/b.txt")
    place.ok("rollback", "--hint", "C5", "--path", "src")
    assert (place.read("a.txt"), place.read("src/b.txt")) == ("a at C5\n", "b as committed\n")


LEADS_ELSEWHERE = {
    "git checkout ../../etc/passwd": "'../../etc/passwd': may lead out of the work tree",
    "git checkout src/../../x": "'src/../../x': may lead out of the work tree",
    "rm -rf /": "'/': outside the work tree",
    "rm -rf ~": "'~': outside the work tree",
    "rm .git/config": "'.git/config': inside git's own directory",
    "git checkout ':(top)*'": "':(top)*': pathspec magic",
    "git checkout no-such.txt": "'no-such.txt': names nothing in the target or in the work tree",
    "回滚": "says nothing that can be carried out (P006)",
    "back to C99": "names C99, which is not on record",
}


def test_a_hint_that_leads_elsewhere_is_refused(recorded: Place) -> None:
    recorded.ok("record", stdin="".join(checkpoint(f"h{n}", hint=hint) for n, hint in enumerate(LEADS_ELSEWHERE)))
    before, ids = recorded.bytes(), recorded.ids()
    for number, said in enumerate(LEADS_ELSEWHERE.values()):
        answer = recorded.run("rollback", "--hint", f"h{number}")
        assert (answer.status, answer.out, "→ " in answer.err) == (3, "", True)
        assert said in answer.err and f"the rollback_hint of h{number} " in answer.err
    assert (recorded.bytes(), recorded.ids()) == (before, ids)


def test_no_hint_is_ever_run(recorded: Place) -> None:
    hints = ["$(touch owned)", "`touch owned`", "git checkout a.txt; touch owned", "touch owned &"]
    recorded.ok("record", stdin="".join(checkpoint(f"h{n}", hint=hint) for n, hint in enumerate(hints)))
    for number in range(len(hints)):
        recorded.run("rollback", "--hint", f"h{number}")
    assert not (recorded.path / "owned").exists()


# -- interrupted


def interrupted(place: Place) -> Place:
    """A rollback to C1 whose git cannot write the work tree."""
    failing = 'case " $* " in *" read-tree -m -u "*) exit 128;; esac'
    answer = place.run("rollback", "C1", env=place.before_git(failing))
    assert (answer.status, "read-tree" in answer.err) == (4, True)
    return place


def test_an_interrupted_rollback_is_named_and_can_be_finished(worked: Place) -> None:
    place = interrupted(worked)
    assert place.json("status")["interrupted"] == "rollback to run/C1"
    assert "interrupted  rollback to run/C1\n" in place.ok("status").out
    for command in ("undo", "redo"):
        assert place.run(command) == (
            3,
            b"",
            "gitckpt: a rollback was interrupted: rollback to C1\n"
            "gitckpt:   → gitckpt rollback --continue finishes it, gitckpt rollback --abort takes it back\n",
        )
    before = place.bytes()
    assert place.ok("rollback", "--continue").out == "rolled back to C1, 4 paths, verified\n"
    assert texts(place) == AT_C1
    assert place.json("status")["interrupted"] is None
    place.ok("undo")
    assert place.bytes() == before


def test_an_interrupted_rollback_can_be_taken_back(worked: Place) -> None:
    place = interrupted(worked)
    before = place.bytes()
    place.write("new2.txt", "half written by the rollback\n")
    assert "undo" not in place.ok("rollback", "--abort").err  # it would take back the rollback before
    assert (place.bytes(), place.json("status")["interrupted"]) == (before, None)


def test_without_an_interruption_there_is_nothing_to_end(recorded: Place) -> None:
    what = "gitckpt: no rollback was interrupted in this work tree\n"
    help = "gitckpt:   → gitckpt status shows where it stands\n"
    for option in ("--continue", "--abort"):
        assert recorded.run("rollback", option) == (3, b"", what + help)


def test_one_wish_at_a_time(worked: Place) -> None:
    place = interrupted(worked)
    before = place.bytes()
    for options in (["--continue", "--abort"], ["C1", "--continue"], ["C1", "--abort"]):
        assert place.run("rollback", *options).status == 2
    assert (place.bytes(), place.json("status")["interrupted"]) == (before, "rollback to run/C1")


# -- nothing to go back to


def test_nothing_to_undo_or_redo(recorded: Place) -> None:
    assert recorded.run("undo") == (
        3,
        b"",
        "gitckpt: there is no rollback to undo in this work tree\ngitckpt:   → gitckpt log shows what is on record\n",
    )
    assert recorded.run("redo") == (
        3,
        b"",
        "gitckpt: there is no undo to take back in this work tree\ngitckpt:   → gitckpt undo takes back a rollback\n",
    )


def test_an_unknown_name_is_an_error_that_lists_the_nearest(worked: Place) -> None:
    before, ids = worked.bytes(), worked.ids()
    for name in ("C99", "", "run/", "../../x", "C1\x1b[2J", "C1;rm", "HEAD", "main", "deadbeef", "x" * 500):
        answer = worked.run("rollback", name)
        assert (answer.status, answer.out) == (3, "")
        assert answer.err.startswith("gitckpt: no checkpoint '") and re.search(
            "here; the nearest (is|are) C", answer.err
        )
        assert answer.err.endswith("→ gitckpt log lists them all\n") and "\x1b" not in answer.err
    assert (worked.bytes(), worked.ids()) == (before, ids)


def test_away_from_a_terminal_an_id_is_wanted(recorded: Place) -> None:
    assert recorded.run("rollback") == (
        2,
        b"",
        "gitckpt: rollback to which checkpoint?\ngitckpt:   → gitckpt log lists them; then gitckpt rollback C6\n",
    )


def test_an_unknown_scope_is_a_usage_error(recorded: Place) -> None:
    answer = recorded.run("rollback", "C1", "--scope", "universe")
    assert (answer.status, answer.err) == (2, "gitckpt: --scope 'universe' is none of files, staged, all\n")


# -- at a terminal


def test_without_an_id_one_is_picked_and_the_plan_confirmed(worked: Place) -> None:
    answer = worked.typed("rollback", keys="C1\ny\n")
    assert answer.status == 0
    assert stable(answer.out) == (
        "session run  DATE  4 events on main\n"
        "TIME   ▷     start\n"
        "TIME   ● C1  implement  step 1  → go on, tool: edit_file\n"
        "TIME   ● C2  implement  step 2  → go on, tool: edit_file\n"
        "TIME   ● C3  implement  step 3  → go on, tool: edit_file\n"
        "           @ main goes on here, after C3\n"
        "roll back to: Roll back to run/C1, scope staged: 1 path to restore, 3 paths to delete\n"
        "Restore (1)\n"
        "! a.txt  changed since\n"
        "Delete (3)\n"
        "! mine.txt  newer than the target\n"
        "  new2.txt  newer than the target\n"
        "  new3.txt  newer than the target\n"
        "! changed since the last recorded event; what is there now is saved first\n"
        "go on? [y/N] rolled back to C1, 4 paths, verified\n"
        f"{UNDO}"
    )
    assert texts(worked) == AT_C1


#: What is typed, the exit status, and what is said.
NOT_YES = (
    ("C1\nn\n", 3, "nothing was changed"),
    ("C1\n\n", 3, "nothing was changed"),
    ("C1\n\x04", 3, "nothing was changed"),
    ("\n", 3, "no checkpoint was chosen; nothing was changed"),
    ("\x04", 3, "no checkpoint was chosen; nothing was changed"),
    ("C77\n", 3, "no checkpoint 'C77' here; the nearest are"),
)


def test_whoever_does_not_say_yes_changes_nothing(worked: Place) -> None:
    before, ids = worked.bytes(), worked.ids()
    for keys, status, said in NOT_YES:
        answer = worked.typed("rollback", keys=keys)
        assert (answer.status, said in answer.out) == (status, True)
    assert (worked.bytes(), worked.ids()) == (before, ids)


def test_yes_is_said_on_the_command_line_too(worked: Place) -> None:
    assert worked.typed("rollback", "C1", "--yes").out == f"rolled back to C1, 4 paths, verified\n{UNDO}"


def test_the_one_before_the_newest_is_explained_where_there_is_none(worked: Place) -> None:
    answer = worked.run("rollback", "C2~1")
    assert answer == (
        3,
        b"",
        "gitckpt: C2 is there, but was not recorded 2 times: C2~1 does not mean a step before it but an earlier C2, for "
        "ids that were used again\ngitckpt:   → gitckpt log lists the steps\n",
    )
