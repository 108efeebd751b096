"""Going back and forth from a second terminal while a client that nobody here wrote is in the middle of a tool."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from commandline import Bytes, Place, checkpoint
from real_clients import CLIENTS
from real_runs import GITCKPT, LONG, Begin
from scripted_model import Turn

pytestmark = pytest.mark.clients

#: The tools are scripts: clients refuse to sleep, to substitute commands and to write elsewhere. Their files, and by
#: which they tell that they have written and are told to go on, are ignored by git. What wrap reads from a pipe alone
#: it has read by the time that they begin to write.
FIRST = "sleep 2; echo one >a.txt"
SECOND = """sleep 2; echo two >a.txt; echo new >b.txt; rm -r src; touch written.log; n=0
while [ ! -e go.log ] && [ $n -lt 900 ]; do sleep 0.1; n=$((n+1)); done"""

TURNS = [
    Turn(checkpoint("1"), "sh first.log"),
    Turn(checkpoint("2"), "sh second.log"),
    Turn(checkpoint("3") + "===FINAL===\ncheckpoints: [C1, C2, C3]\nresult: done\n===END===\n"),
]

STATES = {"C1": ("a as committed", False), "C2": ("one", False), "C3": ("two", True)}


def _files(place: Place) -> Bytes:
    return {path: found for path, found in place.bytes().items() if not path.endswith(".log")}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_rollback_in_the_middle_of_a_run_and_its_undo_are_exact(begin: Begin, name: str, tmp_path: Path) -> None:
    client = begin(name, TURNS)
    place, heard = client.place, tmp_path / "heard"
    place.write("first.log", FIRST)
    place.write("second.log", SECOND)
    wrap = [str(GITCKPT), "wrap", "--", *client.command("stream")]
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
        assert place.read("a.txt") == "one\n"
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
    states = client.states()
    assert {name: states[name] for name in STATES} == STATES
    assert _files(place) == before
    assert place.json("verify")["whole"]
