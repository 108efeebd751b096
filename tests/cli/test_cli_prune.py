"""`prune`: whole sessions go, nothing that is in use does, and what is said of the space is true."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from commandline import Place, checkpoint

from gitckpt.errors import GitFailed
from gitckpt.protocol.blocks import Block
from gitckpt.pruner import Criteria, Pruner
from gitckpt.recorder import Recorder
from gitckpt.repo.repository import discover
from gitckpt.repo.worktree import WorkTree

#: Kills gitckpt when it gives git this command, which then goes on or does not.
KILL_AT = """
case "$*" in *" $KILL_AT "*) kill -9 $PPID; $GO_ON "$GIT" "$@"; exit 1;; esac
"""


@pytest.fixture(scope="module")
def three_template(recorded_template: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Sessions run, b and c, the last of them current."""
    place = recorded_template.copy(tmp_path_factory.mktemp("three") / "work")
    for name in ("b", "c"):
        place.write("a.txt", f"a in {name}\n")
        place.write(f"only-{name}.txt", f"nowhere but in {name}\n")
        place.ok("record", "--session", name, stdin=checkpoint("1") + checkpoint("2"))
        (place.path / f"only-{name}.txt").unlink()
    return place


@pytest.fixture
def three(three_template: Place, tmp_path: Path) -> Place:
    return three_template.copy(tmp_path / "three")


def sessions(place: Place) -> list[str]:
    return [row["id"] for row in place.json("sessions", "--all")["sessions"]]


def refs(place: Place) -> str:
    return place.git("for-each-ref", "refs/gitckpt")


def objects(place: Place) -> set[str]:
    return set(place.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 2, "prune which sessions?"),
        (["--dry-run"], 2, "prune which sessions?"),
        (["--keep-last", "-1"], 2, "--keep-last"),
        (["--older-than", "soon"], 2, "'soon' is no age"),
        (["--session", "none"], 3, "no session 'none'"),
        (["--session", "c"], 3, "session c is not dropped: a work tree records on it"),
    ],
)
def test_what_is_refused(three: Place, arguments: list[str], status: int, said: str) -> None:
    before = refs(three)
    answer = three.run("prune", *arguments)
    assert (answer.status, said in answer.err, answer.out) == (status, True, "")
    assert refs(three) == before


def test_whole_sessions_go_and_the_rest_is_as_it_was(three: Place) -> None:
    kept = [line for line in refs(three).splitlines() if "/gitckpt/b/" not in line]
    user, files = three.users(), three.bytes()
    answer = three.ok("prune", "--session", "b", "--yes")
    assert answer.out.splitlines()[0] == "dropped 1 session:"
    assert "git gc --prune=now" in answer.out
    assert refs(three).splitlines() == kept
    assert (three.users(), three.bytes()) == (user, files)
    assert three.run("log", "--session", "b").status == 3
    assert three.run("show", "b/C1").status == 3
    assert three.run("rollback", "b/C1").status == 3
    assert [three.run("log", "--session", name).status for name in ("run", "c")] == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["--keep-last", "2"], ["b", "c"]),
        (["--keep-last", "0"], ["c"]),
        (["--older-than", "1h"], ["run", "b", "c"]),
        (["--older-than", "0h", "--keep-last", "1"], ["c"]),
        (["--session", "run", "--session", "b"], ["c"]),
    ],
)
def test_the_criteria(three: Place, arguments: list[str], left: list[str]) -> None:
    if "--older-than" in arguments and "0h" in arguments:
        time.sleep(1.1 - time.time() % 1)
    dry = three.json("prune", *arguments, "--dry-run")
    assert sessions(three) == ["run", "b", "c"]
    done = three.json("prune", *arguments)
    assert {**done, "done": False} == dry
    assert [row["id"] for row in done["dropped"]] == [name for name in ("run", "b", "c") if name not in left]
    assert sessions(three) == left


def test_what_it_frees_is_what_git_then_takes(three: Place) -> None:
    # the user has content of b himself by now, and c has some of it too
    three.write("only-b.txt", "nowhere but in b\n")
    three.git("add", "only-b.txt")
    three.git("commit", "-q", "-m", "took it over")
    three.git("gc", "-q", "--prune=now")
    before = objects(three)
    said = three.json("prune", "--session", "b")
    three.git("gc", "-q", "--prune=now")
    gone = before - objects(three)
    assert len(gone) == said["objects"] > 2
    assert said["bytes"] > 0
    three.git("fsck")


def test_what_is_in_use_stays(three: Place, tmp_path: Path) -> None:
    three.git("worktree", "add", "-q", str(tmp_path / "linked"))
    three.ok("record", "--session", "linked", stdin=checkpoint("1"), cwd=tmp_path / "linked")
    tree = WorkTree(discover(os.fsencode(three.path)))
    Recorder(tree, name="run").save("at work")
    three.ok("record", "--session", "d", stdin=checkpoint("1"))
    answer = three.json("prune", "--keep-last", "0", "--all")
    assert {row["id"]: row["reason"] for row in answer["kept"]} == {
        "run": "it is being recorded",
        "d": "a work tree records on it",
        "linked": "a work tree records on it",
    }
    assert sessions(three) == ["run", "linked", "d"]
    tree.close()
    assert [row["id"] for row in three.json("prune", "--keep-last", "0")["dropped"]] == ["run"]


