"""How far a file of lines has been read: an offset, and a checksum of the bytes before it.

Clients rewrite their files. The checksum keeps us from reading on in the middle of a file that was compacted or
replaced.
"""

from __future__ import annotations

import zlib

#: How many bytes before the offset the checksum covers.
COMPARED = 1024

#: How many bytes before the offset are searched for a call that has already been read.
LOOKED_BACK = 256 * 1024


def place_at(offset: int, before: bytes) -> str:
    """Return the place for an offset. `before` ends there and has COMPARED bytes, or all that there are."""
    return f"{offset}.{zlib.crc32(before[-COMPARED:]):08x}"


def offset_of(place: str) -> int | None:
    """Return the offset of a place; None for any other text."""
    digits = place.partition(".")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None


def follows(place: str, before: bytes) -> bool:
    """Return whether the bytes before the offset are the ones that were read there; assume so without a recorded
    checksum."""
    offset, checksum = offset_of(place), place.partition(".")[2]
    return offset is not None and (not checksum or place_at(offset, before) == place)
