"""The state that each checkpoint gives: what is new, what is gone, and which facts may no longer hold."""

from __future__ import annotations

from gitckpt.protocol.blocks import STATE_FIELDS
from gitckpt.trajectory.claims import Paths, words_of
from gitckpt.trajectory.events import is_readable
from gitckpt.views.show import value_lines
from gitckpt.views.text import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from gitckpt.trajectory.events import Event
    from gitckpt.views.report.contents import Contents

    #: Text and source.
    Fact = tuple[str, str]

#: Fields whose value is compared with the one last given before.
COMPARED = ("state_ref", *STATE_FIELDS)


class States:
    """The fields in force at each checkpoint of a session. A field that a checkpoint does not give keeps its value."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._in_force: dict[str, dict[str, Any]] = {}
        self._since: dict[str, dict[Fact, Event]] = {}
        for event in contents.all:
            self._take(event)
        changed = (path for event in contents.events for _, path, _ in contents.files.get(event.commit, ()))
        self._paths = Paths({path for path in changed if isinstance(path, bytes)})
        self._named: dict[str, set[bytes]] = {}

    def _take(self, event: Event) -> None:
        before, since = self._in_force.get(event.parent, {}), self._since.get(event.parent, {})
        if event.kind == "checkpoint" and is_readable(event):
            given = {name: event.fields[name] for name in COMPARED if event.fields.get(name)}
            before = before | given
            if "facts" in given:
                since = {fact: since.get(fact, event) for fact in facts_of(given["facts"])}
        self._in_force[event.commit], self._since[event.commit] = before, since

    def before(self, event: Event) -> Mapping[str, Any]:
        """Return the fields in force before an event."""
        return self._in_force.get(event.parent, {})

    def at(self, event: Event) -> Mapping[str, Any]:
        """Return the fields in force after an event."""
        return self._in_force.get(event.commit, {})

    def facts_now(self, event: Event) -> list[dict[str, Any]]:
        """Return the same as `facts`, with `"now": True` for facts whose files now differ in the work tree."""
        rows = zip(self._since.get(event.commit, {}), self.facts(event), strict=True)
        return [row | ({"now": True} if fact in self._contents.stale else {}) for fact, row in rows]

    def facts(self, event: Event) -> list[dict[str, Any]]:
        """Return the facts in force at an event: `{"text", "source", "since", "stale"}`. `since` is the checkpoint that
        gave the fact first; `stale` is the first event since then that changed the file named by its source."""
        return [self._fact(event, fact, since) for fact, since in self._since.get(event.commit, {}).items()]

    def _fact(self, event: Event, fact: Fact, since: Event) -> dict[str, Any]:
        link, text, source = self._contents.link, *fact
        changes = [e for path in self._paths_in(source) if (e := self._contents.changed_between(path, since, event))]
        stale = min(changes, key=lambda e: e.seq, default=None)
        return {
            "text": escape(text, multiline=True),
            "source": escape(source),
            "since": link(since.commit),
            "stale": link(stale.commit) if stale else None,
        }

    def _paths_in(self, source: str) -> set[bytes]:
        if source not in self._named:
            self._named[source] = {path for word in words_of(source) for path in self._paths.meant(word)}
        return self._named[source]


def facts_of(value: Any) -> list[Fact]:
    """Return facts as text and source, whatever form they were recorded in."""
    entries = value if isinstance(value, list) else [value]
    return [
        (str(entry.get("text") or ""), str(entry.get("source") or "")) if isinstance(entry, dict) else (str(entry), "")
        for entry in entries
    ]


def marked(now: Any, before: Any) -> list[dict[str, str]]:
    """Return the entries of a list as `{"text", "mark"}`: `mark` is "new", "" for an entry that existed before, or
    "gone" for one that no longer exists; those come last. Without `before`, nothing is marked."""
    here, there = _lines(now), _lines(before)
    rows = [{"text": text, "mark": "new" if there and text not in there else ""} for text in here]
    return rows + [{"text": text, "mark": "gone"} for text in there if text not in here]


def _lines(value: Any) -> list[str]:
    entries = value if isinstance(value, list) else [value] if value not in (None, "") else []
    return ["\n".join(value_lines(entry)) for entry in entries]


def pairs(now: Any, before: Any) -> list[dict[str, str]]:
    """Return the entries of a mapping as `{"key", "text", "mark", "was"}`; `was` is the old value of a changed
    entry.
    """
    if not isinstance(now, dict):
        return [{"key": "", **row} for row in marked(now, None)]
    known = before if isinstance(before, dict) else {}
    return [_pair(key, value, known) for key, value in now.items()]


def _pair(key: str, value: Any, known: Mapping[str, Any]) -> dict[str, str]:
    text, was = _joined(value), _joined(known[key]) if key in known else ""
    mark = "" if not known or text == was else "new"
    return {"key": escape(str(key)), "text": text, "mark": mark, "was": was if mark else ""}


def _joined(value: Any) -> str:
    return "\n".join(value_lines(value))


def state_sections(fields: Mapping[str, Any], before: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield the goal, todo and open that a checkpoint gives, compared with those before."""
    for name in ("goal", "todo", "open"):
        if fields.get(name):
            yield {"title": name, "form": "list", "rows": marked(fields[name], before.get(name))}


def as_sections(state: Mapping[str, Any], facts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what is in force, without marks."""
    found = list(state_sections(state, {}))
    if facts:
        found.insert(1 if state.get("goal") else 0, {"title": "facts", "form": "facts", "rows": list(facts)})
    return found
