"""Rules about the order of a run: how ids count up, how phases follow each other, how much each step adds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from gitckpt.protocol.blocks import PHASES, Block
from gitckpt.protocol.transcript import Complaint, Run, Transcript, listed, name, number, retried, span

#: The number of checkpoints that one SUMMARY covers.
PER_SUMMARY = 5
#: The number of checkpoints in one task beyond which the steps are too small to be readable.
MAX_CHECKPOINTS = 30
#: The number of consecutive checkpoints without a change at which the steps are too small.
MAX_UNCHANGED = 3

_RANK: dict[str | None, int] = {phase: rank for rank, phase in enumerate(PHASES)}
_STATE = ("done", "state_ref", "goal", "facts", "todo", "open")


def repeated_id(run: Run) -> Iterator[Complaint]:
    """P005"""
    seen: dict[str, int] = {}
    for block in run.blocks:
        if block.kind == "retry":
            seen.clear()
        elif block.id in seen:
            remedy = "count on, or write a RETRY block before doing a step again"
            yield Complaint(block, f"{name(block)} was there in line {seen[block.id]}; {remedy}")
        if block.id:
            seen[block.id] = block.line


def too_many_since_summary(run: Run) -> Iterator[Complaint]:
    """P008: one finding per stretch without a SUMMARY. A retried step counts once."""
    since: set[str] = set()
    for block in run.blocks:
        if block.kind == "summary":
            since.clear()
        elif block.kind == "checkpoint":
            was_within = len(since) <= PER_SUMMARY
            since.add(block.id or f"line {block.line}")
            if was_within and len(since) > PER_SUMMARY:
                ordinal = f"number {PER_SUMMARY + 1} since the last SUMMARY"
                yield Complaint(block, f"{name(block)} is {ordinal}; write a SUMMARY after every {PER_SUMMARY}")


def out_of_order(run: Run) -> Iterator[Complaint]:
    """P013"""
    last: dict[str, int] = {}
    after_retry: set[int] = set()
    for block in run.blocks:
        letter = "S" if block.kind == "summary" else "C"
        count = number(block.id, letter)
        if block.kind == "retry":
            after_retry = _may_follow(block)
        elif count is not None:
            if count not in after_retry and (wrong := _jump(letter, last.get(letter), count, run)):
                yield Complaint(block, f"{name(block)} {wrong}")
            last[letter] = count
            after_retry = after_retry if letter == "S" else set()


def _may_follow(retry: Block) -> set[int]:
    """Return the numbers allowed after a RETRY: after one from C7, an agent repeats step 7 or continues with 8."""
    numbers = (number(id) for id in retried(retry))
    return {count + step for count in numbers if count is not None for step in (0, 1)}


def _jump(letter: str, last: int | None, count: int, run: Run) -> str:
    """Return what is wrong with `count` after `last`, or "". A repeated id is handled by another rule."""
    if last is None:
        return ""
    follower = f"count on with {letter}{last + 1}"
    if count < last:
        return f"runs backwards behind {letter}{last}; {follower}, or write a RETRY block first"
    between = (f"{letter}{n}" for n in range(last + 1, min(count, last + 1000)))
    skipped = [id for id in between if id not in run.left_out and id not in run.retried_ids]
    return f"skips {listed(skipped)}; {follower}" if skipped else ""


def left_out(text: Transcript) -> Iterator[Complaint]:
    """P013, for steps that the text says it leaves out. They are reported here, once, and count as known elsewhere."""
    for line, ids in text.elisions.items():
        yield Complaint(
            line, f"{span(ids)} left out: nobody can read, or go back to, what is not written; write the blocks"
        )


def too_many(run: Run) -> Iterator[Complaint]:
    """P016: too many checkpoints."""
    for block in run.of_kind("checkpoint")[MAX_CHECKPOINTS : MAX_CHECKPOINTS + 1]:
        wrong = f"{name(block)} is number {MAX_CHECKPOINTS + 1} of one task"
        yield Complaint(block, f"{wrong}; make a checkpoint for a tool call or a decision, not for less")


def unchanged(run: Run) -> Iterator[Complaint]:
    """P016: consecutive checkpoints that say the same."""
    in_a_row = 0
    for previous, block in pairwise(run.of_kind("checkpoint")):
        same = all(previous.fields.get(field) == block.fields.get(field) for field in _STATE)
        in_a_row = in_a_row + 1 if same else 0
        if in_a_row == MAX_UNCHANGED:
            wrong = f"{name(block)} and the {MAX_UNCHANGED - 1} before it changed nothing"
            yield Complaint(block, f"{wrong}; make a checkpoint when `done` or the state is another")


def no_progress(run: Run) -> Iterator[Complaint]:
    """P017, for checkpoints that carry a state: those that list facts or todos."""
    stateful = [block for block in run.of_kind("checkpoint") if "facts" in block.fields or "todo" in block.fields]
    for previous, block in pairwise(stateful):
        finished = set(previous.fields.get("todo") or ()) - set(block.fields.get("todo") or ())
        if not finished and not _facts(block) - _facts(previous):
            wrong = f"{name(block)} adds no fact and finishes no todo"
            yield Complaint(block, f"{wrong}; find something out or finish something before the next checkpoint")


def _facts(block: Block) -> set[str]:
    return {str(fact.get("text")) for fact in block.fields.get("facts") or ()}


def phase_backwards(run: Run) -> Iterator[Complaint]:
    """P018"""
    reached: str | None = None
    for block in run.blocks:
        phase = block.fields.get("phase")
        if block.kind == "retry":
            reached = None
        elif block.kind == "checkpoint" and phase in _RANK:
            if reached and _RANK[phase] < _RANK[reached]:
                wrong = f"{name(block)} goes from {reached} back to {phase}"
                yield Complaint(block, f"{wrong}; write a RETRY block that says why", "phase")
            reached = phase
