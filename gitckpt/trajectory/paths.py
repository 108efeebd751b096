"""Paths as data, and which is below which. Git's paths are bytes, YAML and JSON hold text: what is not UTF-8 goes as
`{"b64": …}`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    PathData = str | dict[str, str]


def path_data(path: bytes) -> PathData:
    """The path as text, or as `{"b64": …}` where its bytes are not UTF-8."""
    try:
        return path.decode()
    except UnicodeDecodeError:
        from binascii import b2a_base64  # a library to load, and hardly a path needs it

        return {"b64": b2a_base64(path, newline=False).decode("ascii")}


def data_path(data: str | Mapping[str, str]) -> bytes:
    """The path that `path_data` told."""
    if isinstance(data, str):
        return data.encode("utf-8", "surrogateescape")
    from binascii import a2b_base64

    return a2b_base64(data["b64"])


def is_at_or_below(path: bytes, tops: Iterable[bytes]) -> bool:
    """Whether a path from the root is one of `tops` or below one of them. The root, b"", has all below it."""
    return any(top in (path, b"") or path.startswith(top + b"/") for top in tops)


def at_or_above(path: bytes, paths: Container[bytes]) -> bytes | None:
    """The path itself or the nearest directory above it that is among `paths`, the root apart."""
    while path:
        if path in paths:
            return path
        path = path.rpartition(b"/")[0]
    return None
