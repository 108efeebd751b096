"""Whole blocks that nothing has bent, taken out of a stream at one stroke.

Most blocks stand as the protocol writes them, from header to footer within one read. Such a block is known by one
expression, at a fraction of what it costs to look at each line. Whatever is not certainly plain is none of it, and is
left to the scanner, which reads both to the same block.
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

# What is written after these words in a header of ours. Anything else may be a heading of some other program.
_KEYWORD: Final = rb"(CHECKPOINT(?=[ =])|SUMMARY(?= S[0-9])|RETRY(?==)|FINAL(?==))"
_HEADER_LINE: Final = rb"^===%s(?: ([A-Za-z0-9(][A-Za-z0-9 ._(),-]{0,127}+))?===" % _KEYWORD

# A line certainly is no marker if it does not begin as one, or has no sign of one; one that begins with a letter does
# not. (A lone CR ends a line too, but there is none in plain text.)
_HAS_NO_SIGN: Final = rb"[^=\xef\n]*+(?:(?:=(?!==)|\xef(?!\xbc\x9d))[^=\xef\n]*+)*+\n"
_IS_NO_MARKER: Final = rb"(?:(?!%s)|(?=%s))" % (BEGINNING, _HAS_NO_SIGN)
_BODY: Final = rb"(%s)" % plain_lines(_IS_NO_MARKER)
_BLOCK: Final = re.compile(_HEADER_LINE + _BODY + rb"===END===\r?\n", re.MULTILINE)


def plain_blocks(data: bytes, position: int) -> Iterator[tuple[Kind, str, str, int, int]]:
    """The plain blocks that are the first things with a sign from `position` on, one after another: kind, argument and
    body as in RawBlock, where the block begins, and where it ends, past the line end of its footer.

    `data` has to begin with a line.
    """
    while (sign := data.find(b"=", position)) >= 0 and (block := _BLOCK.match(data, sign)):
        keyword, argument, body = block.groups(b"")
        text = plain_text(body)
        if text is None or len(body) > MAX_BLOCK or holds_wide_sign(data, position, sign):
            return
        position = block.end()
        yield _KINDS[keyword], argument.decode().strip(), text, sign, position
