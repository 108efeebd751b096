"""Ids: every spelling that agents use, what never becomes a ref name, and names in prose."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitckpt.protocol.blocks import Kind
from gitckpt.protocol.ids import (
    MAX_RANGE,
    canonical,
    expand_range,
    find_ids,
    ids_in,
    is_legal,
    is_placeholder,
    leading_id,
    says_only_ids,
)

SPELLINGS = {
    "C7": [
        "7", "C7", "c7", "007", "C007", "#7", "CHECKPOINT 7", "checkpoint C7", "Checkpoint #7", "CHECKPOINT7",
        "检查点 7", "检查点7", "步骤 7", "step 7", "７", "Ｃ７", "ＣＨＥＣＫＰＯＩＮＴ　７", " 7 ",
        "[C7]", "`C7`", "**7**",
        "\ufeffC\u200b7",
    ],
    "C0": ["0", "C0", "000"],
    "S2": ["S2", "s2", "SUMMARY S2", "SUMMARY 2", "摘要 2"],
    "R1": ["R1", "RETRY 1", "重试 R1"],
    "setup": ["setup", "checkpoint setup"],
    "api-2": ["api-2"],
    "HEAD": ["HEAD"],
}  # fmt: skip


@pytest.mark.parametrize(("id", "text"), [(id, text) for id, texts in SPELLINGS.items() for text in texts])
def test_spellings_of_one_id(id: str, text: str) -> None:
    assert canonical(text) == id


def test_the_kind_says_what_a_bare_number_counts() -> None:
    kinds: tuple[Kind, ...] = ("checkpoint", "summary", "retry", "final")
    assert [canonical("2", kind) for kind in kinds] == ["C2", "S2", "R2", "C2"]
    assert canonical("C2", "summary") == "C2"


@pytest.mark.parametrize(
    "text",
    ["", " ", "--help", "-f", "../heads/main", "a b", "C1^{/x}", "@{0}", "x.lock", "x.", "a..b", "~", "*", "a/b", "a:b",
     "x" * 65, "1" * 65, "a\u202eb", "\u0430\u0431", "$(touch x)", "`touch x`", "a;b", ":(glob)*", "七", "a\nb",
     "\ud800"],
)  # fmt: skip
def test_what_is_no_id_gives_none(text: str) -> None:
    assert canonical(text) is None
    assert not is_legal(text)


@given(st.text(max_size=80))
def test_canonical_is_legal_and_its_own_spelling(text: str) -> None:
    id = canonical(text)
    assert id is None or (is_legal(id) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", id))
    assert id is None or canonical(id) == id


@pytest.mark.parametrize(
    "text",
    ["{{step_id}}", "{{ step_id }}", "<id>", "<step id>", "N", "n", "X", "CN", "Cx", "NN", "...", "…", "……", "{step}",
     "C{n}", "C<n>", "S{{n}}", "$ID", "CHECKPOINT {{step_id}}", "CHECKPOINT N", "step_id", "编号", "[id]", "???", "___",
     "`<id>`", "Ｎ"],
)  # fmt: skip
def test_placeholders(text: str) -> None:
    assert is_placeholder(text)
    assert canonical(text) is None


@pytest.mark.parametrize(
    "text", ["", "7", "C7", "[C7]", "setup", "api-2", "next", "CHECKPOINT 7", "no", "x", "x1", "S2"]
)
def test_no_placeholders(text: str) -> None:
    assert not is_placeholder(text)


@pytest.mark.parametrize(
    "text", ["C3-C5", "3-5", "C3–C5", "C3~C5", "C3～C5", "C3 至 C5", "C3到C5", "C3..C5", "c3 to c5", "C3-5",
             "Ｃ３－Ｃ５",
             "CHECKPOINT 3 - CHECKPOINT 5", "（C3-C5）"],
)  # fmt: skip
def test_each_spelling_of_a_range_expands(text: str) -> None:
    assert expand_range(text) == ["C3", "C4", "C5"]


def test_ranges_of_one_of_other_kinds_and_none() -> None:
    assert expand_range("C3") == ["C3"]
    assert expand_range("S1-S3") == ["S1", "S2", "S3"]
    assert expand_range("1-2", "summary") == ["S1", "S2"]
    assert [expand_range(text) for text in ("C5-C3", "C3-S5", "setup", "", "1-2-3", "C3-C5 and on")] == [[]] * 6


def test_a_range_is_bounded() -> None:
    assert len(expand_range(f"C1-C{MAX_RANGE}")) == MAX_RANGE
    assert expand_range(f"C1-C{MAX_RANGE + 1}") == []
    assert expand_range("C1-C" + "9" * 30) == []
    assert len(ids_in(", ".join(f"C{n}-C{n + 999}" for n in range(0, 900_000, 1000)))) == 10 * MAX_RANGE


def test_ids_in_a_list() -> None:
    assert ids_in("covers C1, C3-C5、C9 and CHECKPOINT 12") == ["C1", "C3", "C4", "C5", "C9", "C12"]
    assert says_only_ids("(covers C1, C3–C5、C9 and CHECKPOINT 12)")
    assert says_only_ids("")
    assert not says_only_ids("C1-C5, all of the files")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("若 edit_file 失败，回退到 CHECKPOINT 6（替换前），用 git checkout a.ts 撤销", [("CHECKPOINT 6", "C6")]),
        ("回退到 C5（date.ts 已完成），git checkout src/api/time.ts", [("C5", "C5")]),
        ("git checkout src/utils/date.ts 回到 C1 后状态", [("C1", "C1")]),
        ("回到C6后状态，再到检查点7", [("C6", "C6"), ("检查点7", "C7")]),
        ("back to c6.", [("c6", "C6")]),
        ("target:C6, then #7", [("C6", "C6")]),
        ("C3-C5 and S2, R1", [("C3", "C3"), ("C5", "C5"), ("S2", "S2"), ("R1", "R1")]),
        ("第 6 步之前，第3个检查点", [("第 6 步", "C6"), ("第3个检查点", "C3")]),
        ("ＣＨＥＣＫＰＯＩＮＴ　６", [("ＣＨＥＣＫＰＯＩＮＴ　６", "C6")]),
        ("checkpoint api-2", [("checkpoint api-2", "api-2")]),
        ("C7~1, C7@main", [("C7", "C7"), ("C7", "C7")]),
        ("src/C6.ts lib-c6 C6/x C6.txt abc6 utf8 c6.large x_C6 \\C6", []),
        ("3 checkpoints, 检查点 3 个, 重试 3 次, s3 and r2", []),
        ("the CHECKPOINT block", []),
    ],
)
def test_names_in_prose(text: str, found: list[tuple[str, str]]) -> None:
    assert [(text[start:end], id) for start, end, id in find_ids(text)] == found


@given(st.text(alphabet="CS123 检查点步骤第-.~/(（，checkpoint", max_size=40))
def test_what_is_found_reads_as_found(text: str) -> None:
    spans = find_ids(text)
    assert all(is_legal(id) for _, _, id in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_a_number_with_a_title() -> None:
    texts = ("7 (替换前)", "C7: replace", "7/12", "CHECKPOINT 7 — x", "a b", "2026-11-30 run", "7b", "C1^{/x}")
    assert [leading_id(text) for text in texts] == ["C7", "C7", "C7", "C7", None, None, None, None]
