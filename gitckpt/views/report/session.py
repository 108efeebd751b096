"""A session as data for the page: its outcome, and its events as rows of a drawn timeline."""

from __future__ import annotations

from gitckpt.protocol.reader import said_at_end
from gitckpt.trajectory.events import is_readable
from gitckpt.views.attempts import verdict_of
from gitckpt.views.graph import places
from gitckpt.views.log import HERE, fold_autos, forks
from gitckpt.views.paths import path_text
from gitckpt.views.report.event import event_row
from gitckpt.views.report.state import States, as_sections
from gitckpt.views.show import value_lines
from gitckpt.views.text import count, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gitckpt.trajectory.events import Event
    from gitckpt.views.attempts import Drawn
    from gitckpt.views.report.contents import Contents

#: The maximum number of coverage gaps named in the overview.
MOST_GAPS = 20

#: What is counted, in display order; the plurals that are not regular follow.
_COUNTED = {
    "checkpoint": "checkpoint",
    "auto": "automatic",
    "summary": "summary",
    "retry": "retry",
    "rollback": "rollback",
}
_MANY = {"summary": "summaries", "retry": "retries", "auto": "automatic"}


def session_document(contents: Contents) -> dict[str, Any]:
    """Return everything the page shows of a session."""
    states = States(contents)
    session = contents.session
    return {
        "session": escape(session.id),
        "overview": _overview(contents, states),
        "rows": _rows(contents, states),
        "names": {name: contents.anchors[commit] for name, commit in contents.names.items()},
    }


# -- the timeline


def _rows(contents: Contents, states: States) -> list[dict[str, Any]]:
    """Return a row for each event, or for a group of automatic ones: `{"events", "lane", "fork", "below", "tips"}`; if
    recording continues there, the last row has no events."""
    runs = fold_autos(contents.events, forks(contents.session, contents.events) | contents.runs.keys())
    edges = [(run[-1].commit, run[0].parent) for run in runs]
    current = set(contents.on_active)
    tips = _tips(contents)
    rows = [
        {"events": [event_row(event, contents, states) for event in run], "tips": tips.get(run[-1].commit, [])}
        for run in runs
    ]
    if contents.session.is_open and contents.active:
        edges.append((HERE, contents.active[-1].commit))
        current.add(HERE)
        rows.append({"events": [], "tips": [escape(contents.session.active_line)]})
    drawn = places(edges, current)
    return [
        row | {"lane": place.lane, "fork": place.fork, "below": place.below}
        for row, place in zip(rows, drawn, strict=True)
    ]


def _tips(contents: Contents) -> dict[str, list[str]]:
    """Map commits to the lines that end there, if there are several lines."""
    tips: dict[str, list[str]] = {}
    lines = contents.session.lines if len(contents.session.lines) > 1 else {}
    for line, tip in lines.items():
        if not (contents.session.is_open and line == contents.session.active_line):
            tips.setdefault(tip, []).append(escape(line))
    return tips | {drawn.end.commit: [drawn.name] for drawn in contents.attempts}


# -- the outcome


def _overview(contents: Contents, states: States) -> dict[str, Any]:
    events, latest = contents.own, _latest(contents)
    return {
        "agent": _agent(events),
        "first": escape(events[0].at) if events else "",
        "last": escape(events[-1].at) if events else "",
        "outcome": _outcome(contents),
        "counts": list(_counts(contents)),
        "phases": list(_phases(contents)),
        "latest": contents.link(latest.commit) if latest else None,
        "state": as_sections(states.at(latest), states.facts_now(latest)) if latest else [],
        "retries": [_retry(event, contents) for event in events if event.kind == "retry" and is_readable(event)],
        "attempts": [_attempt(drawn, contents) for drawn in contents.attempts],
        "gaps": list(_gaps(contents)),
        "claims": list(_claims(contents)),
        "lost": contents.session.lost,
    }


def _latest(contents: Contents) -> Event | None:
    return next((event for event in reversed(contents.active) if event.kind == "checkpoint"), None)


def _agent(events: Sequence[Event]) -> str:
    """Return the command of the agent that was started first, with its task instead of the whole prompt if it has one;
    "" if unknown."""
    for event in events:
        agent = event.document.get("agent") if event.kind in ("start", "note") and is_readable(event) else None
        if agent and isinstance(agent.get("command"), list):
            task, template = agent.get("task"), agent.get("template")
            if isinstance(task, str) and isinstance(template, list):
                return escape(f"{' '.join(map(str, template))}, task: {task}")
            return escape(" ".join(map(str, agent["command"])))
    return ""


