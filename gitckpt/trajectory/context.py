"""The prior context: what an agent must know to continue, without the whole log.

It consists of SUMMARY blocks, then the steps since the last of them, then the latest checkpoint with the state to
continue from. It is protocol text, in the form that the prompt hands back to the agent.

An entry is a dict `{"kind", "id", "fields"}`: a block with its canonical id (or None) and its fields as read. Entries
are from one line of history, oldest first; kinds that are not blocks are skipped. The newest entry with facts may have
`stale`: the facts whose files have changed, as returned by `repo.evidence.stale_facts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from gitckpt.protocol.blocks import STATE_FIELDS
from gitckpt.protocol.state import stale_line
from gitckpt.protocol.writer import block_text, spans

Entry = dict[str, Any]

#: The maximum number of steps not yet covered by a SUMMARY; older ones are left out, so a context is never the whole
#: log.
MAX_STEPS: Final = 10


@dataclass(frozen=True, slots=True)
class _Context:
    """`pieces` are summaries, then steps, oldest first; `latest` is the last checkpoint and any RETRY after it."""

    pieces: tuple[Entry, ...]
    latest: tuple[Entry, ...]
    left_out: tuple[str, ...]


def build_context(entries: list[Entry], budget: int | None = None) -> str:
    """Return the context as text of at most `budget` characters.

    Whatever does not fit is left out, the oldest summary first, and named in the first line. The latest checkpoint is
    never left out: if it alone exceeds the budget, so does the text. Empty if there is nothing to continue from.
    """
    stale = "".join(f"\nStale, look again: {stale_line(fact)}\n" for fact in _stale(entries))
    context = _within(_gathered(entries), None if budget is None else budget - len(stale))
    texts = [_text(piece) for piece in (*context.pieces, *context.latest)]
    return _note(context.left_out) + "\n".join(texts) + stale


def context_json(entries: list[Entry], budget: int | None = None) -> dict[str, Any]:
    """Return the same as plain data, cut the same way.

    `{"schema": "gitckpt.context/1", "summaries": [ENTRY…], "steps": [ENTRY…], "latest": [ENTRY…], "state": {…},
    "stale": [FACT…], "left_out": [ID…]}`. `state` holds `goal`, `facts`, `todo` and `open`, as far as any checkpoint
    gave them.
    """
    context = _within(_gathered(entries), budget)
    checkpoint = next((entry for entry in context.latest if entry["kind"] == "checkpoint"), None)
    state = checkpoint["fields"] if checkpoint else {}
    return {
        "schema": "gitckpt.context/1",
        "summaries": [piece for piece in context.pieces if piece["kind"] == "summary"],
        "steps": [piece for piece in context.pieces if piece["kind"] != "summary"],
        "latest": list(context.latest),
        "state": {name: state[name] for name in STATE_FIELDS if name in state},
        "stale": _stale(entries),
        "left_out": list(context.left_out),
    }


def _stale(entries: list[Entry]) -> list[dict[str, Any]]:
    return [fact for entry in entries for fact in entry.get("stale") or ()]


def _gathered(entries: list[Entry]) -> _Context:
    told = [_entry(entry) for entry in entries if entry.get("kind") in ("checkpoint", "summary", "retry")]
    summaries = [entry for entry in told if entry["kind"] == "summary"]
    places = {
        kind: [place for place, entry in enumerate(told) if entry["kind"] == kind] for kind in ("summary", "checkpoint")
    }
    since = max(places["summary"], default=-1) + 1
    latest = max(places["checkpoint"], default=len(told))
    steps = [_without_state(entry) for entry in told[since:latest] if entry["kind"] != "summary"]
    dropped, kept = steps[: max(0, len(steps) - MAX_STEPS)], steps[-MAX_STEPS:]
    tail = [entry for entry in told[latest:] if entry["kind"] != "summary"]
    return _Context((*summaries, *kept), tuple(_with_state(tail, told)), _ids(dropped))


def _entry(entry: Entry) -> Entry:
    return {"kind": entry["kind"], "id": entry.get("id"), "fields": dict(entry.get("fields") or {})}


def _without_state(entry: Entry) -> Entry:
    """Return an earlier step without its state, which the latest checkpoint has in its newest form."""
    return {**entry, "fields": {key: value for key, value in entry["fields"].items() if key not in STATE_FIELDS}}


def _with_state(tail: list[Entry], told: list[Entry]) -> list[Entry]:
    """Fill in the state fields that the latest checkpoint lacks with the most recent value of each."""
    checkpoints = [entry["fields"] for entry in told if entry["kind"] == "checkpoint"]
    state = {name: fields[name] for fields in checkpoints for name in STATE_FIELDS if name in fields}
    return [
        {**entry, "fields": {**entry["fields"], **state}} if entry["kind"] == "checkpoint" else entry for entry in tail
    ]


def _ids(pieces: list[Entry] | tuple[Entry, ...]) -> tuple[str, ...]:
    return tuple(piece["id"] or piece["kind"].upper() for piece in pieces)


def _text(entry: Entry) -> str:
    return block_text(entry["kind"], entry["id"], entry["fields"])


def _note(left_out: tuple[str, ...]) -> str:
    return f"(left out: {spans(list(left_out))}; `gitckpt show ID` has each whole)\n\n" if left_out else ""


def _within(context: _Context, budget: int | None) -> _Context:
    """Return the context with as few of its oldest pieces left out as the budget requires."""
    if budget is None:
        return context
    lengths = [len(_text(piece)) + 1 for piece in (*context.pieces, *context.latest)]
    for dropped in range(len(context.pieces) + 1):
        smaller = _dropping(context, dropped)
        if sum(lengths[dropped:]) - 1 + len(_note(smaller.left_out)) <= budget:
            return smaller
    return _dropping(context, len(context.pieces))


def _dropping(context: _Context, count: int) -> _Context:
    left_out = (*_ids(context.pieces[:count]), *context.left_out)
    return _Context(context.pieces[count:], context.latest, left_out)
