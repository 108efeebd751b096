"""Runs of real third-party clients, each in its own place and home directory, and what is on record of them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from commandline import Place
from real_clients import WHERE, client_named, directory_of
from scripted_model import Turn, model_of

#: Some clients' shells set their own PATH.
GITCKPT = Path(sys.executable).with_name("gitckpt")

#: The time limit in seconds for one run of a client; some wait for a network that may not exist.
LONG = 300

#: The content of a block's snapshot: a.txt, and whether b.txt exists.
State = tuple[str | None, bool]


class Client:
    """A client in a place, with a separate home directory."""

    def __init__(self, name: str, place: Place, directory: str, home: Path) -> None:
        self.name, self.real, self.place, self.home = name, client_named(name), place, home
        home.mkdir()
        (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
        place.env |= {"HOME": str(home), "PATH": f"{directory}:{place.env['PATH']}", "TERM": "dumb"}

    def command(self, mode: str) -> list[str]:
        return [self.real.command, *self.real.options, *self.real.modes[mode]]

    def run(self, mode: str) -> None:
        """Run the client by itself."""
        done = subprocess.run(
            self.command(mode), cwd=self.place.path, env=self.place.env, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=LONG,
        )  # fmt: skip
        assert done.returncode == 0, done

    def wrapped(self, mode: str, *options: str) -> str:
        """Run the client under `wrap`; return gitckpt's messages."""
        command = [str(GITCKPT), "wrap", *options, "--", *self.command(mode)]
        done = subprocess.run(
            command,
            cwd=self.place.path,
            env=self.place.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LONG,
        )
        assert done.returncode == 0, done
        return done.stderr.decode()

    @property
    def events(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.place.json("log", "--all")["events"]
        return found

    def states(self, expected_if_late: Mapping[str, State] | None = None) -> dict[str, State]:
        """Return block → the files of its snapshot for each block on record; the expected files if it is marked
        late.
        """
        found: dict[str, State] = {}
        for event in self.events:
            if event["kind"] not in ("checkpoint", "retry", "final", "summary"):
                continue
            name = event["id"] or event["kind"]
            assert name not in found, f"{name} is on record twice"
            files = self.place.git("ls-tree", "--name-only", event["commit"]).split()
            content = self.place.git("show", f"{event['commit']}:a.txt") if "a.txt" in files else None
            late = "\nlate: true" in self.place.git("show", "-s", "--format=%B", event["commit"])
            expects = late and expected_if_late is not None
            found[name] = expected_if_late[name] if expects else (content, "b.txt" in files)
        return found


Begin = Callable[[str, Sequence[Turn]], Client]


@pytest.fixture
def begin(template_place: Place) -> Iterator[Begin]:
    """Create a client that talks to a model with the given script. Codex and Gemini require a directory that nobody
    else may write to, which excludes the one for temporary files."""
    room = Path(tempfile.mkdtemp(prefix="run-", dir=WHERE or None))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, room, ignore_errors=True)
        stack.callback(_end_daemons, room)
        place, faults = template_place.copy(room / "work"), list[str]()

        def begun(name: str, turns: Sequence[Turn]) -> Client:
            directory = directory_of(name)
            if not directory:
                pytest.skip(f"{client_named(name).command} is not installed")
            client = Client(name, place, directory, room / "owner")
            url = stack.enter_context(model_of(turns, faults))
            place.env |= client.real.tell(client.home, place.path, url)
            return client

        yield begun
        assert faults == []


def _end_daemons(room: Path) -> None:
    """Kill what a client has left running there: Cline leaves a server running after each run."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(room) in entry.read_bytes():
                os.kill(int(entry.parent.name), signal.SIGKILL)
