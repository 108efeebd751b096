"""Which sessions may be dropped."""

from __future__ import annotations

from timeline import Timeline

from gitckpt.trajectory.events import Event
from gitckpt.trajectory.retention import interrupted, matching, needed
from gitckpt.trajectory.session import Session
from gitckpt.trajectory.undo import Identity


def sessions(*ids: str) -> list[Session]:
    """One with two events each, each a day after the one before."""
    found = []
    for day, id in enumerate(ids, 1):
        timeline = Timeline(id)
        for event in (timeline.add("start"), timeline.add("checkpoint", "C1")):
            event.at = event.at.replace("11-30", f"11-{day:02}")
        found.append(timeline.session())
    return found


def ids(found: list[Session]) -> list[str]:
    return [session.id for session in found]


def test_every_criterion_counts() -> None:
    four = sessions("a", "b", "c", "d")
    assert ids(matching(four)) == ["a", "b", "c", "d"]
    assert ids(matching(four, keep_last=1)) == ["a", "b", "c"]
    assert ids(matching(four, keep_last=9)) == []
    assert ids(matching(four, keep_last=0)) == ["a", "b", "c", "d"]
    assert ids(matching(four, before="2026-11-03T00:00:00Z")) == ["a", "b"]
    assert ids(matching(four, before="2026-11-03T00:00:00Z", keep_last=3)) == ["a"]
    assert ids(matching(four, names=["d", "a"])) == ["a", "d"]
    assert ids(matching(four, names=["d", "a"], keep_last=1)) == ["a"]
    assert ids(matching(four[::-1], keep_last=2)) == ["a", "b"]


def rolled_back(here: Timeline, there: Timeline, target: Event, *, done: bool = True) -> Event:
    """A rollback that is on record `here` and opens a line `there`."""
    line = f"rollback-{len(there.lines) + 1}"
    event = here.add(
        "rollback", opens={"session": there.id, "line": line, "at": target.commit},
        rollback={"operation": "rollback", "target": target.commit},
    )  # fmt: skip
    if done:
        there.open(line, target)
    return event


def test_a_session_that_another_went_back_to_is_needed_by_it() -> None:
    a, b, c = Timeline("a"), Timeline("b"), Timeline("c")
    target = a.add("start")
    b.add("start")
    rolled_back(b, a, target)
    rolled_back(c, b, b.events[0])
    all = [timeline.session() for timeline in (a, b, c)]
    assert needed({"a"}, all) == {}
    assert needed({"b"}, all) == {"a": "b"}
    assert needed({"c"}, all) == {"b": "c", "a": "b"}


def test_a_session_whose_line_runs_through_another_needs_it() -> None:
    a, b = Timeline("a"), Timeline("b")
    a.add("start")
    b.events = [*a.events]
    b.lines = dict(a.lines)
    b.add("checkpoint", "C1")
    assert needed({"b"}, [a.session(), b.session()]) == {"a": "b"}
    assert needed({"a"}, [a.session(), b.session()]) == {}


def test_an_interrupted_rollback_keeps_what_it_needs() -> None:
    a, b, c = Timeline("a"), Timeline("b"), Timeline("c")
    c.add("start")
    event = rolled_back(b, a, a.add("start"), done=False)
    all = [timeline.session() for timeline in (a, b, c)]
    here = {"": Identity({"p"})}
    event.document["rollback"]["place"] = "p"
    assert set(interrupted(all, here)) == {"a", "b"}
    # of a work tree that is gone, or of another machine, nobody will finish it
    assert interrupted(all, {}) == interrupted(all, {"": Identity({"q"}, "a")}) == {}
    # where no place is named, the work tree that still records in it will
    del event.document["rollback"]["place"]
    assert set(interrupted(all, {"": Identity({"q"}, "b")})) == {"a", "b"}
    assert interrupted(all, {"": Identity({"q"}, "c")}) == interrupted(all, {"": Identity()}) == {}
    # and an operation that was ended is none
    event.document["rollback"]["ends"] = event.commit
    assert interrupted(all, {"": Identity({"q"}, "b")}) == {}
