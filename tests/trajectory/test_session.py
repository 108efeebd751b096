"""A session read back: the order of its events, its lines, where it goes on, and who goes by a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timeline import Timeline, ids, migration

from gitckpt.trajectory.session import MAIN, REASONS, Session, is_named, line_number, next_lines


@pytest.mark.parametrize(
    ("line", "number"),
    [("main", 1), ("retry-2", 2), ("rollback-17", 17), ("undo-3", 3), ("feature", 0), ("x-²", 0), ("", 0), ("-4", 4)],
)
def test_the_number_of_a_line(line: str, number: int) -> None:
    assert line_number(line) == number


@given(st.sets(st.integers(1, 60)))
def test_a_new_line_has_a_number_of_its_own(numbers: set[int]) -> None:
    lines = [MAIN if number == 1 else f"{REASONS[number % 4]}-{number}" for number in numbers]
    names = next_lines(lines)
    assert [name.partition("-")[0] for name in names] == list(REASONS)
    assert {line_number(name) for name in names} == {max(numbers, default=0) + 1}


def test_events_are_in_order_whatever_order_they_are_read_in() -> None:
    timeline = migration()
    session = Session("s", reversed(timeline.events), timeline.lines)
    assert session.events == timeline.events


def test_lines_are_in_the_order_in_which_they_were_opened() -> None:
    session = Session("s", [], {"retry-10": "a", "rollback-2": "b", "main": "c"})
    assert list(session.lines) == ["main", "rollback-2", "retry-10"]
    assert session.active_line == "retry-10"
    assert Session("s", [], {}).active_line == MAIN


def test_a_line_shares_what_came_before_it() -> None:
    session = migration().session()
    assert ids(session.on_line("main")) == ["start", "C1", "C2", "C3", "C4", "C5", "C6", "R1"]
    assert ids(session.on_line("retry-2")) == ["start", "C1", "C2", "C3", "C4", "C5", "C6", "C8"]
    assert (session.on_line("none"), session.chain("none")) == ([], [])


def test_going_from_an_event_to_the_one_before() -> None:
    session = migration().session()
    c8 = session.events[-1]
    assert session.event(c8.commit) is c8
    before = session.parent(c8)
    assert before is not None
    assert (before.id, session.parent(session.events[0]), session.event("none")) == ("C6", None, None)


def test_an_event_that_was_just_published() -> None:
    timeline = migration()
    session = timeline.session()
    event = timeline.add("checkpoint", "C9", "retry-2")
    session.add(event)
    assert session.lines == timeline.session().lines
    assert session.events == timeline.session().events
    assert session.event(event.commit) is event


@pytest.mark.parametrize(
    ("kind", "is_open"), [("checkpoint", True), ("final", False), ("end", False), ("rollback", True)]
)
def test_a_session_is_open_until_its_active_line_is_closed(kind: str, is_open: bool) -> None:
    timeline = Timeline()
    timeline.add("start")
    timeline.add(kind, "C1")
    assert timeline.session().is_open is is_open


def test_a_line_that_is_opened_opens_the_session_again() -> None:
    timeline = Timeline()
    c1 = timeline.add("checkpoint", "C1")
    timeline.add("final")
    timeline.open("rollback-2", c1)
    assert timeline.session().is_open
    assert Session("s", [], {}).is_open


def test_who_goes_by_a_name() -> None:
    timeline = migration()
    again = timeline.add("checkpoint", "C2", "retry-2")
    session = timeline.session()
    assert session.named("C2") == [again, session.events[2]]
    assert session.named("C2", "main") == [session.events[2]]
    assert ids(session.named("C7")) == ids(session.named("R1")) == ["R1"]
    assert session.named("C7", "retry-2") == []
    assert ids(session.named("start")) == ["start"]
    assert session.named("C99") == []


def test_events_without_a_name_of_their_own_have_none() -> None:
    timeline = Timeline()
    for kind in ("auto", "final", "rollback", "reset", "note", "end"):
        assert not is_named(timeline.add(kind, "C1"), "C1")
    assert is_named(timeline.add("summary", "S1"), "S1")
    assert not is_named(timeline.add("checkpoint", "C1", answers_to=["C2"]), "C2")
