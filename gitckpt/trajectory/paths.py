"""Paths as data. Git's paths are bytes, YAML and JSON hold text: what is not UTF-8 goes as `{"b64": …}`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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
