"""Analyze the prose of a rollback hint: where commands start and end, which checkpoint it names, what it leaves to the
user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitckpt.protocol import hint_words as words
from gitckpt.protocol.hint_cursor import trimmed
from gitckpt.protocol.hint_paths import looks_like_path
from gitckpt.protocol.ids import find_ids

#: How many characters before a word are searched for the words that determine its meaning.
_NEAR = 60


def unwrapped(text: str) -> str:
    """Remove the brackets that the protocol's template puts around a field."""
    text = text.strip()
    return text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text


def is_negated(before: str) -> bool:
    """Return whether the words before a command say not to run it."""
    return words.NEGATION.search(before[-_NEAR:]) is not None


def is_alternative(between: str) -> bool:
    """Return whether the words between two commands make the second one an alternative rather than a further step."""
    return words.ALTERNATIVE.search(between[-_NEAR:]) is not None


def span_end(text: str, start: int) -> int:
    """Return where the code span, quotation or bracket opened right before `start` closes, or the end of the text."""
    if text.count("`", 0, start) % 2:
        close = text.find("`", start)
    else:
        close = text.find(words.CLOSING.get(text[start - 1 : start], "\0"), start)
    return close if close >= 0 else len(text)


def shell_end(text: str, start: int, limit: int) -> int:
    """Return where the simple command at `start` ends: at a shell operator, a redirection or a full stop."""
    return _first_outside_quotes(words.SHELL_OPERATOR, text, start, limit)


def clause_end(text: str, start: int, limit: int) -> int:
    """Return where a command left to the user ends: pipes and redirections belong to it."""
    return _first_outside_quotes(words.CLAUSE_END, text, start, limit)


def _first_outside_quotes(pattern: re.Pattern[str], text: str, start: int, limit: int) -> int:
    return next((found.start() for found in pattern.finditer(text, start, limit) if not found["quoted"]), limit)


def target_in(text: str) -> str | None:
    """Return the checkpoint that prose says to go back to: the first id after words like "back to", otherwise the first
    id.

    Ids of the failed step ("若 C7 失败", "undo C7") are ignored.
    """
    named = [
        (text[:start], id)
        for start, _, id in find_ids(text)
        if not words.FAILED_STEP.search(text[max(0, start - _NEAR) : start])
    ]
    towards = (id for before, id in named if words.TOWARDS.search(before[-_NEAR:]))
    others = (id for before, id in named if _consequence(words.CLAUSES.split(before[-4 * _NEAR :])[-1] or " "))
    return next(towards, next(others, None))


def names_previous(text: str) -> bool:
    """Return whether prose names the checkpoint before this step without an id."""
    return words.PREVIOUS.search(text) is not None


def paths_spoken_of(text: str) -> list[str]:
    """Return words of prose that look like paths, except those in a condition or a bracketed remark."""
    clauses = words.CLAUSES.split(words.REMARK.sub("", text))
    said = (word.strip("`\"'.") for clause in clauses for word in words.WORD.findall(_consequence(clause)))
    return [word for word in said if looks_like_path(word)]


def says_nothing_to_undo(text: str) -> bool:
    """Return whether prose says that the step changed nothing."""
    return words.NOTHING_TO_UNDO.search(text) is not None


def by_hand_in(text: str) -> Iterator[str]:
    """Yield what prose asks the user to do: code spans that are commands, and clauses with a verb of undoing and an
    object.
    """
    for span in words.CODE_SPAN.findall(text):
        if re.search(r"\S\s+\S", span):
            yield span.strip()
    for clause in words.CLAUSES.split(words.CODE_SPAN.sub(_keep_words, text)):
        found = words.TO_DO.match(_consequence(clause))
        if found and has_object(found["object"] or "") and not find_ids(found["object"]):
            yield trimmed(found["what"].strip("\"'` "))


def has_object(text: str) -> bool:
    """Return whether prose after a verb names a thing, and not only "it", "the change" or "the temporary files"."""
    return words.NO_OBJECT.fullmatch(text) is None


def _keep_words(span: re.Match[str]) -> str:
    """Keep a one-word code span, which is an object of the surrounding prose; drop one that is a command, which is
    already listed.
    """
    return "" if re.search(r"\S\s+\S", span[1]) else span[0]


def _consequence(clause: str) -> str:
    """Return the part of a conditional clause that says what to do, or "" if there is only the condition."""
    if not words.CONDITION.match(clause):
        return clause
    found = words.CONSEQUENCE.search(clause)
    return clause[found.end() :] if found else ""
