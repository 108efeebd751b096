"""The commit message of an event reads back exactly, and its quick header says what the YAML says."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gitckpt.errors import Damaged
from gitckpt.repo.message import HEADER, ROOT, SUBJECT, decode, encode, load, one_line, quote, recorded_head, sound
from gitckpt.repo.plain_yaml import NotPlain, plain_yaml
from gitckpt.trajectory.events import KINDS, Event

#: Text that an agent can produce, and some that it should not: controls, quotes, YAML signs, separators, half pairs.
hostile = st.sampled_from(
    ["'", '"', "\\", "\n", "\r\n", "\t", "\0", "\x1b[2J", "\x85", "\u2028", "\u2029", "<<", "=", "? ", "\x7f", "\x9b1m", "\ufeff", "\u200b", "\ud800", "\udcff", ": ", " #", "- ",
     "---", "...", "%YAML", "!!python/object", "&a", "*a", "|", ">", "~", "null", "yes", "2026-11-30", "1e3", "0x1f", "中", "🦊", "e\u0301"]
)  # fmt: skip
texts = st.lists(st.one_of(hostile, st.text(max_size=8)), max_size=6).map("".join)
values = st.recursive(
    st.one_of(texts, st.booleans(), st.integers(), st.sampled_from([10**400, -(2**64)])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
documents = st.fixed_dictionaries(
    {"fields": st.dictionaries(st.sampled_from(["done", "state_ref", "rollback_hint", "extra", "text"]), values)},
    optional={
        "git": st.fixed_dictionaries({"head": st.one_of(st.none(), texts), "branch": texts}),
        "coverage": st.fixed_dictionaries({"missing": st.lists(st.fixed_dictionaries({"path": values}), max_size=2)}),
        "answers_to": st.lists(texts, max_size=2),
        "opens": st.fixed_dictionaries({"session": texts, "line": texts, "at": texts}),
        "unterminated": st.booleans(),
    },
)
events = st.builds(
    Event,
    kind=st.sampled_from(KINDS),
    session=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}\Z"),
    line=st.sampled_from(["main", "retry-2", "rollback-17"]),
    seq=st.integers(0, 10**9),
    at=st.sampled_from(["", "2026-11-30T02:45:12.000001Z"]),
    id=st.one_of(st.none(), st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")),
    written=texts,
    worktree=texts,
    subject=texts,
    phase=texts,
    next=texts,
    flag=texts,
    document=documents,
)

COMMIT, PARENTS = "1" * 40, ("2" * 40, "3" * 40)


def read(message: str) -> Event:
    event = decode(COMMIT, PARENTS, message)
    assert event is not None
    return event


def plain(event: Event) -> dict[str, Any]:
    """The header of an event, as a dictionary."""
    return {name: getattr(event, name) for name in HEADER}


def made_sound(value: Any) -> Any:
    """The same data without half characters, which neither git nor YAML can hold."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, dict):
        return {made_sound(key): made_sound(item) for key, item in value.items()}
    return [made_sound(item) for item in value] if isinstance(value, list) else value


def without_empty(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if value not in (None, {}, [])}


def reads_back_exactly(event: Event) -> None:
    again = read(encode(event))
    assert plain(again) == made_sound(plain(event))
    assert (again.commit, again.parents, again.format) == (COMMIT, PARENTS, 1)
    document = {name: value for name, value in again.document.items() if name not in ("gitckpt", *HEADER)}
    head = {name: sound(getattr(event, name)) for name in ("phase", "next") if getattr(event, name)}
    expected = made_sound(without_empty(event.document))
    if "fields" in expected:
        expected["fields"] = expected["fields"] | head
    assert document == expected


@settings(max_examples=40)
@given(events)
def test_it_reads_back_exactly(event: Event) -> None:
    reads_back_exactly(event)


@pytest.mark.slow
@settings(max_examples=5000)
@given(events)
def test_it_reads_back_exactly_however_long_one_tries(event: Event) -> None:
    reads_back_exactly(event)


@pytest.mark.parametrize(
    "key", ["yes", "~", "<<", "null", "=", "1", "1e3", "", "- a", "? x", "#", "'", "\u2028", "2026-11-30"]
)
def test_a_key_that_yaml_could_take_for_something_else_reads_back(key: str) -> None:
    event = Event(
        kind="note", session="s", line="main", seq=1, at="", subject="x", document={"fields": {key: [{key: key}]}}
    )
    assert read(encode(event)).fields == {key: [{key: key}]}


