"""The pages in Chinese and in English say the same: as many sections, tables and examples, and the same things to type."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from guides import FENCE

DOCS = Path(__file__).parents[1] / "docs"
TRANSLATED = sorted(page.name for page in (DOCS / "zh").glob("*.md"))

CHINESE = "[\u3000-\u9fff\uff00-\uffef]"
SECTION = re.compile(r"^(?=#+ )", re.MULTILINE)


def sections(name: str) -> list[list[str]]:
    """The sections of a page, each in both languages."""
    pages = [(DOCS / name).read_text(encoding="utf-8"), (DOCS / "zh" / name).read_text(encoding="utf-8")]
    return [list(pair) for pair in zip(*map(SECTION.split, map(unfenced, pages)), strict=True)]


def unfenced(page: str) -> str:
    """The page with no fence in it, so that a comment of a shell is no heading."""
    return FENCE.sub(lambda fence: f"⟨{fence[1]}⟩", page)


def shape(section: str) -> list[str]:
    """The level of the heading, the rows of tables, the items of lists, the languages of fences."""
    return re.findall(r"^(?:#+ |\||- |⟨\w+⟩|    (?:===.*|\w+:))", section, re.MULTILINE)


def typed(section: str) -> list[str]:
    """What stands in back-ticks, but for the words of a language: those in Chinese, and a fact. Versions too."""
    return re.findall(r"\d+\.\d+", section) + sorted(
        {span for span in re.findall(r"`([^`\n]+)`", section) if not re.search(f"{CHINESE}|^- A|characters", span)}
    )


def fences(page: str) -> list[str]:
    """The fences of a page as they are."""
    return [fence[0] for fence in FENCE.finditer((DOCS / page).read_text(encoding="utf-8"))]


def frames(page: str) -> list[list[str]]:
    """The lines of its fences, without what a person or a model says: only keys of fields, and how blocks begin and end."""
    return [re.findall(r"^(?:```.*|===.*|⟨C.*|\w+:|- )", fence, re.MULTILINE) for fence in fences(page)]


@pytest.mark.parametrize("name", TRANSLATED)
def test_sections_have_the_same_shape(name: str) -> None:
    assert len(sections(name)) > 10
    assert [shape(chinese) for _, chinese in sections(name)] == [shape(english) for english, _ in sections(name)]


@pytest.mark.parametrize("name", TRANSLATED)
def test_what_is_to_be_typed_is_the_same(name: str) -> None:
    for english, chinese in sections(name):
        assert typed(chinese) == typed(english), english.partition("\n")[0]


def test_what_the_guides_have_typed_and_shown_is_the_same() -> None:
    assert fences("zh/guide.md") == fences("guide.md") != []


def test_the_examples_of_the_protocol_are_the_same_but_for_their_words() -> None:
    assert frames("zh/protocol.md") == frames("protocol.md") != []
