"""Clients that nobody here wrote and that have neither hooks nor tools, under `wrap`: all is read from what they print."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from commandline import checkpoint
from real_runs import Begin
from scripted_model import Turn

pytestmark = pytest.mark.clients

RECIPES = Path(__file__).parents[2] / "docs" / "recipes.md"


def _edit(old: str, new: str) -> str:
    return f"a.txt\n```\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n"


#: aider edits when an answer has ended, and asks again when the tests have failed then.
EDITS = [
    Turn(checkpoint("1") + _edit("a as committed", "one")),
    Turn(checkpoint("2") + _edit("one", "two")),
    Turn(checkpoint("3") + "That is all.\n===FINAL===\ncheckpoints: [C1, C2, C3]\nresult: done\n===END===\n"),
]

OF_AIDER = {"C1": ("a as committed", False), "C2": ("one", False), "C3": ("two", False), "final": ("two", False)}

#: mini ends with a command of its own.
COMMANDS = [
    Turn(checkpoint("1"), "echo one >a.txt"),
    Turn(checkpoint("2"), "echo two >a.txt; echo new >b.txt"),
    Turn(checkpoint("3"), "echo three >a.txt; rm b.txt; false"),
    Turn(checkpoint("4"), "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
]

OF_MINI = {"C1": ("a as committed", False), "C2": ("one", False), "C3": ("two", True), "C4": ("three", False)}


@pytest.mark.parametrize(
    ("name", "turns", "states"), [("aider", EDITS, OF_AIDER), ("mini-swe-agent", COMMANDS, OF_MINI)]
)
def test_under_wrap_each_block_is_recorded_once_with_the_files_of_its_moment(
    begin: Begin, name: str, turns: list[Turn], states: dict[str, tuple[str | None, bool]]
) -> None:
    client = begin(name, turns)
    lines = [shlex.split(line) for line in RECIPES.read_text().splitlines() if line.startswith("gitckpt wrap")]
    assert ["gitckpt", "wrap", "--", *client.command("text")] in lines
    said = client.wrapped("text")
    assert client.states(states) == states, said
    assert [event["kind"] for event in client.events].count("end") == 1
    assert client.place.json("verify")["whole"]
