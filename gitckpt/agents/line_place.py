"""How far a file of lines has been read: an offset, and a checksum of what stands before it.

Clients write their files anew: one that was compacted, or replaced by another, is not read on in the middle.
"""

from __future__ import annotations

import zlib

#: Bytes before the offset that the checksum is of.
COMPARED = 1024

#: Bytes before the offset in which a call may stand that has just been read.
LOOKED_BACK = 256 * 1024


def place_at(offset: int, before: bytes) -> str:
    """The place of an offset; `before` ends there, and has COMPARED bytes if there are as many."""
    return f"{offset}.{zlib.crc32(before[-COMPARED:]):08x}"


def offset_of(place: str) -> int | None:
    """The offset of a place; None for any other text."""
    digits = place.partition(".")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None


def follows(place: str, before: bytes) -> bool:
    """Whether the bytes before the offset are those that were read there. Where no checksum is on record, they are."""
    offset, checksum = offset_of(place), place.partition(".")[2]
    return offset is not None and (not checksum or place_at(offset, before) == place)
