"""A rollback that an older version recorded, which did not say in which work tree it was done."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from commandline import Place, checkpoint


def forget_place(place: Place, line: str = "refs/gitckpt/run/heads/main") -> None:
    """Have the newest event of a line as that version wrote it."""
    script = f"git cat-file commit {line} | sed '/^  place: /d' | git hash-object -t commit -w --stdin"
    commit = place.git("-c", f"alias.older=!{script}", "older")
    assert commit != place.git("rev-parse", line)
    place.git("update-ref", line, commit)


@pytest.fixture
def worked(place: Place) -> Place:
    for number in (1, 2):
        place.write("a.txt", f"a at C{number}\n")
        place.ok("record", "--session", "run", stdin=checkpoint(str(number)))
    return place


@pytest.fixture
def rolled_back(worked: Place) -> Place:
    worked.ok("rollback", "C1")
    forget_place(worked)
    return worked


def test_it_is_taken_back_where_its_session_is_still_recorded(rolled_back: Place) -> None:
    rolled_back.ok("undo")
    assert rolled_back.read("a.txt") == "a at C2\n"
    rolled_back.ok("verify")


def test_else_it_is_said_what_helps(rolled_back: Place) -> None:
    rolled_back.ok("save", "--session", "another")
    answer = rolled_back.run("undo")
    found = re.search(r"gitckpt rollback (\w+) goes to what was before it", answer.err)
    assert answer.status == 3 and found and "is of an older gitckpt" in answer.err
    rolled_back.ok("rollback", found[1])
    assert rolled_back.read("a.txt") == "a at C2\n"


def test_one_that_was_interrupted_is_found_and_taken_back(worked: Place) -> None:
    script = 'case " $* " in *" read-tree -m -u "*) "$GIT" "$@"; kill -9 $PPID; exit 1;; esac'
    assert worked.run("rollback", "C1", env=worked.before_git(script)).status == -9
    forget_place(worked)
    assert worked.json("status")["interrupted"] == "rollback to run/C1"
    worked.ok("rollback", "--abort")
    assert worked.read("a.txt") == "a at C2\n"


@pytest.mark.parametrize("older", [False, True])
def test_one_that_was_interrupted_elsewhere_is_nothing_to_mend_here(worked: Place, tmp_path: Path, older: bool) -> None:
    script = 'case " $* " in *" read-tree -m -u "*) "$GIT" "$@"; kill -9 $PPID; exit 1;; esac'
    assert worked.run("rollback", "C1", env=worked.before_git(script)).status == -9
    if older:
        forget_place(worked)
    assert worked.run("verify").status == 1
    worked.git("clone", "-q", ".", str(tmp_path / "clone"))
    clone = Place(tmp_path / "clone", worked.env, worked.zygote)
    clone.git("fetch", "-q", "origin", "refs/gitckpt/*:refs/gitckpt/*")
    assert clone.ok("verify").out.endswith(": whole\n")
    assert clone.json("status")["interrupted"] is None
    assert "dropped 1 session" in clone.ok("prune", "--session", "run", "--yes").out
