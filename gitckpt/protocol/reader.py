"""Turn a stream into blocks: scan it, read the fields, and drop what must not be recorded."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from typing import Any, Final

from gitckpt.protocol.blocks import Block, Diagnostic, RawBlock
from gitckpt.protocol.fields import read_fields
from gitckpt.protocol.ids import canonical, ids_in, is_placeholder, leading_id, says_only_ids
from gitckpt.protocol.keys import read_entries
from gitckpt.protocol.scanner import MAX_DIAGNOSTICS, Scanner

#: The maximum length, in characters, of an id kept as written.
MAX_WRITTEN: Final = 200

#: How many blocks of a stream are remembered in order to detect repetitions.
MAX_REMEMBERED: Final = 4096

_SUMMARY_HEADER: Final = re.compile(r"(?P<id>[^\s(（\[【:：]*)\s*[:：]?\s*(?P<rest>.*)", re.DOTALL)


def read_block(raw: RawBlock) -> Block:
    """Return the block with its id and its fields. Never raises: problems are in its diagnostics (P003, P004, P015).

    An invalid id or a placeholder gives `id=None`. A number followed by a title (`7: replace`) counts, and is reported.
    A block without a footer contains no prose: it ends at the first empty line after its last field.
    """
    if not raw.terminated:
        raw = _without_prose(raw)
    fields, diagnostics = read_fields(raw.kind, raw.body, raw.line)
    written, rest = raw.argument, ""
    if raw.kind == "summary" and (header := _SUMMARY_HEADER.fullmatch(raw.argument)):
        written, rest = header["id"], header["rest"]
        fields = _with_header(fields, rest)
    id, about_id = _id(raw, written)
    about = (*about_id, *_about_end(raw), *diagnostics)
    return Block(raw.kind, id, written[:MAX_WRITTEN], fields, raw.line, raw.end_line, raw.terminated, about)


def read_text(text: str | bytes, *, keep_all: bool = False) -> tuple[list[Block], list[Diagnostic]]:
    """Return the blocks of a whole text, and all diagnostics by line, including those of the blocks.

    These are the blocks that would be recorded; with `keep_all`, for people to look at, also repetitions, placeholders
    and blocks without an end.
    """
    reader = BlockReader(keep_all=keep_all)
    blocks = reader.feed(encoded(text) if isinstance(text, str) else text) + reader.close()
    return blocks, reader.take_diagnostics()


def said_at_end(text: str) -> str:
    """Return the `result` of the FINAL block in a text, or the text itself if it has no such block."""
    if "===" not in text:
        return text
    results = (block.fields.get("result") for block in read_text(text)[0] if block.kind == "final")
    return next((result for result in results if isinstance(result, str) and result.strip()), text)


class BlockReader:
    """Accepts bytes and returns the blocks to record, each as soon as it ends. Chunking makes no difference.

    Placeholders (an echoed prompt) are left out, and so is a word-for-word repetition of an earlier block of the stream
    (a redraw), unless a RETRY went back to before that block. A block without a footer is returned if its required
    fields are present; otherwise it becomes a diagnostic. With `keep_all` nothing is left out.

    `diagnostics` holds those of the stream and of its blocks by line, until they are taken; at most 2,000 in all.
    """

    def __init__(self, *, keep_all: bool = False) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._scanner = Scanner()
        self._keep_all = keep_all
        self._remembered = _Remembered()
        self._noted = 0

    def feed(self, data: bytes) -> list[Block]:
        """Return the blocks that end within this chunk, in order."""
        return self._read(self._scanner.feed(data))

    def close(self) -> list[Block]:
        """Return the blocks that end with the stream."""
        return self._read(self._scanner.close())

    def take_diagnostics(self) -> list[Diagnostic]:
        """Return the diagnostics since the last call, by line."""
        taken, self.diagnostics = self.diagnostics, []
        return taken

    def _read(self, raws: list[RawBlock]) -> list[Block]:
        noted = len(self.diagnostics)
        self.diagnostics += self._scanner.take_diagnostics()
        blocks = [block for raw in raws if (block := self._recordable(raw))]
        if len(self.diagnostics) > noted:
            self.diagnostics.sort(key=lambda found: (found.line, found.column, found.code))
        return blocks

    def _recordable(self, raw: RawBlock) -> Block | None:
        """Return the block and note its diagnostics, or None if it is left out."""
        if not self._keep_all and self._remembered.holds(raw):
            return None
        block = read_block(raw)
        if not self._keep_all and _is_template(block):
            return None
        if not self._keep_all and not _is_whole(block):
            self._note(_broken_off(block))
            return None
        self._note(*block.diagnostics)
        self._remembered.add(raw, block)
        return block

    def _note(self, *diagnostics: Diagnostic) -> None:
        self.diagnostics += diagnostics[: MAX_DIAGNOSTICS - self._noted]
        self._noted = min(MAX_DIAGNOSTICS, self._noted + len(diagnostics))


class _Remembered:
    """The newest MAX_REMEMBERED blocks of a stream so far, each as a hash and its id.

    Hashes suffice: they are keyed per process, so nobody can craft a block that collides with another.
    """

    def __init__(self) -> None:
        self._blocks: OrderedDict[int, str | None] = OrderedDict()
        self._retries: OrderedDict[int, None] = OrderedDict()
        self._ids: Counter[str | None] = Counter()

    def holds(self, raw: RawBlock) -> bool:
        key = hash((raw.kind, raw.argument, raw.body))
        return key in self._blocks or key in self._retries

    def add(self, raw: RawBlock, block: Block) -> None:
        key = hash((raw.kind, raw.argument, raw.body))
        if block.kind == "retry":
            self._retries[key] = None
            self._forget_after(str(block.fields.get("from", "")))
        elif key not in self._blocks:
            self._blocks[key] = block.id
            self._ids[block.id] += 1
        if len(self._retries) > MAX_REMEMBERED:
            self._retries.popitem(last=False)
        if len(self._blocks) > MAX_REMEMBERED:
            self._ids[self._blocks.popitem(last=False)[1]] -= 1

    def _forget_after(self, target: str) -> None:
        """Forget the blocks after the target: they may come again, word for word. If the target never reported, its
        number says how far to go back.
        """
        number = _number(target)
        while self._blocks:
            newest = next(reversed(self._blocks.values()))
            if newest == target or (not self._ids[target] and not 0 <= number < _number(newest)):
                return
            self._ids[self._blocks.popitem()[1]] -= 1


def _number(id: str | None) -> int:
    """Return the number in a checkpoint id; -1 for any other id."""
    return int(id[1:]) if id and re.fullmatch(r"C[0-9]+", id) else -1


def encoded(text: str) -> bytes:
    """Encode the text as UTF-8; surrogate pairs become the characters they mean, lone surrogates become U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _without_prose(raw: RawBlock) -> RawBlock:
    """Cut the block at the first empty line after its last field: what follows is no longer part of the block."""
    lines = raw.body.split("\n")
    known = [0] if raw.kind == "summary" else [e.line for e in read_entries(raw.kind, raw.body) if e.name]
    after = range(max(known, default=len(lines)) + 1, len(lines))
    end = next((number for number in after if not lines[number].strip()), len(lines))
    return raw._replace(body="\n".join(lines[:end]), end_line=min(raw.end_line, raw.line + end))


