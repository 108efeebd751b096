"""Plain blocks, which the scanner takes whole: that it does, and that looking at each line would give the same."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_scanner import CORPUS, FLOODS, PIECES, cut, scan
from test_scanner_forms import FORMS, NO_BLOCKS, PLAIN

from gitckpt.protocol import frame
from gitckpt.protocol.blocks import MAX_BLOCK, Diagnostic, RawBlock
from gitckpt.protocol.plain_blocks import plain_blocks
from gitckpt.protocol.scanner import MAX_DIAGNOSTICS, Scanner


class LineByLine(Scanner):
    """The scanner that knows no plain blocks."""

    def _plain_blocks(self, data: bytes, start: int, position: int) -> int:
        return start


def scan_line_by_line(chunks: Iterable[bytes]) -> tuple[list[RawBlock], list[Diagnostic]]:
    scanner = LineByLine()
    blocks = [block for chunk in chunks for block in scanner.feed(chunk)] + scanner.close()
    return blocks, scanner.take_diagnostics()


HEADERS = [
    "CHECKPOINT 7", "CHECKPOINT", "CHECKPOINT setup (a, b)", "CHECKPOINT 7 ", "CHECKPOINT  7", "CHECKPOINT 7===",
    "CHECKPOINT " + "x" * 100, "CHECKPOINT " + "x" * 9000, "SUMMARY S2 (covers C6-C10)", "SUMMARY of changes",
    "SUMMARY", "RETRY", "RETRY 2", "RETRY of tests", "FINAL", "FINAL results", "END",
]  # fmt: skip
LINES = [
    "phase: 实施", "done: [a = b, c === d]", "- item = a", "- ===END===", "12. step，（一）", "  indented",
    "    - deeper", "", "> quoted", "```", "~~~", "\t", "ends with a blank ", "ends with a wide one\u3000",
    "ends with a hard one\xa0", "\u3000begins with one", "\xa0", "替换完成。", "「引」", "ends unseen\u200b",
    "\ufeffbegins unseen", "a ＝ b", "＝＝＝END＝＝＝", "- ＝==END===", "- ＝＝＝END＝＝＝", "12. ＝＝＝END＝＝＝",
    "1. == a ＝", "\x1b[1mbold\x1b[0m", "\x9b1mbold", "a \x9b1mb", "a\rb", "a\r", "a\r===END===", "\r", "a\vb\f", "a\v",
    "===END===", " ===END===", "===END=== and more", "===CHECKPOINT 8===", "see ===CHECKPOINT 8===", "*", "#", "1",
    "===", "\0", "\x1c===END===", "x" * 9000, " " * 9000 + "===END===",
]  # fmt: skip
PROSE = [
    "", "prose\n", "a = b\n", "a === b\n", "＝\n", "> ＝＝＝CHECKPOINT 9＝＝＝\n", "a\r", "x",
    "===END===\n", "===CHECKPOINT 6===\nopen\n",
]  # fmt: skip
TOO_LONG = "===CHECKPOINT 6===\n" + "x" * MAX_BLOCK + "\n"

line_ends = st.sampled_from(["\n", "\n", "\r\n", "\r\n", "\r", "\r\r\n"])


@st.composite
def block_texts(draw: st.DrawFn) -> bytes:
    """Prose and a block of lines that are plain or nearly so."""
    lines = [
        f"==={draw(st.sampled_from(HEADERS))}===",
        *draw(st.lists(st.sampled_from(LINES), max_size=4)),
        "===END===",
    ]
    end = draw(line_ends)
    return (draw(st.sampled_from(PROSE)) + end.join(lines) + draw(st.sampled_from([end, end, " " + end, ""]))).encode()


texts = st.lists(block_texts() | st.sampled_from(CORPUS + PIECES), max_size=8).map(b"".join)


@settings(deadline=None, max_examples=250)
@given(texts, st.lists(st.integers(0, 5000), max_size=6))
def test_plain_blocks_are_those_that_each_line_would_give(data: bytes, at: list[int]) -> None:
    assert scan(cut(data, at)) == scan_line_by_line([data])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("line", LINES)
def test_each_line_in_each_place_makes_no_difference(line: str, end: str) -> None:
    for lines in ([line], ["", line, "x"], ["x", line], ["x", "  " + line, "x"]):
        body = end.join(["", *lines, ""])
        assert frame.unwrap(body.encode(), "") == frame._unframed(body, "")
        data = f"===CHECKPOINT 7==={body}===END==={end}".encode()
        assert scan([data]) == scan_line_by_line([data])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("prose", [*PROSE, TOO_LONG])
def test_each_header_after_each_prose_makes_no_difference(prose: str, end: str) -> None:
    for header in HEADERS:
        block = f"==={header}==={end}x{end}===END==={end}"
        data = f"{prose}{block}===END==={end}{block}".encode()
        assert scan([data]) == scan_line_by_line([data])


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_around_them_makes_no_difference(flood: str) -> None:
    data = FLOODS[flood] * (MAX_DIAGNOSTICS + 9) + PLAIN.encode() * 2 + FLOODS[flood] * 9 + PLAIN.encode()
    assert scan([data]) == scan_line_by_line([data])


@settings(deadline=None, max_examples=150)
@given(st.sampled_from([PLAIN, FORMS["CRLF"]]), st.integers(0, 60), st.sampled_from([*PIECES, b" ", b"a", b"\x9b"]))
def test_one_odd_piece_anywhere_makes_no_difference(form: str, position: int, piece: bytes) -> None:
    plain = form.encode()
    data = plain + plain[:position] + piece + plain[position:] + plain
    assert scan([data]) == scan_line_by_line([data])


ODD_BYTES = [*(char.encode() for char in (*"> \t`~\v", "\u1680", "\u180e", "\u2060")), b"\xc2", b"\xe3\x80", b"\x9b"]
bodies = st.lists(st.sampled_from([*(line.encode() for line in LINES), *ODD_BYTES, b"\n", b"\r"]), max_size=6)


@settings(deadline=None, max_examples=250)
@given(bodies, line_ends.map(str.encode))
@example([b"  all", b"  indented"], b"\n")
@example([b"first", b"  indented", b"\tby a tab"], b"\n")
@example([b"ends with a blank ", b"x"], b"\r\n")
def test_what_is_taken_as_plain_has_nothing_to_take_off(lines: list[bytes], end: bytes) -> None:
    for body in (end + end.join(lines) + end, end + b"".join(lines) + end):
        assert frame.unwrap(body, "") == frame._unframed(body.decode("utf-8", "replace"), "")


@pytest.mark.parametrize("escape", ["", "\x1b[0m", "\x9b0m"])
@pytest.mark.parametrize(
    ("end", "line_ends"),
    [("\n", 1), ("\r\n", 1), ("\r", 1), ("\r\r", 1), ("\r\r\n", 1), ("\n\r", 1), ("\r\n\r", 1), ("\n\r\n", 2)],
)
def test_carriage_returns_belong_to_the_line_feed_beside_them(end: str, line_ends: int, escape: str) -> None:
    between = "\n" * line_ends
    assert frame.unwrap(f"{end}a{escape}{end}b{end}".encode(), "") == f"{between[1:]}a{between}b"


def taken_whole(text: str) -> list[tuple[str, str, str, str]]:
    data = text.encode()
    return [
        (kind, argument, body, data[begin:end].decode()) for kind, argument, body, begin, end in plain_blocks(data, 0)
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("header", "kind", "argument"),
    [
        ("CHECKPOINT 7", "checkpoint", "7"),
        ("CHECKPOINT", "checkpoint", ""),
        ("SUMMARY S2 (covers C6-C10)", "summary", "S2 (covers C6-C10)"),
        ("RETRY", "retry", ""),
        ("FINAL", "final", ""),
    ],
)
def test_a_block_as_the_protocol_writes_it_is_taken_whole(header: str, kind: str, argument: str, end: str) -> None:
    lines = ["phase: 实施。", "done:", "- a = b（1/2）", "", "  - [替换]", "1. next", "> why，== b"]
    block = "".join(f"{line}{end}" for line in (f"==={header}===", *lines, "===END==="))
    whole = (kind, argument, "\n".join(lines), block)
    assert taken_whole(f"prose{end}{block}more{end}{block}a = b{end}{block}") == [whole, whole]


@pytest.mark.parametrize("form", sorted((FORMS | NO_BLOCKS).keys() - {"plain", "fence", "CRLF"}))
def test_a_bent_form_is_left_to_the_lines(form: str) -> None:
    assert taken_whole((FORMS | NO_BLOCKS)[form]) == []


@pytest.mark.parametrize("over", [0, 1])
def test_a_block_over_its_bound_is_left_to_the_lines(over: int) -> None:
    body = "x" * (MAX_BLOCK - 2 + over)
    assert len(taken_whole(f"===RETRY===\n{body}\n===END===\n")) == 1 - over
