"""Runs a shell command with limits on its time and on how much output is kept; nothing that it starts outlives it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: How many seconds a killed tree may take to disappear.
_PATIENCE = 10.0


class Ended(NamedTuple):
    """How a command ended. `status` is a shell's exit status. `output` is what it wrote on both streams, with
    `left_out` bytes cut from the middle. `timed_out` says that it was killed at the time limit."""

    status: int
    output: bytes
    left_out: int
    timed_out: bool


def run_kept(command: str, *, cwd: bytes, env: Mapping[str, str], seconds: float, most: int) -> Ended:
    """Run `sh -c command` in `cwd` with empty standard input, for at most `seconds`, keeping `most` bytes of its
    output. Everything that it started is killed when it ends, and when we do."""
    keeper = subprocess.Popen(
        # -P: nothing is imported from the work tree
        [sys.executable, "-P", "-m", "gitckpt.process.keeper", command],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd, env=dict(env),
        start_new_session=True,
    )  # fmt: skip
    assert keeper.stdin and keeper.stdout
    output = _Bounded(most)
    try:
        timed_out = not _read(keeper.stdout.fileno(), output, time.monotonic() + seconds)
        keeper.stdin.close()
        if timed_out and not _read(keeper.stdout.fileno(), output, time.monotonic() + _PATIENCE):
            keeper.kill()
        return Ended(keeper.wait(), output.kept(), output.left_out, timed_out)
    finally:
        keeper.stdin.close()
        keeper.stdout.close()
        keeper.wait()


def _read(descriptor: int, output: _Bounded, deadline: float) -> bool:
    """Read to the end. Return False if the time is up before."""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            return False
        chunk = os.read(descriptor, 65536)
        if not chunk:
            return True
        output.add(chunk)
    return False


class _Bounded:
    """Keeps the first and the last half of `most` bytes."""

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._head, self._tail, self.left_out = b"", b"", 0

    def add(self, chunk: bytes) -> None:
        """Add more output."""
        room = self._half - len(self._head)
        self._head += chunk[:room]
        tail = self._tail + chunk[room:]
        self._tail = tail[-self._half :]
        self.left_out += len(tail) - len(self._tail)

    def kept(self) -> bytes:
        """Return what is kept, with a note in place of what is not."""
        gap = b"\n... %d bytes left out ...\n" % self.left_out if self.left_out else b""
        return self._head + gap + self._tail
