"""JSON objects out of a stream of lines, with memory bounded whatever comes."""

from __future__ import annotations

import json
from typing import Any, Final

from gitckpt.agents.signals import Lost

#: Bytes of a line; a longer one is passed over. No message is that long, and a picture in a tool's answer is no loss.
MAX_LINE: Final = 8 * 1024 * 1024

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
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return [Lost("the last line, which is cut off" if cut_off else "a line that is no JSON")]
    return [row for row in (value if isinstance(value, list) else [value]) if isinstance(row, dict)]
