"""Resolve a name to its event: `C6`, `6`, `S2`, `C6~1`, `C6@main`, `<session>/C6`, `start`, `last`, a commit
id. Pure."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from gitckpt.errors import UnknownId
from gitckpt.protocol.ids import canonical
from gitckpt.trajectory.session import Session, is_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.trajectory.events import Event

#: The parts of a name: session, id, line, how many earlier events with the same id to go back.
NAME = re.compile(
    r"(?:(?P<session>[^/\s]+)/)?(?P<id>[^/@~]+)(?:@(?P<line>[^/@~\s]+))?(?:~(?P<earlier>\d{1,6}))?\Z", re.ASCII
)

COMMIT = re.compile(r"[0-9a-f]{7,64}\Z")

#: Kinds that `last` may mean.
STATES = ("checkpoint", "auto", "start")


class Found:
    """The event that a name means, and a note on where it was found ("" if it was on the current line and no other
    event there has its id)."""

    __slots__ = ("event", "note")

    def __init__(self, event: Event, note: str = "") -> None:
        self.event, self.note = event, note


def resolve(name: str, sessions: Sequence[Session], current: tuple[str, str] | None) -> Found:
    """Return the event that `name` means. `sessions` are those to search, oldest first; `current` is the line being
    recorded.

    Searches the current line, then its session, then the others, newest first. Raises UnknownId, which names the
    nearest ids."""
    here = next((session for session in sessions if current and session.id == current[0]), None)
    line = current[1] if current and here and current[1] in here.lines else None
    ordered = ([here] if here else []) + [session for session in reversed(sessions) if session is not here]
    match = NAME.match(name)
    found = _by_name(match, ordered, here, line) if match else None
    found = found or _by_commit(name, ordered)
    if found is None:
        raise _too_few(match, ordered, here, line) or _unknown(name, ordered)
    return found


def _by_name(match: re.Match[str], ordered: Sequence[Session], here: Session | None, line: str | None) -> Found | None:
    if match["session"]:
        ordered = [session for session in ordered if session.id == match["session"]]
    earlier = int(match["earlier"] or 0)
    for session in ordered:
        wanted_line = match["line"] or (line if session is here else session.active_line)
        events = _in_session(match["id"], session, wanted_line, strict=bool(match["line"]))
        if len(events) > earlier:
            return Found(events[earlier], _note(events[earlier], session, here, line, match))
    return None


def _in_session(id: str, session: Session, line: str | None, *, strict: bool) -> list[Event]:
    """Return events with this id, newest first: on the line, or, if it has none, anywhere in the session."""
    word = id.strip().lower()
    on_line = session.on_line(line) if line else []
    if word == "last":
        return [event for event in reversed(on_line or session.events) if event.kind in STATES][:1]
    wanted = "start" if word == "start" else canonical(id) or canonical(id, "summary") or ""
    found = [event for event in reversed(on_line) if is_named(event, wanted)]
    return found if found or strict else session.named(wanted)


def _note(event: Event, session: Session, here: Session | None, line: str | None, match: re.Match[str]) -> str:
    if match["session"] or match["line"]:
        return ""
    if session is not here:
        return f"{match['id']} was found in session {session.id}" if here else ""
    if line and event not in session.on_line(line):
        return f"{event.id or match['id']} is not on the current line ({line}); it was found on line {event.line}"
    if not event.id or match["earlier"] is not None or match["id"].strip().lower() == "last":
        return ""
    again = [found for found in session.on_line(line or "") if (found.kind, found.id) == (event.kind, event.id)]
    if len(again) > 1:
        return f"{event.id} is on record {len(again)} times: this is the newest, {event.id}~1 the one before it"
    return ""


def _by_commit(name: str, ordered: Sequence[Session]) -> Found | None:
    if not COMMIT.match(name):
        return None
    found = {event.commit: event for session in ordered for event in session.events if event.commit.startswith(name)}
    if len(found) > 1:
        raise UnknownId(f"{name} begins more than one commit id", "give more digits of it")
    return Found(next(iter(found.values()))) if found else None


def _too_few(
    match: re.Match[str] | None, ordered: Sequence[Session], here: Session | None, line: str | None
) -> UnknownId | None:
    """Return the error for `C6~2` if C6 exists but was not recorded that often."""
    if match is None or not match["earlier"]:
        return None
    name = match.string[: match.start("earlier") - 1]
    newest = NAME.match(name)
    if newest is None or _by_name(newest, ordered, here, line) is None:
        return None
    return UnknownId(
        f"{name} is there, but was not recorded {int(match['earlier']) + 1} times: {match.string} does not mean a step "
        f"before it but an earlier {name}, for ids that were used again",
        "gitckpt log lists the steps",
    )


def _unknown(name: str, ordered: Sequence[Session]) -> UnknownId:
    shown = name.encode("unicode_escape").decode("ascii")[:80]
    ids = list(dict.fromkeys(event.id for session in ordered for event in session.events if event.id))
    unreadable = sum(event.kind == "unreadable" for session in ordered for event in session.events)
    if unreadable and not ids:
        return UnknownId(
            f"no checkpoint {shown!r}: what is on record here cannot be read, as after a rewrite of history that took "
            "gitckpt's refs along",
            "gitckpt verify tells what is wrong",
        )
    if not ids:
        return UnknownId(
            f"no checkpoint {shown!r}: nothing has been recorded in this work tree", "gitckpt save records one"
        )
    near = difflib.get_close_matches(canonical(name) or name, ids, n=3, cutoff=0.3) or ids[-3:]
    nearest = f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
    return UnknownId(f"no checkpoint {shown!r} here; {nearest}", "gitckpt log lists them all")
