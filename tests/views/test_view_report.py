"""The page of a session: what it tells, and that words of others stay words."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitckpt.errors import Damaged
from gitckpt.trajectory.claims import Claims
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.session import Session
from gitckpt.views.report.contents import Contents
from gitckpt.views.report.page import BEGINNING, report_page
from gitckpt.views.report.session import session_document
from gitckpt.views.text import HARMFUL

TEMPLATE = '<meta content="$policy"><title>$title</title><style>$style</style><script type="application/json" id="record">$record</script>$diffs<script>$script</script>'


class Patched:
    """A patch as `repo.patches` gives it."""

    def __init__(
        self, *lines: bytes, notes: tuple[bytes, ...] = (), left_out: int = 0, is_binary: bool = False
    ) -> None:
        self.lines, self.notes, self.left_out, self.is_binary = list(lines), list(notes), left_out, is_binary
        self.added = sum(line.startswith(b"+") for line in lines)
        self.deleted = sum(line.startswith(b"-") for line in lines)


class Story:
    """Builds the contents of a report, event by event."""

    def __init__(self, session: str = "run") -> None:
        self.id = session
        self.events: list[Event] = []
        self.lines: dict[str, str] = {}
        self.files: dict[str, list[Any]] = {}
        self.patches: dict[str, list[Any]] = {}
        self.claims: dict[str, Claims] = {}

    def add(
        self, kind: str, id: str | None = None, *, line: str = "main", after: Event | None = None,
        files: dict[str, Patched] | None = None, head: dict[str, Any] | None = None, **document: Any,
    ) -> Event:  # fmt: skip
        """Record an event at the tip of a line, or `after` another."""
        seq = len(self.events) + 1
        phase = str((document.get("fields") or {}).get("phase") or "")
        event = Event(
            **{
                "kind": kind, "session": self.id, "line": line, "seq": seq, "at": f"2026-11-30T00:{seq // 60:02}:{seq % 60:02}Z",
                "id": id, "written": id or "", "phase": phase, "subject": f"{id or kind}: said",
            } | (head or {}),
            document=document, commit=f"{seq:04x}" * 10, parents=(after.commit if after else self.lines.get(line, "0" * 40),),
        )  # fmt: skip
        self.events.append(event)
        self.lines[line] = event.commit
        self.files[event.commit] = [("M", path.encode(), None) for path in files or {}]
        self.patches[event.commit] = list((files or {}).values())
        return event

    def opens(self, line: str, at: Event) -> dict[str, Any]:
        """Open a line; what the record of the event that did says of it."""
        self.lines[line] = at.commit
        return {"session": self.id, "line": line, "at": at.commit}

    @property
    def contents(self) -> Contents:
        return Contents(Session(self.id, self.events, self.lines), self.files, self.patches, self.claims)

    @property
    def document(self) -> dict[str, Any]:
        return session_document(self.contents)

    def row(self, name: str) -> dict[str, Any]:
        return next(event for row in self.document["rows"] for event in row["events"] if event["name"] == name)

    def section(self, name: str, title: str) -> Any:
        return next((part["rows"] for part in self.row(name)["sections"] if part["title"] == title), None)


def fact(text: str, source: str) -> dict[str, str]:
    return {"text": text, "source": source}


def test_a_state_is_told_beside_the_one_before() -> None:
    story = Story()
    story.add("start")
    story.add("checkpoint", "C1", fields={"todo": ["a", "b"], "state_ref": {"n": "1", "x": "y"}, "goal": "all"})
    story.add("checkpoint", "C2", fields={"done": ["looked"]})
    story.add("checkpoint", "C3", fields={"todo": ["b", "c"], "state_ref": {"n": "2", "x": "y"}, "goal": "all"})
    assert story.section("C1", "todo") == [{"text": "a", "mark": ""}, {"text": "b", "mark": ""}]
    assert story.section("C2", "todo") is None
    assert story.section("C3", "todo") == [
        {"text": "b", "mark": ""}, {"text": "c", "mark": "new"}, {"text": "a", "mark": "gone"},
    ]  # fmt: skip
    assert story.section("C3", "goal") == [{"text": "all", "mark": ""}]
    assert story.section("C3", "state") == [
        {"key": "n", "text": "2", "mark": "new", "was": "1"},
        {"key": "x", "text": "y", "mark": "", "was": ""},
    ]


def test_facts_say_since_when_and_what_has_changed_below_them() -> None:
    story = Story()
    facts = [fact("8 calls", "src/a.ts:4"), fact("slow", "the docs")]
    story.add("checkpoint", "C1", fields={"facts": facts})
    story.add("auto", files={"src/a.ts": Patched()})
    story.add("checkpoint", "C2", fields={"facts": [*facts, fact("new", "a.ts")]})
    auto = "0002" * 3
    since = {"name": "C1", "anchor": "C1"}
    assert story.section("C1", "facts")[0] == {
        "text": "8 calls", "source": "src/a.ts:4", "since": since, "stale": None, "mark": "",
    }  # fmt: skip
    old, slow, new = story.section("C2", "facts")
    assert (old["since"], old["stale"], old["mark"]) == (since, {"name": "auto", "anchor": auto}, "")
    assert (slow["stale"], new["stale"], new["mark"]) == (None, None, "new")
    assert story.document["overview"]["state"][0]["rows"][0]["stale"] == {"name": "auto", "anchor": auto}


def test_a_change_on_another_line_makes_no_fact_stale() -> None:
    story = Story()
    c1 = story.add("checkpoint", "C1", fields={"facts": [fact("8 calls", "src/a.ts:4")]})
    story.add("checkpoint", "C2", files={"src/a.ts": Patched()}, fields={"done": ["x"]})
    story.add("checkpoint", "C3", line="retry-2", after=c1, fields={"facts": [fact("8 calls", "src/a.ts:4")]})
    assert story.section("C3", "facts")[0]["stale"] is None


def test_the_time_line_forks_and_folds() -> None:
    story = Story()
    story.add("start", agent={"command": ["node", "agent.js"]})
    c1 = story.add("checkpoint", "C1", fields={"phase": "explore"})
    story.add("auto")
    story.add("auto")
    story.add(
        "retry", "R1", fields={"from": "C2", "reason": "no", "new_strategy": "so"}, opens=story.opens("retry-2", c1)
    )
    story.add("checkpoint", "C3", line="retry-2", fields={"phase": "implement"})
    document = story.document
    rows = [
        ([event["name"] for event in row["events"]], row["lane"], row["fork"], row["tips"]) for row in document["rows"]
    ]
    assert rows == [
        (["start"], 0, None, []),
        (["C1"], 0, None, []),
        (["auto", "auto"], 1, (0, 1), []),
        (["R1"], 1, None, ["main"]),
        (["C3"], 0, None, []),
        ([], 0, None, ["retry-2"]),
    ]
    assert story.row("R1")["to"] == {"name": "C1", "anchor": "C1"}
    assert [story.row(name)["active"] for name in ("C1", "R1", "C3")] == [True, False, True]
    about = document["overview"]
    assert about["counts"] == ["2 checkpoints", "2 automatic", "1 retry", "2 lines", "0 files changed"]
    assert about["agent"] == "node agent.js"
    assert about["outcome"] == {"kind": "open", "text": "goes on, on retry-2", "at": {"name": "C3", "anchor": "C3"}}
    assert about["phases"] == [
        {"phase": "explore", "steps": 1, "anchor": "C1"}, {"phase": "implement", "steps": 1, "anchor": "C3"},
    ]  # fmt: skip
    assert [(one["reason"], one["new_strategy"], one["to"]["name"]) for one in about["retries"]] == [("no", "so", "C1")]


def test_how_a_run_ended() -> None:
    def outcome(kind: str, **document: Any) -> tuple[str, str]:
        story = Story()
        story.add("checkpoint", "C1")
        story.add(kind, **document)
        found = story.document["overview"]["outcome"]
        return found["kind"], found["text"]

    assert outcome("final", fields={"result": "all done"}) == ("final", "all done")
    assert outcome("end", agent={"exit": 1}) == ("unfinished", "ended without FINAL")
    assert outcome("end", agent={"outcome": "done", "text": "so it is"}) == ("final", "done: so it is")
    assert outcome("end", agent={"outcome": "stuck"}) == ("unfinished", "stuck: ")
    assert outcome("auto") == ("open", "goes on, on main")


def test_tokens_are_told_where_they_are_known() -> None:
    story = Story()
    story.add("end", agent={"input_tokens": 12345, "output_tokens": 67})
    assert story.document["overview"]["counts"][-2:] == ["12,345 tokens in", "67 tokens out"]


def test_what_snapshots_lack_and_what_was_said_and_not_done() -> None:
    story = Story()
    missing = {"missing": [{"path": {"b64": "/w=="}, "reason": "a socket"}]}
    story.add("checkpoint", "C1", coverage=missing)
    c2 = story.add("checkpoint", "C2", coverage=missing)
    story.claims[c2.commit] = Claims([b"a.ts"], [b"b.ts"])
    about = story.document["overview"]
    assert about["gaps"] == [
        {
            "path": "\\xff",
            "reason": "a socket",
            "first": story.contents.link("0001" * 10),
            "last": {"name": "C2", "anchor": "C2"},
            "steps": 2,
        }
    ]
    assert about["claims"] == [{"at": {"name": "C2", "anchor": "C2"}, "paths": ["a.ts"]}]
    assert story.section("C2", "not covered") == ["\\xff: a socket"]
    assert story.section("C2", "said, not changed") == ["a.ts"]
    assert story.section("C2", "changed, not said") == ["b.ts"]


def test_a_link_means_the_newest_of_an_id_on_the_line_that_counts() -> None:
    story = Story()
    c1 = story.add("checkpoint", "C1")
    story.add("checkpoint", "C2")
    story.add("retry", "R1", answers_to=["C3"], opens=story.opens("retry-2", c1))
    story.add("checkpoint", "C2", line="retry-2")
    assert story.document["names"] == {"c1": "C1", "c2": "C2", "r1": "R1", "c3": "R1"}
    anchors = [event["anchor"] for row in story.document["rows"] for event in row["events"]]
    assert anchors == ["C1", "0002" * 3, "R1", "C2"]


def test_a_record_that_cannot_be_read_is_named_and_the_others_are_told() -> None:
    def refuse(text: str) -> dict[str, Any]:
        raise Damaged("no")

    story = Story()
    story.add("checkpoint", "C1", fields={"done": ["a"]})
    story.add("checkpoint", "C2")
    story.events[-1]._document, story.events[-1]._load = None, refuse
    story.add("unreadable", head={"session": "", "line": ""})
    assert story.section("C2", "damaged") == ["its record cannot be read: gitckpt verify names what is wrong"]
    assert story.section("C1", "done") == [{"text": "a", "mark": ""}]
    assert story.row("unreadable")["sections"][0]["title"] == "damaged"


# -- the page


class Elements(HTMLParser):
    """The elements of a page: name, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), []))

    def handle_data(self, data: str) -> None:
        if self.found:
            self.found[-1][2].append(data)

    def texts(self, tag: str) -> list[str]:
        return ["".join(text) for name, _, text in self.found if name == tag]


