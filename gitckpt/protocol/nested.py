"""Read the value of `state_ref`: names with values, or a plain list, nested up to MAX_DEPTH levels.

Accepts `[affected_files=[a, b], current=a]`, `key: value` items, JSON-like `{"TZ": "UTC"}`, and the same over several
indented lines.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any, Final

from gitckpt.protocol.brackets import one_line, split_list, unbracketed, unquoted

#: How deep values are parsed; anything nested deeper stays text.
MAX_DEPTH: Final = 8

#: A line that begins a list item: `- x`, `* x`, `1. x`, `1、x`.
BULLET: Final = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•●◦‣▪]\s+|[0-9]{1,3}(?:[.)]\s+|、\s*))(?P<item>\S.*)", re.DOTALL)

# A name is not a URL, a path with a drive letter, or a comparison.
_NAME: Final = r"[^\s=:：,;；\[\]{}()（）\"'`<>!|]++"
_PAIR: Final = re.compile(
    rf"""\s*(?:
        (?P<quote>["'`])(?P<quoted>[^"'`\n]{{1,100}})(?P=quote)\s*[=:：]
      | (?P<name>{_NAME}(?:[ ]{_NAME}){{0,3}})\s*(?:=(?!=)|：|:(?=\s|$|["'\[{{]))
    )[ \t]*(?P<value>.*)""",
    re.DOTALL | re.VERBOSE,
)

_LINE_OR_LIST: Final = re.compile("[,;；\\n]")
_Entry = tuple[str | None, Any]


def nested_value(raw: str) -> dict[str, Any] | list[Any]:
    """Return a mapping if all items have names, otherwise a list; made of strings, lists and mappings at every level.

    A repeated name maps to the list of its values. A named item in a list with plain items becomes a mapping of its
    own.
    """
    text = raw.strip()
    lines = text.split("\n")
    begins_beside_key = bool(raw.split("\n", 1)[0].strip()) and not any(map(BULLET.fullmatch, lines))
    if begins_beside_key and unbracketed(text, "[{") is text:
        return _collection([_entry(item, 1) for item in split_list(text, _LINE_OR_LIST)])
    value = _value(raw.rstrip(), 0)
    return value if isinstance(value, (dict, list)) else [line.strip() for line in lines if line.strip()]


def pair(text: str) -> tuple[str, str] | None:
    """Split an item with a name, `current=a` or `current: a`, into the name and the rest; None for any other text."""
    match = _PAIR.fullmatch(text)
    return (match["quoted"] or match["name"], match["value"]) if match else None


def _value(text: str, depth: int) -> Any:
    stripped = text.strip()
    inner = unbracketed(stripped, "[{")
    if depth >= MAX_DEPTH:
        return stripped
    if inner is stripped:
        begins_below = text.startswith("\n") and (pair(stripped) or BULLET.fullmatch(stripped))
        return _block(text, depth) if "\n" in stripped or begins_below else unquoted(stripped)
    if BULLET.fullmatch(inner) and "\n" in inner:
        return _block(inner, depth)
    return _collection([_entry(one_line(item), depth + 1) for item in split_list(inner)])


def _block(text: str, depth: int) -> Any:
    """Read lines of which each with the smallest indent begins an item; without bullets and names they are one text."""
    lines = dedent(text.strip("\n")).split("\n")
    if not any(BULLET.fullmatch(line) or pair(line) for line in lines if not line.startswith(" ")):
        return "\n".join(lines)
    items = [item for item in _items(lines) if item.strip()]
    return _collection([_entry(_unbulleted(item), depth + 1) for item in items])


def _items(lines: list[str]) -> list[str]:
    items: list[list[str]] = []
    bulleted = BULLET.fullmatch(lines[0]) is not None
    for line in lines:
        begins = not line.startswith(" ") and (not bulleted or BULLET.fullmatch(line))
        items.append([line]) if begins or not items else items[-1].append(line)
    return ["\n".join(item) for item in items]


def _unbulleted(item: str) -> str:
    """Remove the bullet of an item, and dedent its continuation lines."""
    match = BULLET.fullmatch(item)
    if not match:
        return item
    first, _, rest = match["item"].partition("\n")
    return f"{first}\n{dedent(rest)}" if rest else first


def _entry(item: str, depth: int) -> _Entry:
    is_mapping = any(pair(line) and not line.startswith(" ") for line in item.split("\n")[1:])
    named = pair(item) if depth <= MAX_DEPTH and not is_mapping else None
    return (named[0].strip(), _value(named[1], depth)) if named else (None, _value(item, depth))


def _collection(entries: list[_Entry]) -> dict[str, Any] | list[Any]:
    named = [(name, value) for name, value in entries if name is not None]
    if not entries or len(named) < len(entries):
        return [value if name is None else {name: value} for name, value in entries]
    values: dict[str, list[Any]] = {}
    for name, value in named:
        values.setdefault(name, []).append(value)
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}
