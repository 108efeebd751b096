"""What may be wrong around gitckpt: locks that a dead git left, refs and commits that somebody moves, other processes at
work in the same repository at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commandline import HANG, Place, checkpoint
from interruptions import events, unfinished

#: A writer that never pauses: a file is written anew, renamed into place and removed, again and again.
WRITER = """
import itertools, os
for n in itertools.count():
    with open("busy.tmp", "w") as file:
        file.write(str(n) * (n % 3000))
    os.replace("busy.tmp", "busy.txt")
    if n % 3 == 0:
        os.unlink("busy.txt")
"""


@pytest.fixture
def recorded(place: Place) -> Place:
    """After C1 and C2 in session `run`."""
    for number in (1, 2):
        place.write("a.txt", f"a at C{number}\n")
        place.ok("record", "--session", "run", stdin=checkpoint(str(number)))
    return place


@contextmanager
def at_work(place: Place, *command: str) -> Iterator[None]:
    """A process in the work tree that is ended in any case."""
    process = subprocess.Popen(command, cwd=place.path, env=place.env, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def start(place: Place, *args: str, stdin: str = "") -> subprocess.Popen[bytes]:
    """A command of gitckpt that goes on meanwhile."""
    command = [sys.executable, "-m", "gitckpt", *args]
    process = subprocess.Popen(
        command, cwd=place.path, env=place.env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(stdin.encode())
    process.stdin.close()
    process.stdin = None
    return process


def assert_done(process: subprocess.Popen[bytes]) -> None:
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 0, err


# -- locks


OUR_LOCKS = (
    "gitckpt/index.lock",
    "refs/gitckpt/run/heads/main.lock",
    "refs/gitckpt/run/tags/C3.lock",
    "refs/worktree/gitckpt/current.lock",
)


def leave_lock(place: Place, name: str) -> None:
    path = place.path / ".git" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    os.utime(path, (1, 1))


def test_what_a_dead_git_has_locked_of_a_session_that_never_came_to_be_goes(recorded: Place) -> None:
    leave_lock(recorded, "refs/gitckpt/never/heads/main.lock")
    (recorded.path / ".git" / "gitckpt" / "lock").write_text("4711\n")
    recorded.ok("record", stdin=checkpoint("3"))
    assert unfinished(recorded) == []


def test_what_a_dead_git_has_locked_of_ours_is_taken_over(recorded: Place) -> None:
    for name in OUR_LOCKS:
        leave_lock(recorded, name)
    recorded.ok("record", stdin=checkpoint("3"))
    recorded.ok("rollback", "C1")
    recorded.ok("record", stdin=checkpoint("4"))
    assert unfinished(recorded) == []


@pytest.mark.parametrize("content", ["999999\n", "1\n", "elsewhere.example:4711\n", "\0\xff{}", ""])
def test_whatever_a_lock_of_ours_says_it_is_held_by_the_living_alone(recorded: Place, content: str) -> None:
    (recorded.path / ".git" / "gitckpt" / "lock").write_text(content, encoding="latin-1")
    recorded.ok("record", stdin=checkpoint("3"))


def test_locks_of_the_users_are_none_of_our_business(recorded: Place) -> None:
    theirs = [recorded.path / ".git" / f"{name}.lock" for name in ("index", "HEAD", "config", "refs/heads/main")]
    for path in theirs:
        path.write_text("")
    recorded.write("a.txt", "under lock\n")
    recorded.ok("record", stdin=checkpoint("3"))
    recorded.ok("rollback", "C1", "--scope", "files")
    assert recorded.read("a.txt") == "a at C1\n"
    assert all(path.exists() for path in theirs)


def test_a_branch_that_is_locked_is_told_and_the_rollback_can_be_finished(recorded: Place) -> None:
    then = recorded.git("rev-parse", "HEAD")
    recorded.git("commit", "-q", "-a", "-m", "later")
    lock = recorded.path / ".git" / "refs" / "heads" / "main.lock"
    lock.write_text("")
    answer = recorded.run("rollback", "C1", "--scope", "all", "--yes")
    assert (answer.status, "main.lock" in answer.err) == (4, True)
    assert recorded.json("status")["interrupted"] == "rollback to run/C1"
    lock.unlink()
    recorded.ok("rollback", "--continue")
    assert recorded.git("rev-parse", "HEAD") == then


@pytest.mark.parametrize("way", ["--continue", "--abort"])
def test_what_git_had_locked_of_the_users_when_both_were_killed_is_freed(recorded: Place, way: str) -> None:
    then = recorded.git("rev-parse", "HEAD")
    recorded.git("commit", "-q", "-a", "-m", "later")
    later = recorded.git("rev-parse", "HEAD")
    lock = 'for ref in HEAD refs/heads/main packed-refs; do : >"$GIT_DIR/$ref.lock"; done; kill -9 $PPID; exit 1'
    killed = recorded.before_git(f'case " $* " in *" update-ref "*" refs/heads/main "*) {lock};; esac')
    assert recorded.run("rollback", "C1", "--scope", "all", "--yes", env=killed).status == -9
    recorded.ok("rollback", way)
    assert recorded.git("rev-parse", "HEAD") == (then if way == "--continue" else later)
    assert unfinished(recorded) == []
    recorded.git("commit", "-q", "--allow-empty", "-m", "more")


def test_a_git_that_outlives_a_killed_gitckpt_is_waited_for(recorded: Place) -> None:
    """It still writes files: what begins meanwhile would be overwritten."""
    slow = 'case " $* " in *" read-tree -m -u "*) kill -9 $PPID; sleep 1;; esac'
    recorded.write("a.txt", "by hand\n")
    assert recorded.run("rollback", "C1", env=recorded.before_git(slow)).status == -9
    recorded.ok("rollback", "--abort")
    assert recorded.read("a.txt") == "by hand\n"
    time.sleep(1.2)
    assert recorded.read("a.txt") == "by hand\n"


# -- refs and commits that somebody moves


@pytest.mark.parametrize("scope", ["staged", "all"])
@pytest.mark.parametrize(
    "between",
    [
        ("commit", "-q", "--amend", "-m", "amended"),
        ("checkout", "-q", "--orphan", "fresh"),
        ("checkout", "-q", "--detach"),
        ("branch", "-q", "-m", "main", "renamed"),
        ("reset", "-q", "--hard"),
        ("stash", "-q", "-u"),
        ("gc", "-q", "--prune=now"),
    ],
)  # fmt: skip
def test_whatever_the_user_does_between_a_rollback_and_its_undo(
    recorded: Place, between: tuple[str, ...], scope: str
) -> None:
    recorded.git("commit", "-q", "-a", "-m", "later")
    recorded.write("a.txt", "by hand\n")
    before = recorded.bytes()
    recorded.ok("rollback", "C1", "--scope", scope, "--yes")
    then = recorded.bytes()
    recorded.git(*between)
    recorded.ok("undo")
    assert recorded.bytes() == before
    recorded.ok("redo")
    assert recorded.bytes().keys() <= then.keys()


def test_rollbacks_in_a_row_are_taken_back_one_by_one(recorded: Place) -> None:
    states = [recorded.bytes()]
    for target in ("C1", "C1", "C2", "C1"):
        recorded.write("more.txt", f"{len(states)}\n")
        states[-1] = recorded.bytes()
        recorded.ok("rollback", target)
        states.append(recorded.bytes())
    for state in reversed(states[:-1]):
        recorded.ok("undo")
        assert recorded.bytes() == state


@pytest.mark.parametrize("kind", ["heads", "tags", ""])
def test_refs_that_somebody_deleted_are_told_and_recording_goes_on(recorded: Place, kind: str) -> None:
    before = recorded.bytes()
    for name in recorded.git("for-each-ref", "--format=%(refname)", f"refs/gitckpt/run/{kind}").split():
        recorded.git("update-ref", "-d", name)
    recorded.git("gc", "-q", "--prune=now")
    for command in (("log",), ("status",), ("rollback", "C1")):
        assert recorded.run(*command).status == (0 if kind == "tags" else 5)
    assert (recorded.bytes() == before) is (kind != "tags")
    recorded.ok("record", stdin=checkpoint("7"))
    assert events(recorded)


# -- others at work at the same time


def test_sixteen_recorders_make_sixteen_checkpoints(recorded: Place) -> None:
    processes = [start(recorded, "record", stdin=checkpoint(str(number))) for number in range(101, 117)]
    for process in processes:
        assert_done(process)
    found = [event["id"] for event in events(recorded) if event["kind"] == "checkpoint"]
    assert sorted(found) == sorted(["C1", "C2", *(f"C{number}" for number in range(101, 117))])
    assert unfinished(recorded) == []


def test_recording_going_back_and_a_gc_at_the_same_time(recorded: Place) -> None:
    processes = []
    for number in range(3):
        processes.append(start(recorded, "record", stdin=checkpoint(str(200 + number))))
        processes.append(start(recorded, "rollback", "C1"))
        recorded.git("gc", "-q")
    for process in processes:
        assert_done(process)
    found = events(recorded)
    assert {"C200", "C201", "C202"} <= {event["id"] for event in found}
    assert sum(event["kind"] == "rollback" for event in found) == 3
    assert unfinished(recorded) == []


def test_a_writer_that_never_pauses(recorded: Place) -> None:
    """What it writes may be told as unstable, a rollback may be refused; nothing else suffers, and nothing is lost."""
    with at_work(recorded, sys.executable, "-c", WRITER):
        for number in range(3):
            recorded.write("a.txt", f"beside it {number}\n")
            recorded.ok("record", stdin=checkpoint(str(300 + number)))
            assert recorded.ok("show", f"C{300 + number}", "--path", "a.txt").out == f"beside it {number}\n"
        back = recorded.run("rollback", "C300")
        assert back.status in (0, 1, 3, 4)
        assert "Traceback" not in back.err
    for name in ("busy.txt", "busy.tmp"):
        Path(recorded.path, name).unlink(missing_ok=True)
    if recorded.json("status")["interrupted"]:
        recorded.ok("rollback", "--continue")
    recorded.ok("rollback", "C300")
    assert recorded.read("a.txt") == "beside it 0\n"
    assert unfinished(recorded) == []
