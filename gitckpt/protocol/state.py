"""The state of a checkpoint: what an agent needs to know to continue after its context was cleared.

`{"goal": str, "facts": [{"text", "source"}…], "done": [str…], "todo": [str…], "open": [str…]}`, as in the fields of a
checkpoint. A fact must have a source; a state has at most 2,000 characters."""

from __future__ import annotations

import re
from typing import Any, Final

from gitckpt.protocol.blocks import STATE_FIELDS

State = dict[str, Any]

#: The size in characters beyond which a state is a second context rather than a state.
MAX_STATE: Final = 2000

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PLACE_IN_FILE: Final = re.compile(r"(?::\d+(?:-\d+)?(?::\d+)?|#L\d+(?:-L?\d+)?)$")

# What a todo may mention of a fact: names and longer words, and two consecutive characters in text without spaces.
_WORDS: Final = re.compile(r"[\w./-]{4,}", re.ASCII)
_WIDE: Final = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]{2,}")


def sourced(state: State) -> tuple[State, list[str]]:
    """Return the state with each fact that has no source moved to `open`, and the texts of those."""
    facts = [fact for fact in state.get("facts") or () if _is_sourced(fact)]
    moved = [str(fact.get("text") or "") for fact in state.get("facts") or () if not _is_sourced(fact)]
    known = [str(item) for item in state.get("open") or ()]
    new = [text for text in moved if text and text not in known]
    return {**state, "facts": facts, "open": known + new}, new


def settled(fields: State) -> tuple[State, list[str], list[str]]:
    """Return the fields of a checkpoint with its state made valid, the facts moved to `open`, and what was dropped. A
    checkpoint without a state keeps its fields as they are."""
    if not any(fields.get(name) for name in STATE_FIELDS):
        return fields, [], []
    state, moved = sourced(fields)
    state, dropped = within_limit(state)
    return {name: value for name, value in state.items() if value or fields.get(name) == value}, moved, dropped


def _is_sourced(fact: dict[str, Any]) -> bool:
    return bool(str(fact.get("source") or "").strip() and str(fact.get("text") or "").strip())


def source_path(source: str) -> str:
    """Return the path in a source of the form `path:line` (also `path:3-7`, `path:3:7`, `path#L3`, or the path alone);
    "" for a URL. Does not check whether the file exists."""
    text = source.strip().strip("`").strip()
    if _URL.match(text):
        return ""
    return _PLACE_IN_FILE.sub("", text).removeprefix("./")


def stale_line(fact: State) -> str:
    """Describe a fact whose file has changed, as returned by `repo.evidence.stale_facts`."""
    path = fact["path"] if isinstance(fact["path"], str) else fact["source"]
    return f"{fact['text']} (source: {fact['source']}): {path} has changed since {fact['since']}"


def within_limit(state: State, limit: int = MAX_STATE) -> tuple[State, list[str]]:
    """Return the state cut to `limit` characters, and what was dropped, in order.

    Drops the oldest `done` first, then facts that no `todo` or `open` mentions, oldest first. If that is not enough,
    drops the other facts, then the newest of `open` and of `todo`, and finally cuts the goal.
    """
    kept = {name: list(value) if isinstance(value, list) else value for name, value in state.items()}
    dropped: list[str] = []
    while state_characters(kept) > limit and (entry := _take_out(kept)):
        dropped.append(entry)
    if state_characters(kept) > limit:
        dropped.append(f"goal: {kept['goal']}")
        kept["goal"] = str(kept["goal"])[: limit - 1] + "…"
    return kept, dropped


def _take_out(state: State) -> str:
    """Remove the least important entry and return it, or "" if only the goal is left."""
    if state.get("done"):
        return f"done: {state['done'].pop(0)}"
    if state.get("facts"):
        wanted = _words(" ".join(map(str, [*(state.get("todo") or ()), *(state.get("open") or ())])))
        unmentioned = (i for i, fact in enumerate(state["facts"]) if not wanted & _words(_told(fact)))
        return f"fact: {_told(state['facts'].pop(next(unmentioned, 0)))}"
    for name in ("open", "todo"):
        if state.get(name):
            return f"{name}: {state[name].pop()}"
    return ""


def _told(fact: dict[str, Any]) -> str:
    return f"{fact.get('text')} (source: {fact.get('source')})"


def _words(text: str) -> set[str]:
    wide = {run[i : i + 2] for run in _WIDE.findall(text) for i in range(len(run) - 1)}
    return {word.lower().strip("./-") for word in _WORDS.findall(text)} | wide


def is_progress(before: State | None, after: State) -> bool:
    """Return whether a checkpoint adds a fact, finishes a todo, or is the first."""
    if before is None:
        return True
    finished = set(before.get("todo") or ()) - set(after.get("todo") or ())
    return bool(finished or _fact_texts(after) - _fact_texts(before))


def more_done(before: State | None, after: State) -> bool:
    """Return whether `after` has done items that `before` lacks."""
    return before is None or bool(set(after.get("done") or ()) - set(before.get("done") or ()))


def state_characters(fields: dict[str, object]) -> int:
    """Return the number of characters in the state of a checkpoint: all text under goal, facts, done, todo and open."""
    return sum(map(_characters, (fields.get(name) for name in (*STATE_FIELDS, "done"))))


def _characters(value: object) -> int:
    if isinstance(value, dict):
        return sum(map(_characters, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(_characters, value))
    return len(str(value)) if value is not None else 0


def _fact_texts(state: State) -> set[str]:
    return {str(fact.get("text")) for fact in state.get("facts") or ()}
