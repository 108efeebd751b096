"""One event whole, as text."""

from __future__ import annotations

from typing import Any

from histories import SESSION
from hypothesis import given
from hypothesis import strategies as st

from gitckpt.protocol.blocks import REQUIRED, STATE_FIELDS
from gitckpt.trajectory.events import Event
from gitckpt.trajectory.plan import Plan
from gitckpt.views.plan import plan_document
from gitckpt.views.show import FIELD_ORDER, show_lines, value_lines

C5 = Event(kind="checkpoint", session=SESSION, line="main", seq=7, at="", id="C5", commit="1a2b" * 10)

BIG = {"path": "big.bin", "reason": "larger than 100 MiB"}

FIELDS = {
    "next": "读取并替换，工具：read_file → edit_file",
    "done": ["开始替换 src/api/time.ts", "看过 moment.duration\n两处"],
    "phase": "implement",
    "phase_written": "实施",
    "state_ref": {"affected_files": ["src/utils/date.ts", "src/api/time.ts"], "progress": "1/12"},
    "rollback_hint": "回退到 C5（date.ts 已完成），git checkout src/api/time.ts",
    "goal": "moment → dayjs",
    "facts": [{"text": "47 处调用", "source": "src/utils/date.ts:8"}, {"text": "dayjs 无 duration", "source": "docs"}],
    "todo": ["Timer.tsx"],
    "extra": {"mood": "good \x1b[31m"},
}


def event(
    kind: str = "checkpoint", id: str | None = "C6", written: str = "6", phase: str = "implement", **document: Any
) -> Event:
    return Event(
        kind=kind, session=SESSION, line="main", seq=8, at="2026-11-30T02:45:08.120033Z", id=id, written=written,
        phase=phase, commit="8f3a" * 10, parents=(C5.commit,), document=document,
    )  # fmt: skip


def shown(*arguments: Any, **options: Any) -> str:
    return "\n" + "\n".join(show_lines(*arguments, **options))


def test_checkpoint() -> None:
    document: dict[str, Any] = {
        "gitckpt": 1, "kind": "checkpoint", "line": "main", "id": "C6", "fields": FIELDS,
        "git": {"head": "9c1d2e3f" * 5, "branch": "main", "operation": "merge", "staging": {"tree": "77aa" * 10}},
        "coverage": {"missing": [BIG, {"path": {"b64": "c29jay7/"}, "reason": "a socket"}]},
        "modes": {"600": [".env", {"b64": "/w=="}]}, "unterminated": True,
        "flag": "unterminated, not covered: big.bin and 1 more",
    }  # fmt: skip
    files = [("M", b"src/api/time.ts", None), ("R", b"new", b"old\n")]
    assert (
        shown(event(**document), parent=C5, files=files)
        == """
● C6  checkpoint  implement
session        20261130-024512-k3f9, line main, event 8
commit         8f3a8f3a8f3a8f3a8f3a8f3a8f3a8f3a8f3a8f3a
at             2026-11-30T02:45:08.120033Z
after          C5 (1a2b1a2b1a2b)
written as     6

phase          implement (实施)
done           - 开始替换 src/api/time.ts
               - 看过 moment.duration
                 两处
next           读取并替换，工具：read_file → edit_file
state_ref      affected_files: src/utils/date.ts, src/api/time.ts
               progress: 1/12
rollback_hint  回退到 C5（date.ts 已完成），git checkout src/api/time.ts
goal           moment → dayjs
facts          - 47 处调用 (source: src/utils/date.ts:8)
               - dayjs 无 duration (source: docs)
todo           Timer.tsx
mood           good \\x1b[31m

modes          600: - .env
                    - \\xff
unterminated   yes

git            main at 9c1d2e3f9c1d
               operation: merge
               staging: tree: 77aa77aa77aa77aa77aa77aa77aa77aa77aa77aa
coverage       2 paths not in the snapshot
               big.bin: larger than 100 MiB
               sock.\\xff: a socket
files          2 paths changed
               M src/api/time.ts
               R old\\n → new"""
    )


def test_retry_and_what_its_hint_would_do() -> None:
    document: dict[str, Any] = {
        "fields": {"new_strategy": "plugin", "reason": "no duration", "from": "C7"},
        "opens": {"session": SESSION, "line": "retry-2", "at": C5.commit}, "answers_to": ["C7"],
        "git": {"head": None, "branch": "main"},
    }  # fmt: skip
    plan = plan_document(Plan("C5", "staged", ()))
    assert (
        shown(event("retry", "R1", "R1", "", **document), parent=C5, plan=plan)
        == """
✗ R1  retry
session       20261130-024512-k3f9, line main, event 8
commit        8f3a8f3a8f3a8f3a8f3a8f3a8f3a8f3a8f3a8f3a
at            2026-11-30T02:45:08.120033Z
after         C5 (1a2b1a2b1a2b)

from          C7
reason        no duration
new_strategy  plugin

opens         line retry-2 at 1a2b1a2b1a2b
answers to    C7

git           main, no commit yet
files         nothing changed

What its rollback hint would do
Roll back to C5, scope staged: nothing to change"""
    )


def test_end_of_the_agent() -> None:
    assert (
        shown(event("end", None, "", "", agent={"command": ["node", "agent.js"], "status": 0}))
        == """
■ end
session  20261130-024512-k3f9, line main, event 8
commit   8f3a8f3a8f3a8f3a8f3a8f3a8f3a8f3a8f3a8f3a
at       2026-11-30T02:45:08.120033Z
after    nothing: the first of its session

agent    command: node agent.js
         status: 0

files    nothing changed"""
    )


def test_fields_of_every_kind_have_their_place() -> None:
    assert set(FIELD_ORDER) == {"covers", *STATE_FIELDS, *(name for names in REQUIRED.values() for name in names)}
    assert FIELD_ORDER[:6] == ("covers", *REQUIRED["checkpoint"])


PLAIN_DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None, exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(PLAIN_DATA)
def test_any_plain_data_is_lines_that_do_no_harm(value: Any) -> None:
    lines = value_lines(value)
    assert all(isinstance(line, str) and "\n" not in line and "\x1b" not in line and "\t" not in line for line in lines)
