"""Scratch directories go with those who made them, and what a killed one has left goes a day later."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitckpt.repo.room import make_room, remove, room


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def gone() -> int:
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_a_killed_process_has_left_goes_when_it_is_a_day_old(temporary: Path) -> None:
    dead, alive = gone(), os.getpid()
    names = [
        f"gitckpt-scratch-{dead}-old", f"gitckpt-promote-{dead}-new", f"gitckpt-blame-{alive}-old",
        f"gitckpt-other-{dead}-old", "gitckpt-scratch-x-old",
    ]  # fmt: skip
    for name in names:
        (temporary / name / "in").mkdir(parents=True)
    (temporary / f"gitckpt-scratch-{dead}-link").symlink_to(temporary / "gitckpt-scratch-x-old")
    script = "import time; t = time.time; time.time = lambda: t() + 2 * 86_400\n"
    script += f"import tempfile; tempfile.tempdir = {str(temporary)!r}\n"
    script += "from gitckpt.repo.room import make_room, remove; remove(make_room('scratch'))"
    young = temporary / f"gitckpt-promote-{dead}-new"
    with room("scratch") as directory:  # today nothing is old
        assert os.path.isdir(directory) and young.exists() and (temporary / f"gitckpt-scratch-{dead}-old").exists()
    subprocess.run([sys.executable, "-c", script], check=True)
    assert sorted(os.listdir(temporary)) == sorted([
        f"gitckpt-blame-{alive}-old", f"gitckpt-other-{dead}-old", f"gitckpt-scratch-{dead}-link", "gitckpt-scratch-x-old",
    ])  # fmt: skip


def test_nobody_else_can_enter(temporary: Path) -> None:
    directory = make_room("blame")
    assert os.stat(directory).st_mode & 0o777 == 0o700
    remove(directory)
    assert os.listdir(temporary) == []