def _outcome(contents: Contents) -> dict[str, Any]:
    """Return how the run ended: `{"kind": "final" | "open" | "unfinished", "text", "at"}`."""
    ends = [event for event in contents.active if is_readable(event)]
    for event in reversed(ends):
        if event.kind == "final":
            text = value_lines(event.fields.get("result") or "FINAL without a result")
            return {"kind": "final", "text": "\n".join(text), "at": contents.link(event.commit)}
        if event.kind == "end" and (event.document.get("agent") or {}).get("outcome"):
            agent = event.document["agent"]
            kind = "final" if agent["outcome"] == "done" else "unfinished"
            text = value_lines(f"{agent['outcome']}: {said_at_end(str(agent.get('text') or ''))}")
            return {"kind": kind, "text": "\n".join(text), "at": contents.link(event.commit)}
    last = contents.link(contents.active[-1].commit) if contents.active else None
    if contents.session.is_open:
        return {"kind": "open", "text": f"goes on, on {escape(contents.session.active_line)}", "at": last}
    return {"kind": "unfinished", "text": "ended without FINAL", "at": last}


def _counts(contents: Contents) -> Iterator[str]:
    kinds = [event.kind for event in contents.own]
    for kind, noun in _COUNTED.items():
        if kind in kinds:
            yield count(kinds.count(kind), noun, _MANY.get(kind, ""))
    if len(contents.session.lines) > 1:
        yield count(len(contents.session.lines), "line")
    if contents.attempts:
        yield count(len(contents.attempts), "attempt")
    paths = {str(path) for event in contents.own for _, path, _ in contents.files.get(event.commit, ())}
    yield count(len(paths), "file") + " changed"
    for key, noun in (("input_tokens", "tokens in"), ("output_tokens", "tokens out")):
        if tokens := _tokens(contents, key):
            yield f"{tokens:,} {noun}"


def _tokens(contents: Contents, key: str) -> int:
    """Return the number of tokens reported by the end events of agents."""
    ends = [e.document.get("agent") or {} for e in contents.own if e.kind == "end" and is_readable(e)]
    return sum(number for end in ends if isinstance(number := end.get(key), int))


def _phases(contents: Contents) -> Iterator[dict[str, Any]]:
    """Yield the phases on the current line: `{"phase", "steps", "anchor"}`, each with its number of checkpoints."""
    run: dict[str, Any] = {}
    for event in contents.active:
        if event.kind != "checkpoint" or not event.phase:
            continue
        if run.get("phase") == escape(event.phase):
            run["steps"] += 1
            continue
        if run:
            yield run
        run = {"phase": escape(event.phase), "steps": 1, "anchor": contents.anchors[event.commit]}
    if run:
        yield run


def _retry(event: Event, contents: Contents) -> dict[str, Any]:
    fields = event.fields
    said = {name: "\n".join(value_lines(fields.get(name))) for name in ("from", "reason", "new_strategy")}
    at = contents.link(str((event.opens or {}).get("at")))
    return {**said, "at": contents.link(event.commit), "to": at}


def _attempt(drawn: Drawn, contents: Contents) -> dict[str, Any]:
    """Return how an attempt ended: `{"at", "to", "verdict", "words"}`: its end, where it began, and its result."""
    name = {"name": drawn.name, "anchor": contents.anchors[drawn.end.commit]}
    return {"at": name, "to": contents.link(drawn.began_at), "verdict": verdict_of(drawn.row), "words": drawn.words}


def _gaps(contents: Contents) -> Iterator[dict[str, Any]]:
    """Yield what snapshots do not hold: `{"path", "reason", "first", "last", "steps"}`, once per path and reason."""
    found: dict[tuple[str, str], list[Event]] = {}
    for event in contents.events:
        for entry in event.missing if is_readable(event) else ():
            key = (path_text(entry["path"]), escape(str(entry.get("reason", ""))))
            found.setdefault(key, []).append(event)
    for (path, reason), events in list(found.items())[:MOST_GAPS]:
        first, last = contents.link(events[0].commit), contents.link(events[-1].commit)
        yield {"path": path, "reason": reason, "first": first, "last": last, "steps": len(events)}
    if len(found) > MOST_GAPS:
        yield {"path": f"and {len(found) - MOST_GAPS:,} more", "reason": "", "first": None, "last": None, "steps": 0}


def _claims(contents: Contents) -> Iterator[dict[str, Any]]:
    """Yield the checkpoints that claim work on files that did not change."""
    for event in contents.events:
        claims = contents.claims.get(event.commit)
        if claims is not None and claims.unchanged:
            yield {"at": contents.link(event.commit), "paths": [path_text(path) for path in claims.unchanged[:8]]}
