"""`gitckpt show`: one event in full: its position, its block, the state of git, and what the snapshot holds."""

from __future__ import annotations

from gitckpt.protocol.blocks import REQUIRED, STATE_FIELDS
from gitckpt.protocol.state import stale_line
from gitckpt.views.claims import claim_lines
from gitckpt.views.paths import change_lines, missing_lines, path_text
from gitckpt.views.plan import plan_lines
from gitckpt.views.row import mark, what
from gitckpt.views.runs import run_lines
from gitckpt.views.text import PLAIN, Style, count, escape, labelled, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gitckpt.trajectory.bisection import Run
    from gitckpt.trajectory.claims import Claims
    from gitckpt.trajectory.events import Event
    from gitckpt.views.paths import Change
    from gitckpt.views.plan import PlanDocument

#: Fields of all kinds of block in protocol order; `covers` belongs to the header of a summary.
FIELD_ORDER = (
    "covers",
    *dict.fromkeys([*REQUIRED["checkpoint"], *STATE_FIELDS, *(name for kind in REQUIRED.values() for name in kind)]),
)

#: Document keys that are shown in the header or in a separate section; `flag` summarizes others.
_SHOWN = ("gitckpt", "kind", "session", "line", "id", "written", "seq", "at", "phase", "next", "subject", "worktree")
_SECTIONS = ("fields", "git", "coverage", "agent", "opens", "answers_to", "flag", "sources")

_PLAIN_WORDS = {None: "", True: "yes", False: "no"}

#: A label and the lines next to it; already escaped.
Entry = tuple[str, "list[str]"]


def show_lines(
    event: Event,
    *,
    parent: Event | None = None,
    files: Sequence[Change] = (),
    plan: PlanDocument | None = None,
    stale: Sequence[Mapping[str, Any]] = (),
    claims: Claims | None = None,
    runs: Sequence[Run] = (),
    style: Style = PLAIN,
) -> list[str]:
    """Return the event in sections; `files` is what it changed since `parent`, `plan` what its rollback hint would do,
    `stale` its facts whose files have changed, `claims` how its text compares with its changes, `runs` the results of
    commands run on its files."""
    sections = [_header(event, parent), _fields(event), _consequences(event), _snapshot(event, files, style)]
    if stale:
        lines = [style.yellow(escape(stale_line(dict(fact)))) for fact in stale]
        sections[1] = [*sections[1], ("stale", lines if len(lines) == 1 else [f"- {line}" for line in lines])]
    if claims:
        sections[-1].append(("claims", claim_lines(claims, style)))
    if runs:
        sections[-1].append(("tests", run_lines(runs, style)))
    column = max(width(label) for section in sections for label, _ in section) + 2
    lines = [_title(event, style)]
    for section in filter(None, sections):
        lines += [*labelled(section, column, style), ""]
    if plan is not None:
        lines += [style.bold("What its rollback hint would do"), *plan_lines(plan, style), ""]
    return lines[:-1]


def _title(event: Event, style: Style) -> str:
    names = filter(None, (escape(event.id or ""), escape(event.kind), what(event) if event.phase else ""))
    return f"{mark(event, style)} {style.bold('  '.join(names))}"


def _header(event: Event, parent: Event | None) -> list[Entry]:
    before = f"{parent.id or parent.kind} ({parent.commit[:12]})" if parent else "nothing: the first of its session"
    entries = [
        ("session", f"{event.session}, line {event.line}, event {event.seq}"),
        ("commit", event.commit),
        ("at", event.at),
        ("after", before),
        ("written as", event.written if event.written != event.id else ""),
    ]
    return [(label, [escape(text)]) for label, text in entries if text]


def _fields(event: Event) -> list[Entry]:
    fields = dict(event.fields)
    written = fields.pop("phase_written", None)
    if written and written != fields.get("phase"):
        fields["phase"] = f"{fields.get('phase', '')} ({written})".lstrip()
    fields |= fields.pop("extra", None) or {}
    known = [name for name in FIELD_ORDER if name in fields]
    return _entries(fields, [*known, *(name for name in fields if name not in FIELD_ORDER)])


