"""Laws of the scanner: chunking makes no difference, memory stays bounded, nothing raises or is lost in silence."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_scanner_forms import BODY, FORMS, NO_BLOCKS, PLAIN

from gitckpt.protocol.blocks import MAX_BLOCK, Diagnostic, RawBlock
from gitckpt.protocol.markers import MAX_MARKER
from gitckpt.protocol.scanner import MAX_BARE_HEADERS, MAX_DIAGNOSTICS, Scanner

CORPUS = [form.encode() for form in (*FORMS.values(), *NO_BLOCKS.values())]

#: Pieces that markers are made of and broken by.
PIECES = [
    b"===", b"=", "＝".encode(), b"CHECKPOINT", b"Summary", b"RETRY", b"FINAL", b"END", b" 7",
    b"S2 (covers C6-C10)", b"{{step_id}}", b"\n", b"\r\n", b"\r", b"> ", b"- ", b"-", b"+", b"**", b"`", b"```\n",
    b"\x1b[1m", b"\x1b[K", b"\x1b]0;t\x07", b"\x1b", b"\x1b[", b"\xc2\xa0", b"\xe3\x80\x80", b"\xe2\x80\x8b",
    b"\xef\xbb\xbf", b"\xef\xbc", b"\xbc\x9d", b"\xff", b"\0", b"\x1c", "－ ".encode(), b"phase: x\n",
    b"===CHECKPOINT 7===\n", b"===END===\n", b"===END===", "Ｅ".encode(), "ＮＤ".encode(), b"x" * 300, b"=" * 40, b" ",
]  # fmt: skip


def scan(chunks: Iterable[bytes]) -> tuple[list[RawBlock], list[Diagnostic]]:
    scanner = Scanner()
    blocks = [block for chunk in chunks for block in scanner.feed(chunk)] + scanner.close()
    return blocks, scanner.take_diagnostics()


def cut(data: bytes, at: Iterable[int]) -> list[bytes]:
    ends = sorted({0, len(data), *(position % (len(data) + 1) for position in at)})
    return [data[start:end] for start, end in pairwise(ends)]


@pytest.mark.parametrize("data", CORPUS)
def test_a_cut_at_any_byte_makes_no_difference(data: bytes) -> None:
    whole = scan([data])
    assert all(scan([data[:position], data[position:]]) == whole for position in range(len(data)))
    assert scan(data[position : position + 1] for position in range(len(data))) == whole


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(CORPUS + PIECES), max_size=12).map(b"".join), st.lists(st.integers(0, 5000), max_size=12)
)
def test_any_chunking_of_any_text_gives_the_same(data: bytes, at: list[int]) -> None:
    assert scan(cut(data, at)) == scan([data])


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map(b"".join))
def test_byte_by_byte_is_as_good_as_at_once(data: bytes) -> None:
    assert scan(data[position : position + 1] for position in range(len(data))) == scan([data])


@settings(deadline=None)
@given(st.binary(max_size=2000))
def test_no_bytes_raise_and_places_are_in_the_stream(data: bytes) -> None:
    blocks, diagnostics = scan([b"===CHECKPOINT 7===\n" + data])
    last = data.count(b"\n") + 2
    assert all(1 <= block.line <= block.end_line <= last for block in blocks)
    assert all(1 <= found.line <= last for found in diagnostics)


#: Markers with any bytes around and between them.
AROUND = st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=40)), max_size=30).map(b"".join)


def scanned_within_bounds(data: bytes, at: list[int]) -> None:
    """Any chunking gives the same, nothing raises, what is kept is bounded."""
    blocks, diagnostics = scan(cut(data, at))
    assert (blocks, diagnostics) == scan([data])
    assert all(len(block.body.encode()) <= MAX_BLOCK for block in blocks)
    assert len(diagnostics) <= MAX_DIAGNOSTICS + 1


@settings(deadline=None, max_examples=50)
@given(AROUND, st.lists(st.integers(0, 5000), max_size=12))
def test_markers_among_random_bytes(data: bytes, at: list[int]) -> None:
    scanned_within_bounds(data, at)


@pytest.mark.slow
@settings(deadline=None, max_examples=20_000)
@given(AROUND, st.lists(st.integers(0, 5000), max_size=12))
def test_markers_among_random_bytes_however_long_one_tries(data: bytes, at: list[int]) -> None:
    scanned_within_bounds(data, at)


def long_lines(size: int) -> bytes:
    """Lines about as long as a marker may be, which are markers at their start or at their end."""
    lines = [
        b"===CHECKPOINT " + b"x" * size + b"===",
        b"===END===" + b"x" * size,
        b" " * size + b"===END===",
        b"x" * size,
    ]
    return b"".join(b"===CHECKPOINT 1===\ntext\n" + line + b"\nmore\n===END===\n" for line in lines)


@pytest.mark.parametrize("size", range(MAX_MARKER - 25, MAX_MARKER + 2))
def test_the_longest_marker_is_the_same_in_any_chunking(size: int) -> None:
    data = long_lines(size)
    assert scan(cut(data, range(0, len(data), 997))) == scan([data])


def test_a_header_too_long_to_be_read_is_reported() -> None:
    data = b"a\n===CHECKPOINT " + b"x" * MAX_MARKER + b"===\nphase: a\n===END===\n"
    assert [(found.line, found.code) for found in scan([data])[1]] == [(2, "P004"), (4, "P003")]
    assert scan([b"see ===CHECKPOINT " + b"x" * MAX_MARKER + b"===\n"]) == ([], [])


@pytest.mark.parametrize("over", [-1, 0, 1, 100])
@pytest.mark.parametrize("line", [b"1234567\n", b"x" * 9000 + b"\n"])
def test_a_block_is_cut_at_its_bound(over: int, line: bytes) -> None:
    text = (line * (MAX_BLOCK // len(line) + 1))[: MAX_BLOCK - 2 + over] + b"\n"
    data = b"===CHECKPOINT 1===\n" + text + b"===END===\n" + PLAIN.encode()
    blocks, diagnostics = scan([data])
    assert [(block.cut, block.terminated) for block in blocks] == [(over > 0, over <= 0), (False, True)]
    assert [(found.line, found.code) for found in diagnostics] == ([(1, "P003")] if over > 0 else [])
    assert len(blocks[0].body.encode()) <= MAX_BLOCK
    assert blocks[1].line == 3 + text.count(b"\n")
    assert scan(cut(data, range(0, len(data), 4099))) == (blocks, diagnostics)


def test_a_footer_ends_its_block_at_once() -> None:
    scanner = Scanner()
    data = PLAIN.encode().removesuffix(b"\n")
    assert [scanner.feed(data[position : position + 1]) for position in range(len(data) - 1)] == [[]] * (len(data) - 1)
    assert [block.body for block in scanner.feed(data[-1:])] == [BODY]
    assert scanner.feed(b"===\n") + scanner.close() == []
    assert scanner.take_diagnostics() == []


def test_a_footer_without_a_block_is_reported_where_it_stands() -> None:
    assert scan([b"a\n\n  > ===END=== \nb\n===END=== ends a block\n"])[1] == [
        Diagnostic(3, 1, "P003", "===END=== ends no block: write its header, such as ===CHECKPOINT 7===, before it")
    ]


def test_diagnostics_are_taken_once() -> None:
    scanner = Scanner()
    scanner.feed(b"===END===\n")
    assert [found.line for found in scanner.take_diagnostics()] == [1]
    scanner.feed(b"===END===\n")
    assert [found.line for found in scanner.take_diagnostics()] == [2]
    assert scanner.take_diagnostics() == []


FLOODS = {
    "headers": b"===CHECKPOINT 7===\n",
    "headers with a line": b"===CHECKPOINT 7===\nphase: x\n",
    "dressed headers": b"> **===CHECKPOINT 7===**\r\n",
    "retries": b"===RETRY===\n",
    "footers": b"===END===\n",
    "headings among headers": b"===CHECKPOINT 7===\n===FINAL REPORT===\n" * 3 + b"===FINAL===\n",
}


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_is_bounded_and_the_same_in_any_chunking(flood: str) -> None:
    data = FLOODS[flood] * (3 * MAX_DIAGNOSTICS) + b"\n" + PLAIN.encode()
    blocks, diagnostics = scan([data])
    assert scan(cut(data, range(0, len(data), 1013))) == (blocks, diagnostics)
    assert len(diagnostics) <= MAX_DIAGNOSTICS
    assert len([block for block in blocks if len(block.body) < 9]) <= MAX_BARE_HEADERS
    assert (blocks[-1].argument, blocks[-1].body, blocks[-1].end_line) == ("7", BODY, data.count(b"\n"))


def hostile(unit: bytes, size: int) -> Iterator[bytes]:
    chunk = (unit * (65536 // len(unit) + 1))[:65536]
    return (chunk for _ in range(size // 65536))


HOSTILE = {
    "one line": b"x",
    "one line of signs": b"=",
    "lines of signs": b"===\n",
    "long rules": b"=" * 200 + b"\n",
    "a block that never ends": b"text without end\n",
    "headers": b"===CHECKPOINT 7===\n",
    "mentions": b"the ===CHECKPOINT 7=== block\n",
    "mentions in one line": b"the ===CHECKPOINT 7=== block ",
    "signs in a header": b"===CHECKPOINT " + b"=" * 8000 + b"x\n",
    "frames": b"- " * 4000 + b"===CHECK\n",
    "titles that do not end": b"\x1b]0;" * 2000 + b"===CHECKPOINT 7===\n",
    "escapes that do not end": b"\x1b[" * 4000 + b"\n",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_memory_does_not_grow_with_the_stream(kind: str) -> None:
    scanner = Scanner()
    scanner.feed(b"===CHECKPOINT 1===\n")
    for chunk in hostile(HOSTILE[kind], 256 << 10):
        scanner.feed(chunk)
    tracemalloc.start()
    for chunk in hostile(HOSTILE[kind], 512 << 10):
        scanner.feed(chunk)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20
