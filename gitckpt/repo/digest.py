"""The digests by which git ends its files and names its objects."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Bytes from which it pays to load OpenSSL, which is faster and takes milliseconds to get ready.
WORTH_LOADING = 1024 * 1024


def new_digest(algorithm: str, size: int) -> Any:
    """An object as `hashlib.new` gives it, for git's "sha1" or "sha256", over about `size` bytes of content."""
    if algorithm == "sha1" and size < WORTH_LOADING and "hashlib" not in sys.modules:
        try:
            # as the `random` of the standard library takes its SHA-512: hashlib would load OpenSSL
            from _sha1 import sha1  # type: ignore[import-not-found]

            return sha1(usedforsecurity=False)
        except ImportError:
            pass  # a Python that leaves its digests to OpenSSL alone
    import hashlib

    return hashlib.new(algorithm, usedforsecurity=False)


def object_name(kind: str, content: bytes, object_format: str) -> str:
    """The id that an object of this kind and content has."""
    digest = new_digest(object_format, len(content))
    digest.update(b"%s %d\0" % (kind.encode(), len(content)))
    digest.update(content)
    return str(digest.hexdigest())
