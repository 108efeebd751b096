"""Going back and forth from a second terminal while a client that nobody here wrote is in the middle of a tool."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from commandline import checkpoint
from real_clients import CLIENTS
from real_runs import GITCKPT, LONG, Begin
from scripted_model import Turn

pytestmark = pytest.mark.clients

#: The tool says that it has written, and then waits to be told to go on; it does not wait for ever.
WAITING = "touch {room}/written; n=0; while [ ! -e {room}/go ] && [ $n -lt 900 ]; do sleep 0.1; n=$((n+1)); done"

STATES = {"C1": ("a as committed", False), "C2": ("one", False), "C3": ("two", True)}


def _turns(room: Path) -> list[Turn]:
    # what wrap reads from a pipe alone it has read by the time that the tool begins to write
    write = "sleep 2; echo two >a.txt; echo new >b.txt; rm -r src; " + WAITING.format(room=room)
    return [
        Turn(checkpoint("1"), "sleep 2; echo one >a.txt"),
        Turn(checkpoint("2"), write),
        Turn(checkpoint("3") + "===FINAL===\ncheckpoints: [C1, C2, C3]\nresult: done\n===END===\n"),
    ]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_rollback_in_the_middle_of_a_run_and_its_undo_are_exact(begin: Begin, name: str, tmp_path: Path) -> None:
    client = begin(name, _turns(tmp_path))
    place = client.place
    wrap = [str(GITCKPT), "wrap", "--", *client.command("stream")]
    with (tmp_path / "said").open("wb") as said:
        agent = subprocess.Popen(
            wrap, cwd=place.path, env=place.env, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
        )
    try:
        begun = time.monotonic()
        while not (tmp_path / "written").exists():
            assert agent.poll() is None and time.monotonic() - begun < LONG, (tmp_path / "said").read_text()
            time.sleep(0.05)
        before = place.bytes()
        place.ok("rollback", "C2", "--yes")
        assert place.read("a.txt") == "one\n"
        assert not (place.path / "b.txt").exists()
        assert place.read("src/b.txt") == "b as committed\n"
        place.ok("undo")
        assert place.bytes() == before
        assert agent.poll() is None
    finally:
        (tmp_path / "go").touch()
        status = agent.wait(LONG)
    assert status == 0, (tmp_path / "said").read_text()
    states = client.states()
    assert {name: states[name] for name in STATES} == STATES
    assert place.bytes() == before
    kinds = [event["kind"] for event in client.events]
    # an undo is a rollback to what was there before one
    assert (kinds.count("rollback"), kinds.count("end")) == (2, 1)
    assert place.json("verify")["whole"]
