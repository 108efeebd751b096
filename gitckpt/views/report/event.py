"""One event as data for the page: its header, its text by section, what it changed."""

from __future__ import annotations

from gitckpt.trajectory.events import is_readable
from gitckpt.views.attempts import verdict_of
from gitckpt.views.claims import UNCHANGED, UNNAMED
from gitckpt.views.paths import missing_lines, path_text
from gitckpt.views.report.files import file_rows
from gitckpt.views.report.state import facts_of, marked, pairs, state_sections
from gitckpt.views.row import what, words
from gitckpt.views.runs import beside, run_lines, verdict
from gitckpt.views.show import FIELD_ORDER, agent_lines, value_lines
from gitckpt.views.text import count, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gitckpt.trajectory.events import Event
    from gitckpt.views.report.contents import Contents
    from gitckpt.views.report.state import States

    Section = dict[str, Any]

#: Fields with a section in a format of their own.
_FORMED = ("phase", "phase_written", "next", "done", "goal", "facts", "todo", "open", "state_ref", "extra")

#: Record keys without a section: the header shows them, or they are for programs.
_UNSHOWN = (
    "gitckpt", "kind", "session", "line", "id", "written", "seq", "at", "phase", "next", "subject", "worktree", "flag",
    "source", "heard", "sources", "fields", "git", "coverage", "opens", "answers_to", "unterminated", "late", "modes",
)  # fmt: skip

#: The maximum number of files of one event named on the page.
MOST_FILES = 1000

#: The maximum number of paths in a section; the number of further paths follows them.
MOST_PATHS = 30


def event_row(event: Event, contents: Contents, states: States) -> dict[str, Any]:
    """Return everything the page shows of an event; the `lines` of its files are stored separately, see
    `gitckpt.views.report.page`. `more_files` is the number of files left out, and `stat` the command that lists them.
    """
    changes = contents.files.get(event.commit, ())
    return {
        **_header(event, contents),
        "sections": _sections_or_fault(event, contents, states),
        "files": file_rows(event, changes[:MOST_FILES], contents.patches.get(event.commit, ())),
        "more_files": max(len(changes) - MOST_FILES, 0),
        "stat": f"gitckpt diff --stat {event.parent[:12]} {event.commit[:12]}" if len(changes) > MOST_FILES else "",
    }


def _header(event: Event, contents: Contents) -> dict[str, Any]:
    drawn = contents.attempt_of.get(event.commit)
    return {
        "kind": escape(event.kind),
        "name": escape(event.id or event.kind),
        "written": escape(event.written) if event.written not in ("", event.id, (event.id or "")[1:]) else "",
        "anchor": contents.anchors[event.commit],
        "commit": event.commit[:12],
        "line": drawn.name if drawn else escape(event.line),
        "at": escape(event.at),
        "phase": what(event) if event.kind == "checkpoint" and event.phase else "",
        "said": escape(drawn.words if drawn and event is drawn.end else words(event)),
        "verdict": _verdict(event, contents),
        "flags": [escape(flag) for flag in event.flag.split(", ") if flag],
        "after": contents.link(event.parent),
        "to": _target(event, contents),
        "active": event.commit in contents.on_active,
    }


def _verdict(event: Event, contents: Contents) -> str:
    drawn = contents.attempt_of.get(event.commit)
    own = verdict_of(drawn.row) if drawn and event is drawn.end else ""
    return own or beside(event, contents.runs.get(event.commit, ()))


def _target(event: Event, contents: Contents) -> dict[str, str] | None:
    """Return the event that a retry or a rollback goes back to."""
    opened = event.opens if event.kind in ("retry", "rollback", "reset") and is_readable(event) else None
    return contents.link(str(opened.get("at"))) if opened else None


def _sections_or_fault(event: Event, contents: Contents, states: States) -> list[Section]:
    """Return the sections of an event, or why its record cannot be read."""
    if not is_readable(event):
        return [_lines("damaged", ["its record cannot be read: gitckpt verify names what is wrong"], "warning")]
    return [section for section in _sections(event, contents, states) if section["rows"]]


