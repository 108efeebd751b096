"""Text that can do no harm, and that lines up in a terminal."""

from __future__ import annotations

import unicodedata

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitckpt.views.text import HARMFUL, PLAIN, SGR, Style, byte_size, count, cut, escape, fit, labelled, pad, width

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))

#: Letters whose width terminals agree on: ASCII, Latin, Chinese, Korean, kana, full-width, emoji, combining accents.
WRITTEN = st.text("aZ 9é~漢字（，。한글かなＡ😀🚀\u0301\u0308→…│", max_size=30)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 中文 text", "plain 中文 text"),
        ("\x1b]0;title\x07\x1b[2J", "\\x1b]0;title\\x07\\x1b[2J"),
        ("\x9b2J\x7f\x00", "\\x9b2J\\x7f\\x00"),
        ("abc\u202etxt.exe\u2066\u200f", "abc\\u202etxt.exe\\u2066\\u200f"),
        ("a\u2028b\u2029\ufeff\u200b", "a\\u2028b\\u2029\\ufeff\\u200b"),
        ("half \ud83d", "half \\ud83d"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("one\ntwo\tthree\r\n", "one\\ntwo\\tthree\\r\\n"),
        (
            "family 👨\u200d👩\u200d👧, blank\u00a0and\u3000blank",
            "family 👨\u200d👩\u200d👧, blank\u00a0and\u3000blank",
        ),
        ("a back\\slash", "a back\\slash"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_escape_keeps_lines_where_asked() -> None:
    assert escape("one\n\ttwo\r\x1b", multiline=True) == "one\n\ttwo\\r\\x1b"


@given(ANY_TEXT)
def test_nothing_harmful_is_left(text: str) -> None:
    shown = escape(text)
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")]
    assert not [
        char
        for char in shown
        if unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    ]
    assert not [char for char in shown if any(first <= ord(char) <= last for first, last in HARMFUL)]


@given(ANY_TEXT)
def test_escape_is_done_once_for_all(text: str) -> None:
    assert escape(escape(text)) == escape(text)


@given(ANY_TEXT)
def test_escape_only_replaces(text: str) -> None:
    harmless = [char for char in text if not any(first <= ord(char) <= last for first, last in HARMFUL)]
    left = iter(escape(text))
    assert all(char in left for char in harmless)


@given(WRITTEN)
def test_width_is_what_a_terminal_moves_by(text: str) -> None:
    screen = pyte.Screen(100, 2)
    pyte.Stream(screen).feed(text)
    assert width(text) == screen.cursor.x


@pytest.mark.parametrize(
    ("text", "columns"),
    [("", 0), ("abc", 3), ("漢字", 4), ("e\u0301", 1), ("한", 2), ("\u1112\u1161\u11ab", 2), ("😀", 2), ("│→…", 3)],
)
def test_width_counts_columns(text: str, columns: int) -> None:
    assert width(text) == columns


@given(WRITTEN, st.integers(0, 40), st.sampled_from(["…", "..."]))
def test_fit_never_takes_more_than_it_may(text: str, columns: int, ellipsis: str) -> None:
    fitted = fit(text, columns, ellipsis)
    assert width(fitted) <= columns
    assert fitted == text or text.startswith(fitted.removesuffix(ellipsis))
    assert (fitted == text) == (width(text) <= columns)


@pytest.mark.parametrize(
    ("text", "columns", "fitted"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("漢字漢字", 6, "漢字…"),
        ("漢字漢字", 5, "漢字…"),
        ("abc def", 5, "abc…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_text_is_cut_to_the_columns_there_are(text: str, columns: int, fitted: str) -> None:
    assert fit(text, columns) == fitted


def test_cut_takes_combining_marks_along() -> None:
    assert cut("e\u0301e\u0301e\u0301", 2) == "e\u0301…"


@given(WRITTEN, st.integers(0, 70))
def test_pad_fills_up_to_the_column(text: str, columns: int) -> None:
    assert pad(text, columns).rstrip(" ") == text.rstrip(" ")
    assert width(pad(text, columns)) == max(width(text), columns)


def test_colours_wrap_and_can_be_off() -> None:
    assert Style(colour=True).red("no") == "\x1b[31mno\x1b[0m"
    assert Style(colour=True).red("") == ""
    assert [PLAIN.paint(colour, "text") for colour in SGR] == ["text"] * len(SGR)


def test_ascii_style_has_its_own_signs() -> None:
    assert (Style(unicode=False).arrow, Style(unicode=False).ellipsis) == ("->", "...")


def test_a_number_takes_the_plural_where_it_is_not_one() -> None:
    assert [count(number, "path") for number in (0, 1, 2, 1234)] == ["0 paths", "1 path", "2 paths", "1,234 paths"]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (10_240, "10 KiB"),
        (1_572_864, "1.5 MiB"),
        (1 << 40, "1.0 TiB"),
        (1 << 51, "2048 TiB"),
    ],
)
def test_byte_size(number: int, shown: str) -> None:
    assert byte_size(number) == shown


def test_labels_stand_once() -> None:
    assert labelled([("one", ["a", "b"]), ("two", [])], 5, PLAIN) == ["one  a", "     b", "two"]
