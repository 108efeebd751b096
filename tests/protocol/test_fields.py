"""Fields: which line belongs to which key, the shape of each, and that no word is lost."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitckpt.protocol.blocks import Diagnostic, Kind
from gitckpt.protocol.fields import read_fields
from gitckpt.protocol.keys import ALIASES, FIELDS

HEADER_LINE = 10

READ: dict[str, tuple[Kind, str, dict[str, Any]]] = {
    "one line each": (
        "checkpoint",
        "phase: explore\ndone: [a, b]\nnext: [c, d]\nstate_ref: [x.ts]\nrollback_hint: [git checkout .]",
        {
            "phase": "explore", "phase_written": "explore", "done": ["a", "b"], "next": "c, d", "state_ref": ["x.ts"],
            "rollback_hint": "git checkout .",
        },
    ),
    "in protocol order, whatever the order written": (
        "checkpoint",
        "open: [o]\ngoal: g\nnext: n\nphase: 收尾",
        {"phase": "finish", "phase_written": "收尾", "next": "n", "goal": "g", "open": ["o"]},
    ),
    "Chinese": (
        "checkpoint",
        "阶段：实施\n已完成：[a, b]\n下一步：c\n状态引用：[当前文件=a.ts，共 3 个]\n回退提示：[回退到 C6]\n"
        "目标：g\n待办：[t]\n未解决：[o]",
        {
            "phase": "implement", "phase_written": "实施", "done": ["a", "b"], "next": "c",
            "state_ref": {"当前文件": "a.ts，共 3 个"}, "rollback_hint": "回退到 C6", "goal": "g", "todo": ["t"],
            "open": ["o"],
        },
    ),
    "keys in any dress": (
        "checkpoint",
        "PHASE : explore\n**Done**: [a]\n**next:** b\n`state_ref`: [c]\nRollback Hint：d\n**goal: e**",
        {
            "phase": "explore", "phase_written": "explore", "done": ["a"], "next": "b", "state_ref": ["c"],
            "rollback_hint": "d", "goal": "e",
        },
    ),
    "keys in a list": (
        "checkpoint",
        "- **phase**: explore\n- **done**:\n  - a\n  - b\n- next: c\n",
        {"phase": "explore", "phase_written": "explore", "done": ["a", "b"], "next": "c"},
    ),
    "a list over lines": (
        "checkpoint",
        "done:\n- a\n- b, c\n   and d\n- [e, f]\nnext: x\ntodo:\n  1. g\n  2. h\nopen:\n  i\n  j",
        {"done": ["a", "b, c and d", "[e, f]"], "next": "x", "todo": ["g", "h"], "open": ["i", "j"]},
    ),
    "brackets over lines": (
        "checkpoint",
        "done: [\n  a,\n  b (c,\n  d),\n]\nnext: [go\n  on]\nstate_ref: [files=[a,\nb], note: long\ntext]",
        {"done": ["a", "b (c, d)"], "next": "go on", "state_ref": {"files": ["a", "b"], "note": "long text"}},
    ),
    "a bracket that is never closed": (
        "checkpoint",
        "done: [a, b\nnext: [c\nphase: explore",
        {"phase": "explore", "phase_written": "explore", "done": ["a", "b"], "next": "c"},
    ),
    "one line is one item, except for semicolons": (
        "checkpoint",
        "done: read a.ts, which was long\ntodo: a; b；c，d",
        {"done": ["read a.ts, which was long"], "todo": ["a", "b", "c，d"]},
    ),
    "text over lines": (
        "checkpoint",
        "next: first\n  second\n    third\n\n  fourth\nrollback_hint: |\n  back to C6\n  git checkout .\ngoal: >-\n  g",
        {"next": "first\nsecond\n  third\n\nfourth", "rollback_hint": "back to C6\ngit checkout .", "goal": "g"},
    ),
    "YAML": (
        "checkpoint",
        'phase: "explore"\ndone: ["a, b", \'c\']\nnext: \'d\'\n'
        "state_ref:\n  branch: main\n  files:\n    - a\n    - b\nowner: me",
        {
            "phase": "explore", "phase_written": "explore", "done": ["a, b", "c"], "next": "d",
            "state_ref": {"branch": "main", "files": ["a", "b"]}, "extra": {"owner": "me"},
        },
    ),
    "unknown keys and what stands before any key": (
        "checkpoint",
        "some words\nphase: verify\n备注：一\n  二\nConfidence: [high, low]\nResult: x",
        {
            "phase": "verify", "phase_written": "verify",
            "extra": {"text": "some words", "备注": "一\n  二", "Confidence": "[high, low]", "Result": "x"},
        },
    ),
    "what only looks like a key": (
        "checkpoint",
        "next: see\nhttps://example.com/next: yes\nC:\\next: no\nlocalhost:8080 runs\n12:30 lunch\n"
        "  done: indented\nsrc/a.ts: x",
        {
            "next": "see\nhttps://example.com/next: yes\nC:\\next: no\nlocalhost:8080 runs\n12:30 lunch\n"
            "  done: indented\nsrc/a.ts: x",
        },
    ),
    "a word and a colon within brackets": (
        "retry",
        "from: 7\nreason: [TypeError: x\nDetail: y]\nnew_strategy: z",
        {"from": "C7", "reason": "TypeError: x Detail: y", "new_strategy": "z"},
    ),
    "twice": (
        "checkpoint",
        "phase: explore\ndone: [a]\nnext: b\nstate_ref: [k=1]\n"
        "done: [c]\nnext: d\nstate_ref: [l=2]\nphase: verify\nx: 1\nx: 2",
        {
            "phase": "explore", "phase_written": "explore", "done": ["a", "c"], "next": "b\nd",
            "state_ref": {"k": "1", "l": "2"}, "extra": {"phase": "verify", "x": "1\n2"},
        },
    ),
    "twice with the same names": (
        "checkpoint", "state_ref: [k=1]\nstate_ref: [k=2]", {"state_ref": [{"k": "1"}, {"k": "2"}]},
    ),
    "empty": (
        "checkpoint",
        "phase:\ndone: []\nnext: [ ]\nstate_ref: []\nrollback_hint: []\ntodo: none\nopen: [无]",
        {
            "phase": "", "phase_written": "", "done": [], "next": "", "state_ref": [], "rollback_hint": "", "todo": [],
            "open": [],
        },
    ),
    "nothing": ("checkpoint", "", {}),
    "retry": (
        "retry",
        "from: CHECKPOINT 7（替换前）\nreason: [第 42 行，无等价 API]\nnew_strategy: [a, then b]",
        {
            "from": "C7", "reason": "第 42 行，无等价 API", "new_strategy": "a, then b",
            "extra": {"from": "CHECKPOINT 7（替换前）"},
        },
    ),
    "retry in Chinese": (
        "retry", "从：检查点 7\n原因：r\n新策略：s", {"from": "C7", "reason": "r", "new_strategy": "s"},
    ),
    "retry from nowhere known": (
        "retry", "from: the start of it\nreason: r", {"from": "the start of it", "reason": "r"},
    ),
    "final": (
        "final",
        "checkpoints: [C1, C3-C5, 6, RETRY→C7, retry -> 8, setup]\n"
        "summaries: [S1(C1-C5), S2（covers C6–C7）, S3]\nresult: done",
        {
            "checkpoints": ["C1", "C3", "C4", "C5", "C6", "RETRY→C7", "RETRY→C8", "setup"],
            "summaries": [
                {"id": "S1", "covers": ["C1", "C2", "C3", "C4", "C5"]},
                {"id": "S2", "covers": ["C6", "C7"]},
                {"id": "S3", "covers": []},
            ],
            "result": "done",
        },
    ),
    "final in lists": (
        "final",
        "checkpoints:\n- C1\n- CHECKPOINT 2\nsummaries:\n- id: S1\n  covers: [C1, C2]\n- S2 (C3)\nresult: [x]",
        {
            "checkpoints": ["C1", "C2"],
            "summaries": [{"id": "S1", "covers": ["C1", "C2"]}, {"id": "S2", "covers": ["C3"]}],
            "result": "x",
        },
    ),
    "final that says more": (
        "final",
        "checkpoints: C1 C2 C3、C4 (twice)，and on\nsummaries: S1(C1-C2, the start), none",
        {
            "checkpoints": ["C1", "C2", "C3", "C4", "and on"],
            "summaries": [{"id": "S1", "covers": ["C1", "C2"]}],
            "extra": {
                "checkpoints": "C1 C2 C3、C4 (twice)，and on", "summaries": "S1(C1-C2, the start), none",
            },
        },
    ),
    "summary": ("summary", "一。二。\nNote: three.", {"covers": [], "text": "一。二。\nNote: three."}),
    "summary with keys": (
        "summary", "covers: C1-C3\nsummary: [One. Two.]", {"covers": ["C1", "C2", "C3"], "text": "One. Two."},
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", READ)
def test_a_body_reads_as(form: str) -> None:
    kind, body, fields = READ[form]
    read, diagnostics = read_fields(kind, body, HEADER_LINE)
    assert list(read.items()) == list(fields.items())
    assert diagnostics == ()


def test_facts_have_sources_or_are_open() -> None:
    body = """\
