"""Pages meant to be typed from top to bottom: their commands, each with the output shown below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

GUIDE = Path(__file__).parents[1] / "docs" / "guide.md"

FENCE = re.compile(r"^```(\S*)(?: [^\n]*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", re.MULTILINE)


class Typed(NamedTuple):
    """What is typed, its line on the page, and the output shown; None if the page shows none."""

    line: int
    text: str
    shown: str | None


def typed(page: str) -> Iterator[Typed]:
    """Yield a fence of `sh` as a whole, one of `console` prompt by prompt."""
    for fence in FENCE.finditer(page):
        line = page.count("\n", 0, fence.start(2)) + 1
        if fence[1] == "sh":
            yield Typed(line, fence[2], None)
        if fence[1] == "console":
            for prompt in PROMPT.finditer(fence[2]):
                yield Typed(line + fence[2].count("\n", 0, prompt.start()), prompt[1], prompt[2])


def installs(typed: Typed) -> bool:
    """Return whether it installs gitckpt itself, runs it without installing it, or removes it."""
    return re.match(r"(?:pipx?|uvx?) ", typed.text) is not None


def is_shown(output: str, shown: str) -> bool:
    """Return whether a page shows this output: `…` stands for anything in its line, and alone on a line for any
    lines.
    """
    lines = (r"(?:.*\n)*" if line == "…\n" else re.escape(line).replace("…", ".*") for line in shown.splitlines(True))
    return re.fullmatch("".join(lines), output) is not None
