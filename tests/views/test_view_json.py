"""JSON documents: exact, complete, valid by the published schemas, and harmless on a terminal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from histories import SESSION, History
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from gitckpt.errors import GitckptError, UnknownId, UsageError
from gitckpt.trajectory.claims import Claims
from gitckpt.trajectory.events import Event
from gitckpt.views.event_json import error_document, event_json, json_text, log_document
from gitckpt.views.schemas import MODELS, ErrorDocument, EventDocument, LogDocument, json_schema
from gitckpt.views.text import HARMFUL

C5 = Event(kind="checkpoint", session=SESSION, line="main", seq=7, at="2026-11-30T02:45:07Z", id="C5", commit="1a" * 20)
C6 = Event(
    kind="checkpoint", session=SESSION, line="main", seq=8, at="2026-11-30T02:45:08Z", id="C6", written="检查点 6",
    phase="implement", next="go on", commit="8f" * 20, parents=(C5.commit, "ee" * 20),
    document={
        "fields": {"phase": "implement", "done": ["开始"], "next": "go on"},
        "git": {"head": "9c" * 20, "branch": "main"},
        "coverage": {"missing": [{"path": {"b64": "/w=="}, "reason": "a socket"}]},
    },
)  # fmt: skip
START = Event(
    kind="start", session=SESSION, line="main", seq=1, at="2026-11-30T02:45:01Z", commit="0a" * 20, document={}
)
RUNS = [(("sh", "-c", "make test"), 0), (("npm", "test"), 2), (("true",), 125)]
NOTHING_MORE = {"unterminated": False, "answers_to": [], "opens": None, "rollback": None, "agent": None}


def test_an_event_as_json_says_all_of_it() -> None:
    files = [("M", b"src/a.ts", None), ("R", b"raw\xff", "旧".encode())]
    assert event_json(C6, parent=C5, files=files, claims=Claims([b"src/b.ts"], [b"raw\xff"]), runs=RUNS) == {
        "kind": "checkpoint",
        "id": "C6",
        "written": "检查点 6",
        "ref": "20261130-024512-k3f9/C6",
        "session": "20261130-024512-k3f9",
        "line": "main",
        "seq": 8,
        "commit": "8f" * 20,
        "parent": "1a" * 20,
        "parent_id": "C5",
        "at": "2026-11-30T02:45:08Z",
        "head": "9c" * 20,
        "branch": "main",
        "fields": {"phase": "implement", "done": ["开始"], "next": "go on"},
        **NOTHING_MORE,
        "coverage": {"complete": False, "missing": [{"path": {"b64": "/w=="}, "reason": "a socket"}]},
        "files": [
            {"status": "M", "path": "src/a.ts", "old_path": None},
            {"status": "R", "path": "raw\\xff", "b64": "cmF3/w==", "old_path": "旧"},
        ],
        "claims": {"unchanged": ["src/b.ts"], "unnamed": [{"b64": "cmF3/w=="}]},
        "tests": [
            {"command": ["sh", "-c", "make test"], "status": 0, "result": "passed"},
            {"command": ["npm", "test"], "status": 2, "result": "failed"},
            {"command": ["true"], "status": 125, "result": "skipped"},
        ],
    }


def test_all_keys_are_there_where_there_is_nothing_to_say() -> None:
    assert event_json(START) == {
        "kind": "start",
        "id": None,
        "written": None,
        "ref": "20261130-024512-k3f9/0a0a0a0a0a0a",
        "session": "20261130-024512-k3f9",
        "line": "main",
        "seq": 1,
        "commit": "0a" * 20,
        "parent": None,
        "parent_id": None,
        "at": "2026-11-30T02:45:01Z",
        "head": None,
        "branch": None,
        "fields": {},
        **NOTHING_MORE,
        "coverage": {"complete": True, "missing": []},
        "files": [],
        "claims": None,
        "tests": [],
    }


def test_documents_are_valid_by_their_schemas() -> None:
    events = [event_json(START), event_json(C6, parent=C5, files=[("A", b"\xff", None)], runs=RUNS)]
    log = LogDocument.model_validate(log_document(events, SESSION))
    assert [event.id for event in log.events] == [None, "C6"]
    assert LogDocument.model_validate(log_document([], None)).session is None
    assert EventDocument.model_validate(events[1]).files[0].status == "A"


@pytest.mark.parametrize("change", [{"files": None}, {"commit": "HEAD"}, {"extra": 1}, {"seq": "1"}])
def test_schema_refuses_what_is_none_of_ours(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EventDocument.model_validate(event_json(START) | change)


def test_an_error_as_json_has_its_hint_and_exit_status() -> None:
    document = error_document(UnknownId("there is no C9; the nearest is C8", "gitckpt log lists all"))
    assert document == {
        "schema": "gitckpt.error/1",
        "error": "there is no C9; the nearest is C8",
        "hint": "gitckpt log lists all",
        "exit": 3,
    }
    ErrorDocument.model_validate(document)
    assert ErrorDocument.model_validate(error_document(UsageError("no"))).hint is None
    assert ErrorDocument.model_validate(error_document(GitckptError("broken"))).exit == 70


@pytest.mark.parametrize("name", sorted(MODELS))
def test_schemas_are_published_whole(name: str) -> None:
    schema = json.loads(json.dumps(json_schema(name)))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == set(schema["properties"])
    assert schema["properties"].get("schema", {"const": name})["const"] == name


def test_json_text_keeps_letters_and_holds_back_the_rest() -> None:
    assert json_text({"a": "漢\x1b\x7f\x9b\u202e\u2028\n", "b": ["\U000e0041", "\ud83d", 1, None]}) == (
        '{"a": "漢\\u001b\\u007f\\u009b\\u202e\\u2028\\n", "b": ["\\udb40\\udc41", "\\ud83d", 1, null]}'
    )


@given(st.dictionaries(st.text(), st.text(st.characters(codec=None, exclude_categories=()))))
def test_json_text_reads_back_and_does_no_harm(document: dict[str, str]) -> None:
    text = json_text(document)
    assert json.loads(text) == document
    assert not [char for char in text if any(first <= ord(char) <= last for first, last in HARMFUL)]


def test_log_of_a_session_in_order(history: History) -> None:
    c1 = history.add("checkpoint", "C1", "one", document={})
    history.add("retry", "R1", "again", document={})
    history.add("checkpoint", "C2", "two", line="retry-2", after=c1, document={})
    session = history.session
    rows = [event_json(event, parent=session.parent(event)) for event in session.events]
    document = LogDocument.model_validate(log_document(rows, session.id))
    rows_read = [(event.id, event.parent_id, event.line) for event in document.events]
    assert rows_read == [("C1", None, "main"), ("R1", "C1", "main"), ("C2", "C1", "retry-2")]
