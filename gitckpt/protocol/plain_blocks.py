"""Take whole undecorated blocks out of a stream with one expression.

Most blocks appear exactly as the protocol writes them, header to footer within one read. A single expression matches
such a block at a fraction of the cost of examining each line. Anything not certainly plain is left to the scanner; both
paths produce the same block.
"""

from __future__ import annotations

import re
from typing import Final

from gitckpt.protocol.blocks import MAX_BLOCK
from gitckpt.protocol.frame import plain_lines, plain_text
from gitckpt.protocol.markers import BEGINNING, holds_wide_sign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.protocol.blocks import Kind

_KINDS: Final[dict[bytes, Kind]] = {
    b"CHECKPOINT": "checkpoint",
    b"SUMMARY": "summary",
    b"RETRY": "retry",
    b"FINAL": "final",
}

# What follows these keywords in one of our headers. Anything else may be a heading of another program.
_KEYWORD: Final = rb"(CHECKPOINT(?=[ =])|SUMMARY(?= S[0-9])|RETRY(?==)|FINAL(?==))"
_HEADER_LINE: Final = rb"^===%s(?: ([A-Za-z0-9(][A-Za-z0-9 ._(),-]{0,127}+))?===" % _KEYWORD

# A line is certainly not a marker if it does not begin like one or contains no sign; a line that begins with a letter
# does not begin like one. (A lone CR also ends a line, but plain text contains none.)
_HAS_NO_SIGN: Final = rb"[^=\xef\n]*+(?:(?:=(?!==)|\xef(?!\xbc\x9d))[^=\xef\n]*+)*+\n"
_IS_NO_MARKER: Final = rb"(?:(?!%s)|(?=%s))" % (BEGINNING, _HAS_NO_SIGN)
_BODY: Final = rb"(%s)" % plain_lines(_IS_NO_MARKER)
_BLOCK: Final = re.compile(_HEADER_LINE + _BODY + rb"===END===\r?\n", re.MULTILINE)


def plain_blocks(data: bytes, position: int) -> Iterator[tuple[Kind, str, str, int, int]]:
    """Yield the plain blocks that come before any other sign from `position` on, one after another: kind, argument and
    body as in RawBlock, where the block begins, and where it ends, past the line end of its footer.

    `data` must start at the beginning of a line.
    """
    while (sign := data.find(b"=", position)) >= 0 and (block := _BLOCK.match(data, sign)):
        keyword, argument, body = block.groups(b"")
        text = plain_text(body)
        if text is None or len(body) > MAX_BLOCK or holds_wide_sign(data, position, sign):
            return
        position = block.end()
        yield _KINDS[keyword], argument.decode().strip(), text, sign, position