@settings(max_examples=40)
@given(events)
def test_the_quick_reader_agrees_with_yaml(event: Event) -> None:
    subject, _, text = encode(event).partition("\n\n")
    document = yaml.safe_load(text)
    quick = {name: value for name, value in plain(read(encode(event))).items() if value not in (None, "")}
    assert quick == {name: document[name] for name in HEADER if name in document}
    assert (document["gitckpt"], read(encode(event)).subject) == (1, subject)


@settings(max_examples=30)
@given(events)
def test_the_subject_is_one_short_line_that_is_safe_to_show(event: Event) -> None:
    subject = encode(event).split("\n", 1)[0]
    assert subject
    assert len(subject) <= SUBJECT
    assert subject.isprintable()


@given(texts)
def test_a_quoted_scalar_is_one_line_of_yaml(text: str) -> None:
    quoted = quote(text)
    assert "\n" not in quoted
    assert quoted.isprintable()
    assert yaml.safe_load(quoted) == sound(text)


@given(texts)
def test_any_text_comes_on_one_printable_line(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert line == one_line(line)
    assert line.split() == "".join(c if c.isprintable() else " " for c in sound(text)).split()


def test_what_it_looks_like() -> None:
    event = Event(
        kind="checkpoint", session="20261130-024512-k3f9", line="main", seq=7, at="2026-11-30T02:45:12.000001Z",
        id="C6", written="6", subject="C6 实施: 开始替换 src/api/time.ts", phase="implement", next='read "it"',
        document={
            "fields": {"phase": "implement", "phase_written": "实施", "done": ["开始替换 src/api/time.ts"], "next": 'read "it"'},
            "git": {"head": None, "branch": "main"}, "coverage": {"missing": []}, "modes": {}, "empty": [],
        },
    )  # fmt: skip
    assert encode(event) == (
        "C6 实施: 开始替换 src/api/time.ts\n"
        "\n"
        "gitckpt: 1\n"
        'kind: "checkpoint"\n'
        'session: "20261130-024512-k3f9"\n'
        'line: "main"\n'
        "seq: 7\n"
        'at: "2026-11-30T02:45:12.000001Z"\n'
        'id: "C6"\n'
        'written: "6"\n'
        'phase: "implement"\n'
        'next: "read \\"it\\""\n'
        "fields:\n"
        "  phase_written: 实施\n"
        "  done:\n"
        "  - 开始替换 src/api/time.ts\n"
        "git:\n"
        "  head: null\n"
        "  branch: main\n"
        "coverage:\n"
        "  missing: []\n"
    )
    assert list(read(encode(event)).fields) == ["phase", "phase_written", "done", "next"]


def test_the_root_is_no_event() -> None:
    assert decode(COMMIT, (), ROOT + "\n") is None


def test_a_newer_format_is_shown_as_such() -> None:
    event = read(
        'C6: new\n\ngitckpt: 2\nkind: "hologram"\nsession: "s"\nline: "main"\nseq: 3\nid: "C6"\nhologram: [7]\n'
    )
    assert (event.format, event.kind, event.id, event.seq, event.session) == (2, "hologram", "C6", 3, "s")
    assert event.document["hologram"] == [7]


@pytest.mark.parametrize(
    "message",
    [
        "", "\n", "Merge branch 'side'\n", "fix: a thing\n\nwith a body\n", "s\n\ngitckpt: x\nkind: c\nseq: 1\n",
        's\n\ngitckpt: 1\nkind: ""\nseq: 1\n', "s\n\ngitckpt: 1\nkind: checkpoint\n", "s\n\ngitckpt: ²\nkind: c\nseq: 1\n",
        "s\n\ngitckpt: 1\nkind: c\nseq: ²\n", 's\n\ngitckpt: 1\nkind: "\\q"\nseq: 1\n', "s\n\ngitckpt: 1\nkind: c\nseq: " + "9" * 5000,
        's\n\ngitckpt: 1\nkind: "\nseq: 1\n', "s\n\ngitckpt:1\nkind:c\nseq:1\n",
    ],
)  # fmt: skip
def test_what_is_none_of_ours_is_unreadable_and_nothing_is_raised(message: str) -> None:
    event = read(message)
    assert (event.kind, event.subject, event.commit, event.parents) == (
        "unreadable",
        message.partition("\n\n")[0],
        COMMIT,
        PARENTS,
    )


@given(
    st.lists(
        st.one_of(hostile, st.sampled_from(["gitckpt: 1\n", 'kind: "', "seq: 1\n", "\n\n", 'id: "C1"\n'])), max_size=9
    )
)
def test_garbage_raises_nothing(parts: list[str]) -> None:
    event = decode(COMMIT, PARENTS, "subject\n\ngitckpt: 1\n" + "".join(parts))
    assert event is not None


@pytest.mark.parametrize("text", ["gitckpt: 1\nfields: [\n", "\tno: yaml\n", "just text\n", "", "- a\n", "a: &a [*a\n"])
def test_a_record_that_is_no_mapping_is_damaged(text: str) -> None:
    with pytest.raises(Damaged, match="^the record of a checkpoint "):
        load(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: 2026-13-45\n", "a: !!int x\n", "a: !!binary x\n", "[" * 5000, "a: !!python/none x\n", "a: &a 1\nb: *a\n", "gitckpt: 1\nfields: 7\n",
        "gitckpt: 1\ngit: [1]\n", "gitckpt: 1\ncoverage: {missing: {a: b}}\n", "gitckpt: 1\nanswers_to: C7\n", "gitckpt: 1\nrollback: x\n",
    ],
)  # fmt: skip
def test_a_record_of_strange_yaml_or_form_is_damaged_too(text: str) -> None:
    with pytest.raises(Damaged, match="^the record of a checkpoint "):
        load(text)


def test_the_document_is_read_once_and_only_when_asked_for() -> None:
    asked: list[str] = []

    def count(text: str) -> dict[str, Any]:
        asked.append(text)
        return {"fields": {}}

    event = Event(kind="note", session="s", line="main", seq=1, at="", text="x", load=count)
    assert asked == []
    assert (event.document, event.fields, asked) == ({"fields": {}}, {}, ["x"])


# -- what is written and read without a parser

#: Words of which many need no quotes, and some look as if they did not.
plain_words = st.one_of(
    st.from_regex(r"[A-Za-z0-9/._-]{1,12}( [A-Za-z0-9._/-]{1,6}){0,2}\Z"),
    st.text("0123456789abcdefx", min_size=1, max_size=8),
    st.text("0123456789abcdef", min_size=40, max_size=40),
    st.sampled_from("yes No ON off true null ~ y n nan .inf 1e3 0b1 0o7 1_0 a- -a a. a/ /a a: a# 12:30 é".split()),
    texts,
)
plain_values = st.recursive(
    st.one_of(plain_words, st.none(), st.booleans(), st.integers()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(plain_words, inner, max_size=3)),
    max_leaves=5,
)
plain_documents = st.dictionaries(plain_words, plain_values, min_size=1, max_size=4)


@settings(max_examples=300)
@given(plain_documents)
def test_plain_documents_are_written_as_the_library_writes_them(document: dict[str, Any]) -> None:
    try:
        written = plain_yaml(document)
    except NotPlain:
        return
    assert written == yaml.dump(
        document, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False, width=1 << 20
    )  # fmt: skip


def test_what_a_hook_records_after_a_tool_is_plain() -> None:
    document = {
        "boundary": {"kind": "after", "tool": "Edit", "call": "toolu_01", "failed": True, "paths": ["src/a b.py"]},
        "changed": ["src/a b.py", "README"],
        "git": {"head": "0d" * 20, "branch": "feature/x-1", "staging": {"tree": "3c" * 20, "unmerged": []}},
        "coverage": {"missing": []},
        "modes": {},
        "count": -1,
        "umask": None,
    }
    assert yaml.safe_load(plain_yaml(document)) == document


@pytest.mark.parametrize(
    "text", ["yes", "1" * 40, "0b1", "1e5", "a: b", " a", "a ", "a  b", "a #b", "-a", "中", "a" * 5000]
)
def test_words_that_need_more_are_left_to_the_library(text: str) -> None:
    for document in ({"key": text}, {text: "value"}, {"key": [text]}):
        with pytest.raises(NotPlain):
            plain_yaml(document)


@pytest.mark.parametrize("head", [None, "0d" * 20, "1" * 40, "1e" * 32, "no commit"])
@pytest.mark.parametrize(
    "before", [{}, {"fields": {"text": "\ngit:\n  head: " + "ab" * 20}}, {"coverage": {"missing": []}}]
)
def test_where_head_was_is_read_as_the_document_has_it(head: str | None, before: dict[str, Any]) -> None:
    event = Event(kind="auto", session="s", line="main", seq=1, at="", document=before | {"git": {"head": head}})
    assert recorded_head(read(encode(event))) == head
    assert recorded_head(read(encode(event) + f"git:\n  head: {'cd' * 20}\n")) == "cd" * 20