def _entries(document: Mapping[str, Any], names: Sequence[str]) -> list[Entry]:
    return [(escape(name), value_lines(document[name])) for name in names]


def value_lines(value: Any) -> list[str]:
    """Return plain data as escaped lines: a list with a dash before each entry, a mapping as `key: value`."""
    if isinstance(value, str) and value.isprintable():
        return [value]
    if isinstance(value, dict) and set(value) == {"b64"}:
        return [path_text(value)]
    if isinstance(value, dict):
        return [line for key, entry in value.items() for line in _hung(f"{escape(str(key))}: ", value_lines(entry))]
    if isinstance(value, list):
        return _list_lines(value)
    text = _PLAIN_WORDS[value] if value is None or isinstance(value, bool) else str(value)
    return escape(text, multiline=True).replace("\t", "    ").split("\n")


def _list_lines(values: list[Any]) -> list[str]:
    if all(isinstance(value, str) and " " not in value and value.isprintable() for value in values):
        return [", ".join(values)]
    entries = [_fact_lines(value) for value in values]
    return entries[0] if len(entries) == 1 else [line for entry in entries for line in _hung("- ", entry)]


def _fact_lines(value: Any) -> list[str]:
    if isinstance(value, dict) and set(value) == {"text", "source"}:
        return value_lines(f"{value['text']} (source: {value['source']})")
    return value_lines(value)


def _hung(lead: str, lines: Sequence[str]) -> list[str]:
    """Prefix the first line with `lead` and indent the others by its width."""
    return [(lead if index == 0 else " " * width(lead)) + line for index, line in enumerate(lines)]


def _consequences(event: Event) -> list[Entry]:
    entries: list[Entry] = []
    if event.opens:
        entries.append(("opens", [escape(f"line {event.opens.get('line')} at {str(event.opens.get('at'))[:12]}")]))
    if event.answers_to:
        entries.append(("answers to", [escape(", ".join(event.answers_to))]))
    if event.document.get("agent"):
        entries.append(("agent", agent_lines(event.document["agent"])))
    rest = [name for name, value in event.document.items() if value and name not in (*_SHOWN, *_SECTIONS)]
    return entries + _entries(event.document, rest)


def agent_lines(agent: Mapping[str, Any]) -> list[str]:
    """Return the record of an agent with its command on one line; with the placeholder instead of a prompt that was
    built from a task.
    """
    command, template = agent.get("command"), agent.get("template")
    if isinstance(template, list) and isinstance(agent.get("task"), str):
        agent = {name: value for name, value in agent.items() if name != "template"}
        command = template
    return value_lines({**agent, "command": " ".join(map(str, command))} if isinstance(command, list) else agent)


def _snapshot(event: Event, files: Sequence[Change], style: Style) -> list[Entry]:
    entries = [("git", _git_lines(event.git))] if event.git else []
    missing = event.missing
    covered = [count(len(missing), "path") + " not in the snapshot", *missing_lines(missing)] if missing else []
    if covered or not (event.document.get("coverage") or {}).get("complete", True):
        entries.append(("coverage", [style.yellow(line) for line in covered or ["incomplete"]]))
    changed = [count(len(files), "path") + " changed", *change_lines(files, style)] if files else ["nothing changed"]
    return [*entries, ("files", changed)]


def _git_lines(git: Mapping[str, Any]) -> list[str]:
    branch, head = git.get("branch"), git.get("head")
    on = f"{branch or 'detached HEAD'} at {str(head)[:12]}" if head else f"{branch or 'no branch'}, no commit yet"
    rest = {name: value for name, value in git.items() if name not in ("head", "branch") and value}
    return [escape(on), *value_lines(rest)]
