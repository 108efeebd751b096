"""The lock of a work tree: one at a time, and never the lock of a dead owner."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitckpt.errors import Refused
from gitckpt.repo import lock as locking
from gitckpt.repo.lock import WorkTreeLock

HOLD = """
import os, sys, time
from gitckpt.repo.lock import WorkTreeLock
with WorkTreeLock(os.fsencode(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def owner(directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the lock until its input ends."""
    command = [sys.executable, "-c", HOLD, str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            process.kill()


def lock(directory: Path, said: list[str] | None = None) -> WorkTreeLock:
    return WorkTreeLock(os.fsencode(directory), said.append if said is not None else None)


def test_the_owners_pid_is_in_it(tmp_path: Path) -> None:
    with lock(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_its_owner_may_enter_again(tmp_path: Path) -> None:
    held = lock(tmp_path)
    assert not held.held
    with held:
        with held:
            assert held.held
        assert held.held
        with pytest.raises(ZeroDivisionError), held:
            raise ZeroDivisionError
        assert held.held
    assert not held.held


def test_a_live_owner_is_told_and_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "SILENCE", 0.05)
    said: list[str] = []
    with owner(tmp_path) as process:

        def release(text: str) -> None:
            said.append(text)
            assert process.stdin is not None
            process.stdin.close()

        with WorkTreeLock(os.fsencode(tmp_path), release):
            assert process.wait(20) == 0
    assert said == [f"waiting for gitckpt (pid {process.pid}), which is at work in this work tree"]


def test_patience_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "PATIENCE", 0.05)
    with owner(tmp_path) as process, pytest.raises(Refused) as caught, lock(tmp_path):
        pass
    assert str(caught.value) == f"gitckpt (pid {process.pid}) has been at work in this work tree for 0 s"
    assert caught.value.hint == "wait for it, or stop it"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_dead_owners_lock_is_taken_over(tmp_path: Path, how: signal.Signals) -> None:
    said: list[str] = []
    with owner(tmp_path) as process:
        process.send_signal(how)
        process.wait(20)
        with lock(tmp_path, said):
            assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
    assert said == []


@pytest.mark.parametrize("content", ["", "999999999\n", "not a pid", "1\n"])
def test_what_stands_in_the_file_holds_nobody(tmp_path: Path, content: str) -> None:
    (tmp_path / "lock").write_text(content)
    with lock(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_child_does_not_keep_it(tmp_path: Path) -> None:
    """The agent that is started while the lock is held must not hold it for as long as it lives."""
    with lock(tmp_path):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        with lock(tmp_path):
            assert child.poll() is None
    finally:
        child.kill()
        child.wait()


def test_a_daemon_that_a_child_left_does_not_keep_it(tmp_path: Path) -> None:
    """A git that goes on writing after we were killed has to keep it; what outlives a work that is done has not."""
    lock = WorkTreeLock(os.fsencode(tmp_path))
    with lock:
        daemon = subprocess.Popen(["sleep", "60"], pass_fds=(lock.descriptor,))
    try:
        with owner(tmp_path):
            assert daemon.poll() is None
    finally:
        daemon.kill()
        daemon.wait()


def test_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    inside: list[int] = []

    def work() -> None:
        for _ in range(20):
            with lock(tmp_path):
                inside.append(1)
                assert len(inside) == 1
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inside == []


def test_what_a_killed_process_left_is_tidied(tmp_path: Path) -> None:
    left = ("index.lock", "scratch.lock", "scan.json.4711", "index.4711", "sharedindex_Ab12xY", "written.4711.lock")
    stays = ("index", "scan.json", "config", "sharedindex.0123abc", "notes.lock", "notes.4711")
    for name in (*left, *stays):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (1, 1))
    with lock(tmp_path):
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(("lock", *stays))


def test_the_lock_file_of_a_git_that_may_be_alive_is_given_a_moment(tmp_path: Path) -> None:
    (tmp_path / "index.lock").write_text("")

    def finish() -> None:
        (tmp_path / "index.lock").rename(tmp_path / "index")

    timer = threading.Timer(0.1, finish)
    timer.start()
    with lock(tmp_path):
        assert (tmp_path / "index").exists()
    timer.join()


def test_an_owner_that_died_is_told(tmp_path: Path) -> None:
    told: list[str] = []

    def enter() -> None:
        with WorkTreeLock(os.fsencode(tmp_path), mend=lambda: told.append("died")):
            pass

    enter()
    enter()
    assert told == []
    (tmp_path / "lock").write_text("4711\n")
    enter()
    enter()
    assert told == ["died"]
