"""The digests that git puts at the end of its files and names its objects with."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Bytes from which it pays to load OpenSSL, which is faster but takes milliseconds to initialize.
WORTH_LOADING = 1024 * 1024


def new_digest(algorithm: str, size: int) -> Any:
    """Return a digest object like that of `hashlib.new`, for git's "sha1" or "sha256", over about `size` bytes of
    content."""
    if algorithm == "sha1" and size < WORTH_LOADING and "hashlib" not in sys.modules:
        try:
            # like the standard library's `random` with SHA-512: hashlib would load OpenSSL
            from _sha1 import sha1  # type: ignore[import-not-found]

            return sha1(usedforsecurity=False)
        except ImportError:
            pass  # a Python that has no digests but those of OpenSSL
    import hashlib

    return hashlib.new(algorithm, usedforsecurity=False)


def object_name(kind: str, content: bytes, object_format: str) -> str:
    """Return the id of an object of this kind and content."""
    digest = new_digest(object_format, len(content))
    digest.update(b"%s %d\0" % (kind.encode(), len(content)))
    digest.update(content)
    return str(digest.hexdigest())
