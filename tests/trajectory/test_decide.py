"""From a block to an event: its kind, its name, its first line, and where a RETRY forks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timeline import Timeline, migration

from gitckpt.protocol.blocks import Block
from gitckpt.protocol.ids import is_legal
from gitckpt.trajectory.decide import (
    event_of,
    fork_of,
    generated_id,
    named_checkpoint,
    next_checkpoint_id,
    next_line,
    subject,
)
from gitckpt.trajectory.session import Session


def block(kind: Any, id: str | None = None, written: str = "", *, terminated: bool = True, **fields: Any) -> Block:
    return Block(kind, id, written, fields, terminated=terminated)


def test_a_checkpoint() -> None:
    given = block(
        "checkpoint", "C9", "CHECKPOINT 9", phase="implement", phase_written="实施", done=["a", "b"], next="c"
    )
    event = event_of(given, migration().session())
    assert (event.kind, event.session, event.line, event.id, event.written) == (
        "checkpoint",
        "s",
        "retry-2",
        "C9",
        "CHECKPOINT 9",
    )
    assert (event.phase, event.next, event.subject) == ("implement", "c", "C9 实施: a")
    assert event.document == {"fields": given.fields}


def test_the_first_event_of_a_session_is_on_its_main_line() -> None:
    assert event_of(block("checkpoint", "C1"), Session("s", [], {})).line == "main"


def test_a_block_without_an_end_says_so() -> None:
    assert event_of(block("checkpoint", "C1", terminated=False), Session("s", [], {})).document["unterminated"] is True


@pytest.mark.parametrize(
    ("given", "id"),
    [
        (block("final"), None),
        (Block("retry", None, "", {"from": "C6"}), "R2"),
        (block("summary", "S7"), "S7"),
        (block("summary"), "S1"),
        (block("checkpoint", "setup"), "setup"),
        (block("checkpoint", None, "../heads/main"), generated_id("../heads/main")),
        (block("checkpoint", "--help", "--help"), generated_id("--help")),
    ],
)
def test_the_id_of_an_event(given: Block, id: str | None) -> None:
    assert event_of(given, migration().session()).id == id


@given(st.text())
def test_a_generated_id_is_legal_and_says_the_same_each_time(written: str) -> None:
    assert is_legal(generated_id(written))
    assert generated_id(written) == generated_id(written)
    assert generated_id(written) != generated_id(written + "x")


def test_what_was_written_is_cut() -> None:
    assert event_of(block("checkpoint", "C1", "x" * 500), Session("s", [], {})).written == "x" * 200


@pytest.mark.parametrize(
    ("ids", "next_id"),
    [
        ([], "C1"),
        (["C1", "C9", "C3"], "C10"),
        (["setup", "x", "C", "C²"], "C1"),
        (["C07"], "C8"),
        (["C" + "9" * 30], "C1"),
    ],
)
def test_the_next_checkpoint(ids: list[str], next_id: str) -> None:
    timeline = Timeline()
    for id in ids:
        timeline.add("checkpoint", id)
    timeline.add("summary", "C77")
    assert next_checkpoint_id(timeline.session()) == next_id


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (block("checkpoint", "C1", phase="verify", done=["ran tests"]), "C1 verify: ran tests"),
        (block("checkpoint", "C1", done=["ran tests"]), "C1: ran tests"),
        (block("checkpoint", "C1", next="go on"), "C1: go on"),
        (block("checkpoint", "C1", done="one line"), "C1: one line"),
        (block("checkpoint", "C1"), "C1: no word of what was done"),
        (block("summary", "S2", covers=["C6", "C7", "C10"], text="All well."), "S2 (C6-C10): All well."),
        (block("summary", "S2"), "S2: "),
        (Block("retry", "R1", "", {"from": "C7", "reason": ["a", "b"], "new_strategy": "c"}), "R1 from C7: a; b → c"),
        (block("retry", "R1"), "R1 from None: ? → ?"),
        (block("final", result="12 files"), "final: 12 files"),
        (block("final"), "final: done"),
    ],
)
def test_the_first_line(given: Block, text: str) -> None:
    assert subject(given, given.id) == text


@pytest.mark.parametrize("written", ["C6", "6", "CHECKPOINT 6", "检查点 6", " c6 "])
def test_a_retry_of_a_recorded_checkpoint_forks_there(written: str) -> None:
    fork = fork_of(written, migration().session())
    assert fork is not None
    assert (fork.at.id, fork.answers_to, fork.exact) == ("C6", [], True)


def test_a_retry_of_a_commit_forks_there() -> None:
    session = migration().session()
    fork = fork_of(session.events[3].commit, session)
    assert fork is not None
    assert (fork.at.id, fork.exact) == ("C3", True)


def test_a_retry_of_one_that_never_reported_forks_at_the_nearest_earlier_and_answers_for_it() -> None:
    timeline = Timeline()
    timeline.add("start")
    for number in (1, 2, 5, 6):
        timeline.add("checkpoint", f"C{number}")
    for written, at in (("C7", "C6"), ("C4", "C2"), ("CHECKPOINT 99", "C6")):
        fork = fork_of(written, timeline.session())
        assert fork is not None
        assert (fork.at.id, fork.exact) == (at, False)
        assert fork.answers_to == ["C" + written.removeprefix("CHECKPOINT ").removeprefix("C")]


@pytest.mark.parametrize(
    ("written", "answers"), [("setup", ["setup"]), ("no such thing", []), ("", []), ("{{step_id}}", [])]
)
def test_a_retry_of_something_unknown_forks_at_the_last_checkpoint(written: str, answers: list[str]) -> None:
    fork = fork_of(written, migration().session())
    assert fork is not None
    assert (fork.at.id, fork.answers_to, fork.exact) == ("C8", answers, False)


def test_a_retry_before_any_checkpoint_forks_at_the_start() -> None:
    timeline = Timeline()
    start = timeline.add("start")
    timeline.add("note")
    fork = fork_of("C1", timeline.session())
    assert fork is not None
    assert (fork.at, fork.answers_to, fork.exact) == (start, ["C1"], False)


def test_a_retry_with_nothing_on_record_forks_nowhere() -> None:
    assert fork_of("C1", Session("s", [], {})) is None


def test_a_checkpoint_by_name_is_the_newest_on_the_active_line() -> None:
    timeline = migration()
    again = timeline.add("checkpoint", "C3", "retry-2")
    other = timeline.add("checkpoint", "C3", "main")
    session = timeline.session()
    assert named_checkpoint("C3", session) is again is not other
    assert named_checkpoint("7", session) is session.events[7]
    assert (named_checkpoint("C77", session), named_checkpoint("not an id", session)) == (None, None)


def test_the_name_of_the_next_line() -> None:
    session = migration().session()
    assert [next_line(session, why) for why in ("retry", "rollback", "undo", "redo")] == [
        "retry-3", "rollback-3", "undo-3", "redo-3",
    ]  # fmt: skip
