"""`log --format`, and the pager for what is longer than the screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import Place, checkpoint


def test_each_event_in_the_form_that_is_asked_for(recorded: Place) -> None:
    assert recorded.ok("log", "--format", "{kind:12}|{id:3}|{done}|{files} {paths}").out == (
        "start       |st…||0 \n"
        "checkpoint  |C1 |step 1|0 \n"
        "checkpoint  |C2 |step 2|2 a.txt new2.txt\n"
        "checkpoint  |C3 |step 3|2 a.txt new3.txt\n"
    )
    assert recorded.ok("log", "-n", "1", "--format", "{{{ref}}}\\t{line}\\\\").out == "{run/C3}\tmain\\\n"
    assert recorded.ok("log", "--format", "{seq}", "--all").out == "1\n2\n3\n4\n"


def test_wide_text_fills_its_columns(place: Place) -> None:
    place.ok("record", stdin=checkpoint("1", "换成新的库"))
    assert place.ok("log", "-n", "1", "--format", "{done:6}|{done:12}|").out == "换成… |换成新的库  |\n"


def test_what_an_agent_said_is_escaped(place: Place) -> None:
    place.ok("record", stdin=checkpoint("1", "a\x1b[31mred\x07"))
    out = place.ok("log", "-n", "1", "--format", "{done} {subject}").out
    assert "\x1b" not in out and "\x07" not in out and "red" in out


@pytest.mark.parametrize("form", ["{}", "{id.__class__}", "{nothing}", "{id", "}", "{id:x}"])
def test_what_stands_for_nothing_is_named(recorded: Place, form: str) -> None:
    answer = recorded.run("log", "--format", form)
    assert answer.status == 2 and "there are id, ref" in answer.err, answer


@pytest.fixture
def long(recorded: Place) -> Place:
    """A session that is longer than a screen, and a pager that says that it was there."""
    recorded.ok("record", stdin="".join(checkpoint(str(number)) for number in range(10, 60)))
    pager = recorded.path.parent / "pager"
    pager.write_text("#!/bin/sh\necho paged; cat\n")
    pager.chmod(0o755)
    recorded.env["GITCKPT_PAGER"] = str(pager)
    return recorded


@pytest.mark.parametrize("command", [["log"], ["log", "--format", "{id}"], ["diff", "start", "C3", "--stat"]])
def test_a_terminal_has_a_pager_for_what_is_longer(long: Place, command: list[str]) -> None:
    paged = command[0] == "log"
    shown = long.typed(*command).out
    assert shown.startswith("paged\n") == paged
    assert long.ok(*command).out.count("paged") == 0
    for none in ("cat", "", "no-such-pager"):
        long.env["GITCKPT_PAGER"] = none
        assert long.typed(*command).out == shown.removeprefix("paged\n")


def test_a_pager_that_goes_early_is_no_failure(long: Place) -> None:
    Path(long.env["GITCKPT_PAGER"]).write_text("#!/bin/sh\nhead -n 1\n")
    answer = long.typed("log")
    assert answer.status == 0 and answer.out.count("\n") == 1
