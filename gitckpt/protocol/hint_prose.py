"""The prose of a rollback hint: where commands start and end, which checkpoint it names, what it leaves to a person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitckpt.protocol import hint_words as words
from gitckpt.protocol.hint_cursor import trimmed
from gitckpt.protocol.hint_paths import looks_like_path
from gitckpt.protocol.ids import find_ids

#: How far back a word may stand that says what is meant by the word at hand.
_NEAR = 60


def unwrapped(text: str) -> str:
    """The text without the brackets that the protocol's template puts around a field."""
    text = text.strip()
    return text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text


def is_negated(before: str) -> bool:
    """Whether the words before a command say that it is not to be run."""
    return words.NEGATION.search(before[-_NEAR:]) is not None


def is_alternative(between: str) -> bool:
    """Whether the words between two commands make the second one a choice, not a further step."""
    return words.ALTERNATIVE.search(between[-_NEAR:]) is not None


def span_end(text: str, start: int) -> int:
    """Where the code span, quotation or bracket closes that opens right before `start`, else the end of the text."""
    if text.count("`", 0, start) % 2:
        close = text.find("`", start)
    else:
        close = text.find(words.CLOSING.get(text[start - 1 : start], "\0"), start)
    return close if close >= 0 else len(text)


def shell_end(text: str, start: int, limit: int) -> int:
    """Where the simple command ends that goes on at `start`: at a shell operator, a redirection, a full stop."""
    return _first_outside_quotes(words.SHELL_OPERATOR, text, start, limit)


def clause_end(text: str, start: int, limit: int) -> int:
    """Where a command ends that is left to a person: pipes and redirections belong to it."""
    return _first_outside_quotes(words.CLAUSE_END, text, start, limit)


def _first_outside_quotes(pattern: re.Pattern[str], text: str, start: int, limit: int) -> int:
    return next((found.start() for found in pattern.finditer(text, start, limit) if not found["quoted"]), limit)


def target_in(text: str) -> str | None:
    """The checkpoint that prose names to go back to: the first with a word like "back to" before it, else the first.

    The step that failed ("若 C7 失败", "undo C7") is named as well, and is not it.
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
    """Whether prose names the checkpoint before this step without an id."""
    return words.PREVIOUS.search(text) is not None


def paths_spoken_of(text: str) -> list[str]:
    """Words of prose that look like paths, but for those in a condition or a remark in brackets."""
    clauses = words.CLAUSES.split(words.REMARK.sub("", text))
    said = (word.strip("`\"'.") for clause in clauses for word in words.WORD.findall(_consequence(clause)))
    return [word for word in said if looks_like_path(word)]


def says_nothing_to_undo(text: str) -> bool:
    """Whether prose says that the step changed nothing."""
    return words.NOTHING_TO_UNDO.search(text) is not None


def by_hand_in(text: str) -> Iterator[str]:
    """What prose asks of a person: code spans that are commands, and clauses with a verb of undoing and an object."""
    for span in words.CODE_SPAN.findall(text):
        if re.search(r"\S\s+\S", span):
            yield span.strip()
    for clause in words.CLAUSES.split(words.CODE_SPAN.sub(_keep_words, text)):
        found = words.TO_DO.match(_consequence(clause))
        if found and has_object(found["object"] or "") and not find_ids(found["object"]):
            yield trimmed(found["what"].strip("\"'` "))


def has_object(text: str) -> bool:
    """Whether prose behind a verb names a thing, and not only "it", "the change" or "the temporary files"."""
    return words.NO_OBJECT.fullmatch(text) is None


def _keep_words(span: re.Match[str]) -> str:
    """A code span of one word is an object of the prose around it; one that is a command was listed already."""
    return "" if re.search(r"\S\s+\S", span[1]) else span[0]


def _consequence(clause: str) -> str:
    """The part of a conditional clause that says what to do, or "" where it is the condition alone."""
    if not words.CONDITION.match(clause):
        return clause
    found = words.CONSEQUENCE.search(clause)
    return clause[found.end() :] if found else ""
