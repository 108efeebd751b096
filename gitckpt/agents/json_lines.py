"""Extracts JSON objects from a stream of lines, in bounded memory for any input."""

from __future__ import annotations

import json
from typing import Any, Final

from gitckpt.agents.signals import Lost

#: The maximum length of a line in bytes; a longer one is skipped. No message is that long, and losing an image in a
#: tool result does no harm.
MAX_LINE: Final = 8 * 1024 * 1024

#: How many positions in a malformed line are tried as the start of an object that ends it, and the maximum length of
#: such a line.
MOST_STARTS, LONGEST_GLUED = 64, 1024 * 1024

Found = dict[str, Any] | Lost


class JsonLines:
    """Takes bytes, and returns the objects of the lines completed so far. The objects in an array are returned one by
    one.

    A line that starts like JSON but is not, or is longer than MAX_LINE, yields a Lost. Any other line is no event and
    is skipped. The result does not depend on chunking.
    """

    def __init__(self) -> None:
        self._begun = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> list[Found]:
        """Return the objects of the lines that end within this chunk, in order."""
        found: list[Found] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._take(data, start, end, found)
            found += self._line()
            start = end + 1
        self._take(data, start, len(data), found)
        return found

    def close(self) -> list[Found]:
        """Return the objects of the last line, which may lack a newline."""
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
    """Return the objects of one line; a Lost if it is not JSON. A `cut_off` line may be incomplete."""
    text = line.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        lost = Lost("the last line, which is cut off" if cut_off else "a line that is no JSON")
        return [lost, *_behind_a_half(text)]
    return [row for row in (value if isinstance(value, list) else [value]) if isinstance(row, dict)]


def _behind_a_half(text: str) -> list[Found]:
    """Return the object that ends the line: a client killed in the middle of a line continues right behind the
    fragment.

    An object that starts within the fragment is never found: its open braces are not closed by the end of the line.
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
