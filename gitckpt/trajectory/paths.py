"""Paths as data. Git's paths are bytes, YAML and JSON hold text: what is not UTF-8 goes as `{"b64": …}`."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    PathData = str | dict[str, str]


def path_data(path: bytes) -> PathData:
    """The path as text, or as `{"b64": …}` where its bytes are not UTF-8."""
    try:
        return path.decode()
    except UnicodeDecodeError:
        return {"b64": b2a_base64(path, newline=False).decode("ascii")}


def data_path(data: str | Mapping[str, str]) -> bytes:
    """The path that `path_data` told."""
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else a2b_base64(data["b64"])
