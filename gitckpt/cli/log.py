"""`gitckpt log`: the audit trail of a session."""

from __future__ import annotations

import time

from gitckpt.cli import render
from gitckpt.cli.elsewhere import sessions_elsewhere
from gitckpt.errors import Damaged
from gitckpt.repo.reader import Reader
from gitckpt.repo.results import Results
from gitckpt.trajectory.session import Session

#: Warnings that concern a single event.
OF_ONE_EVENT = ("unterminated", "late")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.trajectory.events import Event
    from gitckpt.views.attempts import Drawn


def log(
    commit: str | None = None,
    *,
    session: str | None = None,
    all: bool = False,
    graph: bool = False,
    stat: bool = False,
    events: bool = False,
    json: bool = False,
    count: int | None = None,
    format: str | None = None,
) -> int:
    """Print events, oldest first: those of the current session, of one by id, of all sessions of this work tree, or
    those that led to a commit."""
    reader = Reader()
    if format is not None:
        return _log_in_format(reader, format, commit, session, all, count)
    if commit is not None:
        return _log_of_commit(reader, commit, graph=graph, stat=stat, fold=not events, json=json)
    sessions = _sessions(reader, session, all, count if not (graph or json) else None)
    if json:
        _print_json(reader, sessions, None if all else sessions[0].id if sessions else None, count)
        return _told_losses(reader, sessions, count)
    if not sessions:
        render.say("nothing has been recorded in this work tree yet; `gitckpt wrap -- CMD` records an agent")
        for line in sessions_elsewhere(reader):
            render.say(line)
        return 0
    lines: list[str] = []
    for number, shown in enumerate(sessions):
        last = None if count is None else _last(shown, count)
        lines += [*([""] if number else []), *_text(reader, shown, last, graph=graph, stat=stat, fold=not events)]
    render.paged(lines)
    return _told_losses(reader, sessions, count)


def _log_of_commit(reader: Reader, commit: str, *, graph: bool, stat: bool, fold: bool, json: bool) -> int:
    from gitckpt.repo.trailers import led_to

    session, events = led_to(reader, commit)
    if json:
        _print_events(reader, [session], session.id, events)
    else:
        render.paged(_text(reader, session, events, graph=graph, stat=stat, fold=fold))
    return 0


def _log_in_format(
    reader: Reader, form: str, commit: str | None, session: str | None, all: bool, count: int | None
) -> int:
    from gitckpt.views.event_format import EventFormat

    wanted = EventFormat(form)
    if commit is not None:
        from gitckpt.repo.trailers import led_to

        sessions, events = [], led_to(reader, commit)[1]
    else:
        sessions = _sessions(reader, session, all, count)
        events = [event for found in sessions for event in _last(found, count)]
    files = reader.files(events, sessions) if wanted.needs_files else {}
    runs = Results(reader.repository).at(events)
    render.paged(wanted.line(e, files.get(e.commit, ()), runs.get(e.commit, ())) for e in events)
    return _told_losses(reader, sessions, count)


def _told_losses(reader: Reader, sessions: Sequence[Session], count: int | None) -> int:
    return tell_losses(losses(reader, sessions, are_whole=count is None))


def tell_losses(lost: Sequence[str]) -> int:
    """Report missing events and refs and what helps; return the exit status."""
    for what in lost:
        render.say(f"{what}: somebody deleted or moved a ref")
    if lost:
        render.say("  → gitckpt verify names what is missing, and the command that helps")
    return Damaged.exit_status if lost else 0


def losses(reader: Reader, sessions: Sequence[Session], *, are_whole: bool = True) -> list[str]:
    """Describe what is missing from these sessions; if only their last events were read, only missing lines are
    reported.
    """
    lost = [f"{s.lost} events of session {s.id} are gone" for s in sessions if are_whole and s.lost]
    current = reader.journal.current()
    if current and any(s.id == current[0] and current[1] not in s.lines for s in sessions):
        lost.append(f"line {current[1]} of session {current[0]}, which was being recorded here, is gone")
    return lost


