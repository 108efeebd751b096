"""Validation of `.gitckpt.yaml`: an error names the key, its line, and the expected value."""

from __future__ import annotations

import difflib
import os
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from gitckpt.config import include_pattern, size
from gitckpt.errors import UsageError

#: The maximum size in bytes of a configuration file; a longer one is something else.
LARGEST = 64 * 1024

#: How many characters of a wrong value an error shows.
SHOWN = 60

#: How similar, from 0 to 1, an unknown key must be to a known one to be suggested: it may have letters too many,
#: missing or swapped, or be half of the name.
CLOSE = 0.65

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ConfigFile(BaseModel):
    """The keys of `.gitckpt.yaml` and the types of their values."""

    model_config = ConfigDict(extra="forbid", strict=True)

    max_file_size: int | str | None = None
    include: list[str] | None = None
    durable: bool | None = None
    pack: bool | None = None
    freeze: Literal["auto", "on", "off"] | None = None
    on_retry: Literal["fork", "restore"] | None = None
    auto: Literal["tool", "turn", "off"] | None = None
    select: list[str] | None = None
    ignore: list[str] | None = None


#: Key → the expected value, as an error puts it.
WANTED = {
    "max_file_size": "a size, such as 500K, 100M or 2G",
    "include": 'a list of patterns, such as [".env", "build/*.map"]',
    "durable": "true or false",
    "pack": "true or false",
    "freeze": "auto, on or off",
    "on_retry": "fork or restore",
    "auto": "tool, turn or off",
    "select": "a list of rules, such as [P001, P006]",
    "ignore": "a list of rules, such as [P001, P006]",
}


def read_file(path: bytes) -> dict[str, Any]:
    """Return the settings that the file gives, by name. Raises UsageError that names the key and the line."""
    name = os.fsdecode(os.path.basename(path))
    given, lines = _parsed(name, _text(path, name))
    # YAML reads the bare words on and off as booleans
    for switch in ("freeze", "auto"):
        if isinstance(given.get(switch), bool):
            given[switch] = "on" if given[switch] else "off"
    try:
        settings = ConfigFile.model_validate(given).model_dump(exclude_none=True)
    except ValidationError as error:
        key = str(error.errors()[0]["loc"][0])
        raise _mistake(f"{name}:{lines.get(key, 1)}: {key}", key, given.get(key)) from error
    if "max_file_size" in settings:
        settings["max_file_size"] = size(given["max_file_size"], f"{name}:{lines['max_file_size']}: max_file_size")
    if "include" in settings:
        where = f"{name}:{lines['include']}: include"
        settings["include"] = tuple(include_pattern(pattern, where) for pattern in settings["include"])
    return settings


def _text(path: bytes, name: str) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from error
    if len(content) > LARGEST:
        raise UsageError(f"{name} is longer than {LARGEST} bytes: that is no configuration")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(f"{name}:{line}: this is not UTF-8", "save the file as UTF-8") from error


def _parsed(name: str, text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the mapping, and the 1-based line of each key."""
    try:
        node = yaml.compose(text, Loader=LOADER)
        given = yaml.load(text, Loader=LOADER) or {}
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise _not_yaml(name, error) from error
    if not isinstance(given, dict):
        raise UsageError(f"{name}:1: a mapping is wanted, of keys such as `max_file_size: 100M`")
    rows = node.value if node is not None and isinstance(node.value, list) else []
    lines = {str(key.value): int(key.start_mark.line) + 1 for key, _ in rows}
    return {str(key): value for key, value in given.items()}, lines


def _not_yaml(name: str, error: Exception) -> UsageError:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    line = f":{mark.line + 1}" if mark is not None else ""
    why = f": {problem}" if problem else ""
    return UsageError(f"{name}{line}: this is not YAML{why}", "keys and values stand like `max_file_size: 100M`")


def _mistake(where: str, key: str, value: object) -> UsageError:
    if key in WANTED:
        shown = repr(value)
        return UsageError(f"{where}: {shown[:SHOWN]}{'…' * (len(shown) > SHOWN)} is not {WANTED[key]}")
    near = difflib.get_close_matches(key, WANTED, n=1, cutoff=CLOSE)
    return UsageError(
        f"{where}: there is no such setting",
        f"did you mean {near[0]}?" if near else f"the settings are {', '.join(WANTED)}",
    )
