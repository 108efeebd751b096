"""Pages that are typed from top to bottom: their commands, each with the output that the page shows under it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

GUIDE = Path(__file__).parents[1] / "docs" / "guide.md"

FENCE = re.compile(r"^```(\S*)(?: [^\n]*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", re.MULTILINE)


class Typed(NamedTuple):
    """What is typed, the line of the page where it stands, and the output that the page shows; None where none is."""

    line: int
    text: str
    shown: str | None


def typed(page: str) -> Iterator[Typed]:
    """A fence of `sh` whole, one of `console` prompt by prompt."""
    for fence in FENCE.finditer(page):
        line = page.count("\n", 0, fence.start(2)) + 1
        if fence[1] == "sh":
            yield Typed(line, fence[2], None)
        if fence[1] == "console":
            for prompt in PROMPT.finditer(fence[2]):
                yield Typed(line + fence[2].count("\n", 0, prompt.start()), prompt[1], prompt[2])


def installs(typed: Typed) -> bool:
    """Whether it puts gitckpt itself on a machine, tries it from elsewhere, or takes it off again."""
    return re.match(r"(?:pipx?|uvx?) ", typed.text) is not None


def is_shown(output: str, shown: str) -> bool:
    """Whether a page shows this output: `…` stands for anything in its line, and alone on a line for any lines."""
    lines = (r"(?:.*\n)*" if line == "…\n" else re.escape(line).replace("…", ".*") for line in shown.splitlines(True))
    return re.fullmatch("".join(lines), output) is not None
