"""The lines that start and end a block, recognised in raw bytes however a model or a terminal has dressed them.

A marker is `===KEYWORD ARGUMENT===` on a line of its own. Before it there may be a frame (quote signs, a bullet,
indents, bold marks), and between its parts blanks of any kind, colours, titles and links of a terminal. It is
recognised in bytes, so that text without markers is never decoded.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gitckpt.protocol.blocks import Kind
from gitckpt.protocol.frame import BLANKS, ESCAPE, bare

#: Bytes of a line, from its start, within which a marker has to end.
MAX_MARKER: Final = 8 * 1024

KINDS: Final[tuple[Kind, ...]] = ("checkpoint", "summary", "retry", "final")

_ZERO_WIDTH: Final = rb"\xe2\x80[\x8b-\x8d]|\xe2\x81\xa0|\xef\xbb\xbf"
_WIDE_BLANK: Final = rb"\xc2\xa0|\xe1\x9a\x80|\xe1\xa0\x8e|\xe2\x80[\x80-\x8a\xaf]|\xe2\x81\x9f|\xe3\x80\x80"
_BLANK: Final = rb"(?:[ \t\v\f]|%s|%s)" % (_WIDE_BLANK, _ZERO_WIDTH)
_BULLET: Final = rb"(?:-|\xe2\x80[\xa2\xa3]|\xe2\x97[\x86\x8b\x8f\xa6]|\xe2\x9c\xa6|[0-9]{1,3}+[.)])"
_UNSEEN: Final = rb"(?:%s|%s)*+" % (_ZERO_WIDTH, ESCAPE)
_GAP: Final = rb"(?:[*_`]|%s|%s)*+" % (_BLANK, ESCAPE)
_SIGN: Final = re.compile("[=＝]{3}")
_EQUALS: Final = rb"(?:=|\xef\xbc\x9d)"

# A bullet has one blank after it: `-===`, and `===` farther behind a `-`, are lines that a diff takes out. `+` is none.
_FRAME: Final = rb"(?:[>#]|[*_`]|%s|%s|%s%s(?!%s))*+" % (_BLANK, ESCAPE, _BULLET, _BLANK, _BLANK)


def _letter(letter: str) -> bytes:
    """A pattern for one letter in either case and of either width."""
    upper, place = ord(letter), ord(letter) - ord("A")
    return rb"(?:[%c%c]|\xef(?:\xbc\x%02x|\xbd\x%02x))" % (upper, upper + 32, 0xA1 + place, 0x81 + place)


def _word(word: str) -> bytes:
    return _UNSEEN.join(map(_letter, word.upper()))


_KEYWORD: Final = rb"(?:%s)" % rb"|".join(rb"(%s)" % _word(kind) for kind in KINDS)
_OPENING: Final = re.compile(rb"(%s)%s{3,}+%s%s" % (_FRAME, _EQUALS, _GAP, _KEYWORD))

# Also `===END CHECKPOINT 7===`. It ends with the third sign, whatever follows, so that a block is whole as soon as that
# has come.
_END_OF_WHAT: Final = rb"(?:%s(?![A-Za-z])(?:[^=\r\n\xef]|\xef(?!\xbc\x9d)){0,80}+)?" % _KEYWORD
_FOOTER: Final = re.compile(
    rb"%s%s{3,}+%s%s%s%s(?:%s%s){3}" % (_FRAME, _EQUALS, _GAP, _word("end"), _GAP, _END_OF_WHAT, _EQUALS, _UNSEEN)
)
_REST_OF_FOOTER: Final = re.compile(rb"(?:%s|[*_`]|%s|%s)*+" % (_EQUALS, _BLANK, ESCAPE))

# Most markers wear no dress. One expression takes such a line apart.
_PLAIN: Final = re.compile(
    rb"={3,}+ ?(CHECKPOINT|SUMMARY|RETRY|FINAL|END)(?: +([A-Za-z0-9(][A-Za-z0-9 ._(),-]*+))?={3,}+"
)
_PLAIN_KIND: Final[dict[bytes, Kind]] = {kind.upper().encode(): kind for kind in KINDS}

# Lines that certainly are headers or footers, or neither and short, for passing over floods of them.
_HEADER_LINE: Final = rb"[>*_` \t]{0,16}+={3,9}+ ?CHECKPOINT(?: [A-Za-z0-9 ._(),-]{1,64}+)?={3,9}+[*_` \t]{0,16}+\r?\n"
_FOOTER_LINE: Final = rb"={3,9}+END={3,9}+\r?\n"
_SHORT_LINE: Final = rb"(?:[^=\xef\r\n]{0,30}+\r?\n)?+"
_HEADER_FLOOD: Final = re.compile(rb"(?:%s(?=%s))++" % (_SHORT_LINE + _HEADER_LINE, _SHORT_LINE + _HEADER_LINE))
_FOOTER_FLOOD: Final = re.compile(rb"(?:%s(?=%s))++" % (_FOOTER_LINE, _FOOTER_LINE))

# Where a marker may be: the sign, a gap, and two bytes that its keyword can begin with. Text is searched for the ASCII
# sign alone, at the speed of memory, unless it holds the full-width one.
_FIRST: Final = (
    rb"(?:[cC][hH\x1b\x80-\xff]|[sS][uU\x1b\x80-\xff]|[rRfF][eEiI\x1b\x80-\xff]|[eE][nN\x1b\x80-\xff]"
    rb"|\xef(?:\xbc[\xa3\xa5\xa6\xb2\xb3]|\xbd[\x83\x85\x86\x92\x93]))"
)
_START: Final = rb"[ \t\v\f*_`]*+(?:(?=[\x1b\xc2\xe1-\xe3\xef])%s)?+%s" % (_GAP, _FIRST)
_CANDIDATE: Final = re.compile(rb"===" + _START)
_ANY_CANDIDATE: Final = re.compile(rb"(?:===|\xef\xbc\x9d=*+)" + _START)

# A search that meets a long rule of `=` tries each of them. So text with rules in it is mapped to its shape first, `=`
# as it is and `m` for what may follow the sign in a marker: most often there is no marker after all.
_RULE: Final = b"=" * 24
_FOLLOWERS: Final = b" \t\v\f*_`cCsSrRfFeE\x1b\xc2\xe1\xe2\xe3\xef"
_SHAPE: Final = bytes(byte if byte == ord("=") else ord(".m"[byte in _FOLLOWERS]) for byte in range(256))

# `=== Final results ===`, `=== Summary of changes ===` and `=== Retry 2/3 ===` are headings of other programs.
_ARGUMENT: Final[dict[Kind, re.Pattern[str]]] = {
    "summary": re.compile(r"\S*[0-9０-９].*|\S*\s*(?:[(（\[【{<].*|(?:covers|覆盖).*)?", re.IGNORECASE),
    "retry": re.compile(r"(?:[#CR]?[0-9]+|(?:from|checkpoint|检查点|从)\b.*|[({<].*)?", re.IGNORECASE),
    "final": re.compile(r"\W*|[({<].*"),
}


class Header(NamedTuple):
    """A header line: the kind of block, what stands after the keyword, and the bytes before the marker on its line."""

    kind: Kind
    argument: str
    frame: bytes


class Footer(NamedTuple):
    """A line that begins with a footer; `alone` if nothing else stands on it."""

    alone: bool


def candidates(data: bytes) -> re.Pattern[bytes] | None:
    """A pattern whose matches take in every marker in `data` and little else; None where there is none."""
    if b"\x9d" in data and b"\xef\xbc\x9d" in data:
        return _ANY_CANDIDATE
    if _RULE in data and b"===m" not in data.translate(_SHAPE):
        return None
    return _CANDIDATE


def read_marker(data: bytes, start: int, end: int) -> Header | Footer | None:
    """The marker that the line `data[start:end]` is, or None: a mention in prose, a line of a diff, anything else.

    A footer counts also where more follows it on its line, a header only where it closes its line within MAX_MARKER
    bytes.
    """
    is_short = end - start <= MAX_MARKER
    if is_short and (plain := _PLAIN.fullmatch(data, start, end)) and (marker := _plain_marker(plain)):
        return marker
    if is_short and (opening := _OPENING.match(data, start, end)):
        kind = KINDS[(opening.lastindex or 0) - 2]
        return _header(kind, _argument(data[opening.end() : end]), opening[1])
    after = footer_end(data, start, end)
    return Footer(alone=_REST_OF_FOOTER.fullmatch(data, after, end) is not None) if after >= 0 else None


def is_cut_header(line: bytes) -> bool:
    """Whether a line too long to be read begins as a header does. Its first MAX_MARKER bytes are enough to tell."""
    opening = _OPENING.match(line, 0, MAX_MARKER)
    return opening is not None and _argument(line[opening.end() : MAX_MARKER] + b"===") is not None


def footer_end(data: bytes, start: int, end: int) -> int:
    """Where the footer that begins the line `data[start:end]` ends, at its third closing sign; -1 where none does."""
    footer = _FOOTER.match(data, start, min(end, start + MAX_MARKER))
    return footer.end() if footer else -1


def header_flood_end(data: bytes, start: int) -> int:
    """Where a flood of headers ends that goes on at `start`: before the last of the CHECKPOINT headers that follow each
    other with at most one short line between two of them. `start` where there is none.
    """
    flood = _HEADER_FLOOD.match(data, start)
    return flood.end() if flood else start


def footer_flood_end(data: bytes, start: int) -> int:
    """Where a flood of footers ends that goes on at `start`: before the last of them. `start` where there is none."""
    flood = _FOOTER_FLOOD.match(data, start)
    return flood.end() if flood else start


def _plain_marker(plain: re.Match[bytes]) -> Header | Footer | None:
    kind, argument = _PLAIN_KIND.get(plain[1]), plain[2]
    if kind:
        return _header(kind, argument.decode().strip() if argument else "", b"")
    return None if argument else Footer(alone=True)


def _header(kind: Kind, argument: str | None, frame: bytes) -> Header | None:
    allowed = _ARGUMENT.get(kind)
    if argument is None or (argument and allowed and not allowed.fullmatch(argument)):
        return None
    return Header(kind, argument, frame)


def _argument(rest: bytes) -> str | None:
    """What stands between the keyword and the sign that closes the line; None where none does or the word goes on."""
    text = bare(rest.decode("utf-8", "replace"))
    line = text.rstrip(BLANKS + "*_`")
    inner = line.rstrip("=＝")
    if len(line) - len(inner) < 3 or _SIGN.search(inner) or text[:1].isalpha() or text[:1] == "_":
        return None
    argument = inner.strip(BLANKS).lstrip(":：").strip(BLANKS)
    return argument.strip(BLANKS + "*") or argument
