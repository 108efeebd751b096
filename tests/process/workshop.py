"""Agents under real pipes and real terminals, and inspection of the processes they leave."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCRIPT = str(Path(__file__).with_name("wrapped.py"))

#: Seconds after which a test counts as hung; what it waits for takes a fraction of a second.
SOON = 20.0


def eventually(condition: Callable[[], Any], seconds: float = SOON) -> Any:
    """Return the result of `condition` as soon as it is true, or its last result."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return answer


def state(pid: int) -> str:
    """Return the state of a process as ps prints it: R, S, T …; "" if it is gone or dead."""
    try:
        letter = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
    return "" if letter in "ZX" else letter


def number_in(path: Path) -> int:
    """Return the number that a process writes to a file, once it is there."""
    assert eventually(lambda: path.exists() and path.read_text().endswith("\n")), f"{path.name} was not written"
    return int(path.read_text())


class Screen:
    """A terminal with a process on it, which leads its own session."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: Path, stderr: int | None = None) -> None:
        self.keyboard, self.tty = pty.openpty()
        self.resize(50, 132)
        self.before = termios.tcgetattr(self.tty)
        self.output = b""

        # setsid -c makes standard input the terminal of the new session.
        self.process = subprocess.Popen(
            ["setsid", "-c", *argv], cwd=cwd, env=env, stdin=self.tty, stdout=self.tty, stderr=stderr or self.tty
        )

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys: bytes) -> None:
        os.write(self.keyboard, keys)

    def see(self, text: bytes) -> bytes:
        """Wait until the text has arrived; return all output so far."""
        self._read(lambda: text in self.output)
        assert text in self.output, self.output
        return self.output

    def wait(self) -> int:
        """Wait for the end of the process; return its exit status as a shell shows it."""
        self._read(lambda: self.process.poll() is not None)
        status = self.process.wait(1)
        self._read(lambda: True)
        return status if status >= 0 else 128 - status

    def _read(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SOON
        while time.monotonic() < deadline:
            while select.select([self.keyboard], [], [], 0)[0]:
                self.output += os.read(self.keyboard, 65536)
            if done():
                return
            select.select([self.keyboard], [], [], 0.02)

    @property
    def settings(self) -> list[Any]:
        return termios.tcgetattr(self.tty)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.keyboard)
        os.close(self.tty)


class Workshop:
    """Starts wrapped agents in a directory and cleans up what is left of them."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.token = directory, uuid.uuid4().hex
        self.env = {**os.environ, "WORKSHOP": self.token}
        self.log = directory / "log"
        self._screens: list[Screen] = []
        self._processes: list[subprocess.Popen[bytes]] = []

    def argv(self, *command: str, **options: Any) -> list[str]:
        options = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
        return [sys.executable, SCRIPT, json.dumps({"log": str(self.log), **options}), *command]

    def run(self, *command: str, data: bytes = b"", **options: Any) -> subprocess.CompletedProcess[bytes]:
        argv = self.argv(*command, **options)
        return subprocess.run(
            argv,
            cwd=self.directory,
            env=self.env,
            input=data,
            capture_output=True,
            timeout=SOON,
            start_new_session=True,
        )

    def start(
        self, *command: str, popen: dict[str, Any] | None = None, stdout: int = subprocess.PIPE, **options: Any
    ) -> subprocess.Popen[bytes]:
        """Start it without a terminal."""
        return self.popen(self.argv(*command, **options), stdout=stdout, **(popen or {}))

    def popen(self, argv: list[str], **options: Any) -> subprocess.Popen[bytes]:
        options = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True, **options}
        process = subprocess.Popen(argv, cwd=self.directory, env=self.env, **options)
        self._processes.append(process)
        return process

    def screen(self, *command: str, stderr: int | None = None, **options: Any) -> Screen:
        """Start it on a terminal."""
        return self.screen_of(self.argv(*command, **options), stderr)

    def screen_of(self, argv: list[str], stderr: int | None = None) -> Screen:
        self._screens.append(Screen(argv, self.env, self.directory, stderr))
        return self._screens[-1]

    @property
    def events(self) -> list[dict[str, Any]]:
        text = self.log.read_text() if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def output(self, stream: str = "stdout") -> bytes:
        """Return everything that on_output received from a stream."""
        records = (event for event in self.events if event["event"] == "output" and event["stream"] == stream)
        return b"".join(base64.b64decode(event["chunk"]) for event in records)

    def event(self, kind: str) -> dict[str, Any]:
        """Return the only event of its kind, once it is there."""
        assert eventually(lambda: [event for event in self.events if event["event"] == kind]), f"no event {kind}"
        (event,) = [event for event in self.events if event["event"] == kind]
        return event

    def processes(self) -> list[int]:
        """Return all processes of this test except the test itself."""
        needle = f"WORKSHOP={self.token}".encode()
        found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in found if needle in _environment(pid).split(b"\0") and state(pid)]

    def close(self) -> None:
        for screen in self._screens:
            screen.close()
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for process in self._processes:
            process.wait()
            if process.stdout:
                process.stdout.close()


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
