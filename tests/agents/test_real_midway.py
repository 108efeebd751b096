"""Going back and forth from a second terminal while a client that nobody here wrote is in the middle of a tool."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from commandline import Bytes, Place, checkpoint
from real_clients import CLIENTS, OF_TEXT
from real_runs import GITCKPT, LONG, Begin, Client
from scripted_model import Turn

pytestmark = pytest.mark.clients

#: The tools are scripts: clients refuse to sleep, to substitute commands and to write elsewhere. Their files, and by
#: which they tell that they have written and are told to go on, are ignored by git. What wrap reads from a pipe alone
#: it has read by the time that they begin to write.
FIRST = "sleep 2; echo one >a.txt"
SECOND = """sleep 2; echo two >a.txt; echo new >b.txt; rm -r src; touch written.log; n=0
while [ ! -e go.log ] && [ $n -lt 900 ]; do sleep 0.1; n=$((n+1)); done"""

STEPS = [
    Turn(checkpoint("1"), "sh first.log"),
    Turn(checkpoint("2"), "sh second.log"),
]

FINAL = checkpoint("3") + "===FINAL===\ncheckpoints: [C1, C2, C3]\nresult: done\n===END===\n"

STATES = {"C1": ("a as committed", False), "C2": ("one", False), "C3": ("two", True)}


def _edit(old: str, new: str) -> str:
    return f"a.txt\n```\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n"


#: aider edits by itself, and its tests, which fail, are where it waits.
EDITS = [
    Turn(checkpoint("1") + _edit("a as committed", "one")),
    Turn(checkpoint("2") + _edit("one", "two")),
    Turn(FINAL),
]

TESTS = f"[ -e once.log ] || {{ touch once.log; exit 1; }}; {SECOND}; exit 1"


def _turns(name: str) -> list[Turn]:
    if name == "aider":
        return EDITS
    if name == "mini-swe-agent":  # which ends with a command of its own
        return [*STEPS, Turn(checkpoint("3"), "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")]
    return [*STEPS, Turn(FINAL)]


def _files(place: Place) -> Bytes:
    return {path: found for path, found in place.bytes().items() if not path.endswith(".log")}


def _but_its_own(files: Bytes) -> Bytes:
    """Without what aider keeps for itself between the user's files, which goes on as the agent does."""
    return {path: found for path, found in files.items() if not path.startswith(".aider")}


def _event(client: Client, id: str) -> dict[str, Any]:
    return next(event for event in client.events if event["id"] == id)


@pytest.mark.parametrize("name", [*CLIENTS, *OF_TEXT])
def test_a_rollback_in_the_middle_of_a_run_and_its_undo_are_exact(begin: Begin, name: str, tmp_path: Path) -> None:
    client = begin(name, _turns(name))
    place, heard = client.place, tmp_path / "heard"
    place.write("first.log", FIRST)
    place.write("second.log", TESTS if name == "aider" else SECOND)
    place.env |= {"AIDER_TEST_CMD": "sh second.log"} if name == "aider" else {}
    wrap = [str(GITCKPT), "wrap", "--", *client.command("stream" if name in CLIENTS else "text")]
    with heard.open("wb") as output:
        agent = subprocess.Popen(
            wrap, cwd=place.path, env=place.env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        begun = time.monotonic()
        while not (place.path / "written.log").exists():
            assert agent.poll() is None and time.monotonic() - begun < LONG, heard.read_text()
            time.sleep(0.05)
        before = _files(place)
        place.ok("rollback", "C2", "--yes")
        then = _event(client, "C2")["commit"]
        assert place.git("diff", "--stat", then) == ""
        assert not (place.path / "b.txt").exists()
        assert place.read("src/b.txt") == "b as committed\n"
        place.ok("undo")
        assert _files(place) == before
        assert agent.poll() is None
    finally:
        (place.path / "go.log").touch()
        status = agent.wait(LONG)
    assert status == 0, heard.read_text()
    # an undo is a rollback to what was there before one
    shown = [event["id"] or event["kind"] for event in client.events if event["kind"] not in ("auto", "start", "final")]
    assert shown == ["C1", "C2", "rollback", "rollback", "C3", "end"]
    states = client.states(STATES | {"final": ("two", True)} if name in OF_TEXT else None)
    assert {name: states[name] for name in STATES} == STATES
    assert _but_its_own(_files(place)) == _but_its_own(before)
    assert place.json("verify")["whole"]
