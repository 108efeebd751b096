"""Looks up values in untrusted JSON: a value of the wrong type counts as absent."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

#: The keys under which tools of the clients name the files that they work on.
PATH_KEYS = ("file_path", "filePath", "absolute_path", "notebook_path", "path", "file")

#: The maximum number of paths kept per call, and of characters in each.
MOST_PATHS, LONGEST_PATH = 100, 4096


def at(value: Any, *keys: str) -> Any:
    """Return the value under these nested keys; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text(value: Any, *keys: str) -> str:
    """Return the string under these keys; "" if there is none."""
    found = at(value, *keys)
    return found if isinstance(found, str) else ""


def word(value: Any, *keys: str) -> str:
    """Return the string or integer under these keys, as a string; "" if there is none."""
    found = at(value, *keys)
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else text(value, *keys)


def rows(value: Any, *keys: str) -> list[dict[str, Any]]:
    """Return the objects in the list under these keys; [] if there is none."""
    found = at(value, *keys)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def paths(arguments: Any) -> tuple[str, ...]:
    """Return the files that a tool's arguments name."""
    found = [text(arguments, key) for key in PATH_KEYS]
    return shortened(path for path in found if path)


def shortened(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names in order, without duplicates, cut to the limits."""
    return tuple(dict.fromkeys(name[:LONGEST_PATH] for name in names))[:MOST_PATHS]
