"""Told to end, a command takes along all that it has started: also what its own command has left in the background, and
what has left that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commandline import HANG, Place, checkpoint

#: Everybody writes down who he is, and waits for ever: in the shell, in the background, as a daemon, and as one that does
#: not listen.
WAIT = """\
echo $$ >>{pids}
sh -c 'echo $$ >>{pids}; exec sleep 600' &
(setsid sh -c 'echo $$ >>{pids}; exec sleep 600' &)
sh -c 'trap "" TERM; echo $$ >>{pids}; while :; do sleep 600; done' &
wait
"""

CASES = [
    pytest.param(("bisect", "C1", "C2", "--", "sh", "-c", WAIT), id="bisect"),
    pytest.param(("fork", "C1", "-n", "1", "--", "sh", "-c", WAIT), id="fork"),
    pytest.param(
        ("fork", "C1", "-n", "1", "--test", WAIT, "--", "true"), id="the test of a fork", marks=pytest.mark.slow
    ),
]


def numbers(pids: Path) -> list[str]:
    return pids.read_text().split() if pids.exists() else []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nobody adopts who has left his parent")
@pytest.mark.parametrize("command", CASES)
def test_nobody_outlives_it(place: Place, tmp_path: Path, command: tuple[str, ...]) -> None:
    pids = tmp_path / "pids"
    for number in (1, 2):
        place.write("a.txt", f"a at C{number}\n")
        place.ok("record", stdin=checkpoint(str(number)))
    words = [word.replace("{pids}", str(pids)) for word in command]
    process = subprocess.Popen(
        [sys.executable, "-m", "gitckpt", *words], cwd=place.path, env=place.env, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + HANG
    while len(numbers(pids)) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(HANG) == 128 + signal.SIGTERM
    assert len(numbers(pids)) == 4
    assert [pid for pid in numbers(pids) if os.path.exists(f"/proc/{pid}")] == []
