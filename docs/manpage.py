"""Sets docs/cli.md as a manual page, docs/gitckpt.1. `python docs/commands.py` writes both.

It knows what that page has of markdown: headings, paragraphs, tables of two columns, fences, code, emphasis, links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from gitckpt import __version__

MANUAL = Path(__file__).with_name("gitckpt.1")

HEAD = rf""".\" Written by docs/commands.py.
.TH GITCKPT 1 "" "gitckpt {__version__}" "User Commands"
.SH NAME
gitckpt \- git-native checkpoints for AI agents
.SH SYNOPSIS
.B gitckpt
.RI [ COMMAND ]
.RI [ OPTIONS ]
.RI [ ARGUMENTS ]
.SH DESCRIPTION
"""
FOOT = """.SH SEE ALSO
.BR git (1),
.BR gitrevisions (7)
"""

#: Characters that roff would take for something else where they are to be typed, and how they are written.
TYPED = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def manual(page: str) -> str:
    """The manual of a page of the command line: what the commands are comes before what holds for all of them."""
    written, _, commands = page.partition("<!--")
    introduction, general = re.split(r"^(?=## )", written, maxsplit=1, flags=re.MULTILINE)
    parts = [introduction.partition("\n")[2], commands.partition("-->")[2], general]
    text = HEAD + "".join(line for part in parts for line in _set(part)) + FOOT
    return re.sub(r"^(\.S[HS] .*\n)\.PP\n", r"\1", text, flags=re.MULTILINE)


def _set(text: str) -> Iterator[str]:
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("```"):
            yield from _example(takewhile(lambda inside: inside != "```", lines))
        elif line.startswith("#"):
            marks, _, title = line.partition(" ")
            yield f".SS {title}\n" if len(marks) == 3 else f'.SH "{title.upper()}"\n'
        elif line.startswith("|"):
            next(lines)  # the rule under the head, which names the columns
            yield from map(_row, takewhile(bool, lines))
        elif line:
            yield f".PP\n{_words(' '.join([line, *takewhile(bool, lines)]))}\n"


def _example(lines: Iterator[str]) -> Iterator[str]:
    yield ".PP\n.in +4n\n.nf\n"
    yield from (f"{_typed(line)}\n" for line in lines)
    yield ".fi\n.in\n"


def _row(line: str) -> str:
    term, meaning = re.split(r"(?<!\\) \| ", line.strip("| "), maxsplit=1)
    return f".TP\n{_words(term)}\n{_words(meaning)}\n"


def _words(text: str) -> str:
    """A sentence: what is to be typed in bold, emphasis in italics, of a link only its words."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text.replace(r"\|", "|"))
    pieces = re.split(r"`([^`]+)`", text)
    set_ = [rf"\fB{_typed(piece)}\fR" if number % 2 else _plain(piece) for number, piece in enumerate(pieces)]
    return _begun("".join(set_))


def _typed(text: str) -> str:
    return _begun(_ascii("".join(TYPED.get(character, character) for character in text)))


def _plain(text: str) -> str:
    return _ascii(re.sub(r"(?<!\w)\*([^*]+)\*", r"\\fI\1\\fR", text.replace("\\", r"\e")))


def _begun(line: str) -> str:
    """A line that is no request, whatever it begins with."""
    return rf"\&{line}" if line.startswith((".", "'")) else line


def _ascii(text: str) -> str:
    return "".join(character if character.isascii() else rf"\[u{ord(character):04X}]" for character in text)
