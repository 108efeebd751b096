"""Our tools, called by clients that nobody here wrote as the model of a script wants them: from the first word on."""

from __future__ import annotations

import pytest
from real_clients import CLIENTS
from real_runs import Begin
from scripted_model import PLAN, Turn

pytestmark = pytest.mark.clients

FIELDS = {"goal": "move the dates", "facts": [], "done": [], "todo": ["write a.txt"]}

#: No turn comes before the first call: a client that does not wait for the server has no tool to call.
TURNS = [
    Turn("A checkpoint.", tool="checkpoint", arguments=FIELDS),
    Turn("I write.", "echo one >a.txt"),
    Turn("A checkpoint.", tool="checkpoint", arguments=FIELDS | {"done": ["wrote a.txt"], "todo": ["go on"]}),
    Turn("I write too much.", "echo two >a.txt; echo new >b.txt"),
    Turn("Back.", tool="rollback", arguments={"to": "C2"}),
    Turn("I agree.", tool="rollback", arguments={"to": "C2", "apply": PLAN}),
    Turn("I forget.", tool="reset"),
    Turn("That is all."),
]

STATES = {"C1": ("a as committed", False), "C2": ("one", False)}


@pytest.mark.parametrize("way", ["init", "wrap"])
@pytest.mark.parametrize("name", [name for name, real in CLIENTS.items() if real.mcp])
def test_its_model_calls_our_tools(begin: Begin, name: str, way: str) -> None:
    client = begin(name, TURNS)
    if way == "init" or name == "cline":  # which takes nothing for one run
        client.place.ok("init", "--agent", name)
    if way == "init":
        client.run("text")
    else:
        client.wrapped("text")
    assert client.states() == STATES
    kinds = [event["kind"] for event in client.events]
    assert [kind for kind in kinds if kind in ("rollback", "reset")] == ["rollback", "reset"]
    assert (client.place.path / "a.txt").read_text() == "one\n"
    assert not (client.place.path / "b.txt").exists()
    assert client.place.json("verify")["whole"]
