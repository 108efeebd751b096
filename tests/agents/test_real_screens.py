"""Full-screen clients that nobody here wrote, under `wrap` on a terminal: what they draw is passed through, and their
blocks come from hooks. The terminal is tmux's, which answers what they ask of one."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from real_clients import GO
from real_runs import GITCKPT, LONG, Begin, Client
from scripted_model import Turn
from test_real_clients import AHEAD, STATES, TURNS

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed"),
]

#: What the model says last.
LAST = "Everything is moved."


class Screen(NamedTuple):
    """How a client is started, what its screen shows when it can be typed to, and keys before that."""

    command: tuple[str, ...]
    ready: str
    first: tuple[str, ...] = ()


SCREENS = {
    "claude-code": Screen(("claude", "--dangerously-skip-permissions"), "bypass permissions on"),
    "codex": Screen(
        ("codex", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"), "scripted"
    ),
    "gemini": Screen(("gemini", "--yolo"), "Type your message"),
    "qwen": Screen(("qwen", "--yolo"), "Type your message"),
    "opencode": Screen(("opencode",), "Ask anything"),
    "cline": Screen(("cline", "-i"), "What can I do", ("Escape",)),
    "copilot": Screen(("copilot", "--allow-all"), "/ commands"),
    "pi": Screen(("pi",), "scripted"),
}


class Terminal:
    def __init__(self, room: Path) -> None:
        self._room = room

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-S", str(self._room / "tmux"), *words], capture_output=True, text=True)
        return done.stdout

    def start(self, client: Client, command: tuple[str, ...]) -> None:
        """Run it under wrap; what that says is put into a file."""
        # a shell of tmux's may make a PATH of its own
        environment = [f"{key}={value}" for key, value in client.place.env.items()]
        wrap = shlex.join(["env", *environment, str(GITCKPT), "wrap", "--", *command])
        # an interrupt that comes when the client has gone is not the shell's
        line = f"trap : INT; {wrap} 2>{self._room}/said; touch {self._room}/ended"
        self.tmux("new-session", "-d", "-x", "100", "-y", "40", "-c", str(client.place.path), line)

    @property
    def shown(self) -> str:
        return self.tmux("capture-pane", "-p", "-S", "-500")

    @property
    def said(self) -> str:
        return (self._room / "said").read_text()

    @property
    def has_ended(self) -> bool:
        return (self._room / "ended").exists()

    def type(self, *keys: str) -> None:
        for key in keys:
            self.tmux("send-keys", key)
            time.sleep(1)

    def quit(self) -> None:
        """What ends a client is one of these, twice and quickly; it may take its time."""
        end = time.monotonic() + LONG
        while not self.has_ended:
            assert time.monotonic() < end, self.shown
            for key in ("C-c", "C-d"):
                self.tmux("send-keys", key)
                time.sleep(0.3)
                self.tmux("send-keys", key)
                time.sleep(2)

    def wait(self, ready: Callable[[], object]) -> None:
        end = time.monotonic() + LONG
        while not ready():
            assert time.monotonic() < end and not self.has_ended, self.shown + self.said
            time.sleep(0.5)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path)
    yield terminal
    terminal.tmux("kill-server")


@pytest.mark.parametrize("name", SCREENS)
def test_on_a_screen_each_block_is_recorded_once_with_the_files_of_its_moment(
    begin: Begin, terminal: Terminal, name: str
) -> None:
    turns, screen = AHEAD if name == "copilot" else TURNS, SCREENS[name]
    client = begin(name, [*turns[:-1], Turn(turns[-1].text + LAST)])
    client.place.env["TERM"] = "screen-256color"
    if name == "cline":  # it takes no hooks for one run
        client.place.ok("init", "--agent", name)
    terminal.start(client, screen.command)
    terminal.wait(lambda: re.search(f"{screen.ready}|Press Enter to open", terminal.shown))
    terminal.type(*screen.first, GO, "Enter")
    terminal.wait(lambda: LAST in terminal.shown)
    terminal.wait(lambda: "final" in client.states(STATES))
    terminal.quit()
    log = client.place.path / ".git/gitckpt/hooks.log"
    assert not log.exists(), log.read_text()
    assert client.states(STATES if name == "copilot" else None) == STATES, terminal.said
    assert [event["kind"] for event in client.events].count("end") == 1
    assert client.place.json("verify")["whole"]
