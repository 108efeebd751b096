"""Completion in the shells themselves: set up as the documentation says, then typed with a TAB in it."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commandline import HANG, Place

#: What asks for a line at a terminal, with nothing of the machine's own set up.
SHELLS = {
    "bash": ["bash", "--noprofile", "-i"],
    "zsh": ["zsh", "-d", "-i"],
    "fish": ["fish", "-i"],
}


@pytest.fixture
def person(place: Place, tmp_path: Path) -> dict[str, str]:
    """The environment of somebody with a home of his own, in which gitckpt is a command."""
    (tmp_path / "home").mkdir()
    path = f"{Path(sys.executable).parent}:{place.env['PATH']}"
    return place.env | {"HOME": str(tmp_path / "home"), "PATH": path, "TERM": "xterm", "PS1": "> "}


#: In zsh the first one of a shell does no more than load the completion.
TABS = {"bash": b"\t", "zsh": b"\t\t", "fish": b"\t"}


def at_a_terminal(command: list[str], cwd: Path, env: dict[str, str]) -> tuple[int, int]:
    """A process that has a terminal of its own, and the other side of that terminal."""
    process, master = pty.fork()
    if process == 0:
        os.chdir(cwd)
        os.execvpe(command[0], command, env)
    return process, master


def until(master: int, wanted: str) -> str:
    """What a terminal shows up to these words."""
    shown, end = "", time.monotonic() + HANG
    while wanted not in shown:
        assert select.select([master], [], [], max(0, end - time.monotonic()))[0], shown
        shown += os.read(master, 1 << 16).decode(errors="replace")
    return shown


@pytest.mark.parametrize("shell", SHELLS)
def test_an_id_is_completed_where_it_was_set_up_as_documented(shell: str, place: Place, person: dict[str, str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    place.ok("save", "-m", "before I try this")
    setup = [shell, "-c", "gitckpt --install-completion; true"]
    subprocess.run(setup, cwd=place.path, env=person, check=True, capture_output=True, timeout=HANG)
    process, master = at_a_terminal(SHELLS[shell], place.path, person)
    try:
        os.write(master, b"echo rea''dy\r")
        until(master, "ready")
        os.write(master, b"gitckpt show C" + TABS[shell] + b"\r")
        until(master, "C1  checkpoint")
    finally:
        os.kill(process, signal.SIGKILL)
        os.close(master)
        os.waitpid(process, 0)
