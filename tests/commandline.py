"""A user at the command line: a work tree, the commands run in it, and their output."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

#: Seconds after which a command counts as hung.
HANG = 60

SESSION_ID = re.compile(r"\d{8}-\d{6}-[a-z0-9]{4}")
COMMIT_ID = re.compile(r"\b(?:[0-9a-f]{40}|[0-9a-f]{12})\b")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+Z)?)?)?")
TIME = re.compile(r"\b\d\d:\d\d:\d\d\b")

#: A work tree byte for byte: path to kind, permission bits and content (for a link, its target).
Bytes = dict[str, tuple[str, int, bytes]]


def stable(text: str) -> str:
    """Return the text with everything that varies from run to run replaced by placeholders."""
    text = TIME.sub("TIME", DATE.sub("DATE", SESSION_ID.sub("SESSION", text)))
    return COMMIT_ID.sub("COMMIT", text)


class Answer(NamedTuple):
    """The exit status of a command, and what it wrote."""

    status: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode("utf-8", "surrogateescape")

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


class Zygote:
    """Runs gitckpt command lines, each in a separate process; see zygote.py."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("zygote.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )

    def run(self, args: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: bytes = b"", **more: Any) -> Answer:
        files = {name: self._directory / name for name in ("stdin", "stdout", "stderr")}
        for name, file in files.items():
            file.write_bytes(stdin if name == "stdin" else b"")
        paths = {name: str(file) for name, file in files.items()}
        status = self.ask({"args": list(args), "cwd": str(cwd), "env": dict(env), **paths, **more})
        return Answer(
            status, files["stdout"].read_bytes(), files["stderr"].read_bytes().decode("utf-8", "surrogateescape")
        )

    def ask(self, request: Mapping[str, Any]) -> int:
        """Return the exit status of the request; negative, the number of the signal that ended it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the zygote is gone: standard error tells why"
        pid = int(answer)
        ready, _, _ = select.select([self._process.stdout], [], [], HANG)
        if not ready:
            os.killpg(pid, signal.SIGKILL)
        status = int(self._process.stdout.readline())
        assert ready, f"{request['args']} hangs"
        return status

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class Place:
    """A directory with a repository, and the commands that the user runs there in the environment `env`."""

    def __init__(self, path: Path, env: Mapping[str, str], zygote: Zygote) -> None:
        self.path, self.env, self.zygote = path, dict(env), zygote

    def run(
        self,
        *args: str,
        stdin: str | bytes = b"",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        **more: Any,
    ) -> Answer:
        """Run a gitckpt command line; `env` is added to the environment, `more` are further fields of a zygote.py
        request.
        """
        data = stdin.encode() if isinstance(stdin, str) else stdin
        return self.zygote.run(args, cwd=cwd or self.path, env=self.env | dict(env or {}), stdin=data, **more)

    def ok(self, *args: str, stdin: str | bytes = b"", cwd: Path | None = None) -> Answer:
        """Do the same, and expect success."""
        answer = self.run(*args, stdin=stdin, cwd=cwd)
        assert answer.status == 0, answer
        return answer

    def json(self, *args: str, cwd: Path | None = None) -> Any:
        return self.ok(*args, "--json", cwd=cwd).json

    def bound(self, *args: str, stdin: bytes = b"", **limits: Any) -> Answer:
        """Do the same as a user bound by permission bits, with the limits that zygote.py supports."""
        return self.zygote.run(args, cwd=self.path, env=self.env, stdin=stdin, unprivileged=True, **limits)

    def process(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Answer:
        """Do the same in a fresh Python, for tests where imports or the interpreter itself matter."""
        command = [sys.executable, "-m", "gitckpt", *args]
        environment = self.env if env is None else env
        done = subprocess.run(command, cwd=self.path, env=environment, input=stdin, capture_output=True, timeout=HANG)
        return Answer(done.returncode, done.stdout, done.stderr.decode("utf-8", "surrogateescape"))

    def typed(self, *args: str, keys: str = "", colours: bool = False) -> Answer:
        """Run a command line at a terminal, with `keys` typed ahead; `out` is everything shown there."""
        master, slave = pty.openpty()
        settings = termios.tcgetattr(slave)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, settings)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        os.write(master, keys.encode())
        paths = dict.fromkeys(("stdin", "stdout", "stderr"), os.ttyname(slave))
        env = self.env | {"TERM": "xterm", "NO_COLOR": "" if colours else "1"}
        status = self.zygote.ask({"args": list(args), "cwd": str(self.path), "env": env, **paths})
        os.close(slave)
        return Answer(status, _drained(master).replace(b"\r\n", b"\n"), "")

    def before_git(self, script: str) -> dict[str, str]:
        """Return an environment with a shell script in front of git, which runs the real git, `$GIT`, when it ends."""
        shim = self.path.parent / "bin" / "git"
        shim.parent.mkdir(exist_ok=True)
        shim.write_text(f'#!/bin/sh\n{script}\nexec "$GIT" "$@"\n')
        shim.chmod(0o755)
        return {"PATH": f"{shim.parent}:{self.env['PATH']}", "GIT": str(shutil.which("git"))}

    def git(self, *args: str, env: Mapping[str, str] | None = None) -> str:
        environment = self.env | dict(env or {})
        done = subprocess.run(["git", *args], cwd=self.path, env=environment, capture_output=True, timeout=HANG)
        assert done.returncode == 0, done
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, name: str, content: str | bytes, mode: int = 0o644) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)

    def read(self, name: str) -> str:
        return (self.path / name).read_text()

    def bytes(self) -> Bytes:
        """Return the current work tree, without `.git`."""
        found: Bytes = {}
        for directory, names, files in os.walk(self.path):
            names[:] = [name for name in names if name != ".git"]
            for name in files + names:
                path = Path(directory, name)
                found[str(path.relative_to(self.path))] = _look(path)
        return found

    def users(self) -> dict[str, str]:
        """Return what belongs to the user in the repository: HEAD, staging area, branches, stash, reflog,
        configuration.
        """
        index = (self.path / ".git" / "index").read_bytes()
        return {
            "HEAD": (self.path / ".git" / "HEAD").read_text(),
            "index": index.hex(),
            "refs": self.git("for-each-ref", "refs/heads", "refs/tags", "refs/stash"),
            "reflog": self.git("reflog", "--all"),
            "config": (self.path / ".git" / "config").read_text(),
        }

    def ids(self) -> list[str | None]:
        """Return the ids of all events of the current session, oldest first; the kind for an event without an id."""
        return [event["id"] or event["kind"] for event in self.json("log")["events"]]

    def copy(self, path: Path) -> Place:
        """Copy the place to another path."""
        shutil.copytree(self.path, path, symlinks=True)
        return Place(path, self.env, self.zygote)


def _drained(master: int) -> bytes:
    """Return everything written by the other side of a terminal, which nobody has open any more."""
    found = b""
    try:
        while chunk := os.read(master, 1 << 16):
            found += chunk
    except OSError:  # the end, as Linux reports it
        pass
    finally:
        os.close(master)
    return found


def _look(path: Path) -> tuple[str, int, bytes]:
    if path.is_symlink():
        return "link", 0, os.fsencode(path.readlink())
    mode = path.lstat().st_mode & 0o7777
    return ("directory", mode, b"") if path.is_dir() else ("file", mode, path.read_bytes())


def checkpoint(id: str, done: str = "changed a.txt", hint: str = "", phase: str = "implement") -> str:
    """Return a complete checkpoint block."""
    return (
        f"===CHECKPOINT {id}===\nphase: {phase}\ndone: [{done}]\nnext: [go on, tool: edit_file]\n"
        f"state_ref: [current=a.txt]\nrollback_hint: [{hint or 'git checkout a.txt'}]\n===END===\n"
    )


def retry(id: str, reason: str = "it broke", strategy: str = "try b.txt") -> str:
    """Return a RETRY block."""
    return f"===RETRY===\nfrom: {id}\nreason: [{reason}]\nnew_strategy: [{strategy}]\n===END===\n"


def broken_python(place: Place, function: str) -> dict[str, str]:
    """Return an environment in which a Python function is None, as in a broken installation: calling it fails like a
    bug in gitckpt."""
    site = place.path.parent / function
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(f"import {function.partition('.')[0]}\n{function} = None\n")
    return place.env | {"PYTHONPATH": str(site)}
