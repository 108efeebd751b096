"""JSON objects out of a stream of lines, with memory bounded whatever comes."""

from __future__ import annotations

import json
from typing import Any, Final

from gitckpt.agents.signals import Lost

#: Bytes of a line; a longer one is passed over. No message is that long, and a picture in a tool's answer is no loss.
MAX_LINE: Final = 8 * 1024 * 1024

#: How many places of a line that is no JSON are looked at for an object that ends it, and how long such a line may be.
MOST_STARTS, LONGEST_GLUED = 64, 1024 * 1024

Found = dict[str, Any] | Lost


class JsonLines:
    """Feed it bytes, and it returns the objects of the lines that have ended by then; those of an array one by one.

    A line that begins like JSON and is none, or is longer than MAX_LINE, is a Lost. Any other line is no event, and is
    left out. Chunking makes no difference.
    """

    def __init__(self) -> None:
        self._begun = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> list[Found]:
        """What the lines that end within this chunk hold, in order."""
        found: list[Found] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._take(data, start, end, found)
            found += self._line()
            start = end + 1
        self._take(data, start, len(data), found)
        return found

    def close(self) -> list[Found]:
        """What the last line holds, which need not have an end."""
        return self._line(cut_off=True)

    def _take(self, data: bytes, start: int, end: int, found: list[Found]) -> None:
        if self._skipping:
            return
        if len(self._begun) + end - start > MAX_LINE:
            self._skipping = True
            self._begun.clear()
            found.append(Lost(f"a line of more than {MAX_LINE // 1024**2} MiB"))
            return
        self._begun += data[start:end]

    def _line(self, *, cut_off: bool = False) -> list[Found]:
        line = bytes(self._begun).strip()
        self._begun.clear()
        self._skipping = False
        return read_line(line, cut_off=cut_off) if line.startswith((b"{", b"[{")) else []


def read_line(line: bytes, *, cut_off: bool = False) -> list[Found]:
    """The objects of one line; a Lost where it is no JSON. A `cut_off` line may be one that nobody finished."""
    text = line.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        lost = Lost("the last line, which is cut off" if cut_off else "a line that is no JSON")
        return [lost, *_behind_a_half(text)]
    return [row for row in (value if isinstance(value, list) else [value]) if isinstance(row, dict)]


def _behind_a_half(text: str) -> list[Found]:
    """The object that ends the line: a client that was killed in the middle of a line goes on right behind it.

    One that begins in the half never ends with the line, for what the half has opened is closed nowhere.
    """
    decoder, start = json.JSONDecoder(), 0
    for _ in range(MOST_STARTS if len(text) <= LONGEST_GLUED else 0):
        start = text.find('{"', start + 1)
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if end == len(text):
            return [value]
    return []
