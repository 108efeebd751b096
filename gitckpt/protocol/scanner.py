"""Cut blocks out of a byte stream, whatever its size and however it is chunked.

The scanner keeps only the unfinished line and the open block, both bounded in size. Text without markers is only
searched, never decoded or split into lines, and an unmodified block is taken whole, so scanning a stream costs little
more than copying it.
"""

from __future__ import annotations

from typing import Final

from gitckpt.protocol.blocks import MAX_BLOCK, Diagnostic, RawBlock
from gitckpt.protocol.frame import unwrap
from gitckpt.protocol.markers import (
    MAX_MARKER,
    Footer,
    Header,
    begins_with_footer,
    candidates,
    footer_flood_end,
    header_flood_end,
    is_cut_header,
    read_marker,
)
from gitckpt.protocol.plain_blocks import plain_blocks

#: The maximum number of diagnostics per stream; the last one says that there may be more.
MAX_DIAGNOSTICS: Final = 1000

#: How many headers with no footer and almost no text are reported as blocks. Any beyond that are a flood and are
#: skipped.
MAX_BARE_HEADERS: Final = 1000

#: The body size in bytes below which a CHECKPOINT cannot have its five required fields.
_SHORTEST_BODY: Final = 40

_LF: Final = 0x0A


class Scanner:
    """Accepts bytes and returns the blocks that have ended so far. Any chunking of a stream yields the same blocks and
    diagnostics.

    A block ends as soon as the last sign of its footer arrives. A block without a footer ends at the next header or at
    `close`, with `terminated=False`. A block of more than MAX_BLOCK bytes ends there, and also has `cut=True`.

    Diagnostics collect in `diagnostics` until they are taken.
    """

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._begun = b""  # a line whose end has not arrived yet
        self._ignores_line = False  # bytes up to the next line end belong to a line already handled
        self._line = 1
        self._open: _OpenBlock | None = None
        self._expects_footer = False  # the footer of a block that was cut
        self._blocks: list[RawBlock] = []
        self._bare_headers = 0
        self._noted = 0

    def feed(self, chunk: bytes) -> list[RawBlock]:
        """Return the blocks that end within this chunk, in order."""
        data = self._begun + chunk if self._begun else chunk
        self._begun = b""
        start = self._rest_of_line(data) if self._ignores_line else 0
        if start < len(data):
            self._unfinished_line(data, self._whole_lines(data, start))
        return self._taken()

    def close(self) -> list[RawBlock]:
        """Return the blocks that end with the stream."""
        data, self._begun = self._begun, b""
        self._text(data, self._line_with_candidate(data, 0, 0, len(data)), len(data))
        self._break_off()
        return self._taken()

    def take_diagnostics(self) -> list[Diagnostic]:
        """Return the diagnostics since the last call, in stream order."""
        taken, self.diagnostics = self.diagnostics, []
        return taken

    def _taken(self) -> list[RawBlock]:
        taken, self._blocks = self._blocks, []
        return taken

    def _rest_of_line(self, data: bytes) -> int:
        end = _line_end(data, 0)
        self._ignores_line = end < 0
        after = len(data) if end < 0 else end + 1
        self._text(data, 0, after)
        return after

    def _whole_lines(self, data: bytes, start: int) -> int:
        """Read the markers; return the position up to which all data is consumed."""
        position = start = self._plain_blocks(data, start, start)
        pattern = candidates(data, start)
        while pattern and (candidate := pattern.search(data, position)):
            begin, end = _line_begin(data, position, candidate.start()), _line_end(data, candidate.start())
            if end < 0:
                break
            start = self._line_with_candidate(data, start, begin, end)
            position = max(start, end + 1)
            if start == position and self._floods():
                start = position = self._past_flood(data, position)
        return start

    def _plain_blocks(self, data: bytes, start: int, position: int) -> int:
        """Consume the plain blocks that come before any other sign from `position` on, and the text before each,
        starting at `start`. Return the position up to which all data is consumed: `start` if there is no plain block.
        """
        for kind, argument, body, begin, end in plain_blocks(data, position):
            if self._open:
                self._text(data, start, begin)
                self._break_off()
                start = begin
            self._expects_footer = False
            line = self._line + data.count(b"\n", start, begin)
            self._line = line + data.count(b"\n", begin, end)
            self._blocks.append(RawBlock(kind, argument, body, line, self._line - 1))
            start = end
        return start

    def _floods(self) -> bool:
        return self._bare_headers >= MAX_BARE_HEADERS or self._noted >= MAX_DIAGNOSTICS

    def _past_flood(self, data: bytes, start: int) -> int:
        """Skip the headers or footers of a flood except the last one: they would only be dropped."""
        after = start
        if self._bare_headers >= MAX_BARE_HEADERS:
            after = header_flood_end(data, start)
        if not self._open and self._noted >= MAX_DIAGNOSTICS:
            after = max(after, footer_flood_end(data, start))
        self._line += data.count(b"\n", start, after)
        return after

    def _unfinished_line(self, data: bytes, start: int) -> None:
        begin = _line_begin(data, start, len(data))
        self._text(data, start, begin)
        line = data[begin:]
        if self._open and begins_with_footer(line):
            self._footer(Footer(alone=True))
            self._ignores_line = True
        elif len(line) > MAX_MARKER:
            self._note_cut_header(line)
            self._text(line, 0, len(line))
            self._ignores_line = True
        else:
            self._begun = line

    def _line_with_candidate(self, data: bytes, start: int, begin: int, end: int) -> int:
        """Process `data[begin:end]` if it is a marker, after consuming the text before it from `start` on.

        Return the position up to which all data is consumed: past the line end if it was a marker, and farther if plain
        blocks started there.
        """
        if data.startswith(b"===", begin) and (after := self._plain_blocks(data, start, begin)) > start:
            return after
        marker = read_marker(data, begin, end)
        if marker is None and end - begin <= MAX_MARKER:
            return start
        self._text(data, start, begin)
        if marker is None:
            self._note_cut_header(data[begin : begin + MAX_MARKER])
            return begin
        self._footer(marker) if isinstance(marker, Footer) else self._header(marker)
        self._text(data, end, end + 1)
        return end + 1

    def _text(self, data: bytes, start: int, end: int) -> None:
        """Consume text that is not a marker: add it to the open block, or skip it."""
        if self._open:
            start = self._into_block(self._open, data, start, end)
        self._line += data.count(b"\n", start, end)

    def _into_block(self, block: _OpenBlock, data: bytes, start: int, end: int) -> int:
        """Add text to the block, and end the block if it is full; return the position up to which lines have been
        counted.
        """
        room = start + MAX_BLOCK - len(block.body)
        block.body += data[start : min(end, room)]
        if end <= room:
            return start
        self._line += data.count(b"\n", start, room)
        self._note(block.line, f"the block is longer than {MAX_BLOCK // 1024} KiB and was cut: end it with ===END===")
        self._break_off(cut=True)
        self._expects_footer = True
        return room

    def _break_off(self, *, cut: bool = False) -> None:
        """End the open block, if any, without a footer."""
        block, self._open = self._open, None
        if block and not self._is_flooded_by(block):
            self._blocks.append(block.broken_off(cut))

    def _is_flooded_by(self, block: _OpenBlock) -> bool:
        self._bare_headers += block.is_bare
        if block.is_bare and self._bare_headers == MAX_BARE_HEADERS + 1:
            self._note(block.line, "there are more headers without fields and footer than can be listed")
        return block.is_bare and self._bare_headers > MAX_BARE_HEADERS

    def _header(self, header: Header) -> None:
        self._break_off()
        self._open, self._expects_footer = _OpenBlock(header, self._line), False

    def _footer(self, footer: Footer) -> None:
        block, self._open = self._open, None
        if block:
            self._blocks.append(block.terminated(self._line))
        elif self._expects_footer:
            self._expects_footer = False
        elif footer.alone:
            self._note(self._line, "===END=== ends no block: write its header, such as ===CHECKPOINT 7===, before it")

    def _note_cut_header(self, line: bytes) -> None:
        if is_cut_header(line):
            problem = f"the header line is longer than {MAX_MARKER // 1024} KiB and was not read"
            self._note(self._line, f"{problem}: write ===CHECKPOINT 7===", "P004")

    def _note(self, line: int, message: str, code: str = "P003") -> None:
        self._noted += 1
        if self._noted == MAX_DIAGNOSTICS:
            message = "there are more than can be listed: mend those above first"
        if self._noted <= MAX_DIAGNOSTICS:
            self.diagnostics.append(Diagnostic(line, 1, code, message))


