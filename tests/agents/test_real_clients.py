"""Clients that nobody here wrote, against a model that is a script on this machine: under `wrap` in every way in which they
print, and set up by `init`.

Run with `pytest -m clients`. GITCKPT_CLIENTS names a directory that those which are missing are installed into by npm."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from commandline import checkpoint
from real_clients import CLIENTS
from real_runs import GITCKPT, LONG, Begin
from scripted_model import Turn

pytestmark = pytest.mark.clients

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


#: Clients whose words wrap reads from a pipe alone: a block may be read when the tool after it runs already. It is
#: marked then.
RACED = {("cline", "text"), ("cline", "stream")}

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
    assert client.states(STATES if raced else None) == STATES, said
    assert [event["kind"] for event in client.events].count("end") == 1
    assert client.place.json("verify")["whole"]


#: Clients that call no hook when a run that prints has ended.
SILENT_ENDS = ("qwen", "opencode", "cline")


@pytest.mark.parametrize("name", CLIENTS)
def test_set_up_by_init_it_needs_no_wrap(begin: Begin, name: str) -> None:
    client = begin(name, TURNS)
    client.place.ok("init", "--agent", name)
    client.run("text")
    assert client.states() == STATES
    assert [event["kind"] for event in client.events].count("end") == (name not in SILENT_ENDS)
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
