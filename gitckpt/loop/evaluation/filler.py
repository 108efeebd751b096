"""Filler text of a page: paragraphs on its theme, chosen and filled in by a hash of its address.

A hash rather than a random number generator, so that a task reads the same under every version of Python.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

CORPUS: Final = Path(__file__).parent / "corpus"

#: The number of rows in a table.
ROWS: Final = 16

_SLOT: Final = re.compile(r"\{(\w+)\}")


@cache
def _written() -> dict[str, Any]:
    return tomllib.loads((CORPUS / "filler.toml").read_text(encoding="utf-8"))


def number_of(*parts: object) -> int:
    """Return a pseudo-random number that depends on the parts only."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8], "big")


def paragraphs(theme: str, key: str, count: int) -> list[str]:
    """Return `count` different paragraphs on a theme (or all, if there are fewer), in an order that depends on the
    key."""
    texts = _written()["themes"][theme]
    order = sorted(range(len(texts)), key=lambda place: number_of(key, place))
    return [_filled(texts[place], f"{key} {place}") for place in order[:count]]


def table(theme: str, key: str) -> str:
    """Return a list that has nothing to do with the task, like those on real pages."""
    heading, row = _written()["tables"][theme]
    return "\n".join([heading, *(f"- {_filled(row, f'{key} row {place}')}" for place in range(ROWS))])


def _filled(text: str, key: str) -> str:
    def chosen(match: re.Match[str]) -> str:
        return _value(match[1], number_of(key, match.start()))

    return _SLOT.sub(chosen, text)


def _value(slot: str, number: int) -> str:
    if slot == "n":
        return str(2 + number % 97)
    if slot == "day":
        return str(1 + number % 28)
    values = _written()["slots"][slot]
    return str(values[number % len(values)])