goal: g
facts:
- A 报价 12 万/年，支持 SOC2 (source: https://a.example/pricing)
- B（来源：docs/b.md:12）
- C (x, y) (src/c.ts:3)
- D, source: d.md
- E — https://e.example
- text: F, f
  source: f.md:1
  since: May
- {"text": "G", "source": "https://g.example"}
- H is fast
- I (source: unknown)
- text: J
  source:
open: [o]"""
    fields, diagnostics = read_fields("checkpoint", body, HEADER_LINE)
    assert fields == {
        "goal": "g",
        "facts": [
            {"text": "A 报价 12 万/年，支持 SOC2", "source": "https://a.example/pricing"},
            {"text": "B", "source": "docs/b.md:12"},
            {"text": "C (x, y)", "source": "src/c.ts:3"},
            {"text": "D", "source": "d.md"},
            {"text": "E", "source": "https://e.example"},
            {"text": "F, f", "source": "f.md:1", "since": "May"},
            {"text": "G", "source": "https://g.example"},
        ],
        "open": ["H is fast", "I", "J", "o"],
    }
    told = "the fact {!r} has no source and moves to `open`: add `(source: URL or path:line)` to it"
    assert diagnostics == (
        Diagnostic(22, 1, "P015", told.format("H is fast")),
        Diagnostic(23, 1, "P015", told.format("I")),
        Diagnostic(24, 1, "P015", told.format("J")),
    )


@pytest.mark.parametrize(("name", "alias"), [(name, alias) for name in ALIASES for alias in ALIASES[name].split()])
def test_every_alias_is_its_field(name: str, alias: str) -> None:
    kinds = [kind for kind, names in FIELDS.items() if name in names and kind != "summary"]
    assert kinds
    for kind in kinds:
        spelled = (alias, alias.upper(), alias.replace("_", " "), alias.replace("_", "-"))
        assert [next(iter(read_fields(kind, f"{word}: x", 1)[0])) for word in spelled] == [name] * 4


words = st.text(alphabet="ab实施 .,:;=[]{}()（）\"'`\n-→C1", max_size=40)


@settings(deadline=None)
@given(st.sampled_from(["checkpoint", "retry", "final"]), st.lists(st.tuples(st.sampled_from(
    ["", "phase", "done", "next", "state_ref", "facts", "todo", "from", "reason", "checkpoints", "summaries", "other"]
), words), max_size=6))  # fmt: skip
def test_no_word_is_lost(kind: Kind, entries: list[tuple[str, str]]) -> None:
    """Every word of the body is somewhere in the fields."""
    body = "\n".join(f"{key}: {text}" if key else text for key, text in entries)
    fields, _ = read_fields(kind, body, 1)
    said = re.sub(r"\s", "", f"{fields}".replace("\\n", ""))
    for word in re.findall(r"[ab]+|实施", re.sub(r"\s", " ", body)):
        assert word in said


@settings(deadline=None)
@given(st.sampled_from(["checkpoint", "summary", "retry", "final"]), st.text(max_size=300))
def test_no_text_raises_and_fields_are_plain_data(kind: Kind, body: str) -> None:
    fields, diagnostics = read_fields(kind, body, 1)
    assert is_plain(fields)
    assert {found.code for found in diagnostics} <= {"P015"}


def is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(item) for key, item in value.items())
    return isinstance(value, str) or (isinstance(value, list) and all(map(is_plain, value)))
