"""docs/protocol.md is true: the examples of each rule give what they are said to, and hints read as its table says.
So is the page in Chinese, whose examples are its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from protocol_samples import blocks

from gitckpt.protocol.hints import is_executable_text
from gitckpt.protocol.reader import read_text
from gitckpt.protocol.rules import RULES, Rule, check

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / name).read_text(encoding="utf-8") for name in ("protocol.md", "zh/protocol.md")}
EXAMPLE = re.compile(r"^```text (passes|fails)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RULE = re.compile(r"^### (P\d{3})\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)

SECTIONS = {(page, found[1]): found[2] for page, text in PAGES.items() for found in RULE.finditer(text)}
EXAMPLES = [(*place, *found) for place, section in SECTIONS.items() for found in EXAMPLE.findall(section)]


def expanded(example: str) -> str:
    """The example with complete blocks for `⟨C1-C5⟩` and text for `⟨2,000 characters⟩`, in whichever language."""
    whole = re.sub(r"⟨C(\d+)-C(\d+)⟩\n", lambda found: blocks(int(found[1]), int(found[2])), example)
    return re.sub("⟨2,000 [^⟩]*⟩", "x" * 2000, whole)


def test_every_rule_has_one_example_that_passes_and_one_that_fails() -> None:
    expected = [(page, rule.code, outcome) for page in PAGES for rule in RULES for outcome in ("passes", "fails")]
    assert [(page, code, outcome) for page, code, outcome, _ in EXAMPLES] == expected


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_level_is_the_one_stated(rule: Rule, page: str) -> None:
    assert f"*{rule.level}*" in SECTIONS[page, rule.code]


@pytest.mark.parametrize(("page", "code", "outcome", "example"), EXAMPLES, ids=lambda value: str(value)[:6])
def test_the_example_gives_exactly_what_is_stated(page: str, code: str, outcome: str, example: str) -> None:
    text = expanded(example)
    found = check(*read_text(text, keep_all=True), text_lines=text.split("\n"), strict=code == "P012")
    assert [finding.code for finding in found] == ([code] if outcome == "fails" else [])


HINT_ROWS = [
    row
    for text in PAGES.values()
    for row in re.findall(r"^\| (.*`.*) \| (.*) \|$", text.partition("## rollback_hint")[2], re.MULTILINE)
]


def test_every_row_of_the_hint_table_is_found() -> None:
    assert len(HINT_ROWS) == 12 * len(PAGES)


@pytest.mark.parametrize(("written", "meaning"), HINT_ROWS)
def test_the_hints_of_the_table_are_executable_as_it_says(written: str, meaning: str) -> None:
    hints = [re.sub(r"[…\[\]]", "", hint).replace("PATH", "src/a.ts") for hint in re.findall(r"`(.*?)`", written)]
    together = {"git stash", "git stash drop"}
    alone = [hint for hint in hints if hint not in together]
    assert {is_executable_text(hint) for hint in alone} == {"P006" not in meaning}


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_shown_are_read_and_break_no_rule_but_for_what_they_leave_out(page: str) -> None:
    shown = "".join(re.findall(r"^    .*\n", PAGES[page].partition("## rollback_hint")[0], re.MULTILINE))
    read, diagnostics = read_text(shown, keep_all=True)
    assert [(block.kind, block.terminated) for block in read] == [
        ("checkpoint", True),
        ("summary", True),
        ("retry", True),
        ("final", True),
    ]
    assert {finding.code for finding in check(read, diagnostics)} == {"P007", "P010"}
