"""Match brackets and quotes in agent text, and split lists outside of them.

The input is unreliable: brackets stay open, apostrophes look like quotes. A sign without a partner is an ordinary
character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_BRACKETS: Final = {"(": ")", "[": "]", "{": "}", "（": "）", "「": "」"}
_QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’"}
_SIGN: Final = re.compile("[" + re.escape("".join([*_BRACKETS, *_BRACKETS.values(), *_QUOTES])) + "]")

# `can't` and `5" disk` contain no quotes: a quote does not open right after an ASCII word character, and an apostrophe
# does not close a quote right before one.
_OPENS_QUOTE: Final = re.compile(r"""(?<![A-Za-z0-9_])["']|[`“‘]""")
_CLOSES_QUOTE: Final = {'"': re.compile('"'), "'": re.compile(r"'(?![A-Za-z0-9_])")} | {
    sign: re.compile(_QUOTES[sign]) for sign in "`“‘"
}

_WRAP: Final = re.compile(r"[ \t]*\n\s*")

#: What separates list items. The full-width comma and `、` are prose.
LIST_SEPARATOR: Final = re.compile("[,;；]")


def pairs(text: str) -> dict[int, int]:
    """Map the position of each opening bracket or quote to that of its partner. Signs inside quotes do not count. Runs
    in linear time.
    """
    found: dict[int, int] = {}
    waiting: list[tuple[str, int]] = []
    awaited = dict.fromkeys(_BRACKETS.values(), 0)
    unpaired: set[str] = set()
    after = 0
    for match in _SIGN.finditer(text):
        at, sign = match.start(), match[0]
        if at < after:
            continue
        if sign in _QUOTES:
            after = _pair_quote(text, at, found, unpaired)
        elif sign in _BRACKETS:
            waiting.append((_BRACKETS[sign], at))
            awaited[_BRACKETS[sign]] += 1
        elif awaited[sign]:
            _pair_bracket(sign, at, waiting, awaited, found)
    return found


def split_list(text: str, separator: re.Pattern[str] = LIST_SEPARATOR) -> list[str]:
    """Split at separators outside all brackets and quotes; items are stripped, and empty ones are dropped."""
    cuts = list(_outside([match.start() for match in separator.finditer(text)], pairs(text)))
    items = (text[start:end] for start, end in zip([0, *(cut + 1 for cut in cuts)], [*cuts, len(text)], strict=True))
    return [item.strip() for item in items if item.strip()]


def unbracketed(text: str, brackets: str = "[") -> str:
    """Return the text inside the brackets around the whole text. An outer bracket that is never closed is removed too.

    Without such brackets, returns the same object, so that callers can test with `is`.
    """
    if not text or text[0] not in brackets:
        return text
    end = pairs(text).get(0)
    if end is None:
        return text[1:].strip()
    return text[1:end].strip() if end == len(text) - 1 else text


def unquoted(text: str) -> str:
    """Remove the quotes around the whole text. Backticks stay: they mark code."""
    if len(text) > 1 and text[0] in "\"'“‘" and pairs(text).get(0) == len(text) - 1:
        return text[1:-1]
    return text


def one_line(text: str) -> str:
    """Join wrapped lines into one. Between two Chinese characters no space is inserted."""
    first, *rest = _WRAP.split(text.strip())
    for line in rest:
        first += line if is_chinese(first[-1:]) and is_chinese(line[:1]) else f" {line}"
    return first


def is_chinese(text: str) -> bool:
    """Return whether the text is non-empty and all Chinese, Japanese or Korean, including wide punctuation."""
    return bool(text) and all("\u2e80" <= character <= "\uffee" for character in text)


def _pair_quote(text: str, at: int, found: dict[int, int], unpaired: set[str]) -> int:
    """Pair the quote that opens at `at`, if it does; return where to continue."""
    sign = text[at]
    if sign in unpaired or not _OPENS_QUOTE.match(text, at):
        return at + 1
    close = _CLOSES_QUOTE[sign].search(text, at + 1)
    if close is None:
        unpaired.add(sign)
        return at + 1
    found[at] = close.start()
    return close.end()


def _pair_bracket(
    sign: str, at: int, waiting: list[tuple[str, int]], awaited: dict[str, int], found: dict[int, int]
) -> None:
    """Pair a closing bracket with the last opening one of its kind; brackets opened since then have no partner."""
    closer = ""
    while closer != sign:
        closer, opened = waiting.pop()
        awaited[closer] -= 1
        if closer == sign:
            found[opened] = at


def _outside(positions: list[int], paired: dict[int, int]) -> Iterator[int]:
    """Yield those of the ascending positions that lie outside every pair."""
    openings = iter(sorted(paired))
    opening, covered = next(openings, None), -1
    for position in positions:
        while opening is not None and opening < position:
            covered = max(covered, paired[opening])
            opening = next(openings, None)
        if position > covered:
            yield position
