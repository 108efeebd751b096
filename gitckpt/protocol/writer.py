"""Write a block: turn fields, as read, back into protocol text.

Each value takes one line, so that no line of a field can be mistaken for a marker or another key. What the reader
returns survives writing and reading again, except for line breaks in text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from gitckpt.protocol.blocks import REQUIRED, STATE_FIELDS, Kind

#: Characters that would split or swallow an item of a bracketed list.
_UNSAFE_IN_BRACKETS = re.compile(r"[,;；\[\]{}()（）「」\"'`=]|^-|^\s*$")


def block_text(kind: Kind, id: str | None, fields: Mapping[str, Any]) -> str:
    """Return the block as text, header to footer, with a trailing newline.

    `fields` are those of `Block.fields`. Empty fields and fields outside the protocol are not written.
    """
    if kind == "summary":
        body = [_line(str(fields.get("text") or ""))]
    else:
        names = (*REQUIRED[kind], *(STATE_FIELDS if kind == "checkpoint" else ()))
        body = [_field(name, _written(fields, name)) for name in names if _written(fields, name)]
    return "\n".join([_header(kind, id, fields), *body, "===END===", ""])


def _header(kind: Kind, id: str | None, fields: Mapping[str, Any]) -> str:
    name = re.sub(r"^C(?=\d+$)", "", id or "") if kind in ("checkpoint", "summary") else ""
    covers = f"(covers {spans(fields['covers'])})" if kind == "summary" and fields.get("covers") else ""
    return f"==={' '.join(part for part in (kind.upper(), name, covers) if part)}==="


def _written(fields: Mapping[str, Any], name: str) -> Any:
    """Return the value to write; for the phase, the agent's own word."""
    return fields.get("phase_written") or fields.get(name) if name == "phase" else fields.get(name)


def _field(name: str, value: Any) -> str:
    if name == "facts":
        return "\n".join(["facts:", *(f"- {_fact(fact)}" for fact in value)])
    if name == "summaries":
        return f"summaries: [{', '.join(_summary(entry) for entry in value)}]"
    if isinstance(value, Mapping):
        return f"{name}: [{', '.join(f'{_line(str(key))}={_item(item)}' for key, item in value.items())}]"
    if isinstance(value, (list, tuple)):
        return _list(name, [_item(item) for item in value])
    return f"{name}: {_line(str(value))}"


def _list(name: str, items: list[str]) -> str:
    if any(_UNSAFE_IN_BRACKETS.search(item) for item in items):
        return "\n".join([f"{name}:", *(f"- {item}" for item in items)])
    return f"{name}: [{', '.join(items)}]"


def _fact(fact: Mapping[str, Any]) -> str:
    source = f" (source: {_line(str(fact['source']))})" if fact.get("source") else ""
    return _line(str(fact.get("text") or "")) + source


def _summary(entry: Mapping[str, Any]) -> str:
    return f"{entry['id']}({spans(entry['covers'])})" if entry.get("covers") else str(entry["id"])


def _item(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_item, value))}]"
    return _line(str(value))


def _line(text: str) -> str:
    return " ".join(text.split())


def spans(ids: list[str]) -> str:
    """Join ids, collapsing ranges: `C1-C5, C7, setup`."""
    runs = ([id for _, id in run] for _, run in groupby(enumerate(ids), key=_start_of_range))
    return ", ".join("-".join(dict.fromkeys([run[0], run[-1]])) for run in runs)


def _start_of_range(placed: tuple[int, str]) -> tuple[str, int]:
    """Return a key that is equal for consecutive ids such as `C3`, `C4` in a list, and for nothing else."""
    place, id = placed
    counted = re.fullmatch(r"([A-Z])(\d{1,18})", id)
    return (counted[1], int(counted[2]) - place) if counted else (id, 0)
