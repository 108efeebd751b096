"""`fork` and `pick`: attempts side by side, each recorded; one of them brought home; nothing left behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commandline import HANG, Place, checkpoint, stable
from test_cli_json import assert_published
from test_cli_report import record_of

BLOCK = checkpoint("4", "tried").replace("\n", "\\n")


def attempts_dir(place: Place) -> Path:
    return place.path / ".git" / "gitckpt-attempts"


def left(place: Place) -> list[str]:
    """What there is of work trees and locks of attempts."""
    found = [path.name for path in attempts_dir(place).iterdir() if path.suffix != ".output"]
    return [*found, *place.git("worktree", "list", "--porcelain").split("\n\n")[1:]]


@pytest.fixture
def eventful(recorded: Place) -> Place:
    """Three steps, then a state that git knows little of: staged, untracked, with bits and an empty directory."""
    recorded.write("a.txt", "staged\n")
    recorded.git("add", "a.txt")
    recorded.write("a.txt", "and changed\n")
    recorded.write("tool.sh", "#!/bin/sh\n", 0o700)
    (recorded.path / "empty").mkdir()
    recorded.ok("record", "--session", "run", stdin=checkpoint("4"))
    return recorded


def test_attempts_begin_where_the_checkpoint_was_and_are_on_record(eventful: Place) -> None:
    eventful.write("a.txt", "later\n")
    eventful.write("later.txt", "later\n")
    user, files, status = eventful.users(), eventful.bytes(), eventful.json("status")
    script = f"cat a.txt; git show :a.txt; ls -A; stat -c %a tool.sh; echo {{n}} >out.txt; printf '{BLOCK}'; exit $(({{n}} - 1))"
    answer = eventful.run(
        "fork", "C4", "-n", "2", "--test", "test $(cat out.txt) = {n}", "--json", "--", "sh", "-c", script
    )
    assert_published(answer, "gitckpt.fork/1")
    assert answer.status == 0
    rows = answer.json["attempts"]
    assert [(r["number"], r["of"], r["status"], r["test"], r["files"], r["added"], r["deleted"]) for r in rows] == [
        (1, "run/C4", 0, 0, 1, 1, 0),
        (2, "run/C4", 1, 0, 1, 1, 0),
    ]
    for row in rows:
        output = (attempts_dir(eventful) / f"{row['session']}.output").read_text()
        assert output.startswith(
            "and changed\nstaged\n.git\n.gitignore\na.txt\nempty\nnew1.txt\nnew2.txt\nnew3.txt\nsrc\ntool.sh\n700\n"
        )
        events = [(e["id"] or e["kind"]) for e in eventful.json("log", "--session", row["session"])["events"]]
        assert events[-5:] == ["start", "rollback", "C4", "end", "end"]
    assert (eventful.users(), eventful.bytes(), eventful.json("status")) == (user, files, status)
    assert left(eventful) == []
    eventful.ok("verify")
    assert eventful.json("fork", "--list") == answer.json


def test_one_is_brought_home_and_taken_back(eventful: Place) -> None:
    eventful.write("later.txt", "later\n")
    eventful.ok("fork", "C4", "-n", "3", "--", "sh", "-c", "echo {n} >out.txt; rm new1.txt")
    before, user = eventful.bytes(), eventful.users()
    plan = eventful.json("pick", "2", "--dry-run")
    assert {step["path"]: step["action"] for step in plan["steps"]} == {
        "later.txt": "delete", "new1.txt": "delete", "out.txt": "restore",
    }  # fmt: skip
    assert eventful.bytes() == before
    eventful.ok("pick", "2")
    assert (eventful.read("out.txt"), (eventful.path / "new1.txt").exists()) == ("2\n", False)
    assert eventful.users() == user
    assert eventful.json("status")["session"] == "run"
    eventful.ok("verify")
    eventful.ok("undo")
    assert eventful.bytes() == before
    session = eventful.json("fork", "--list")["attempts"][2]["session"]
    eventful.ok("pick", session)
    assert eventful.read("out.txt") == "3\n"
    eventful.ok("save", "-m", "on with it")
    assert eventful.run("pick", "7").status == 3
    assert eventful.run("pick", "run").status == 3


def test_an_event_that_another_session_goes_on_from_is_counted_once(eventful: Place, tmp_path: Path) -> None:
    eventful.ok("fork", "C4", "-n", "2", "--", "sh", "-c", "echo {n} >out.txt")
    eventful.ok("pick", "2")
    counted = {row["id"]: row["events"] for row in eventful.json("sessions", "--all")["sessions"]}
    assert {row["id"]: len(row["whole"]) for row in eventful.json("verify")["sessions"]} == counted
    assert f"sessions 1, events {counted['run']}\n" in eventful.ok("doctor").out
    eventful.git("init", "-q", "--bare", str(tmp_path / "bare"))
    eventful.git("remote", "add", "origin", str(tmp_path / "bare"))
    eventful.ok("push")
    eventful.git("clone", "-q", str(tmp_path / "bare"), str(tmp_path / "clone"))
    clone = Place(tmp_path / "clone", eventful.env, eventful.zygote)
    fetched = {row["id"]: row["events"] for row in clone.json("fetch")["sessions"]}
    assert "run" in fetched and len(fetched) > 1 and fetched == {id: counted[id] for id in fetched}


def test_attempts_are_drawn_beside_the_line_that_they_began_at(eventful: Place) -> None:
    script = f"printf '{BLOCK}'; echo {{n}} >out.txt; exit $(({{n}} - 1))"
    eventful.run("fork", "C2", "-n", "2", "--test", "test {n} = 2", "--", "sh", "-c", script)
    rows = eventful.json("fork", "--list")["attempts"]
    one, two = (row["session"] for row in rows)

    def told() -> list[str]:
        lines = (line[11:] for line in stable(eventful.ok("log", "--graph").out).splitlines()[1:])
        return [re.sub(r"\d+\.\d s", "TIME", line) for line in lines if "C4" in line or "end" in line or "@" in line]

    def ending(number: int) -> str:
        return f"(attempt {number}) {'exit status 1, ' * (number - 1)}TIME, 1 file +1 -0, "

    session = "SESSION-"
    drawn = told()
    assert (
        sorted(line.partition("C4")[2] for line in drawn if "tried" in line)
        == ["  implement          tried  → go on, tool: edit_file"] * 2
    )
    assert [line.partition("end")[2].split(maxsplit=1) for line in drawn if "attempt" in line] == [
        ["failed", f"{ending(1)}{session}1"], ["passed", f"{ending(2)}{session}2"],
    ]  # fmt: skip
    assert drawn[-1].endswith("@     main goes on here, after C4")
    eventful.ok("pick", two)
    drawn = told()
    assert f"{ending(2)}picked, {session}2" in drawn[-2]
    assert drawn[-1].endswith("goes on here, after attempt 2")
    assert [row["picked"] for row in eventful.json("fork", "--list")["attempts"]] == [False, True]
    document = eventful.ok("log", "--json")
    assert_published(document, "gitckpt.log/1")
    assert document.json["attempts"] == [rows[0], rows[1] | {"picked": True}]
    eventful.ok("save", "-m", "on with it")
    assert eventful.json("status")["session"] == "run"
    page = eventful.ok("report", "-o", "-").raw
    [overview] = [session["overview"] for session in record_of(page)["sessions"]]
    assert [(row["at"]["name"], row["to"]["name"], row["verdict"]) for row in overview["attempts"]] == [
        ("attempt 1", "C2", "failed"), ("attempt 2", "C2", "passed"),
    ]  # fmt: skip
    assert one in overview["attempts"][0]["words"] and "picked" in overview["attempts"][1]["words"]
    assert "attempt" not in eventful.ok("log", "--graph", "--session", two).out.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 2, "fork from which checkpoint"),
        (["C2"], 2, "and which command?"),
        (["C2", "-n", "0", "--", "true"], 2, "from 1 to 64 attempts"),
        (["C9", "--", "true"], 3, "no checkpoint 'C9'"),
    ],
)
def test_what_is_refused(recorded: Place, arguments: list[str], status: int, said: str) -> None:
    answer = recorded.run("fork", *arguments)
    assert (answer.status, answer.out, said in answer.err) == (status, "", True)
    assert not attempts_dir(recorded).exists()


def test_without_a_success_the_answer_is_no(recorded: Place) -> None:
    assert recorded.run("fork", "C2", "-n", "1", "--", "false").status == 1
    assert recorded.run("fork", "C2", "-n", "1", "--test", "false", "--", "true").status == 1
    assert recorded.run("fork", "C2", "-n", "1", "--", "no-such-agent").status == 1
    assert [row["status"] for row in recorded.json("fork", "--list")["attempts"]] == [1, 0, 127]
    assert left(recorded) == []


def test_one_that_found_no_room_to_begin_leaves_nothing_to_mend(recorded: Place) -> None:
    recorded.write("big", "x" * 500_000)
    recorded.ok("save", "--session", "run", "-m", "big")
    script = "trap '' XFSZ; ulimit -f 40; exec \"$0\" -m gitckpt fork last -n 1 -- true"
    answer = subprocess.run(
        ["sh", "-c", script, sys.executable], cwd=recorded.path, env=recorded.env, capture_output=True
    )
    assert answer.returncode == 4 and b"Traceback" not in answer.stderr, answer
    assert left(recorded) == []
    recorded.ok("verify")


def test_what_is_not_on_record_does_not_go_with_the_work_tree(recorded: Place) -> None:
    script = "mkfifo pipe; [ {n} = 1 ] || git init -q nested; [ {n} = 1 ] || echo mine >nested/f"
    told = recorded.run("fork", "C2", "-n", "2", "--", "sh", "-c", script).err
    [session] = [name for name in left(recorded) if "\n" not in name]
    assert session.endswith("-2") and (attempts_dir(recorded) / session / "nested" / "f").read_text() == "mine\n"
    assert "attempt 2 stays in" in told and "nested: a repository of its own" in told and "attempt 1" not in told


def test_what_to_do_next_is_said_of_the_one_that_succeeded(recorded: Place) -> None:
    said = recorded.ok("fork", "C2", "-n", "2", "--", "sh", "-c", "echo try {n}; exit $((2 - {n}))").err
    failed, chosen = (row["session"] for row in recorded.json("fork", "--list")["attempts"])
    output = attempts_dir(recorded) / f"{failed}.output"
    assert f"1 attempt failed; what number 1 has printed: {output}" in said
    assert output.read_text().startswith("try 1\n")
    assert f"gitckpt pick {chosen} brings home one that succeeded" in said
    assert recorded.ok("pick", chosen).err == "gitckpt: to take it back: gitckpt undo\n"
    assert "brings home one all the same" in recorded.run("fork", "C2", "-n", "1", "--", "false").err


@pytest.mark.parametrize(
    ("test", "why"), [((), "exit status 7"), (("--test", "exit 9"), "its test ended with exit status 9")]
)
def test_one_that_failed_is_brought_home_with_a_warning(recorded: Place, test: tuple[str, ...], why: str) -> None:
    recorded.run("fork", "C2", "-n", "1", *test, "--", "sh", "-c", f"echo {{n}} >a.txt; exit {0 if test else 7}")
    told = recorded.ok("pick", "1").err
    assert told == f"gitckpt: attempt 1 did not succeed: {why}\ngitckpt: to take it back: gitckpt undo\n"
    assert recorded.read("a.txt") == "1\n"


@pytest.mark.slow
def test_work_trees_that_are_to_stay(recorded: Place) -> None:
    recorded.ok("fork", "C2", "-n", "1", "--keep", "--", "sh", "-c", "echo kept >kept.txt")
    [session] = left(recorded)[:1]
    assert (attempts_dir(recorded) / session / "kept.txt").read_text() == "kept\n"
    assert "attempt" not in recorded.ok("doctor").out


def started(place: Place, marker: Path) -> subprocess.Popen[bytes]:
    """A fork under way, whose two agents wait for ever."""
    script = f"echo busy >busy.txt; echo $$ >>{marker}; exec sleep 600"
    command = [sys.executable, "-m", "gitckpt", "fork", "C2", "-n", "2", "--", "sh", "-c", script]
    process = subprocess.Popen(
        command, cwd=place.path, env=place.env, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + HANG
    while not (marker.exists() and len(marker.read_text().split()) == 2) and time.monotonic() < deadline:
        time.sleep(0.05)
    return process


def all_dead(marker: Path) -> bool:
    """Whether the agents end within a while."""
    deadline = time.monotonic() + HANG
    pids = marker.read_text().split()
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return len(pids) == 2 and not any(os.path.exists(f"/proc/{pid}") for pid in pids)


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_broken_off_nothing_runs_on_and_all_is_on_record(recorded: Place, tmp_path: Path, number: int) -> None:
    process = started(recorded, tmp_path / "pids")
    process.send_signal(number)
    assert process.wait(HANG) == 128 + number
    assert all_dead(tmp_path / "pids")
    assert left(recorded) == []
    for row in recorded.json("fork", "--list")["attempts"]:
        assert (row["status"], row["files"]) == (130, 1)
        newest = recorded.json("log", "--session", row["session"])["events"][-1]["commit"]
        assert recorded.git("show", f"{newest}:busy.txt") == "busy"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a child does not hear of it")
def test_killed_no_agent_runs_on_and_doctor_names_what_is_left(recorded: Place, tmp_path: Path) -> None:
    process = started(recorded, tmp_path / "pids")
    process.kill()
    process.wait()
    assert all_dead(tmp_path / "pids")
    told = recorded.run("doctor", "--json").json["checks"]
    mending = [check["help"] for check in told if check["check"] == "attempts"]
    assert len(mending) == 2 and all(help.startswith("gitckpt fork --clean ") for help in mending)
    kept = sorted(attempts_dir(recorded).glob("*-1"))[0]
    recorded.git("init", "-q", str(kept / "nested"))
    (kept / "nested" / "f").write_text("mine\n")
    told = recorded.ok("fork", "--clean").err
    assert f"stays in {kept}: not on record: nested: a repository of its own" in told
    assert [name for name in left(recorded) if name.endswith("-2")] == []
    shutil.rmtree(kept / "nested")
    assert recorded.ok("fork", "--clean").err == "" and left(recorded) == []
    for session in {
        ref.split("/")[2] for ref in recorded.git("for-each-ref", "refs/gitckpt/*-[12]/").split() if "/" in ref
    }:
        assert recorded.git("show", f"refs/gitckpt/{session}/heads/rollback-2:busy.txt") == "busy"
    assert not any(check["check"] == "attempts" for check in recorded.run("doctor", "--json").json["checks"])
    recorded.ok("fork", "C2", "-n", "1", "--", "true")
    assert left(recorded) == []
    recorded.ok("verify")


@pytest.mark.slow
def test_the_task_is_given_to_each(recorded: Place) -> None:
    recorded.ok("fork", "C2", "-n", "2", "--task", "make it so", "--", "printf", "%s", "{prompt}")
    for row in recorded.json("fork", "--list")["attempts"]:
        assert "make it so" in (attempts_dir(recorded) / f"{row['session']}.output").read_text()


def test_what_cannot_be_put_on_record_stays_and_doctor_names_it(recorded: Place) -> None:
    """No room at the end of the attempt alone, when its agent has ended."""
    script = 'if [ -e {top}/full ]; then echo "fatal: No space left on device" >&2; exit 128; fi'
    env = recorded.before_git(script.replace("{top}", str(recorded.path.parent)))
    agent = f"echo mine >mine.txt; touch {recorded.path.parent}/full"
    told = recorded.run("fork", "C2", "-n", "1", "--", "sh", "-c", agent, env=env).err
    (recorded.path.parent / "full").unlink()
    assert "attempt 1 stays in " in told
    assert [check["check"] for check in recorded.run("doctor", "--json").json["checks"]].count("attempts") == 1
    recorded.ok("fork", "--clean")
    assert left(recorded) == []
    assert recorded.git("log", "--all", "--format=%H", "--", "mine.txt") != ""


def test_what_git_cannot_make_leaves_nothing(recorded: Place) -> None:
    script = r'case " $* " in *" worktree add "*-2\ *) "$GIT" "$@"; exit 1;; esac'
    answer = recorded.run("fork", "C2", "-n", "2", "--", "true", env=recorded.before_git(script))
    assert (answer.status, answer.out) == (4, "")
    assert left(recorded) == []
    recorded.ok("verify")
