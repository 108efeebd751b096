"""How a name finds its event, where it is looked for, and what is said where it is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timeline import Timeline, migration

from gitckpt.errors import UnknownId
from gitckpt.trajectory.resolve import resolve
from gitckpt.trajectory.session import Session

CURRENT = ("s", "retry-2")


def older() -> Session:
    """A session of its own, with a C3 and a C30."""
    timeline = Timeline("old")
    timeline.add("start")
    for id in ("C3", "C30", "setup"):
        timeline.add("checkpoint", id)
    return timeline.session()


def everything() -> list[Session]:
    timeline = migration()
    timeline.add("summary", "S1", "retry-2")
    timeline.add("checkpoint", "C2", "retry-2")
    return [older(), timeline.session()]


def found(name: str, current: tuple[str, str] | None = CURRENT) -> tuple[str, int, str]:
    """Session, sequence number and note."""
    answer = resolve(name, everything(), current)
    return answer.event.session, answer.event.seq, answer.note


@pytest.mark.parametrize(
    ("name", "seq"),
    [
        ("C6", 7), ("6", 7), ("c6", 7), ("CHECKPOINT 6", 7), ("检查点 6", 7), ("C2~0", 11), ("C2~1", 3), ("2~1", 3), ("S1", 10), ("s1", 10),
        ("start", 1), ("START", 1), ("last", 11), ("Last", 11), ("s/C6", 7), ("s/last", 11), ("C2@main", 3), ("s/C2@main", 3),
        ("R1@main", 8), ("last@main", 7), ("C7@main", 8),
    ],
)  # fmt: skip
def test_a_name_on_the_current_line(name: str, seq: int) -> None:
    assert found(name) == ("s", seq, "")


def test_of_an_id_that_was_used_again_the_newest_is_meant_and_said_to_be() -> None:
    note = "C2 is on record 2 times: this is the newest, C2~1 the one before it"
    assert found("C2") == found("2") == ("s", 11, note)
    assert found("s/C2") == ("s", 11, "")


def test_a_name_that_is_elsewhere_is_said_to_be() -> None:
    assert found("C7") == ("s", 8, "R1 is not on the current line (retry-2); it was found on line main")
    assert found("C30") == ("old", 3, "C30 was found in session old")
    assert found("setup") == ("old", 4, "setup was found in session old")
    assert found("old/C3") == ("old", 2, "")


def test_the_current_session_comes_before_the_others() -> None:
    assert found("C3")[:2] == ("s", 4)
    assert found("C3", ("old", "main"))[:2] == ("old", 2)


@pytest.mark.parametrize("current", [None, ("gone", "main"), ("s", "gone")])
def test_without_a_current_line_the_newest_session_comes_first(current: tuple[str, str] | None) -> None:
    assert found("C3", current) == ("s", 4, "")


def test_a_commit_is_found_by_enough_of_its_id() -> None:
    [_, session] = everything()
    commit = session.events[4].commit
    for name in (commit, commit[:11]):
        assert resolve(name, everything(), CURRENT).event.seq == 5
    with pytest.raises(UnknownId) as caught:
        resolve(commit[:7], everything(), CURRENT)
    assert (str(caught.value), caught.value.hint) == (
        f"{commit[:7]} begins more than one commit id",
        "give more digits of it",
    )
    with pytest.raises(UnknownId):
        resolve(commit[:6], everything(), CURRENT)


def test_last_is_a_state_and_not_a_note() -> None:
    timeline = Timeline()
    timeline.add("start")
    timeline.add("auto")
    for kind in ("note", "summary", "rollback", "end"):
        timeline.add(kind, "S1")
    assert resolve("last", [timeline.session()], ("s", "main")).event.kind == "auto"


@pytest.mark.parametrize(
    "name",
    [
        "C99", "C6~9", "C6@none", "none/C6", "C6~", "C6~x", "", " ", "~1", "@main", "/C6", "s/", "../C6", "--help", "-1", "HEAD", "refs/heads/main",
        "C6@retry-2@main", "{{step_id}}", "C6~99999999999999999999", "\x1b[2J", "x" * 5000, "C" + "9" * 5000, "\ud800",
    ],
)  # fmt: skip
def test_an_unknown_name_is_refused_by_name(name: str) -> None:
    with pytest.raises(UnknownId) as caught:
        resolve(name, everything(), CURRENT)
    assert caught.value.exit_status == 3
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200


def test_the_nearest_are_named() -> None:
    with pytest.raises(UnknownId) as caught:
        resolve("C66", everything(), CURRENT)
    assert (str(caught.value), caught.value.hint) == (
        "no checkpoint 'C66' here; the nearest are C6, C8, C5",
        "gitckpt log lists them all",
    )


def test_where_nothing_is_on_record_that_is_said() -> None:
    with pytest.raises(UnknownId) as caught:
        resolve("C1", [], None)
    assert (str(caught.value), caught.value.hint) == (
        "no checkpoint 'C1': nothing has been recorded in this work tree",
        "gitckpt save records one",
    )


def test_what_cannot_be_read_is_not_told_as_nothing() -> None:
    rewritten = Timeline("old")
    rewritten.add("unreadable")
    with pytest.raises(UnknownId) as caught:
        resolve("C1", [rewritten.session()], None)
    assert str(caught.value).startswith("no checkpoint 'C1': what is on record here cannot be read, as after a rewrite")
    assert caught.value.hint == "gitckpt verify tells what is wrong"


@given(st.one_of(st.text(max_size=12), st.text("C0123456789~@/sS main-retryR", max_size=12)))
def test_any_text_finds_an_event_or_is_unknown(name: str) -> None:
    try:
        answer = resolve(name, everything(), CURRENT)
    except UnknownId:
        return
    assert answer.event.commit in {event.commit for session in everything() for event in session.events}