class _OpenBlock:
    """A block whose end has not arrived. The body starts with the line end of the header."""

    __slots__ = ("body", "header", "line")

    def __init__(self, header: Header, line: int) -> None:
        self.header, self.line, self.body = header, line, bytearray()

    @property
    def is_bare(self) -> bool:
        return self.body.isspace() or (self.header.kind == "checkpoint" and len(self.body) < _SHORTEST_BODY)

    def terminated(self, end_line: int) -> RawBlock:
        return RawBlock(self.header.kind, self.header.argument, self._unwrapped(), self.line, end_line)

    def broken_off(self, cut: bool) -> RawBlock:
        end_line = self.line + self.body.rstrip().count(b"\n")
        return RawBlock(self.header.kind, self.header.argument, self._unwrapped(), self.line, end_line, False, cut)

    def _unwrapped(self) -> str:
        return "" if self.body.isspace() else unwrap(bytes(self.body), self.header.frame)


def _line_begin(data: bytes, start: int, position: int) -> int:
    """Return where the line containing `position` begins, but not before `start`. A lone CR ends a line as LF does."""
    if position == start or data[position - 1] == _LF:
        return position
    return max(data.rfind(b"\n", start, position), data.rfind(b"\r", start, position), start - 1) + 1


def _line_end(data: bytes, position: int) -> int:
    """Return where the line containing `position` ends, at its LF or CR; -1 if it does not end in `data`."""
    line_feed = data.find(b"\n", position)
    carriage_return = data.find(b"\r", position, line_feed if line_feed >= 0 else len(data))
    return carriage_return if carriage_return >= 0 else line_feed
