"""The digests by which git ends its files."""

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
