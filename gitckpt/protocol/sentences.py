"""Count the sentences of a text: Chinese and English prose about code."""

from __future__ import annotations

import re

_CODE_SPAN = re.compile(r"`[^`\n]*`")
_FIRST_ITEM = re.compile(r"^\s*\d{1,3}[.)]\s")
_LIST_ITEM = re.compile(r"\n\s*(?:[-*•]|\d{1,3}[.)、])\s+|\n\s*\n")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|vs|cf|approx|resp|no)\.(?=\s)", re.IGNORECASE)

# The dot after a version (`v1.11. 然后`) counts as part of it, unless a following capital shows that a sentence begins.
_VERSION = r"(?<![\w.])v?\d+(?:\.\d+)+|(?<![\w.])v\d+"
_VERSION_DOT = re.compile(rf"({_VERSION})\.(?!\s+[A-Z]|\s*$)")
_END = re.compile(
    r"""[。！？]+["'”’」』）)\]]*          # anywhere
      | [.!?]+["'”’)\]]*(?=\s|$|[^\x00-\x7f])  # ASCII ones only where no word, number or file name goes on""",
    re.VERBOSE,
)


def count_sentences(text: str) -> int:
    """Count the sentences; text after the last full stop counts as one.

    A sentence ends at `。！？.!?`, but not inside a number, a file name, a version or backticks. A list item also ends
    one.
    """
    plain = _LIST_ITEM.sub("。", _FIRST_ITEM.sub("", _CODE_SPAN.sub("x", text)))
    plain = _VERSION_DOT.sub(r"\1 ", _ABBREVIATION.sub("x ", plain))
    pieces = _END.split(plain)
    return sum(re.search(r"\w", piece) is not None for piece in pieces)
