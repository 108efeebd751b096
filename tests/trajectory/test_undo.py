"""Which rollback undo takes back: a fold over the events of a work tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timeline import Timeline

from gitckpt.trajectory.events import Event
from gitckpt.trajectory.undo import Operations, is_operation, next_number, operations


def fold(*words: str) -> tuple[Operations, list[Event]]:
    """The state after these operations; one that ends in `!` was interrupted."""
    timeline = Timeline()
    events = []
    opened = [("s", "main")]
    for number, word in enumerate(words, 2):
        line = f"rollback-{number}"
        opens = {"session": "s", "line": line, "at": "x"}
        events.append(timeline.add("rollback", opens=opens, rollback={"operation": word.rstrip("!")}))
        if not word.endswith("!"):
            opened.append(("s", line))
    return operations(events, opened), events


def state(*words: str) -> tuple[list[int], list[int], int | None]:
    """Numbers of the operations that undo can take back, that redo can, and that was interrupted."""
    found, events = fold(*words)
    number = {id(event): place for place, event in enumerate(events)}
    interrupted = number[id(found.interrupted)] if found.interrupted else None
    return [number[id(e)] for e in found.done], [number[id(e)] for e in found.undone], interrupted


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ([], [], None)),
        (("rollback",), ([0], [], None)),
        (("rollback", "rollback"), ([0, 1], [], None)),
        (("rollback", "undo"), ([], [1], None)),
        (("rollback", "rollback", "undo", "undo"), ([], [2, 3], None)),
        (("rollback", "undo", "redo"), ([2], [], None)),
        (("rollback", "undo", "redo", "undo"), ([], [3], None)),
        (("rollback", "undo", "rollback"), ([2], [], None)),
        (("rollback!",), ([], [], 0)),
        (("rollback!", "abort"), ([], [], None)),
        (("rollback!", "continue"), ([1], [], None)),
        (("rollback", "rollback!", "abort"), ([0], [], None)),
        (("rollback", "rollback!", "rollback"), ([0, 2], [], None)),
        (("rollback", "undo!"), ([0], [], 1)),
        (("rollback", "undo!", "abort"), ([0], [], None)),
        (("rollback!", "abort!"), ([], [], 1)),
        (("retry",), ([0], [], None)),
    ],
)
def test_what_can_be_taken_back(words: tuple[str, ...], expected: tuple[list[int], list[int], int | None]) -> None:
    assert state(*words) == expected


@given(st.lists(st.sampled_from(["rollback", "retry", "undo", "redo"]), max_size=12))
def test_undo_and_redo_keep_their_balance(words: list[str]) -> None:
    found, events = fold(*words)
    assert len(found.done) + len(found.undone) <= len(events)
    assert found.interrupted is None
    again, _ = fold(*words, "rollback", "undo", "redo", "undo")
    assert len(again.done) == len(found.done)
    assert len(again.undone) == 1


def test_what_is_no_operation() -> None:
    timeline = Timeline()
    plain = [timeline.add(kind, "C1") for kind in ("start", "checkpoint", "retry", "rollback", "note")]
    assert not any(is_operation(event) for event in plain)
    assert not is_operation(timeline.add("note", rollback={}))
    assert is_operation(timeline.add("retry", "R1", rollback={"operation": "retry"}))
    assert operations(plain, []) == Operations()


def test_their_order_is_that_of_their_numbers_whatever_the_clock_said() -> None:
    timeline = Timeline()
    intents = [("undo", 2), ("rollback", 3), ("rollback", 1)]
    undo, last, _ = events = [
        timeline.add("rollback", opens={"session": "s", "line": "main"}, rollback={"operation": word, "number": number})
        for word, number in intents
    ]
    found = operations(events, [("s", "main")])
    assert (found.done, found.undone) == ([last], [])
    assert operations([undo, events[2]], [("s", "main")]).undone == [undo]
    assert next_number(events) == 4
    assert next_number([timeline.add("retry", "R1"), timeline.add("rollback", rollback={"operation": "undo"})]) == 1


def test_a_rollback_into_a_session_that_was_deleted_is_done() -> None:
    timeline = Timeline()
    event = timeline.add("rollback", opens={"session": "old", "line": "rollback-2"}, rollback={"operation": "rollback"})
    assert operations([event], [("s", "main")]) == Operations(done=[event])


def test_a_rollback_into_another_session_is_found_there() -> None:
    timeline = Timeline()
    event = timeline.add("rollback", opens={"session": "old", "line": "rollback-2"}, rollback={"operation": "rollback"})
    assert operations([event], [("s", "rollback-2"), ("old", "main")]).interrupted is event
    assert operations([event], [("old", "rollback-2")]).done == [event]


def test_a_record_that_says_anything_disturbs_no_other() -> None:
    timeline = Timeline()
    good = timeline.add("rollback", opens={"session": "s", "line": "main"}, rollback={"operation": "rollback"})
    opened: dict[str, object] = {"session": [1], "line": {"a": 2}}
    strange = timeline.add("rollback", opens=opened, rollback={"operation": [3], "ends": [4], "number": "x"})
    assert good in operations([good, strange], [("s", "main")]).done
