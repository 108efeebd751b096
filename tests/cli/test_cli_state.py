"""The state of a checkpoint, whichever way it came in: what is wrong with it is told, what it leaves out is kept, and a
fact whose file has changed is shown as stale wherever it is shown."""

from __future__ import annotations

import pytest
from commandline import Place

BLOCK = """===CHECKPOINT 1===
phase: explore
done: [{done}]
next: [edit]
state_ref: [a.txt]
rollback_hint: [nothing to undo]
goal: tidy up
facts:
- a is committed (source: a.txt:1)
- a guess
todo: [edit a.txt]
===END===
"""
STALE = "a is committed (source: a.txt:1): a.txt has changed since C1"


def block(done: str = "looked") -> str:
    return BLOCK.format(done=done)


@pytest.mark.parametrize("way", ["record", "wrap"])
def test_a_fact_without_a_source_is_told(place: Place, way: str) -> None:
    answer = place.ok("record", stdin=block()) if way == "record" else place.ok("wrap", "--", "printf", "%s", block())
    assert "C1: the fact 'a guess' has no source and moves to `open`" in answer.err
    assert place.json("show", "C1")["fields"]["open"] == ["a guess"]


@pytest.mark.parametrize("way", ["record", "wrap"])
def test_what_a_state_leaves_out_is_told_and_kept(place: Place, way: str) -> None:
    done = ", ".join(letter * 900 for letter in "abc")
    answer = (
        place.ok("record", stdin=block(done))
        if way == "record"
        else place.ok("wrap", "--", "printf", "%s", block(done))
    )
    assert "C1: Over 2,000 characters; left out of the state, and still in git: done: aaa" in answer.err
    assert place.json("show", "C1")["fields"]["done"] == ["b" * 900, "c" * 900]
    assert "a" * 900 in place.ok("show", "C1", "--yaml").out


def test_a_checkpoint_without_a_state_keeps_what_it_says(place: Place) -> None:
    long = "===CHECKPOINT 1===\nphase: explore\ndone: [" + "x" * 3000 + "]\nnext: [y]\n===END===\n"
    assert "left out" not in place.ok("record", stdin=long).err
    assert place.json("show", "C1")["fields"]["done"] == ["x" * 3000]


def test_a_stale_fact_is_shown_as_such(place: Place) -> None:
    place.ok("record", stdin=block())
    for command in ("show C1", "context"):
        assert STALE not in place.ok(*command.split()).out
    place.write("a.txt", "other\n")
    assert f"stale          {STALE}" in place.ok("show", "C1").out
    assert place.ok("context").out.endswith(f"===END===\n\nStale, look again: {STALE}\n")
    document = place.json("context")
    assert document["stale"] == [
        {"text": "a is committed", "source": "a.txt:1", "path": "a.txt", "since": "C1"},
    ]  # fmt: skip
    prompt = place.ok("resume", "--task", "t", "--", "echo", "{prompt}").out
    assert STALE in prompt
    assert STALE in place.ok("prompt", "--task", "t", "--resume").out


def test_a_context_within_a_budget_still_says_what_is_stale(place: Place) -> None:
    place.ok("record", stdin=block())
    place.ok("record", stdin=block().replace("CHECKPOINT 1", "CHECKPOINT 2"))
    place.write("a.txt", "other\n")
    whole = place.ok("context").out
    assert "===CHECKPOINT 1===" in whole
    short = place.ok("context", "--budget", str(len(whole) - 50)).out
    assert "===CHECKPOINT 1===" not in short and STALE in short
