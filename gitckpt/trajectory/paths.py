"""Paths as data, and which is below which. Git paths are bytes while YAML and JSON hold text, so a path that is not
UTF-8 is written as `{"b64": …}`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    PathData = str | dict[str, str]


def path_data(path: bytes) -> PathData:
    """Return the path as text, or as `{"b64": …}` if its bytes are not UTF-8."""
    try:
        return path.decode()
    except UnicodeDecodeError:
        from binascii import b2a_base64  # imported on demand: hardly any path needs it

        return {"b64": b2a_base64(path, newline=False).decode("ascii")}


def data_path(data: str | Mapping[str, str]) -> bytes:
    """Return the path from what `path_data` returned."""
    if isinstance(data, str):
        return data.encode("utf-8", "surrogateescape")
    from binascii import a2b_base64

    return a2b_base64(data["b64"])


def is_at_or_below(path: bytes, tops: Iterable[bytes]) -> bool:
    """Return whether a path, relative to the root, is one of `tops` or below one. The root, b"", contains every
    path.
    """
    return any(top in (path, b"") or path.startswith(top + b"/") for top in tops)


def at_or_above(path: bytes, paths: Container[bytes]) -> bytes | None:
    """Return the path itself or the nearest directory above it that is in `paths`, not counting the root."""
    while path:
        if path in paths:
            return path
        path = path.rpartition(b"/")[0]
    return None