def _sessions(reader: Reader, id: str | None, everything: bool, count: int | None) -> list[Session]:
    if everything:
        return reader.sessions()
    if id is not None:
        return [reader.session(id)]
    current = reader.journal.current() if count is not None else None
    if current:
        # the last few events of a long session do not require reading all of it
        lines = reader.journal.lines(current[0]).get(current[0], {})
        if lines:
            return [Session(current[0], reader.journal.events(lines.values(), count), lines)]
    found = reader.current_session()
    return [found] if found else []


def _last(session: Session, count: int | None) -> Sequence[Event]:
    return session.events if count is None else session.events[-count:] if count else []


def _print_json(reader: Reader, sessions: list[Session], id: str | None, count: int | None) -> None:
    events = sorted((e for s in sessions for e in _last(s, count)), key=lambda e: (e.at, e.seq))
    _print_events(reader, sessions, id, events)


def _print_events(reader: Reader, sessions: list[Session], id: str | None, events: list[Event]) -> None:
    from gitckpt.repo.claims import checked_claims
    from gitckpt.views.event_json import event_json, log_document

    by_commit = {event.commit: event for session in sessions for event in session.events}
    files = reader.files(events, sessions)
    claims = checked_claims(reader, events, sessions, files)
    runs = Results(reader.repository).at(events)
    rows = [
        event_json(
            e,
            parent=by_commit.get(e.parent),
            files=files[e.commit],
            claims=claims.get(e.commit),
            runs=runs.get(e.commit, ()),
        )
        for e in events
    ]
    render.json(log_document(rows, id, [drawn.row for drawn in drawn_beside(reader, sessions, events)]))


def _text(
    reader: Reader, session: Session, chosen: Sequence[Event] | None, *, graph: bool, stat: bool, fold: bool
) -> list[str]:
    from gitckpt.views.log import LogOptions, log_lines

    events = session.events if chosen is None else chosen
    files = claims = None
    if stat:
        from gitckpt.repo.claims import checked_claims

        files = reader.files(events, [session])
        claims = checked_claims(reader, events, [session], files)
    options = LogOptions(
        style=render.style(),
        columns=render.columns(),
        graph=graph,
        fold=fold,
        files=files,
        claims=claims,
        runs=Results(reader.repository).at(events),
        flags=_news(events),
        attempts=drawn_beside(reader, [session], events) if graph else (),
        clock=_Clock().local,
    )
    return log_lines(session, options, chosen)


def drawn_beside(reader: Reader, sessions: Sequence[Session], events: Sequence[Event]) -> list[Drawn]:
    """Return the attempts that began at one of these events, if it belongs to the sessions themselves. Raises
    Damaged.
    """
    from gitckpt.repo.forked import attempt_row, attempts_from
    from gitckpt.views.attempts import Drawn

    own = {session.id for session in sessions}
    shown = {event.commit for event in events if event.session in own}
    return [
        Drawn(attempt_row(reader.git, attempt, sessions), attempt.events, attempt.began_at)
        for attempt in attempts_from(reader, sessions)
        if attempt.began_at in shown
    ]


def _news(events: Sequence[Event]) -> dict[str, str]:
    """Return the warnings of events. Uncovered paths mostly stay the same, so they are reported only when they
    change.
    """
    flags, before = {}, ""
    for event in events:
        own = [word for word in event.flag.split(", ") if word in OF_ONE_EVENT]
        uncovered = ", ".join(word for word in event.flag.split(", ") if word not in OF_ONE_EVENT)
        if uncovered != before:
            own.append(uncovered or "all covered again")
        if own:
            flags[event.commit] = ", ".join(own)
        before = uncovered
    return flags


class _Clock(dict[str, str]):
    """Converts the time of an event to local time, in the same format. What it has found out for a minute it keeps:
    local time differs from UTC by whole minutes."""

    def local(self, at: str) -> str:
        return self[at[:16]] + at[16:19]

    def __missing__(self, minute: str) -> str:
        try:
            century, year, month, day, hour, past = (int(minute[n : n + 2]) for n in (0, 2, 5, 8, 11, 14))
        except ValueError:
            return minute
        days = _days(century * 100 + year, month, day)
        local = time.strftime("%Y-%m-%dT%H:%M", time.localtime(((days * 24 + hour) * 60 + past) * 60))
        self[minute] = local
        return local


def _days(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01; importing `time.strptime` or `datetime` would take longer than the
    whole log.
    """
    year -= month <= 2
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + day_of_year - 719468
