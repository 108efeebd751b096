"""The rules that look at one block or one line at a time. Each yields what is wrong and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitckpt.protocol.blocks import PHASES, REQUIRED, Block
from gitckpt.protocol.hints import is_executable_text
from gitckpt.protocol.sentences import count_sentences
from gitckpt.protocol.state import MAX_STATE, state_characters
from gitckpt.protocol.transcript import Complaint, Transcript, name, quoted

_TO_WRITE = {
    "phase": "`phase: implement`",
    "done": "`done: [what was finished, one phrase each]`",
    "next": "`next: [what comes next and the tool call expected]`",
    "state_ref": "`state_ref: [files, variables or branches that matter now]`",
    "rollback_hint": "`rollback_hint: [back to C6, git checkout PATH]`",
    "text": "three sentences between header and footer",
    "from": "`from: CHECKPOINT 7`",
    "reason": "`reason: [what went wrong]`",
    "new_strategy": "`new_strategy: [what to do instead]`",
    "checkpoints": "`checkpoints: [C1, C2, C3]`",
    "summaries": "`summaries: [S1(C1-C5)]`",
    "result": "`result: what came out`",
}

_FENCE_LINE = re.compile(r"[\s>]*(?:`{3,}|~{3,})[^`]*")
_FRAME_ONLY = re.compile(r"[\s>*_`~\u200b\ufeff]*")


def missing_field(block: Block) -> Iterator[Complaint]:
    """P001. A short run has no summaries to list: `summaries` of a FINAL may be empty, but not absent."""
    for field in REQUIRED[block.kind]:
        may_be_empty = field == "summaries" and field in block.fields
        if not block.fields.get(field) and not may_be_empty:
            yield Complaint(block, f"{name(block)} has no `{field}`; write {_TO_WRITE[field]}", field)


def unknown_phase(block: Block) -> Iterator[Complaint]:
    """P002"""
    written = block.fields.get("phase_written") or block.fields.get("phase")
    if block.kind == "checkpoint" and written and block.fields.get("phase") not in PHASES:
        choice = "write explore, implement, verify or finish (探索, 实施, 验证, 收尾)"
        yield Complaint(block, f"`{quoted(written)}` is no phase; {choice}", "phase")


def hint_not_executable(block: Block) -> Iterator[Complaint]:
    """P006"""
    hint = str(block.fields.get("rollback_hint") or "")
    if block.kind == "checkpoint" and hint and not is_executable_text(hint):
        wrong = f"the rollback_hint of {name(block)} names no action that can be carried out"
        remedy = "name the checkpoint and the paths (`back to C6, git checkout src/a.ts`), or say `nothing to undo`"
        yield Complaint(block, f"{wrong}; {remedy}", "rollback_hint")


def not_three_sentences(block: Block) -> Iterator[Complaint]:
    """P009"""
    count = count_sentences(str(block.fields.get("text") or ""))
    if block.kind == "summary" and count not in (0, 3):
        sentences = "sentence" if count == 1 else "sentences"
        yield Complaint(block, f"{name(block)} has {count} {sentences}; write exactly three")


def state_too_long(block: Block) -> Iterator[Complaint]:
    """P014"""
    length = state_characters(block.fields)
    if block.kind == "checkpoint" and length > MAX_STATE:
        wrong = f"the state of {name(block)} has {length:,} characters, of which {MAX_STATE:,} are allowed"
        yield Complaint(block, f"{wrong}; drop the oldest `done`, then facts that no `todo` or `open` needs")


def prose_outside(text: Transcript) -> Iterator[Complaint]:
    """P012: one finding per stretch of prose, at its first line."""
    previous = None
    for number, line in text.prose() if text.strict else ():
        if _FRAME_ONLY.fullmatch(line) or _FENCE_LINE.fullmatch(line):
            continue
        if previous != number - 1:
            yield Complaint(number, "text outside the blocks; put it into a field of a block, or leave it out")
        previous = number
