"""`resume`: a run goes on after its agent, or what ran it, died; from git alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commandline import HANG, Place, checkpoint, stable


def until(seen: str, place: Place) -> None:
    end = time.monotonic() + HANG
    while seen not in place.git("for-each-ref", "--format=%(refname)", "refs/gitckpt"):
        assert time.monotonic() < end, f"{seen} never came"
        time.sleep(0.02)


def agent(place: Place, first: str) -> list[str]:
    """An agent that writes the prompt it is given beside the work tree, and the first time does `first` after C1."""
    outside = place.path.parent
    (outside / "C1").write_text(checkpoint("1", "half of it"))
    (outside / "C2").write_text(checkpoint("2", "the rest"))
    (outside / "agent.sh").write_text(
        f'printf %s "$1" > ../prompt.$$\nif [ ! -e ../begun ]; then : > ../begun; cat ../C1; {first}\n'
        "else cat ../C2; fi\n"
    )
    return ["sh", str(outside / "agent.sh"), "{prompt}"]


def prompts(place: Place) -> list[str]:
    found = sorted(place.path.parent.glob("prompt.*"), key=lambda path: path.stat().st_mtime_ns)
    return [path.read_text() for path in found]


@pytest.fixture
def killed(place: Place) -> Place:
    """After `kill -9` of wrap and of its agent, which had left something since its first checkpoint."""
    command = agent(place, "sleep 0.2; echo half > half.txt; : > ../left; sleep 60")
    gitckpt = [sys.executable, "-m", "gitckpt", "wrap", "--task", "tidy up", "--lang", "en", "--session", "run", "--"]
    process = subprocess.Popen(
        [*gitckpt, *command], cwd=place.path, env=place.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    until("tags/C1", place)
    end = time.monotonic() + HANG
    while not (place.path.parent / "left").exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    answer = place.run("resume")
    assert (answer.status, "is still running, under process" in answer.err) == (3, True)
    subprocess.run(["pkill", "-KILL", "-f", str(place.path.parent / "agent.sh")], check=False)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return place


def test_a_run_whose_wrap_was_killed_goes_on_in_its_session(killed: Place) -> None:
    answer = killed.ok("resume")
    assert stable(answer.err).splitlines() == [
        "gitckpt: session run has no end: the agent, or what ran it, died after C1",
        "gitckpt: left by a run that died: 1 path; on record as run/COMMIT",
        "gitckpt:   A half.txt",
    ]
    events = killed.json("log", "--session", "run", "--json")["events"]
    assert [event["id"] or event["kind"] for event in events] == ["start", "C1", "auto", "note", "C2", "end"]
    first, second = prompts(killed)
    assert "half of it" not in first
    assert "tidy up" in second
    assert "===CHECKPOINT 1===" in second
    assert "done: [half of it]" in second
    assert killed.json("show", "C2", "--json")["files"] == []


def test_status_names_resume_after_a_kill_and_after_a_failure(killed: Place) -> None:
    assert killed.json("status")["stopped"] == "the agent, or what ran it, died"
    assert "`gitckpt resume` starts the agent again where it was\n" in killed.ok("status").out
    killed.run("resume", "--", "sh", "-c", "exit 7")
    assert killed.json("status")["stopped"] == "exit status 7"
    killed.ok("resume", "--", "true")
    assert killed.json("status")["stopped"] is None


def test_the_command_can_be_another(killed: Place) -> None:
    answer = killed.ok("resume", "--", "echo", "other")
    assert answer.out == "other\n"
    assert "the command has no {prompt}, so the agent is not told what was done" in answer.err
    killed.ok("resume", "--task", "new task", "--quiet", "--", *agent(killed, ""))
    assert "new task" in prompts(killed)[-1]


def test_its_exit_status_is_the_agents_and_a_run_that_ended_can_go_on(place: Place) -> None:
    place.run("wrap", "--session", "run", "--", *agent(place, "exit 5"))
    place.write("since.txt", "by hand\n")
    answer = place.run("resume", "--", "sh", "-c", "exit 7")
    assert (answer.status, stable(answer.err).splitlines()[0]) == (
        7, "gitckpt: changed since the end: 1 path; on record as run/COMMIT",
    )  # fmt: skip
    assert [event["kind"] for event in place.json("log", "--session", "run", "--json")["events"]] == [
        "start", "checkpoint", "end", "auto", "note", "end",
    ]  # fmt: skip


def test_after_a_rollback_it_goes_on_from_there(place: Place) -> None:
    place.run("wrap", "--session", "run", "--", *agent(place, "exit 1"))
    place.write("wrong.txt", "wrong\n")
    place.ok("rollback", "C1", "--yes")
    place.ok("resume")
    assert "===CHECKPOINT 1===" in prompts(place)[-1]
    assert place.json("log", "--session", "run", "--json")["events"][-1]["line"] == "rollback-2"


def test_with_nothing_to_resume(place: Place, tmp_path: Path) -> None:
    answer = place.run("resume")
    assert (answer.status, "there is nothing to resume" in answer.err) == (3, True)
    place.ok("save", "-m", "by hand")
    answer = place.run("resume")
    assert (answer.status, "was not begun by an agent" in answer.err) == (2, True)


def test_a_command_that_came_with_fetched_refs_is_not_run_unseen(place: Place, tmp_path: Path) -> None:
    place.run("wrap", "--session", "run", "--", "sh", "-c", "echo $PWD >> ../ran; printf '\\033[2K'")
    place.git("clone", "-q", "--no-local", ".", str(tmp_path / "clone"))
    clone = Place(tmp_path / "clone", place.env, place.zygote)
    clone.git("fetch", "-q", "origin", "refs/gitckpt/*:refs/gitckpt/*")
    answer = clone.run("resume")
    assert (answer.status, "was not started from this work tree: sh -c " in answer.err) == (3, True)
    assert (tmp_path / "ran").read_text().splitlines() == [str(place.path)]
    assert clone.git("for-each-ref", "refs/gitckpt") == place.git("for-each-ref", "refs/gitckpt")
    clone.ok("resume", "--", "true")  # which is on record here, and so is known from now on
    clone.ok("resume")
    place.ok("resume")


def test_nor_is_one_that_was_fetched_into_a_session_of_ones_own(place: Place, tmp_path: Path) -> None:
    place.ok("wrap", "--session", "run", "--", "true")
    place.git("clone", "-q", "--no-local", ".", str(tmp_path / "clone"))
    clone = Place(tmp_path / "clone", place.env, place.zygote)
    clone.git("fetch", "-q", "origin", "refs/gitckpt/*:refs/gitckpt/*")
    clone.ok("resume", "--", "touch", str(tmp_path / "ran"))
    (tmp_path / "ran").unlink()
    clone.git("push", "-q", "origin", "refs/gitckpt/*:refs/gitckpt/*")
    assert place.run("resume").status == 3
    assert not (tmp_path / "ran").exists()


def test_what_was_started_here_is_asked_about_once_that_is_forgotten(place: Place) -> None:
    place.ok("wrap", "--session", "run", "--", "true")
    (place.path / ".git/gitckpt/started").unlink()
    assert place.run("resume").status == 3
    (place.path / ".git/gitckpt/started").mkdir()
    assert place.run("resume").status == 3


def test_at_a_terminal_it_is_shown_and_asked_about(place: Place) -> None:
    place.ok("wrap", "--session", "run", "--", "sh", "-c", "echo ran >> ../ran # \x1b[2K")
    (place.path / ".git/gitckpt/started").unlink()
    answer = place.typed("resume", keys="n\n")
    assert (answer.status, "sh -c 'echo ran >> ../ran # \\x1b[2K'" in answer.out) == (3, True)
    assert (place.path.parent / "ran").read_text() == "ran\n"
    assert place.typed("resume", keys="y\n").status == 0
    assert (place.path.parent / "ran").read_text() == "ran\nran\n"


def test_nobody_is_said_to_have_died_who_had_ended(place: Place) -> None:
    place.run("wrap", "--session", "run", "--", *agent(place, "exit 1"))
    place.ok("rollback", "C1", "--yes")
    place.ok("save", "-m", "by hand")
    place.write("since.txt", "since\n")
    err = stable(place.ok("resume").err).splitlines()
    assert err[:2] == ["gitckpt: changed since C2: 1 path; on record as run/COMMIT", "gitckpt:   A since.txt"]
    assert "has no end" not in "".join(err)


def test_without_a_task_and_a_language_on_record_the_prompt_is_in_that_of_the_locale(place: Place) -> None:
    place.run("wrap", "--session", "run", "--", *agent(place, "exit 1"))
    answer = place.ok("resume")
    assert "no task is on record, so the agent is told none; --task TEXT tells it" in answer.err
    assert prompts(place)[-1].startswith("You are an agent")


def test_a_prompt_that_nothing_fills_in_is_told(place: Place) -> None:
    answer = place.run("wrap", "--", *agent(place, "exit 1"))
    assert "{prompt} stays in the command as it is; --task TEXT has it filled in" in answer.err
    assert prompts(place) == ["{prompt}"]
