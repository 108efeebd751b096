"""Check whether a record is intact: one function and one table row per rule. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gitckpt.trajectory.final import incomplete_finals
from gitckpt.trajectory.record import NOT_OURS, Finding, Record, called, left_out
from gitckpt.trajectory.remedies import bring_back, hold_again
from gitckpt.trajectory.session import line_number
from gitckpt.trajectory.undo import operations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gitckpt.trajectory.events import Event


def broken_refs(record: Record) -> Iterator[Finding]:
    """Every ref must contain the name of a commit."""
    for ref in record.broken:
        session, kind, name = [*ref.removeprefix("refs/gitckpt/").split("/", 2), "", ""][:3]
        held = [e for e in record.by_session.get(session, ()) if (e.line if kind == "heads" else e.id) == name]
        message = f"{ref} is damaged: it does not hold the name of a commit"
        help = f"remove the file {ref} of the git directory; {_hold(record, ref, held)}"
        yield Finding("ref", "damage", message, help, tuple(event.commit for event in held))


def broken_lines(record: Record) -> Iterator[Finding]:
    """Every line must lead back to the root of all sessions."""
    cut: dict[str, list[str]] = {}
    for event in record.ordered:
        cut.setdefault(record.ends[event.commit], []).append(event.commit)
    tips = [tip for name, tip in _refs(record) if "/heads/" in name or record.is_lost(tip)]
    for commit in dict.fromkeys([*cut, *tips]):
        if commit != record.root and commit not in record.events:
            yield _broken(record, commit, tuple(cut.get(commit, ())))
    if record.root in cut and record.root in record.faults:
        yield Finding(
            "line", "damage", f"the root of all sessions, {record.root[:12]}, is {record.faults[record.root]}",
            "gitckpt save makes it anew", tuple(cut[record.root]),
        )  # fmt: skip


def _broken(record: Record, commit: str, above: tuple[str, ...]) -> Finding:
    refs = [name for name, tip in _refs(record) if tip == commit]
    where = refs[0] if refs else f"the event before {called(record.events[above[0]])}"
    if not commit:
        message = f"{called(record.events[above[0]])} has no event before it: history begins there without its root"
        return Finding("line", "damage", message, hold_again("REF"), above)
    why = record.faults.get(commit, NOT_OURS)
    lost = record.is_lost(commit)
    help = bring_back(commit, "commit", why) if lost else hold_again(refs[0] if refs else "REF")
    return Finding("line", "damage", f"{where}, commit {commit[:12]}, is {why}", help, above)


def _refs(record: Record) -> Iterator[tuple[str, str]]:
    for kind, sessions in (("heads", record.lines), ("tags", record.tags)):
        for session, refs in sessions.items():
            yield from ((f"refs/gitckpt/{session}/{kind}/{name}", tip) for name, tip in refs.items())


def unreadable_messages(record: Record) -> Iterator[Finding]:
    """Every message must be readable."""
    for event in record.ordered:
        if event.kind == "unreadable" or event.commit in record.unread:
            why = record.unread.get(event.commit) or "the message of its commit is not one of gitckpt's"
            help = f"its files can be looked at with git show {event.commit[:12]}"
            yield Finding("message", "damage", f"{called(event)} cannot be read: {why}", help, (event.commit,))


def unexplained_parents(record: Record) -> Iterator[Finding]:
    """The parents of an event beyond the first must be exactly those that its record names."""
    for event in record.readable():
        wanted, allowed = _recorded_parents(record, event)
        given = set(event.parents[1:])
        for parent, what in wanted.items():
            if parent not in given:
                yield _parent_finding(event, f"is not bound to {parent[:12]}, {what}")
        for parent in sorted(given - set(wanted) - allowed):
            yield _parent_finding(event, f"has a parent that its record does not name, {parent[:12]}")


def _recorded_parents(record: Record, event: Event) -> tuple[dict[str, str], set[str]]:
    """Return the parents that must be present, each with a description, and those that may be."""
    before = record.events.get(event.parent)
    head, staging = event.git.get("head"), _mapping(event.git.get("staging")).get("commit")
    wanted = {staging: "the staging area on record"} if staging else {}
    allowed = {head, *_left_by_branches(_mapping(event.document.get("rollback")))}
    known = before is not None and record.is_readable(before)
    if head and (event.parent == record.root or (before and known and before.git.get("head") != head)):
        wanted[head] = "the commit that HEAD was at"
    return wanted, {commit for commit in allowed if commit}


def _left_by_branches(rollback: Mapping[str, object]) -> Iterator[str]:
    """Yield the commits that branches pointed to before a rollback of HEAD moved them; its event keeps them
    reachable.
    """
    rows = rollback.get("branches_were")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, list):
            yield from (commit for commit in row[1:2] if isinstance(commit, str))


def _mapping(value: object) -> dict[str, str]:
    return value if isinstance(value, dict) else {}


def _parent_finding(event: Event, what: str) -> Finding:
    return Finding(
        "parents",
        "damage",
        f"{called(event)} {what}",
        f"gitckpt show {called(event)} --yaml prints its record",
        (event.commit,),
    )


def lost_lines(record: Record) -> Iterator[Finding]:
    """Every event must be on the line it was recorded on, and line numbers must have no gaps."""
    for session, events in record.by_session.items():
        lines = record.lines.get(session, {})
        for line in sorted({e.line for e in events if e.line}, key=line_number):
            held = set(record.own(session, line))
            lost = [event for event in events if event.line == line and event not in held]
            if f"refs/gitckpt/{session}/heads/{line}" in record.broken:
                continue
            if lost and not record.is_lost(record.ends.get(tip := lines.get(line, ""), tip)):
                yield _lost_line(record, session, line, lost)
        for number in left_out(line_number(line) for line in (*lines, *(event.line for event in events))):
            ref = f"refs/gitckpt/{session}/heads/{'main' if number == 1 else f'LINE-{number}'}"
            message = f"line number {number} of session {session} is gone: somebody deleted its ref"
            yield Finding("line", "damage", message, hold_again(ref))


def _lost_line(record: Record, session: str, line: str, lost: Sequence[Event]) -> Finding:
    gone = line not in record.lines.get(session, {})
    what = "is gone: somebody deleted its ref" if gone else "was moved away from its newest event"
    help = _hold(record, f"refs/gitckpt/{session}/heads/{line}", lost)
    message = f"line {line} of session {session} {what}"
    return Finding("line", "damage", message, help, tuple(event.commit for event in lost))


def _hold(record: Record, ref: str, held: Sequence[Event]) -> str:
    """Return the command that recreates a ref: at the newest of the events it held, provided that none of them
    is lost.
    """
    newest = max(held, key=lambda event: event.seq, default=None)
    if newest is None or record.missing_numbers(newest.session):
        return hold_again(ref)
    return f"git update-ref {ref} {newest.commit}"


def lost_events(record: Record) -> Iterator[Finding]:
    """The events of a session must be numbered from 1 without gaps or duplicates, and ascending along a line."""
    for session, events in record.by_session.items():
        missing = record.missing_numbers(session)
        if missing and not _has_faults(record, session):
            yield _lost_events(session, missing)
        for event in events:
            before = record.events.get(event.parent)
            if before and before.session == session and 0 < event.seq <= before.seq:
                message = f"{called(event)} is number {event.seq} of its session and follows number {before.seq}"
                yield Finding("number", "damage", message, f"gitckpt show {called(event)} --yaml", (event.commit,))


def _has_faults(record: Record, session: str) -> bool:
    """Return whether faults already reported explain the missing numbers."""
    tips = (*record.lines.get(session, {}).values(), *record.tags.get(session, {}).values())
    return any(record.ends.get(tip, tip) != record.root for tip in tips) or any(
        event.kind == "unreadable" for event in record.events.values()
    )


def _lost_events(session: str, missing: Sequence[int]) -> Finding:
    shown = ", ".join(map(str, missing[:5])) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
    message = f"events of session {session} are gone (number {shown}): somebody deleted or moved a ref"
    return Finding("number", "damage", message, hold_again(f"refs/gitckpt/{session}/heads/LINE"))


def misplaced_tags(record: Record) -> Iterator[Finding]:
    """The tag of an id must be on the newest checkpoint with that id, and there must be no other tags."""
    for session, events in record.by_session.items():
        newest = {event.id: event for event in events if event.kind == "checkpoint" and event.id}
        tags = record.tags.get(session, {})
        for id, event in newest.items():
            if f"refs/gitckpt/{session}/tags/{id}" in record.broken:
                continue
            if id and tags.get(id) != event.commit and not record.is_unknown(tags.get(id, "")):
                yield _misplaced(session, id, event, tags.get(id))
        for id in sorted(id for id in tags if id not in newest and not record.is_unknown(tags[id])):
            ref = f"refs/gitckpt/{session}/tags/{id}"
            message = f"tag {id} of session {session} belongs to no checkpoint on record"
            yield Finding("tag", "notice", message, f"git update-ref -d {ref} removes it")


def _misplaced(session: str, id: str, event: Event, tag: str | None) -> Finding:
    ref = f"refs/gitckpt/{session}/tags/{id}"
    where = "is gone: somebody deleted it" if tag is None else f"is on {tag[:12]} and not on the newest {id}"
    return Finding(
        "tag", "damage" if tag is None else "notice", f"tag {id} of session {session} {where}",
        f"git update-ref {ref} {event.commit}", (event.commit,),
    )  # fmt: skip


def insane_current(record: Record) -> Iterator[Finding]:
    """A work tree must record on an existing line."""
    for worktree, current in record.current.items():
        where = f" in work tree {worktree}" if worktree else ""
        if isinstance(current, str):
            message = f"recording{where} is on {current or 'a commit'}, which is no line of a session"
            yield Finding("current", "notice", message, "gitckpt save begins a new session")
        elif current[0] not in record.lines:
            message = f"session {current[0]} was being recorded{where or ' here'}, and its refs are gone"
            yield Finding("current", "damage", message, hold_again(f"refs/gitckpt/{current[0]}/heads/{current[1]}"))
        elif current[1] not in record.lines[current[0]]:
            message = (
                f"line {current[1]} of session {current[0]} was being recorded{where or ' here'}, and its ref is gone"
            )
            yield Finding("current", "damage", message, hold_again(f"refs/gitckpt/{current[0]}/heads/{current[1]}"))


def interrupted_operations(record: Record) -> Iterator[Finding]:
    """No rollback may be left half done in an existing work tree; one from elsewhere cannot be finished here."""
    opened = [(session, line) for session, lines in record.lines.items() for line in lines]
    recorded = [event for event in record.readable() if event.session not in record.fetched]
    for worktree, own in sorted(record.worktrees.items()):
        events = sorted((e for e in recorded if e.worktree == worktree and own.did(e)), key=lambda event: event.at)
        event = operations(events, opened).interrupted
        if event is not None:
            where = f" in work tree {worktree}" if worktree else ""
            target = event.document["rollback"].get("target_ref")
            message = f"a rollback to {target} was interrupted{where}: {called(event)} holds the state before it"
            help = "gitckpt rollback --continue finishes it, gitckpt rollback --abort takes it back"
            yield Finding("interrupted", "notice", message, help)


#: The rules, in the order in which their findings are reported.
RULES: Final[tuple[Callable[[Record], Iterator[Finding]], ...]] = (
    broken_refs,
    broken_lines,
    lost_lines,
    lost_events,
    unreadable_messages,
    unexplained_parents,
    insane_current,
    misplaced_tags,
    interrupted_operations,
    incomplete_finals,
)


def findings(record: Record) -> list[Finding]:
    """Return everything that is wrong with a record, damage first."""
    found = [finding for rule in RULES for finding in rule(record)]
    return sorted(found, key=lambda finding: finding.level != "damage")
