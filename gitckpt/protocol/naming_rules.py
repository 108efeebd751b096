"""Rules about references between blocks: hints, RETRY, SUMMARY and FINAL must name existing blocks, and name all of
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitckpt.protocol.blocks import Block
from gitckpt.protocol.hints import parse_hint
from gitckpt.protocol.transcript import Complaint, Run, Transcript, listed, name, number, quoted, retried, span


def unknown_name(run: Run) -> Iterator[Complaint]:
    """P007"""
    latest: int | None = None
    for block, known in run.before():
        for field, ids in _named(block, latest).items():
            if unknown := [id for id in ids if id not in known]:
                wrong = f"{name(block)} names {listed(unknown)}, but no such block stands before it"
                yield Complaint(block, f"{wrong}; name one that is there", field)
        latest = number(block.id) or latest


def _named(block: Block, latest: int | None) -> dict[str, list[str]]:
    """Return the ids that the block names, by field. A RETRY may name the step that failed before it could report."""
    if block.kind == "checkpoint":
        target = parse_hint(str(block.fields.get("rollback_hint") or ""), exists=lambda path: False).target
        return {"rollback_hint": [target] if target else []}
    if block.kind == "summary":
        return {"": list(block.fields.get("covers") or ())}
    if block.kind == "retry":
        unreported = f"C{(latest or 0) + 1}"
        return {"from": [id for id in retried(block) if id != unreported]}
    return {"checkpoints": _checkpoints_of(block)}


def _checkpoints_of(final: Block) -> list[str]:
    """Return the ids that a FINAL lists; `RETRY→C7` stands for C7."""
    return [id.rpartition("→")[2] for id in final.fields.get("checkpoints") or ()]


def _summaries_of(final: Block) -> list[dict[str, Any]]:
    return list(final.fields.get("summaries") or ())


def unknown_summary(run: Run) -> Iterator[Complaint]:
    """P007, for the summaries that a FINAL lists. A summary whose checkpoints are left out is left out with them."""
    for final in run.of_kind("final"):
        for entry in _summaries_of(final):
            if entry["id"] not in run.ids("summary") and not run.left_out.keys() & entry["covers"]:
                wrong = f"FINAL names {quoted(entry['id'])}, but no such block stands before it"
                yield Complaint(final, f"{wrong}; name one that is there", "summaries")


def summary_range(run: Run) -> Iterator[Complaint]:
    """P010: compare each SUMMARY with the checkpoints since the previous one."""
    covered: set[str] = set()
    recorded = {*run.left_out, *run.retried_ids}
    since: list[str] = []
    for block in run.blocks:
        if block.kind == "checkpoint" and block.id and block.id not in since:
            since.append(block.id)
        elif block.kind == "summary":
            recorded.update(since)
            covers = list(block.fields.get("covers") or ())
            if faults := list(_range_faults(covers, covered, since, recorded)):
                expected = f"; write (covers {span(since)})" if since else ""
                yield Complaint(block, f"{name(block)} {' and '.join(faults)}{expected}")
            covered.update(covers)
            since = []


def _range_faults(covers: list[str], covered: set[str], since: list[str], recorded: set[str]) -> Iterator[str]:
    """Yield what is wrong with a range. A retried step may be covered again, or not."""
    if not covers:
        yield "does not say what it covers"
        return
    if twice := [id for id in covers if id in covered and id not in since]:
        yield f"covers {listed(twice)} again"
    if missed := [id for id in since if id not in covers and id not in covered]:
        yield f"leaves out {listed(missed)}"
    if absent := [id for id in covers if id not in recorded and id not in covered]:
        yield f"covers {listed(absent)}, not recorded before it"


def range_in_final(run: Run) -> Iterator[Complaint]:
    """P010: a FINAL gives a summary a different range than its block does."""
    written = {block.id: block.fields.get("covers") for block in run.of_kind("summary")}
    for final in run.of_kind("final"):
        for entry in _summaries_of(final):
            covers = written.get(entry["id"])
            if covers and entry["covers"] and entry["covers"] != covers:
                wrong = f"FINAL says that {entry['id']} covers {span(entry['covers'])}, its block says {span(covers)}"
                yield Complaint(final, f"{wrong}; write {entry['id']}({span(covers)})", "summaries")


def final_omits(run: Run) -> Iterator[Complaint]:
    """P011: a FINAL does not list everything."""
    for final in run.of_kind("final"):
        yield from _omitted(final, "checkpoints", run.ids("checkpoint"), _checkpoints_of(final))
        yield from _omitted(final, "summaries", run.ids("summary"), [entry["id"] for entry in _summaries_of(final)])


def _omitted(final: Block, field: str, recorded: list[str], listed_ids: list[str]) -> Iterator[Complaint]:
    named = set(listed_ids)
    if left := [id for id in recorded if id not in named]:
        yield Complaint(final, f"FINAL leaves out {listed(left)}; list every one that was recorded", field)


def final_absent(text: Transcript) -> Iterator[Complaint]:
    """P011: a finished run has no FINAL. It is finished if the caller says so, or if its last checkpoint has nothing
    left to do.
    """
    for run in text.runs:
        finished = run.looks_finished if text.finished is None else text.finished
        if finished and not run.of_kind("final"):
            remedy = "end it with a ===FINAL=== block that lists all checkpoints and summaries"
            yield Complaint(run.blocks[-1], f"the run is finished and has no FINAL; {remedy}")
