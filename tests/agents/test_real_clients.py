"""Clients that nobody here wrote, against a model that is a script on this machine: under `wrap` in every way in which they
print, set up by `init`, and by their tools.

Run with `pytest -m clients`. GITCKPT_CLIENTS names a directory that those which are missing are installed into by npm."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from commandline import Place, checkpoint
from real_clients import CLIENTS, WHERE, directory_of
from scripted_model import Turn, model_of

pytestmark = pytest.mark.clients

#: Some shells of clients make a PATH of their own.
GITCKPT = Path(sys.executable).with_name("gitckpt")

#: Seconds for one run of a client; some wait for a network that may not be there.
LONG = 300

#: Two blocks are in one message; one tool goes back; one fails.
TURNS = [
    Turn(checkpoint("1") + "\nNow I write.", "echo one >a.txt"),
    Turn(checkpoint("2"), "echo two >a.txt; echo new >b.txt; cat a.txt"),
    Turn(checkpoint("3"), f"{GITCKPT} rollback C2 --yes"),
    Turn(checkpoint("4"), "echo four >a.txt; false"),
    Turn("===RETRY===\nfrom: C4\nreason: [it failed]\nnew_strategy: [another way]\n===END===", "echo five >a.txt"),
    Turn(checkpoint("5") + checkpoint("6"), "rm a.txt"),
    Turn(
        checkpoint("7") + "===FINAL===\ncheckpoints: [C1, C2, C3, C4, RETRY→C4, C5, C6, C7]\nresult: done\n===END===\n"
    ),
]

#: Block → what a.txt holds by then, and whether b.txt is there.
STATES = {
    "C1": ("a as committed", False), "C2": ("one", False), "C3": ("two", True), "C4": ("one", False),
    "R1": ("four", False), "C5": ("five", False), "C6": ("five", False), "C7": (None, False), "final": (None, False),
}  # fmt: skip


class Client:
    """A client in a place, with a home of its own."""

    def __init__(self, name: str, place: Place, directory: str, home: Path) -> None:
        self.name, self.real, self.place, self.home = name, CLIENTS[name], place, home
        home.mkdir()
        (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
        place.env |= {"HOME": str(home), "PATH": f"{directory}:{place.env['PATH']}", "TERM": "dumb"}

    def command(self, mode: str) -> list[str]:
        return [self.real.command, *self.real.options, *self.real.modes[mode]]

    def run(self, mode: str) -> None:
        """The client by itself."""
        done = subprocess.run(
            self.command(mode), cwd=self.place.path, env=self.place.env, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=LONG,
        )  # fmt: skip
        assert done.returncode == 0, done

    def wrapped(self, mode: str, *options: str) -> str:
        """The client under `wrap`; what gitckpt said of it."""
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

    def states(self, *, exact: bool = True) -> dict[str, tuple[str | None, bool]]:
        """Block → the files of its snapshot, of each block on record; the expected ones where it is marked late."""
        found: dict[str, tuple[str | None, bool]] = {}
        for event in self.events:
            if event["kind"] not in ("checkpoint", "retry", "final", "summary"):
                continue
            name = event["id"] or event["kind"]
            assert name not in found, f"{name} is on record twice"
            files = self.place.git("ls-tree", "--name-only", event["commit"]).split()
            content = self.place.git("show", f"{event['commit']}:a.txt") if "a.txt" in files else None
            late = "\nlate: true" in self.place.git("show", "-s", "--format=%B", event["commit"])
            found[name] = STATES[name] if late and not exact else (content, "b.txt" in files)
        return found


Begin = Callable[[str, Sequence[Turn]], Client]


@pytest.fixture
def begin(template_place: Place) -> Iterator[Begin]:
    """Makes a client that talks to a model with the script that is given. Codex and Gemini want to be where nobody else
    may write, which is not so below the directory for temporary files."""
    room = Path(tempfile.mkdtemp(prefix="run-", dir=WHERE or None))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, room, ignore_errors=True)
        place, faults = template_place.copy(room / "work"), list[str]()

        def begun(name: str, turns: Sequence[Turn]) -> Client:
            directory = directory_of(name)
            if not directory:
                pytest.skip(f"{CLIENTS[name].command} is not installed")
            client = Client(name, place, directory, room / "owner")
            url = stack.enter_context(model_of(turns, faults))
            place.env |= client.real.tell(client.home, place.path, url)
            return client

        yield begun
        assert faults == []


#: Clients whose words wrap reads from a pipe alone: a block may be read when the tool after it runs already. It is
#: marked then.
RACED = {("cline", "text"), ("cline", "stream"), ("copilot", "text"), ("copilot", "silent"), ("copilot", "stream")}

#: The same for these without a way back: that leads to a snapshot, which may be late.
AHEAD = [turn if "rollback" not in turn.command else Turn(turn.text, "echo one >a.txt; rm b.txt") for turn in TURNS]

MODES = [(name, mode) for name, real in CLIENTS.items() for mode in real.modes]


@pytest.mark.parametrize(("name", "mode"), MODES)
def test_under_wrap_each_block_is_recorded_once_with_the_files_of_its_moment(
    begin: Begin, name: str, mode: str
) -> None:
    raced = (name, mode) in RACED
    client = begin(name, AHEAD if raced else TURNS)
    said = client.wrapped(mode)
    assert client.states(exact=not raced) == STATES, said
    assert [event["kind"] for event in client.events].count("end") == 1
    assert client.place.json("verify")["whole"]


@pytest.mark.parametrize("name", CLIENTS)
def test_set_up_by_init_it_needs_no_wrap(begin: Begin, name: str) -> None:
    lags = name == "copilot"
    client = begin(name, AHEAD if lags else TURNS)
    client.place.ok("init", "--agent", name)
    client.run("text")
    assert client.states(exact=not lags) == STATES
    log = client.place.path / ".git/gitckpt/hooks.log"
    assert not log.exists(), log.read_text()
    client.place.ok("init", "--agent", name, "--remove")


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "qwen", "copilot"])
def test_one_that_stops_and_owes_a_block_is_asked_for_it_once(begin: Begin, name: str) -> None:
    client = begin(name, [Turn("I write.", "echo one >a.txt"), Turn("Done."), Turn(checkpoint("1")), Turn("No more.")])
    client.place.ok("init", "--agent", name)
    client.run("text")
    [event] = [event for event in client.events if event["kind"] == "checkpoint"]
    assert client.place.git("show", f"{event['commit']}:a.txt") == "one"


#: The lines of the recipes, by the client that they set up or run.
RECIPES = Path(__file__).parents[2] / "docs" / "recipes.md"
LINES = {
    name: [
        line
        for line in RECIPES.read_text().splitlines()
        if re.match(rf"gitckpt (wrap -- {client.command} |init --agent {name}\b)", line) and "--remove" not in line
    ]
    for name, client in CLIENTS.items()
}


@pytest.mark.parametrize("name", CLIENTS)
def test_the_recipes_word_for_word(begin: Begin, name: str) -> None:
    client = begin(name, [Turn(checkpoint("1"))])
    assert len(LINES[name]) == 2
    client.place.env["PATH"] = f"{GITCKPT.parent}:{client.place.env['PATH']}"
    for line in LINES[name]:
        done = subprocess.run(
            ["sh", "-c", line], cwd=client.place.path, env=client.place.env, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=LONG,
        )  # fmt: skip
        assert done.returncode == 0, done
    assert [event["id"] for event in client.events if event["kind"] == "checkpoint"] == ["C1"]


FIELDS = {"goal": "move the dates", "facts": [], "done": ["wrote a.txt"], "todo": ["go on"]}


@pytest.mark.parametrize("name", [name for name, real in CLIENTS.items() if real.mcp])
def test_its_model_calls_our_tools(begin: Begin, name: str) -> None:
    turns = [Turn("I write.", "echo one >a.txt"), Turn("A checkpoint.", tool="checkpoint", arguments=FIELDS),
             Turn("I write again.", "echo two >a.txt"), Turn("That is all.")]  # fmt: skip
    client = begin(name, turns)
    client.place.ok("init", "--agent", name)
    client.run("text")
    [event] = [event for event in client.events if event["kind"] == "checkpoint"]
    assert client.place.git("show", f"{event['commit']}:a.txt") == "one"
