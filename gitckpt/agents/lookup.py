"""Looking into JSON that anybody may have written: what is not of the shape asked for is not there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

#: The keys under which the clients' tools name the files that they work on.
PATH_KEYS = ("file_path", "filePath", "absolute_path", "notebook_path", "path", "file")

#: How many paths of one call are kept, and characters of each.
MOST_PATHS, LONGEST_PATH = 100, 4096


def at(value: Any, *keys: str) -> Any:
    """What stands under these keys, one inside the other; None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text(value: Any, *keys: str) -> str:
    """The string under these keys; "" where there is none."""
    found = at(value, *keys)
    return found if isinstance(found, str) else ""


def word(value: Any, *keys: str) -> str:
    """The string or whole number under these keys, as a string; "" where there is none."""
    found = at(value, *keys)
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else text(value, *keys)


def rows(value: Any, *keys: str) -> list[dict[str, Any]]:
    """The objects of the list under these keys; [] where there is none."""
    found = at(value, *keys)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def paths(arguments: Any) -> tuple[str, ...]:
    """The files that a tool's arguments name."""
    found = [text(arguments, key) for key in PATH_KEYS]
    return shortened(path for path in found if path)


def shortened(names: Iterable[str]) -> tuple[str, ...]:
    """The names in order, each once, as many and as long as are kept."""
    return tuple(dict.fromkeys(name[:LONGEST_PATH] for name in names))[:MOST_PATHS]
