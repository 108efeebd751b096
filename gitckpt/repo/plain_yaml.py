"""Write the plainest YAML documents, byte for byte as PyYAML does: importing PyYAML costs a hook more than everything
else that it does.

Plain are mappings, lists of words, and words that need no quotes: common names, paths and object ids. Anything else is
not written here."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

#: The characters of a word, besides ASCII letters and digits. A single blank may stand between two words.
SIGNS = frozenset("-_./")

#: Maximum characters of a key, because YAML writes long keys in another form; and of a text, so that no line is long
#: enough to be broken.
LONGEST_KEY, LONGEST = 64, 4096

#: Words that YAML does not read as text.
RESERVED = frozenset(("null", "true", "false", "yes", "no", "on", "off"))

#: The digits of an object id, and those of them that no number contains.
DIGITS, LETTERS = frozenset("0123456789abcdef"), frozenset("acdf")


class NotPlain(Exception):
    """The document contains something that only the YAML library can write."""


def plain_yaml(document: Mapping[str, Any]) -> str:
    """Return the document as YAML. Raise NotPlain."""
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
    """Return whether the text consists of hexadecimal digits and YAML does not read it as a number."""
    return len(text) <= LONGEST and DIGITS.issuperset(text) and not LETTERS.isdisjoint(text)


def _are_words(text: str) -> bool:
    """Return whether the text consists of words separated by single blanks and begins with a letter."""
    return (
        text[:1].isalpha()
        and text.lower() not in RESERVED
        and len(text) <= LONGEST
        and all(word and all((c.isascii() and c.isalnum()) or c in SIGNS for c in word) for word in text.split(" "))
    )
