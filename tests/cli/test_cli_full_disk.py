"""A disk without room: nothing of the user's is lost, and the next command works."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commandline import Answer, Place, checkpoint

from gitckpt.errors import REMEDIES, refusal
from gitckpt.repo.answers import remedy as remedy_for_git


@pytest.fixture(scope="module")
def worked(recorded_template: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """After C3 a person has edited a file and added one."""
    place = recorded_template.copy(tmp_path_factory.mktemp("worked") / "work")
    place.write("a.txt", "by hand\n")
    place.write("mine.txt", "mine\n")
    return place


def users(place: Place) -> dict[str, str]:
    return {**place.users(), "index": place.git("ls-files", "--stage")}


def assert_told(answer: Answer) -> None:
    assert answer.status in (0, 1, 3, 4, 5) and "Traceback" not in answer.err
    assert answer.status == 0 or answer.err.startswith("gitckpt: ")


@contextmanager
def small_disk(directory: Path) -> Iterator[Path]:
    """A file system of 3 MiB, where one may be mounted."""
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(directory)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


@contextmanager
def room(disk: Path, size: int) -> Iterator[None]:
    """Leave so many bytes free."""
    filler = disk / "filler"
    status = os.statvfs(disk)
    with filler.open("wb") as file:
        file.write(b"x" * max(status.f_bavail * status.f_bsize - size, 0))
    yield
    filler.unlink()


def assert_survives(place: Place, command: list[str], size: int) -> Answer:
    before, theirs = place.bytes(), users(place)
    with room(place.path.parent, size):
        answer = place.run(*command)
        assert_told(answer)
        assert place.ok("log").err == ""
        if answer.status:
            assert place.bytes() == before
    assert users(place) == theirs
    return answer


def test_a_full_disk_is_told_and_the_next_command_works(worked: Place, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        place = worked.copy(disk / "work")
        for number, size in enumerate((0, 4096, 8192)):
            place.write("a.txt", f"new words {number}\n" * 2000)
            assert assert_survives(place, ["save"], size).status in (3, 4)
            place.ok("save")
            place.write("a.txt", f"newer words {number}\n" * 2000)
            assert assert_survives(place, ["rollback", "C1"], size).status in (3, 4)
        assert place.ok("rollback", "C1").out.endswith("verified\n")


def test_on_a_full_disk_the_agent_runs(worked: Place, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        place = worked.copy(disk / "work")
        for size in (0, 4096, 8192):
            with room(disk, size):
                answer = place.run("wrap", "--", "sh", "-c", "echo hello; exit 5")
                assert (answer.status, answer.out, "NOT recorded" in answer.err) == (5, "hello\n", True)


def test_a_rollback_that_runs_out_of_room_can_be_taken_back_or_finished(worked: Place, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        place = worked.copy(disk / "work")
        place.write("large.txt", "a line like any other\n" * 40_000)
        place.ok("record", stdin=checkpoint("4"))
        (place.path / "large.txt").unlink()
        before = place.bytes()
        for command in ("--abort", "--continue"):
            with room(disk, 200_000):
                assert place.run("rollback", "C4").status in (3, 4)
            assert place.json("status")["interrupted"] == "rollback to run/C4"
            place.ok("rollback", command)
            assert (place.bytes() == before) is (command == "--abort")
        assert place.read("large.txt").count("\n") == 40_000


def test_where_no_file_may_grow_large_that_is_told(worked: Place, tmp_path: Path) -> None:
    place = worked.copy(tmp_path / "work")
    place.write("large.bin", os.urandom(300_000))
    before, theirs = place.bytes(), users(place)
    limit: dict[str, Any] = {"largest_file": 100_000}
    answer = place.bound("save", **limit)
    assert_told(answer)
    assert (answer.status, place.bytes(), users(place)) == (4, before, theirs)
    assert place.bound("wrap", "--", "sh", "-c", "exit 5", **limit).status == 5
    place.ok("save")
    assert place.ok("diff") == (0, b"", "")


def test_a_read_only_disk_can_be_read_and_is_told_as_what_it_is(worked: Place, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        place = worked.copy(disk / "work")
        before, log = place.bytes(), place.ok("log")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for command in (["save"], ["rollback", "C1"], ["record"], ["report"]):
            answer = place.run(*command)
            assert (answer.status in (3, 4), "Read-only file system" in answer.err) == (True, True), (command, answer)
            assert "room" not in answer.err and "mounted" in answer.err
        told = place.run("doctor")
        assert "mounted read-only" in told.out + told.err and "chmod" not in told.out + told.err
        assert (place.ok("log"), place.bytes()) == (log, before)


def test_what_helps_is_said_of_what_the_system_refuses() -> None:
    for number, remedy in REMEDIES.items():
        told = refusal(OSError(number, os.strerror(number), "/some/file"), "run the command again")
        assert told is not None and (told.exit_status, told.hint.startswith(remedy)) == (4, True)
        assert os.strerror(number) in str(told) and "/some/file" in str(told)
    assert refusal(OSError("of another kind"), "again") is None
    assert refusal(FileNotFoundError(errno.ENOENT, "x"), "again") is None
    assert remedy_for_git("fatal: write error: No space left on device").startswith("make room")
    assert remedy_for_git("error: Permission denied").startswith("gitckpt doctor")