def page(*stories: Story) -> str:
    return report_page([story.contents for story in stories], TEMPLATE, "b{}", "go()")


def hash_of(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_policy_lets_nothing_through_but_the_page_itself() -> None:
    story = Story()
    story.add("checkpoint", "C1")
    text = page(story)
    assert text.startswith(BEGINNING)
    [policy] = re.findall(r'<meta content="([^"]*)">', text)
    assert policy.split("; ") == [
        "default-src 'none'", f"style-src '{hash_of('b{}')}'", f"script-src '{hash_of('go()')}'", "base-uri 'none'",
        "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
    ]  # fmt: skip


def test_the_changes_stand_apart_and_their_events_know_where() -> None:
    story = Story()
    story.add("checkpoint", "C1")
    story.add(
        "checkpoint", "C2", files={"a": Patched(b"@@ -1 +1 @@", b"-x\t", b"+\xff\r"), "b": Patched(is_binary=True)}
    )
    story.add("checkpoint", "C3", files={"it's": Patched(b"@@ -1 +1 @@", b"+y" + b"z" * 3000, left_out=7)})
    record, *diffs = Elements(page(story)).texts("script")[:-1]
    events = [event for row in json.loads(record)["sessions"][0]["rows"] for event in row["events"]]
    assert [event["diff"] for event in events] == [None, 0, 1]
    assert json.loads(diffs[0]) == ["@@ -1 +1 @@\n-x\t\n+\\xff\\r", ""]
    assert events[1]["files"][1]["notes"] == ["a binary file"]
    assert json.loads(diffs[1])[0].endswith("z…")
    assert (events[2]["files"][0]["left_out"], events[1]["files"][0]["command"]) == (7, "")
    assert events[2]["files"][0]["command"] == f"gitckpt diff {'0002' * 3} {'0003' * 3} -- 'it'\"'\"'s'"


def test_of_very_many_files_the_page_has_a_part() -> None:
    story = Story()
    story.add("checkpoint", "C1")
    story.add("checkpoint", "C2", files={f"f{n}": Patched(b"@@ -1 +1 @@", b"+x") for n in range(1200)})
    row = story.row("C2")
    assert (len(row["files"]), row["more_files"]) == (1000, 200)
    assert row["stat"] == f"gitckpt diff --stat {'0001' * 3} {'0002' * 3}"
    assert [sum(bool(file["lines"]) for file in row["files"]), row["files"][200]["left_out"]] == [200, 2]
    assert story.document["overview"]["counts"][-1] == "1,200 files changed"


HOSTILE = (
    "</script><script>alert(1)</script>", "<!-- <script>", "<img src=x onerror=alert(1)>", "\u2028\u2029 \u202e gnp.exe",
    "\ud800", "'\"><b>&amp;", "]]>", "\0\x1b[2J", "__proto__", "${alert(1)} $record $script",
)  # fmt: skip
hostile = st.text() | st.sampled_from(HOSTILE) | st.builds("".join, st.lists(st.sampled_from(HOSTILE) | st.text()))
values = st.recursive(
    hostile, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hostile, inner, max_size=3), max_leaves=8
)