def _id(raw: RawBlock, written: str) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Return the id, and what is wrong with it. Retries and finals have none."""
    if raw.kind in ("retry", "final"):
        return None, ()
    example = f"write ==={raw.kind.upper()} {'S2 (covers C6-C10)' if raw.kind == 'summary' else '7'}==="
    if id := canonical(written, raw.kind):
        return id, ()
    if not written:
        problem = "the header has no id"
    elif is_placeholder(written):
        problem = f"{_shown(written)} only stands for an id"
    elif id := leading_id(written, raw.kind):
        problem = f"the header says more than the id {id}"
    else:
        problem = (
            f"{_shown(written)} is no id: letters, digits, `.`, `_`, `-`, at most 64, no `..`, no `.lock` at the end"
        )
    return id, (Diagnostic(raw.line, 1, "P004", f"{problem}; {example}"),)


def _shown(written: str) -> str:
    return repr(written if len(written) <= 40 else written[:40] + "…")


def _with_header(fields: dict[str, Any], rest: str) -> dict[str, Any]:
    """Add what the header of a summary says it covers to the fields."""
    covers = list(dict.fromkeys([*ids_in(rest), *fields["covers"]]))
    return fields | {"covers": covers} | ({} if says_only_ids(rest) else {"extra": {"header": rest}})


def _about_end(raw: RawBlock) -> tuple[Diagnostic, ...]:
    if raw.terminated or raw.cut:  # the scanner has already reported a cut
        return ()
    return (Diagnostic(raw.line, 1, "P003", f"the {raw.kind.upper()} block is not terminated: end it with ===END==="),)


def _is_template(block: Block) -> bool:
    """Return whether the block is the prompt's own example, with its placeholders, echoed by a client."""
    if block.kind in ("checkpoint", "summary"):
        return block.id is None and is_placeholder(block.written)
    if block.kind == "retry":
        return is_placeholder(str(block.fields.get("from", "")))
    listed = block.fields.get("checkpoints", [])
    return bool(listed) and all(map(is_placeholder, listed))


def _is_whole(block: Block) -> bool:
    """Return whether the block may be recorded: it has its footer, or else all of its required fields and a header that
    is not a mere heading.
    """
    if block.terminated:
        return True
    is_heading = block.kind == "summary" and not re.fullmatch(r"S[0-9]+", block.id or "")
    return not block.missing and not is_heading


def _broken_off(block: Block) -> Diagnostic:
    lacks = f", and lacks {', '.join(block.missing)}" if block.missing else ""
    name = f"{block.kind.upper()} {block.written[:40]}".rstrip()
    return Diagnostic(
        block.line, 1, "P003", f"the block {name} is not terminated{lacks}; it is not recorded: end it with ===END==="
    )
