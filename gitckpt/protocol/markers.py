"""Recognize the lines that start and end a block, however a model or a terminal has decorated them.

A marker is `===KEYWORD ARGUMENT===` on a line of its own. A frame may precede it (quote signs, a bullet, indents, bold
marks), and between its parts there may be blanks of any kind and terminal colours, titles and links. The bytes are
searched for candidates, and only lines that contain one are decoded.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gitckpt.protocol.blocks import Kind
from gitckpt.protocol.frame import BLANKS, ESCAPE, bare
from gitckpt.protocol.ids import FULL_WIDTH

#: The number of bytes from the start of a line within which a marker must end.
MAX_MARKER: Final = 8 * 1024

_KINDS: Final[dict[str, Kind]] = {
    "CHECKPOINT": "checkpoint",
    "SUMMARY": "summary",
    "RETRY": "retry",
    "FINAL": "final",
}

# A bullet is followed by exactly one blank: `-===`, and `-` with `===` farther away, are removed lines in a diff. `+`
# is not a bullet.
_FRAME: Final = r"(?:[>#*_`]|\s|(?:[-•‣●○◦◆✦]|[0-9]{1,3}+[.)])\s(?!\s))*+"
_GAP: Final = r"[\s*_`]*+"
_KEYWORD: Final = rf"((?ai:{'|'.join(_KINDS)}))(?![^\W\d])"
_OPENING: Final = re.compile(rf"({_FRAME})={{3,}}+{_GAP}{_KEYWORD}")

# Also matches `===END CHECKPOINT 7===`. It ends with the third sign, whatever follows, so that a block is complete as
# soon as that sign has arrived.
_FOOTER: Final = re.compile(rf"{_FRAME}={{3,}}+{_GAP}(?ai:END){_GAP}(?:{_KEYWORD}[^=]{{0,80}}+)?===")
_REST_OF_FOOTER: Final = re.compile(r"[=\s*_`]*+")

# Most markers are undecorated. This single expression parses such a line.
_PLAIN: Final = re.compile(
    rb"={3,}+ ?(CHECKPOINT|SUMMARY|RETRY|FINAL|END)(?: +([A-Za-z0-9(][A-Za-z0-9 ._(),-]*+))?={3,}+"
)

#: How a line with a marker can begin. This check avoids decoding most other lines.
BEGINNING: Final = (
    rb"[>#*_` \t\v\f\x1c-\x1f]*+(?:[=\x1b\xc2\xe1-\xe3\xef]|-[ \t\v\f\x1b-\x1f\xc2\xe1-\xe3\xef]|[0-9]{1,3}+[.)])"
)
_BEGINNING: Final = re.compile(BEGINNING)

# Lines that are certainly headers or footers, or neither and short; used to skip floods of them.
_HEADER_LINE: Final = rb"[>*_` \t]{0,16}+={3,9}+ ?CHECKPOINT(?: [A-Za-z0-9 ._(),-]{1,64}+)?={3,9}+[*_` \t]{0,16}+\r?\n"
_FOOTER_LINE: Final = rb"={3,9}+END={3,9}+\r?\n"
_SHORT_LINE: Final = rb"(?:[^=\xef\r\n]{0,30}+\r?\n)?+"
_HEADER_FLOOD: Final = re.compile(rb"(?:%s(?=%s))++" % (_SHORT_LINE + _HEADER_LINE, _SHORT_LINE + _HEADER_LINE))
_FOOTER_FLOOD: Final = re.compile(rb"(?:%s(?=%s))++" % (_FOOTER_LINE, _FOOTER_LINE))

# Where a marker may be: the sign, a gap, and two bytes that can start its keyword. Text without the full-width sign is
# searched for the ASCII sign alone, which runs at memory speed.
_FIRST: Final = (
    rb"(?:[cC][hH\x1b\x80-\xff]|[sS][uU\x1b\x80-\xff]|[rRfF][eEiI\x1b\x80-\xff]|[eE][nN\x1b\x80-\xff]"
    rb"|\xef(?:\xbc[\xa3\xa5\xa6\xb2\xb3]|\xbd[\x83\x85\x86\x92\x93]))"
)
_WIDE_GAP: Final = rb"(?:[ \t\v\f*_`]|%s|\xc2[\x80-\xbf]|[\xe1-\xe3][\x80-\xbf]{2}|\xef\xbb\xbf)*+" % ESCAPE
_START: Final = rb"[ \t\v\f*_`]*+(?:(?=[\x1b\xc2\xe1-\xe3\xef])%s)?+%s" % (_WIDE_GAP, _FIRST)
_CANDIDATE: Final = re.compile(rb"===" + _START)
_ANY_CANDIDATE: Final = re.compile(rb"(?:===|\xef\xbc\x9d=*+)" + _START)

# A search that finds `===` tries to match what follows, and in a long rule of signs it does so at every sign. Text that
# is full of signs is therefore first mapped to its shape: `=` stays, and `m` stands for a byte that may follow `=` in a
# marker. Most often no `===m` occurs.
_FULL_OF_SIGNS: Final = (b"=" * 24, b"===\n===\n===\n")
_FOLLOWERS: Final = b" \t\v\f*_`cCsSrRfFeE\x1b\xc2\xe1\xe2\xe3\xef"
_SHAPE: Final = bytes(byte if byte == ord("=") else ord(".m"[byte in _FOLLOWERS]) for byte in range(256))

_SIGN: Final = re.compile("[=＝]{3}")

# `=== Final results ===`, `=== Summary of changes ===` and `=== Retry 2/3 ===` are headings printed by other programs.
_ARGUMENT: Final[dict[Kind, re.Pattern[str]]] = {
    "summary": re.compile(r"\S*[0-9０-９].*|\S*\s*(?:[(（\[【{<].*|(?:covers|覆盖).*)?", re.IGNORECASE),
    "retry": re.compile(r"(?:[#CR]?[0-9]+|(?:from|checkpoint|检查点|从)\b.*|[({<].*)?", re.IGNORECASE),
    "final": re.compile(r"\W*|[({<].*"),
}


class Header(NamedTuple):
    """A header line: the kind of block, the text after the keyword, and the frame before the marker."""

    kind: Kind
    argument: str
    frame: str


class Footer(NamedTuple):
    """A line that begins with a footer; `alone` means that nothing else is on the line."""

    alone: bool


def holds_wide_sign(data: bytes, start: int, end: int) -> bool:
    """Return whether `data[start:end]` contains the full-width sign."""
    return data.find(b"\x9d", start, end) >= 0 and data.find(b"\xef\xbc\x9d", start, end) >= 0


def candidates(data: bytes, start: int = 0) -> re.Pattern[bytes] | None:
    """Return a pattern whose matches include every marker in `data[start:]` and little else; None if there is no
    marker.
    """
    if holds_wide_sign(data, start, len(data)):
        return _ANY_CANDIDATE
    if data.find(b"=", start) < 0:
        return None
    is_full = any(data.find(signs, start) >= 0 for signs in _FULL_OF_SIGNS)
    return None if is_full and b"===m" not in data[start:].translate(_SHAPE) else _CANDIDATE


def read_marker(data: bytes, start: int, end: int) -> Header | Footer | None:
    """Return the marker on the line `data[start:end]`, or None if it is anything else, such as a mention in prose or a
    diff line.

    A footer counts even if more text follows on its line; a header only if it closes its line within MAX_MARKER bytes.
    """
    is_short = end - start <= MAX_MARKER
    if is_short and (plain := _PLAIN.fullmatch(data, start, end)) and (marker := _plain_marker(plain)):
        return marker
    if not _BEGINNING.match(data, start, end):
        return None
    text, shape = _read(data[start : min(end, start + MAX_MARKER)])
    if is_short and (opening := _OPENING.match(shape)):
        return _header(opening[2].upper(), _argument(text[opening.end() :]), text[: opening.end(1)])
    footer = _FOOTER.match(shape)
    return Footer(alone=_REST_OF_FOOTER.fullmatch(shape, footer.end()) is not None) if footer else None


def begins_with_footer(line: bytes) -> bool:
    """Return whether a line that may still grow is already known to be a footer."""
    pattern = candidates(line)
    return bool(pattern and pattern.search(line) and _FOOTER.match(_read(line[:MAX_MARKER])[1]))


def is_cut_header(line: bytes) -> bool:
    """Return whether a line that is too long to be read begins like a header. Its first MAX_MARKER bytes are enough to
    tell.
    """
    if not _BEGINNING.match(line):
        return False
    text, shape = _read(line[:MAX_MARKER])
    opening = _OPENING.match(shape)
    return opening is not None and _argument(text[opening.end() :] + "===") is not None


def header_flood_end(data: bytes, start: int) -> int:
    """Return where a flood of headers that continues at `start` ends: before the last of a series of CHECKPOINT headers
    with at most one short line between any two. Returns `start` if there is no flood.
    """
    flood = _HEADER_FLOOD.match(data, start)
    return flood.end() if flood else start


def footer_flood_end(data: bytes, start: int) -> int:
    """Return where a flood of footers that continues at `start` ends: before the last footer. Returns `start` if there
    is none.
    """
    flood = _FOOTER_FLOOD.match(data, start)
    return flood.end() if flood else start


def _read(line: bytes) -> tuple[str, str]:
    """Return the line as text without invisible characters, and the same with full-width signs, letters and digits as
    ASCII.
    """
    text = bare(line.decode("utf-8", "replace"))
    return text, text.translate(FULL_WIDTH)


def _plain_marker(plain: re.Match[bytes]) -> Header | Footer | None:
    keyword, argument = plain[1].decode(), plain[2]
    if keyword != "END":
        return _header(keyword, argument.decode().strip() if argument else "", "")
    return None if argument else Footer(alone=True)


def _header(keyword: str, argument: str | None, frame: str) -> Header | None:
    kind = _KINDS[keyword]
    allowed = _ARGUMENT.get(kind)
    if argument is None or (argument and allowed and not allowed.fullmatch(argument)):
        return None
    return Header(kind, argument, frame)


def _argument(rest: str) -> str | None:
    """Return the text between the keyword and the sign that closes the line; None if no sign closes it."""
    line = rest.rstrip(BLANKS + "*_`")
    inner = line.rstrip("=＝")
    if len(line) - len(inner) < 3 or _SIGN.search(inner):
        return None
    argument = inner.strip(BLANKS).lstrip(":：").strip(BLANKS)
    return argument.strip(BLANKS + "*") or argument
