"""A frozen agent stands still with all its processes, for four seconds at most, and is always continued."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workshop import SOON, Workshop, eventually, number_in, state

from gitckpt.process.standstill import continue_all, stop_all
from gitckpt.process.tree import Process, descendants, process_table, rows_of_ps

#: Adds to a file, never pausing, with three processes below it that do the same: a child, one in a session of its own,
#: and an orphan. Each writes its process id first.
BUSY = """
count() { echo $$ > pid-$1; while :; do echo >> count-$1; done; }
case $1 in
"") sh busy child & setsid sh busy session & (setsid sh busy orphan &)
    while ! [ -e count-child -a -e count-session -a -e count-orphan ]; do sleep 0.01; done; echo block; count agent;;
*) count $1;;
esac
"""
NAMES = ("agent", "child", "session", "orphan")


@pytest.fixture
def busy(workshop: Workshop) -> Workshop:
    (workshop.directory / "busy").write_text(BUSY)
    return workshop


def counts(directory: Path) -> list[int]:
    files = [directory / f"count-{name}" for name in NAMES]
    return [file.stat().st_size if file.exists() else 0 for file in files]


def pids(directory: Path) -> list[int]:
    """Of all four, or of all but the agent, which may be stopped before it has written its own."""
    texts = [(directory / f"pid-{name}").read_text() for name in NAMES if (directory / f"pid-{name}").exists()]
    return [int(text) for text in texts if text]


def moves(directory: Path) -> bool:
    before = counts(directory)
    return bool(eventually(lambda: all(a != b for a, b in zip(before, counts(directory), strict=True))))


@pytest.mark.skipif(sys.platform != "linux", reason="pipes can be given more room on Linux only")
def test_a_write_is_not_cut_short_because_the_writer_was_stopped(busy: Workshop) -> None:
    writer = "import os; os.write(1, b'block'); os.write(2, b'%d' % os.write(1, b'x' * 600_000))"
    assert busy.run(sys.executable, "-c", writer, freeze=True).stderr == b"600000"


@pytest.mark.parametrize("mode", ["pipe", "pty"])
def test_whole_tree_stands_still_and_goes_on(busy: Workshop, mode: str) -> None:
    gate = busy.directory / "gate"
    process = busy.start("sh", "busy", freeze=True, wait=gate, mode=mode)
    busy.event("frozen")
    before = counts(busy.directory)
    time.sleep(0.1)
    assert counts(busy.directory) == before
    assert {state(pid) for pid in pids(busy.directory)} == {"T"}
    gate.touch()
    assert busy.event("continued")["held"] is True
    assert moves(busy.directory)
    assert process.poll() is None


def test_when_we_are_killed_the_agent_goes_on(busy: Workshop) -> None:
    process = busy.start("sh", "-c", "trap '' HUP; exec sh busy", freeze=True, wait=busy.directory / "never")
    busy.event("frozen")
    process.kill()
    process.wait()
    assert eventually(lambda: "T" not in {state(pid) for pid in pids(busy.directory)})
    assert moves(busy.directory)


def test_when_the_guardian_is_killed_the_agent_goes_on(busy: Workshop) -> None:
    gate = busy.directory / "gate"
    process = busy.start("sh", "busy", freeze=True, wait=gate)
    busy.event("frozen")
    table = process_table()
    monitor = table[busy.event("output")["agent"]].parent
    (guardian,) = [row.pid for row in table.values() if row.parent == process.pid and row.pid != monitor]
    os.kill(guardian, signal.SIGKILL)
    gate.touch()
    assert busy.event("continued")["held"] is False
    assert moves(busy.directory)


@pytest.mark.slow
def test_never_longer_than_four_seconds(busy: Workshop) -> None:
    gate = busy.directory / "gate"
    busy.start("sh", "busy", freeze=True, wait=gate)
    busy.event("frozen")
    began = time.monotonic()
    assert moves(busy.directory)
    assert 2.0 < time.monotonic() - began < 8.0
    gate.touch()
    assert busy.event("continued")["held"] is False


def test_what_was_stopped_before_stays_stopped(workshop: Workshop) -> None:
    workshop.start(
        "sh", "-c", "sleep 333 & kill -STOP $!; echo $! > pid; sleep 0.1; echo block; sleep 333", freeze=True
    )
    stopped = number_in(workshop.directory / "pid")
    assert workshop.event("continued")["held"] is True
    assert state(stopped) == "T"


def test_signal_while_frozen_arrives_afterwards(busy: Workshop) -> None:
    gate = busy.directory / "gate"
    process = busy.start("sh", "busy", freeze=True, wait=gate)
    busy.event("frozen")
    process.terminate()
    gate.touch()
    assert process.wait(SOON) == 143
    assert busy.event("continued")["held"] is True


def test_ctrl_z_while_frozen_is_not_lost(workshop: Workshop) -> None:
    gate = workshop.directory / "gate"
    workshop.env |= {"PS1": "prompt> ", "TERM": "dumb"}
    screen = workshop.screen_of(["bash", "--norc", "--noediting", "-i"])
    screen.see(b"prompt> ")
    argv = workshop.argv("sh", "-c", "echo $$ > pid; echo block; sleep 333", freeze=True, wait=gate)
    screen.type((" ".join(f"'{word}'" for word in argv) + " | cat\n").encode())
    workshop.event("frozen")
    screen.type(b"\x1a")
    time.sleep(0.1)
    gate.touch()
    screen.see(b"Stopped")
    agent = number_in(workshop.directory / "pid")
    assert eventually(lambda: state(agent) == "T")
    screen.type(b"kill %1; fg\n")
    assert eventually(lambda: state(agent) == "")


def test_shell_does_not_notice_that_its_jobs_were_stopped(workshop: Workshop) -> None:
    script = "set -m; (while :; do sleep 0.01; done) & echo block; sleep 0.1; jobs; kill $!; wait; echo done"
    screen = workshop.screen("bash", "-c", script, freeze=True)
    assert screen.wait() == 0
    assert [event for event in workshop.events if event["event"] == "continued"]
    assert b"done" in screen.output
    assert b"Stopped" not in screen.output


def test_shells_that_start_programs_all_the_time_stand_still(workshop: Workshop) -> None:
    """One of them is likely to be caught in a vfork, where it cannot be stopped and yet does nothing."""
    shells = [workshop.popen(["sh", "-c", "while :; do /bin/true; done"]).pid for _ in range(3)]

    def find() -> list[Process]:
        table = process_table()
        return [row for shell in shells for row in (table[shell], *descendants(table, shell)) if not row.is_dead]

    for _ in range(30):
        stopped: list[int] = []
        stop_all(find, stopped, lambda _pid: None)
        still = [row.stands_still for row in find()]
        continue_all(stopped)
        assert still == [True] * len(still)


def test_process_table_agrees_with_ps() -> None:
    sleeper = subprocess.Popen(["sleep", "100"], start_new_session=True)
    try:
        assert eventually(lambda: state(sleeper.pid) == "S")
        rows = {row.pid: row[:4] for row in rows_of_ps()}
        assert rows[sleeper.pid] == process_table()[sleeper.pid][:4] == (sleeper.pid, os.getpid(), sleeper.pid, "S")
    finally:
        sleeper.kill()
        sleeper.wait()


@given(st.lists(st.integers(0, 30), max_size=30))
def test_descendants_are_all_that_leads_up_to_the_root(parents: list[int]) -> None:
    """Process n + 1 has the parent that the list names, if that is one before it, else none."""
    table = {pid: Process(pid, parent if parent < pid else 0, pid, "S") for pid, parent in enumerate(parents, start=1)}

    def leads_to_one(pid: int) -> bool:
        parent = table[pid].parent if pid in table else 0
        return parent == 1 or (parent > 1 and leads_to_one(parent))

    found = [row.pid for row in descendants(table, 1)]
    assert sorted(found) == [pid for pid in table if leads_to_one(pid)]
    assert all(table[pid].parent == 1 or found.index(table[pid].parent) < found.index(pid) for pid in found)
