"""A document that one process keeps for the next, with a checksum. A document that does not match it is ignored: a
flipped bit would otherwise be believed, because the rest would still look right."""

from __future__ import annotations

import json

from gitckpt.repo.private import is_plain_file, write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def keep(path: bytes, document: dict[str, Any]) -> None:
    """Write the document atomically. Raise OSError."""
    content = json.dumps(document).encode()
    write_file(path, b"%s\n%s" % (_checksum(content), content))


def kept(path: bytes) -> dict[str, Any] | None:
    """Return the document at the path, or None if there is no intact one."""
    if not is_plain_file(path):
        return None
    try:
        with open(path, "rb") as file:
            checksum, _, content = file.read().partition(b"\n")
    except OSError:
        return None
    if checksum != _checksum(content):
        return None
    document: dict[str, Any] = json.loads(content)
    return document


def _checksum(content: bytes) -> bytes:
    from zlib import crc32  # OpenSSL's digests take milliseconds to initialize

    return b"%08x" % crc32(content)
