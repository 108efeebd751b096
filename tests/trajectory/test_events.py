"""An event's own answers, from its document."""

from __future__ import annotations

from typing import Any

import pytest

from gitckpt.trajectory.events import Event


def event(**given: Any) -> Event:
    header: dict[str, Any] = {"kind": "note", "session": "s", "line": "main", "seq": 1, "at": ""}
    return Event(**(header | given))


def test_an_event_without_a_document_says_nothing() -> None:
    plain = event()
    assert (plain.document, plain.fields, plain.git, plain.missing) == ({}, {}, {}, [])
    assert (plain.opens, plain.answers_to, plain.parent) == (None, [], "")


def test_an_event_with_one() -> None:
    full = event(
        document={
            "fields": {"next": "x"},
            "git": {"head": "1"},
            "coverage": {"missing": [{"path": "a", "reason": "b"}]},
            "opens": {"session": "s", "line": "retry-2", "at": "2"},
            "answers_to": ["C7"],
        },
        parents=("1", "2"),
    )
    assert (full.fields, full.git, full.missing) == ({"next": "x"}, {"head": "1"}, [{"path": "a", "reason": "b"}])
    assert (full.opens, full.answers_to, full.parent) == ({"session": "s", "line": "retry-2", "at": "2"}, ["C7"], "1")


@pytest.mark.parametrize("document", [{"fields": None, "git": None, "coverage": None}, {"coverage": {}}])
def test_empty_parts_are_no_parts(document: dict[str, Any]) -> None:
    given = event(document=document)
    assert (given.fields, given.git, given.missing) == ({}, {}, [])


@pytest.mark.parametrize(("id", "ref"), [("C6", "s/C6"), (None, "s/0123456789ab")])
def test_its_name_among_all(id: str | None, ref: str) -> None:
    named = event(id=id, commit="0123456789abcdef")
    assert named.ref == ref
    assert repr(named) == f"<Event {ref} note on main 0123456789>"