def test_a_session_that_is_recorded_after_its_final_stays(three: Place) -> None:
    tree = WorkTree(discover(os.fsencode(three.path)))
    recorder = Recorder(tree, name="d")
    recorder.record(Block("final", None, "", {"result": "all done"}))
    three.ok("save", "--session", "c", "-m", "by another")
    assert "stays: d: it is being recorded" in three.ok("prune", "--keep-last", "0").out
    tree.close()
    assert "stays" not in three.ok("prune", "--session", "d").out


def test_undo_still_takes_back_what_it_would_have(three: Place) -> None:
    three.write("a.txt", "before\n")
    three.ok("rollback", "run/C1")
    three.ok("record", "--session", "later", stdin=checkpoint("1"))
    answer = three.json("prune", "--keep-last", "0")
    # the rollback is on record in c, and has opened a line in run
    assert [row["id"] for row in answer["dropped"]] == ["run", "b", "c"]
    assert three.run("undo").status == 3
    assert three.json("status")["interrupted"] is None

    three.write("a.txt", "before\n")
    three.ok("rollback", "later/C1")
    answer = three.json("prune", "--keep-last", "0")
    assert (answer["dropped"], len(answer["kept"])) == ([], 1)
    three.ok("undo")
    assert three.read("a.txt") == "before\n"


def test_a_rollback_interrupted_in_a_work_tree_that_is_gone_keeps_nothing(three: Place) -> None:
    three.git("worktree", "add", "-q", "--detach", "../gone")
    gone = Place(three.path.parent / "gone", three.env, three.zygote)
    gone.write("a.txt", "there\n")
    gone.ok("save", "--session", "gone")
    script = 'case " $* " in *" read-tree -m -u "*) "$GIT" "$@"; kill -9 $PPID; exit 1;; esac'
    assert gone.run("rollback", "gone/start", env=gone.before_git(script)).status in (0, -9)
    gone.write("a.txt", "later\n")
    assert gone.run("rollback", "gone/C1", env=gone.before_git(script)).status == -9
    gone.ok("record", "--session", "another", stdin=checkpoint("1"), cwd=three.path)
    asked = ("prune", "--session", "gone", "--yes")
    assert three.run(*asked).status == 3
    three.git("worktree", "remove", "--force", "../gone")
    assert [row["id"] for row in three.json(*asked)["dropped"]] == ["gone"]
    assert three.json("verify")["whole"]


def test_a_session_that_a_rollback_of_a_kept_one_went_to_stays(three: Place) -> None:
    three.ok("rollback", "run/C1")
    three.ok("record", "--session", "c", stdin=checkpoint("9"))
    answer = three.run("prune", "--session", "run")
    assert (answer.status, "session run is not dropped: session c goes back to it" in answer.err) == (3, True)
    three.ok("undo")


@pytest.mark.parametrize("go_on", ["", ":"], ids=["git goes on", "git does not"])
@pytest.mark.parametrize("call", ["pack-refs", "update-ref"])
def test_killed_in_the_middle_all_sessions_are_there_or_none(three: Place, call: str, go_on: str) -> None:
    known = refs(three)
    environment = three.before_git(KILL_AT) | {"KILL_AT": call, "GO_ON": go_on}
    assert three.run("prune", "--keep-last", "0", env=environment).status == -9
    pruned = call == "update-ref" and not go_on
    deadline = time.monotonic() + 30
    while pruned and refs(three) == known and time.monotonic() < deadline:
        time.sleep(0.01)
    left = "\n".join(line for line in known.splitlines() if "/gitckpt/c/" in line)
    assert refs(three) == (left if pruned else known)
    three.ok("prune", "--keep-last", "0")
    assert refs(three) == left


def test_a_session_that_was_written_to_meanwhile_stays_with_all_that_was_to_go(three: Place) -> None:
    tree = WorkTree(discover(os.fsencode(three.path)))
    with Pruner(tree) as pruner:
        pruning = pruner.plan(Criteria(keep_last=0))
        three.git("update-ref", "refs/gitckpt/b/tags/C1", "HEAD")
        before = refs(three)
        with pytest.raises(GitFailed, match="refs/gitckpt/b/tags/C1"):
            pruner.carry_out(pruning)
    assert refs(three) == before


def test_recording_goes_on_whole_after_the_space_is_freed(three: Place) -> None:
    three.ok("prune", "--keep-last", "0")
    three.git("reflog", "expire", "--expire=now", "--all")
    three.git("gc", "-q", "--prune=now")
    three.ok("save")
    three.ok("record", "--session", "new", stdin=checkpoint("1"))
    three.git("fsck", "--strict")


def test_a_person_is_asked(three: Place) -> None:
    before = refs(three)
    answer = three.typed("prune", "--keep-last", "0", keys="n\n")
    assert (answer.status, refs(three)) == (3, before)
    assert "to drop 2 sessions:" in answer.out and "nothing was dropped" in answer.out
    assert three.typed("prune", "--keep-last", "0", keys="y\n").status == 0
    assert sessions(three) == ["c"]
    assert three.typed("prune", "--keep-last", "0", "--yes").out.endswith("nothing to drop\n")
