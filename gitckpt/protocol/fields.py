"""Read the body of a block as fields, each in the shape that the protocol defines, without losing any text.

Whatever does not fit a field's shape is kept under `extra`, as are unknown keys. There, `text` holds what came before
the first key, and a field's own name holds that field as written if reading it dropped words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from gitckpt.protocol.blocks import Diagnostic, Kind
from gitckpt.protocol.ids import ids_in, says_only_ids
from gitckpt.protocol.keys import FIELDS, Entry, read_entries
from gitckpt.protocol.nested import nested_value
from gitckpt.protocol.values import (
    facts_value,
    id_list_value,
    id_value,
    list_value,
    open_list_value,
    phase_value,
    summaries_value,
    text_value,
)

#: Readers for the fields that are not plain text. Each returns the value, and whether the field says more than the
#: value.
_READERS: Final[dict[str, Callable[[str], tuple[Any, bool]]]] = {
    "done": lambda raw: (list_value(raw), False),
    "todo": lambda raw: (open_list_value(raw), False),
    "open": lambda raw: (open_list_value(raw), False),
    "state_ref": lambda raw: (nested_value(raw), False),
    "from": id_value,
    "checkpoints": id_list_value,
    "summaries": summaries_value,
}


# A summary is free text. Some agents state what it covers on a separate line, or put a key before the text.
_COVERS_LINE: Final = re.compile(r"\s*(?:covers|覆盖|涵盖)\s*[:：](?P<covers>[^\n]*)(?:\n|$)", re.IGNORECASE)
_TEXT_KEY: Final = re.compile(r"\s*(?:text|summary|摘要|总结|内容)\s*[:：]", re.IGNORECASE)


def read_fields(kind: Kind, body: str, line: int) -> tuple[dict[str, Any], tuple[Diagnostic, ...]]:
    """Return the fields of a body in protocol order, and a P015 diagnostic for each fact without a source, which moves
    to `open`.

    `body` comes from a RawBlock, and `line` is the line of its header. A field that appears twice keeps both values:
    lists and mappings are merged, texts are joined by a newline; for `phase` and `from` the second value goes under
    `extra`. Never raises.
    """
    if kind == "summary":
        return _summary_fields(body), ()
    reading = _Reading(kind, line)
    for entry in read_entries(kind, body):
        reading.take(entry)
    return reading.fields(), tuple(reading.diagnostics)


def _summary_fields(body: str) -> dict[str, Any]:
    line = _COVERS_LINE.match(body)
    covers = ids_in(line["covers"]) if line and says_only_ids(line["covers"]) else []
    text = body[line.end() :] if line and covers else body
    key = _TEXT_KEY.match(text)
    return {"covers": covers, "text": text_value(text[key.end() :] if key else text)}


class _Reading:
    """The fields of a partly read body."""

    def __init__(self, kind: Kind, line: int) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._kind, self._header_line = kind, line
        self._found: dict[str, Any] = {}
        self._extra: dict[str, str] = {}

    def take(self, entry: Entry) -> None:
        name = entry.name
        if name is None:
            self._keep(entry.written or "text", entry.value)
        elif name in ("phase", "from") and name in self._found:
            self._keep(name, entry.value)
        elif name == "phase":
            self._found["phase"], self._found["phase_written"] = phase_value(entry.value)
        elif name == "facts":
            self._take_facts(entry)
        else:
            self._take_value(name, entry.value)

    def fields(self) -> dict[str, Any]:
        order = ("phase", "phase_written", *FIELDS[self._kind])
        ordered = {name: self._found[name] for name in order if name in self._found}
        return ordered | ({"extra": self._extra} if self._extra else {})

    def _keep(self, name: str, raw: str) -> None:
        self._extra[name] = f"{self._extra[name]}\n{raw.strip()}" if name in self._extra else raw.strip()

    def _take_value(self, name: str, raw: str) -> None:
        value, said_more = _READERS[name](raw) if name in _READERS else (text_value(raw), False)
        self._add(name, value)
        if said_more:
            self._keep(name, raw)

    def _take_facts(self, entry: Entry) -> None:
        facts, unsourced = facts_value(entry.value)
        self._add("facts", facts)
        for text in unsourced:
            self._add("open", [text])
            line = self._header_line + 1 + entry.line + entry.value[: max(entry.value.find(text[:20]), 0)].count("\n")
            message = (
                f"the fact {text[:60]!r} has no source and moves to `open`: add `(source: URL or path:line)` to it"
            )
            self.diagnostics.append(Diagnostic(line, 1, "P015", message))

    def _add(self, name: str, value: Any) -> None:
        self._found[name] = _together(self._found[name], value) if name in self._found else value


def _together(first: Any, second: Any) -> Any:
    """Combine both values of a field that appears twice."""
    if isinstance(first, str):
        return "\n".join(filter(None, (first, second)))
    if isinstance(first, dict) and isinstance(second, dict) and not first.keys() & second.keys():
        return first | second
    return _as_list(first) + _as_list(second)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