def _sections(event: Event, contents: Contents, states: States) -> Iterator[Section]:
    fields = event.fields
    yield {"title": "done", "form": "list", "rows": marked(fields.get("done"), None)}
    yield _lines("next", value_lines(fields["next"]) if fields.get("next") else [])
    before = states.before(event)
    yield {"title": "facts", "form": "facts", "rows": _facts(event, states, before)}
    yield from state_sections(fields, before)
    if fields.get("state_ref"):
        yield {"title": "state", "form": "pairs", "rows": pairs(fields["state_ref"], before.get("state_ref"))}
    yield from _other_fields(fields)
    yield from _consequences(event)
    yield from _moved(event, contents)
    yield from _warnings(event, contents)


def _facts(event: Event, states: States, before: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not event.fields.get("facts"):
        return []
    known = facts_of(before["facts"]) if before.get("facts") else []
    now = facts_of(event.fields["facts"])
    rows = [
        {**row, "mark": "new" if known and fact not in known else ""}
        for fact, row in zip(dict.fromkeys(now), states.facts(event), strict=True)
    ]
    gone = [
        {"text": escape(text), "source": escape(source), "mark": "gone"}
        for text, source in known
        if (text, source) not in now
    ]
    return rows + gone


def _other_fields(fields: Mapping[str, Any]) -> Iterator[Section]:
    rest = {name: value for name, value in fields.items() if name not in _FORMED}
    ordered = [*(name for name in FIELD_ORDER if name in rest), *(name for name in rest if name not in FIELD_ORDER)]
    for name in ordered:
        yield _lines(name.replace("_", " "), value_lines(rest[name]))
    if fields.get("phase_written") not in (None, "", fields.get("phase")):
        yield _lines("phase as written", value_lines(fields["phase_written"]))
    extra = fields.get("extra")
    for name, value in (extra if isinstance(extra, dict) else {"extra": extra}).items():
        yield _lines(str(name), value_lines(value))


def _consequences(event: Event) -> Iterator[Section]:
    if event.opens:
        yield _lines("opens", value_lines(f"line {event.opens.get('line')}"))
    if event.answers_to:
        yield _lines("stands for", value_lines(", ".join(map(str, event.answers_to))))
    for name, value in event.document.items():
        if value and name not in _UNSHOWN:
            yield _lines(name.replace("_", " "), _record_lines(value))


def _moved(event: Event, contents: Contents) -> Iterator[Section]:
    """Yield the position of HEAD, at the first event and wherever it changed."""
    before = contents.event(event.parent)
    places = [(e.git.get("head"), e.git.get("branch")) for e in (event, before) if e is not None and is_readable(e)]
    if event.git and places[:1] != places[1:]:
        head, branch = places[0]
        yield _lines(
            "git", value_lines(f"{branch or 'detached HEAD'} at {str(head)[:12]}" if head else "no commit yet")
        )


def _record_lines(value: Any) -> list[str]:
    return agent_lines(value) if isinstance(value, dict) else value_lines(value)


def _warnings(event: Event, contents: Contents) -> Iterator[Section]:
    runs = contents.runs.get(event.commit, ())
    yield _lines("tests", run_lines(runs), "warning" if verdict(runs) == "failed" else "")
    yield _lines("not covered", missing_lines(event.missing), "warning")
    claims = contents.claims.get(event.commit)
    if claims is not None:
        yield _lines(UNCHANGED, _paths(claims.unchanged), "warning")
        yield _lines(UNNAMED, _paths(claims.unnamed), "quiet")


def _paths(paths: Sequence[bytes]) -> list[str]:
    more = [f"and {count(len(paths) - MOST_PATHS, 'more', 'more')}"] if len(paths) > MOST_PATHS else []
    return [*map(path_text, paths[:MOST_PATHS]), *more]


def _lines(title: str, lines: Sequence[str], tone: str = "") -> Section:
    """Return a section of plain lines, which must be escaped already."""
    return {"title": escape(title), "form": "text", "rows": ["\n".join(lines)] if any(lines) else [], "tone": tone}