@given(hostile, values, hostile, hostile.map(lambda text: text.encode("utf-8", "replace")))
def test_words_of_others_stay_words(word: str, value: Any, name: str, line: bytes) -> None:
    story = Story(word)
    head = {"written": word, "line": name, "at": word, "phase": word, "subject": word, "flag": word}
    files = {"f": Patched(b"+" + line, notes=(line,), left_out=1)}
    fields = {"done": [word], "facts": value, "state_ref": value, "next": word, "extra": value, word: value}
    c1 = story.add("checkpoint", name, head=head, files=files, fields=fields, agent={"command": [word]}, task=value)
    story.files[c1.commit] = [(word, line.replace(b"\0", b"") or b"f", None)]
    story.claims[c1.commit] = Claims([line], [line])
    story.add(word, word, head=head, fields=fields)
    story.add("retry", word, head=head, fields={"from": value, "reason": value}, opens=story.opens(name, c1))
    text = page(story)
    elements = Elements(text)
    assert [tag for tag, _, _ in elements.found] == [
        "html",
        "meta",
        "meta",
        "title",
        "style",
        "script",
        "script",
        "script",
    ]
    record, diff, script = elements.texts("script")
    assert (script, json.loads(record)["schema"]) == ("go()", "gitckpt.report/1")
    assert isinstance(json.loads(diff)[0], str)
    shown = record + diff + elements.texts("title")[0]
    assert "<" not in record + diff
    assert not [char for char in shown if char not in "\t\n" and any(a <= ord(char) <= b for a, b in HARMFUL)]
    assert text.encode()
