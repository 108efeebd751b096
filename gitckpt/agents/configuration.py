"""Merges our entries into a client's configuration file, and takes them out again. Text in, text out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from gitckpt.agents.lookup import at, text
from gitckpt.agents.wiring import Installation
from gitckpt.errors import Refused

#: Recognizes a command as our hook, also one of another version.
OURS: Final = re.compile(r"gitckpt['\"]? hook\b")

Base = Literal["home", "repository"]


def json_installation(base: Base, path: str, ours: Mapping[str, Any]) -> Installation:
    """Return an installation that merges `ours` into a JSON file. Everything else in the file stays; our entries are
    appended to lists."""

    def merge(old: str | None) -> str:
        document = _parsed(path, old or "{}", ours)
        new = _merged(document, ours)
        return old if old is not None and new == document else _printed(new, old or "")

    def remove(old: str) -> str | None:
        document = _parsed(path, old, ours)
        left = _without(document, ours)
        return (old if left == document else _printed(left, old)) if left else None

    return Installation(base, path, merge, remove)


def _parsed(path: str, text: str, ours: Mapping[str, Any]) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Refused(f"{path} is no plain JSON, and was left as it is", f"add this by hand: {json.dumps(ours)}")
    return document


def _printed(document: Mapping[str, Any], like: str) -> str:
    indent = re.search(r"^[{\[]\r?\n([ \t]+)", like)
    return json.dumps(document, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def _merged(value: Any, ours: Any) -> Any:
    """Return the value with ours merged in: mappings and lists are extended, any other value is replaced."""
    if isinstance(ours, Mapping):
        mapping = value if isinstance(value, dict) else {}
        return mapping | {key: _merged(mapping.get(key), item) for key, item in ours.items()}
    if _is_entries(ours) and isinstance(value, list):
        return value if all(item in value for item in ours) else [*_others(value), *ours]
    return ours


def _without(value: Any, ours: Any) -> Any:
    """Return the value without ours; None or an empty container if nothing is left."""
    if isinstance(ours, Mapping) and isinstance(value, dict):
        left = {key: _without(item, ours[key]) if key in ours else item for key, item in value.items()}
        return {key: item for key, item in left.items() if key not in ours or item not in ({}, [], None)}
    return [item for item in _others(value) if item not in ours] if _is_entries(ours) else None


def _is_entries(ours: Any) -> bool:
    return isinstance(ours, list) and all(isinstance(item, dict) for item in ours)


def _others(entries: Any) -> list[Any]:
    """Return the entries without our hooks."""
    left = [_without_our_hooks(entry) for entry in entries] if isinstance(entries, list) else []
    return [entry for entry in left if entry is not None]


def _without_our_hooks(entry: Any) -> Any:
    """Return the entry, or None if it is ours. A group keeps the user's own hooks in it."""
    group = at(entry, "hooks")
    if isinstance(group, list) and (others := _others(group)) != group:
        return entry | {"hooks": others} if others else None
    return None if OURS.search(text(entry, "command")) else entry


def file_installation(
    base: Base, path: str, content: str, *, known: re.Pattern[str] = OURS, executable: bool = False
) -> Installation:
    """Return an installation of a whole file of ours, recognized by its content. A file of that name that is not ours
    stays as it is."""

    def merge(old: str | None) -> str:
        if old is not None and not known.search(old):
            raise Refused(f"{path} is there already, and not ours", "move it away, and try again")
        return content

    def remove(old: str) -> str | None:
        return None if known.search(old) else old

    return Installation(base, path, merge, remove, executable)


def toml_installation(base: Base, path: str, table: str, ours: Mapping[str, Any]) -> Installation:
    """Return an installation of a separate table at the end of a TOML file. Comments and the order of the rest stay."""
    section = f"[{table}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in ours.items())
    pattern = re.compile(rf"\n?^\[{re.escape(table)}\]\n(?:(?!\[).*\n?)*", re.MULTILINE)

    def merge(old: str | None) -> str:
        import tomllib

        text = old or ""
        if pattern.search(text):
            return text
        new = text + ("" if text.endswith("\n") or not text else "\n") + ("\n" if text else "") + section
        try:
            tomllib.loads(new)
        except tomllib.TOMLDecodeError as error:
            raise Refused(
                f"{path} cannot be added to, and was left as it is: {error}", f"add by hand: {section}"
            ) from error
        return new

    def remove(old: str) -> str | None:
        return pattern.sub("", old) or None

    return Installation(base, path, merge, remove)


def toml(value: Any) -> str:
    """Return a string, a list or a mapping as TOML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    # apart from DEL, JSON strings are valid TOML strings
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
