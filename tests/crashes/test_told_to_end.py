"""Told to end, a command takes along all that it has started: also what its own command has left in the background, and
what has left that."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commandline import HANG, Place, checkpoint
from sampling import others_slow

#: Everybody writes down who he is, and waits for ever: in the shell, in the background, and as a daemon.
WAIT = """\
echo $$ >>{pids}
sh -c 'echo $$ >>{pids}; exec sleep 600' &
(setsid sh -c '{deaf} echo $$ >>{pids}; exec sleep 600' &)
wait
"""

#: Has the daemon not listen.
DEAF = 'trap "" TERM;'

BISECT = ("bisect", "C1", "C2", "--", "sh", "-c", WAIT)
FORK = ("fork", "C1", "-n", "1", "--", "sh", "-c", WAIT)
FORK_TEST = ("fork", "C1", "-n", "1", "--test", WAIT, "--", "true")
CASES = [(BISECT, ""), (FORK, ""), (FORK_TEST, ""), (BISECT, DEAF), (FORK, DEAF)]


def numbers(pids: Path) -> list[str]:
    return pids.read_text().split() if pids.exists() else []


def is_alive(pid: str) -> bool:
    """Whether it runs; who has adopted it may not have taken notice of its end yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nobody adopts who has left his parent")
@pytest.mark.parametrize(("command", "deaf"), others_slow(CASES, lambda case: case in CASES[:2]))
def test_nobody_outlives_it(place: Place, tmp_path: Path, command: tuple[str, ...], deaf: str) -> None:
    pids = tmp_path / "pids"
    for number in (1, 2):
        place.write("a.txt", f"a at C{number}\n")
        place.ok("record", "--session", "run", stdin=checkpoint(str(number)))
    words = [word.replace("{pids}", str(pids)).replace("{deaf}", deaf) for word in command]
    process = subprocess.Popen(
        [sys.executable, "-m", "gitckpt", *words], cwd=place.path, env=place.env, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + HANG
    while len(numbers(pids)) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(HANG) == 128 + signal.SIGTERM
    assert len(numbers(pids)) == 3
    assert [pid for pid in numbers(pids) if is_alive(pid)] == []
