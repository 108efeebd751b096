"""Protocol ids: parse what an agent writes, normalize it to one spelling, and find ids in prose.

This is text processing only; nothing here checks whether an id exists.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from gitckpt.protocol.blocks import Kind

#: The largest number of ids that one range (`C3-C5`) may expand to.
MAX_RANGE: Final = 1000

_LETTER: Final[dict[Kind, str]] = {"checkpoint": "C", "summary": "S", "retry": "R", "final": "C"}
_LETTER_BY_KEYWORD: Final = {"summary": "S", "摘要": "S", "总结": "S", "retry": "R", "重试": "R"}

#: A `str.translate` table from full-width punctuation, letters and digits, and the ideographic space, to ASCII.
FULL_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_NARROW: Final[dict[int, int | None]] = {**FULL_WIDTH, **dict.fromkeys((0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))}
_WRAPPING: Final = " \t\r\n\xa0\"'`*[]()「」【】“”‘’"

_STEP: Final = "checkpoint|step|检查点|步骤"
_KEYWORD: Final = rf"{_STEP}|summary|retry|摘要|总结|重试"
_LEGAL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_WORDED: Final = re.compile(
    rf"(?P<keyword>{_KEYWORD})(?:\s*[#:]\s*|\s+|(?=[CSR]?[0-9]|[{{<]))(?P<rest>[^\s#:].*)", re.IGNORECASE | re.DOTALL
)
_NUMBERED: Final = re.compile(r"(?P<letter>[CSR]?)0*(?P<number>[0-9]+)", re.IGNORECASE)

_PLACEHOLDER_WORDS: Final = frozenset(
    ("id", "step_id", "step-id", "stepid", "checkpoint_id", "checkpoint-id", "summary_id", "num", "number")
) | {"编号", "序号", "步骤编号", "步骤号"}
_PLACEHOLDER: Final = re.compile(
    r"""[CSR]?[-_ ]?(?:
        \{[^{}]*\} | <[^<>]*> | \[[^\[\]0-9]*\] | \$\w+     # {step}, <id>, [id], $ID
      | \.{2,} | …+ | ⋯+ | _{2,} | \?+ | \#+             # left out
      | n{1,3} | x{1,3}                                  # a number written as N, CN, X, Sx
    )""",
    re.IGNORECASE | re.VERBOSE,
)

_BETWEEN: Final = r"\s*(?:[-‐‑–—~〜]|\.{2,3}|…|至|到|\bto\b)\s*"
_NUMBER: Final = rf"(?:(?:{_STEP}|summary)\s*)?[CSR]?[0-9]{{1,18}}"
_RANGE: Final = re.compile(rf"(?P<first>{_NUMBER})(?:{_BETWEEN}(?P<last>{_NUMBER}))?(?![0-9])", re.IGNORECASE)
_BETWEEN_IDS: Final = re.compile(r"[\s,;、:()\[\]]+|covers|cover|覆盖|涵盖|\band\b|和|及", re.IGNORECASE)

# Word boundaries that work next to Chinese characters, which `\b` treats as letters, and that exclude parts of paths
# (`src/C6.ts`, `lib-c6`).
_NOT_INSIDE: Final = r"(?<![A-Za-z0-9_./\\$])(?<![A-Za-z_/]-)"
_NOT_GOING_ON: Final = r"(?![A-Za-z0-9_/\\]|\.[A-Za-z0-9]|-(?![CSR][0-9])[A-Za-z])"
_IN_PROSE: Final = rf"""{_NOT_INSIDE}(?:
        (?:{_STEP})\s*[#:]?\s*(?:[CSR]?[0-9]{{1,18}}|[A-Za-z]+-[0-9]{{1,18}}){_NOT_GOING_ON}(?!\s*[个项条])
      | (?:summary|retry|摘要|总结|重试)\s*[#:]?\s*[SR][0-9]{{1,18}}{_NOT_GOING_ON}
      | 第\s*(?P<ordinal>[0-9]{{1,18}})\s*个?(?:检查点|步)
      | (?:[Cc]|(?-i:[SR]))[0-9]{{1,18}}{_NOT_GOING_ON}
    )"""


def narrow(text: str) -> str:
    """Return the text stripped, with full-width letters, digits and signs as ASCII, without zero-width characters."""
    return text.translate(_NARROW).strip()


def is_legal(id: str) -> bool:
    """Return whether an id may become part of a ref name: it matches `[A-Za-z0-9][A-Za-z0-9._-]{0,63}` and avoids what
    git forbids (`..`, a trailing `.lock` or `.`).
    """
    return bool(_LEGAL.fullmatch(id)) and ".." not in id and not id.endswith((".lock", "."))


def is_placeholder(text: str) -> bool:
    """Return whether the text is a placeholder for an id: `{{step_id}}`, `<id>`, `N`, `X`, `...`, `…`, `CHECKPOINT
    {n}`.
    """
    plain = narrow(text).strip(" \t\r\n`*\"'")
    worded = _WORDED.fullmatch(plain)
    bare = worded["rest"] if worded else plain
    if bare == "x":  # some agents call their only step `x`; dropping it would silently lose a checkpoint
        return False
    return "{{" in bare or bare.lower() in _PLACEHOLDER_WORDS or bool(_PLACEHOLDER.fullmatch(bare))


def canonical(text: str, kind: Kind = "checkpoint") -> str | None:
    """Return the canonical spelling of an id: `7`, `c7`, `C007`, `CHECKPOINT 7` and `检查点 7` become `C7`; `setup`
    stays as it is.

    `kind` decides the letter of a bare number: `2` is `S2` for a summary, `R2` for a retry, otherwise `C2`. Returns
    None if the text is not a legal id or is a placeholder.
    """
    plain = narrow(text).strip(_WRAPPING)
    worded = _WORDED.fullmatch(plain)
    letter = _LETTER_BY_KEYWORD.get(worded["keyword"].lower(), "C") if worded else _LETTER[kind]
    bare = worded["rest"].strip(_WRAPPING) if worded else plain.removeprefix("#")
    numbered = _NUMBERED.fullmatch(bare)
    id = (numbered["letter"].upper() or letter) + numbered["number"] if numbered else bare
    return id if is_legal(id) and not is_placeholder(id) else None


def leading_id(text: str, kind: Kind = "checkpoint") -> str | None:
    """Return the number that a header starts with when more text follows: `7 (替换)`, `C7: replace`, `7/12`. None if
    there is no such number.
    """
    found = re.match(rf"(?:(?:{_KEYWORD})\s*)?[#]?[CSR]?[0-9]{{1,18}}(?=\s|[:(/,])", narrow(text), re.IGNORECASE)
    return canonical(found[0], kind) if found else None


def expand_range(text: str, kind: Kind = "checkpoint") -> list[str]:
    """Expand `C3-C5` to `["C3", "C4", "C5"]`; an en dash, `~`, `..`, `至` and `到` also work. A single id expands to
    itself.

    Returns an empty list if the text is not a range, runs backwards, mixes kinds or exceeds MAX_RANGE.
    """
    written = _RANGE.fullmatch(narrow(text).strip(_WRAPPING))
    return _expanded(written, kind) if written else []


def ids_in(text: str, kind: Kind = "checkpoint") -> list[str]:
    """Return every id named in a list such as `C1, C3-C5、C9`: ranges expanded, without duplicates, at most ten times
    MAX_RANGE ids.
    """
    found: dict[str, None] = {}
    for written in _RANGE.finditer(narrow(text)):
        found.update(dict.fromkeys(_expanded(written, kind)))
        if len(found) >= 10 * MAX_RANGE:
            break
    return list(found)[: 10 * MAX_RANGE]


def says_only_ids(text: str) -> bool:
    """Return whether the text contains only ids, ranges, commas, brackets and `covers` or `覆盖`, so that `ids_in`
    captures all of it.
    """
    return not _BETWEEN_IDS.sub("", _RANGE.sub("", narrow(text)))


def find_ids(text: str) -> list[tuple[int, int, str]]:
    """Find ids in prose, as `(start, end, id)` in order: `回退到 CHECKPOINT 6（替换前）`, `back to C6`, `C3-C5` (both
    ends).

    The span includes the keyword. A bare number counts only after a word for checkpoint; `S2` and `R1` only in
    capitals.
    """
    plain = text.translate(FULL_WIDTH)
    found = (
        (match.start(), match.end(), canonical(match["ordinal"] or match[0])) for match in _in_prose().finditer(plain)
    )
    return [(start, end, id) for start, end, id in found if id is not None]


@cache
def _in_prose() -> re.Pattern[str]:
    # Compiled on first use: compiling takes longer than importing the rest of this module, and most blocks don't need
    # it.
    return re.compile(_IN_PROSE, re.IGNORECASE | re.VERBOSE)


def _expanded(written: re.Match[str], kind: Kind) -> list[str]:
    first = canonical(written["first"], kind)
    if first is None or written["last"] is None:
        return [first] if first else []
    last = canonical(
        written["last"], "summary" if first.startswith("S") else "retry" if first.startswith("R") else kind
    )
    if last is None or last[0] != first[0]:
        return []
    numbers = range(int(first[1:]), int(last[1:]) + 1)
    return [f"{first[0]}{number}" for number in numbers] if len(numbers) <= MAX_RANGE else []
