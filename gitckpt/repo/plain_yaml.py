"""YAML of the plainest documents, byte for byte what PyYAML writes of them: importing that costs a hook more than all
else that it does.

Plain are mappings, lists of words, and words that need no quotes: names, paths and object ids of the common kind. Of
anything else nothing is written here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

#: Characters of a word; ASCII letters and digits besides. A blank is one where it stands between two words.
SIGNS = frozenset("-_./")

#: Characters of a key; a long one has a form of its own. No line is as long as that it would be broken.
LONGEST_KEY, LONGEST = 64, 4096

#: Words that YAML reads as something other than text.
RESERVED = frozenset(("null", "true", "false", "yes", "no", "on", "off"))

#: Digits of an object id, and those of them that no number is written with.
DIGITS, LETTERS = frozenset("0123456789abcdef"), frozenset("acdf")


class NotPlain(Exception):
    """There is something in the document that is for YAML's own library to write."""


def plain_yaml(document: Mapping[str, Any]) -> str:
    """The document in YAML. Raises NotPlain."""
    return "".join(f"{line}\n" for line in _mapping(document))


def _mapping(document: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    for key, value in document.items():
        if value and isinstance(value, dict):
            yield f"{indent}{_key(key)}:"
            yield from _mapping(value, indent + "  ")
        elif value and isinstance(value, list):
            yield f"{indent}{_key(key)}:"
            yield from (f"{indent}- {_scalar(item)}" for item in value)
        else:
            yield f"{indent}{_key(key)}: {_scalar(value)}"


def _key(value: object) -> str:
    if len(text := _text(value)) > LONGEST_KEY:
        raise NotPlain
    return text


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return _text(value)
        case dict() | list() if not value:
            return "{}" if isinstance(value, dict) else "[]"
    raise NotPlain


def _text(value: object) -> str:
    if isinstance(value, str) and (_is_object_id(value) or _are_words(value)):
        return value
    raise NotPlain


def _is_object_id(text: str) -> bool:
    """Hexadecimal digits that YAML takes for no number."""
    return len(text) <= LONGEST and DIGITS.issuperset(text) and not LETTERS.isdisjoint(text)


def _are_words(text: str) -> bool:
    """Words with single blanks between them, the first of which begins with a letter."""
    return (
        text[:1].isalpha()
        and text.lower() not in RESERVED
        and len(text) <= LONGEST
        and all(word and all((c.isascii() and c.isalnum()) or c in SIGNS for c in word) for word in text.split(" "))
    )
