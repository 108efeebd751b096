"""Remove what models and terminals put around the lines of a block.

A *frame* is what precedes a header on its line: quote signs, a list bullet, indentation, bold marks. The lines of the
body have roughly the same frame. An *escape* is a terminal control sequence; it is not text at all.
"""

from __future__ import annotations

import re
from typing import Final

#: Terminal escape sequences as UTF-8 bytes.
ESCAPE: Final = (
    rb"(?:\x1b\[|\xc2\x9b)[0-?]*+[ -/]*+[@-~]"  # CSI: colours, erase in line, cursor
    rb"|\x1b\][^\x07\x1b\r\n]*+(?:\x07|\x1b\\)"  # OSC: titles, links
    rb"|\x1b[PX^_][^\x1b\r\n]*+\x1b\\"  # DCS, SOS, PM, APC
    rb"|\x1b[ -/]*+[0-OQ-WYZ\\`-~]"  # all others
)

BLANKS: Final = (
    " \t\v\f\xa0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
ZERO_WIDTH: Final = "\u200b\u200c\u200d\u2060\ufeff"

#: The maximum number of quote signs removed from a line.
MAX_QUOTES: Final = 16

_ESCAPE: Final = re.compile(ESCAPE.decode("latin-1").replace(r"\xc2\x9b", r"\x9b"))
_INVISIBLE: Final = BLANKS + ZERO_WIDTH
_UNSEEN: Final = dict.fromkeys(map(ord, ZERO_WIDTH))
_LINE_END_WITH_CR: Final = re.compile(r"\r+\n?\r*|\n\r+")
_QUOTE: Final = re.compile(rf"\A[{BLANKS}]*> ?")
_QUOTES: Final = re.compile(r"\A.*> ?", re.DOTALL)
_FENCE: Final = re.compile(r" *(?:`{3,}|~{3,})[^`~]*")

# Lines that need nothing removed. The first non-empty line has no indent and is not a fence, and no line begins or ends
# with a tab, an unusual blank or an invisible character. Most lines end in ASCII; wide blanks are recognized by their
# bytes.
_BLANK_BYTES: Final = (
    rb"[ \t\v\f]",
    rb"\xc2\xa0",
    rb"\xe3\x80\x80",
    rb"[\xe1\xe2\xef][\x80\x81\x9a\xa0\xbb][\x80-\x8f\x9f\xa0\xaf\xbf]",
)
_NO_BLANK: Final = b"".join(rb"(?<!%s)(?<!%s\r)" % (blank, blank) for blank in _BLANK_BYTES)
_REST: Final = rb".*+(?:(?<=[!-~])|(?<=[!-~]\r)|%s)" % _NO_BLANK
_FIRST_SIGN: Final = rb"[^\r\n \t\v\f`~\xc2\xe1-\xe3\xef]"
_LATER_SIGN: Final = rb" *+[^\r\n \t\v\f\xc2\xe1-\xe3\xef]"


def plain_lines(condition: bytes = b"") -> bytes:
    """Return an expression for bodies that `plain_text` can take as they are, unless it returns None. Every line that
    is not empty and does not begin with a letter, as most do, must also match the expression `condition`.
    """
    first = rb"(?:[A-Za-z]|%s%s)%s" % (condition, _FIRST_SIGN, _REST)
    later = rb"(?:[A-Za-z]|[\r\n]*+%s%s)%s" % (condition, _LATER_SIGN, _REST)
    return rb"[\r\n]++(?:%s(?:\n%s)*+[\r\n]*+)?+" % (first, later)


_PLAIN_LINES: Final = re.compile(plain_lines())


def bare(text: str) -> str:
    """Return the text without escapes and zero-width characters."""
    if text.isascii() and "\x1b" not in text:
        return text
    return _ESCAPE.sub("", text).translate(_UNSEEN)


def unwrap(body: bytes, frame: str) -> str:
    """Return the lines of a body without the frame of its header, each with trailing blanks removed. What follows the
    header's own line end is line 1, and only blank lines at the end are dropped.

    Removes escapes, as many quote signs as the header had, the indent common to all lines, and a fence around the whole
    body. Bytes that are not UTF-8 become U+FFFD.
    """
    text = plain_text(body) if not frame and _PLAIN_LINES.fullmatch(body) else None
    return _unframed(body.decode("utf-8", "replace"), frame) if text is None else text


def plain_text(body: bytes) -> str | None:
    """Return what `unwrap` makes of a body without a frame that matches `plain_lines`; None if something may need
    removing after all: an escape, or a CR outside a CRLF.
    """
    lines = body.replace(b"\r\n", b"\n") if 0x0D in body else body
    if 0x0D in lines or 0x1B in lines or (0x9B in lines and b"\xc2\x9b" in lines):
        return None
    return lines.decode("utf-8", "replace")[1:].rstrip("\n")


def _unframed(text: str, frame: str) -> str:
    lines = [_trimmed(line) for line in _lines(text)[1:]]
    for _ in range(min(frame.count(">"), MAX_QUOTES)):
        lines = [_trimmed(_QUOTE.sub("", line)) for line in lines]
    if width := len(_QUOTES.sub("", frame).rstrip("*_`")):
        lines = [_less_indent(line, width) for line in lines]
    return "\n".join(_unfenced(_dedented(lines))).rstrip("\n")


def _lines(text: str) -> list[str]:
    """Split a text into lines, without escapes. CRs next to an LF belong to that line end; any other CRs form one of
    their own.
    """
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPE.sub("", text)
    return (_LINE_END_WITH_CR.sub("\n", text) if "\r" in text else text).split("\n")


def _trimmed(line: str) -> str:
    """Return the line with its indent as ordinary spaces and nothing invisible at either end."""
    text = line.strip(_INVISIBLE)
    if line.startswith(text):
        return text
    indent = line[: len(line) - len(line.lstrip(_INVISIBLE))]
    return " " * len(indent.translate(_UNSEEN).expandtabs(4)) + text


def _less_indent(line: str, width: int) -> str:
    return line[min(width, len(line) - len(line.lstrip(" "))) :]


def _dedented(lines: list[str]) -> list[str]:
    if any(line and line[0] != " " for line in lines):
        return lines
    indent = min((len(line) - len(line.lstrip(" ")) for line in lines if line), default=0)
    return [line[indent:] for line in lines]


def _unfenced(lines: list[str]) -> list[str]:
    """Remove the fence around the lines, leaving an empty line in place of each fence so that line numbers stay
    correct.
    """
    filled = [number for number, line in enumerate(lines) if line]
    if not filled or not _FENCE.fullmatch(lines[filled[0]]):
        return lines
    fences = [number for number in (filled[0], filled[-1]) if _FENCE.fullmatch(lines[number])]
    return ["" if number in fences else line for number, line in enumerate(lines)]
