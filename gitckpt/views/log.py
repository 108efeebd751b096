"""`gitckpt log`: what happened in a session, oldest first, one event per line; with `graph`, its forks are drawn.

Only the headers of events are read, and no slow modules are imported: listing ten thousand events takes less time than
git needs to print them.
"""

from __future__ import annotations

from gitckpt.views.attempts import verdict_of
from gitckpt.views.row import Gutter, Table, mark, own_events, words
from gitckpt.views.text import PLAIN, Style, count, escape, fit, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from gitckpt.trajectory.bisection import Run
    from gitckpt.trajectory.claims import Claims
    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session
    from gitckpt.views.attempts import Drawn
    from gitckpt.views.paths import Change

#: Marks the position where recording continues.
HERE = "@"

#: The width of a time or a date including the blanks after it.
_MARGIN = 11


def _as_given(at: str) -> str:
    return at


class LogOptions:
    """What a log shows, and how.

    `columns` is the width of the terminal; None means that nothing is cut. `graph` draws the forks; otherwise a column
    names the line. `fold` puts consecutive `auto` events of a line into one row, except if `files` are shown. These map
    commits: `files` to what each event changed, `claims` to how its text compares with that, `runs` to the results of
    commands run on its files, `flags` to a short warning (`unterminated`, `not covered: big.bin`). `clock` converts an
    RFC 3339 time to the one to show, in the same format. `attempts` are drawn in a graph, each next to the event that
    it began at.
    """

    __slots__ = ("attempts", "claims", "clock", "columns", "files", "flags", "fold", "graph", "runs", "style")

    def __init__(
        self,
        *,
        style: Style = PLAIN,
        columns: int | None = None,
        graph: bool = False,
        fold: bool = True,
        files: Mapping[str, Sequence[Change]] | None = None,
        claims: Mapping[str, Claims] | None = None,
        runs: Mapping[str, Sequence[Run]] | None = None,
        flags: Mapping[str, str] | None = None,
        attempts: Sequence[Drawn] = (),
        clock: Callable[[str], str] = _as_given,
    ) -> None:
        self.style, self.columns, self.graph, self.fold = style, columns, graph, fold and files is None
        self.files, self.claims, self.flags, self.clock = files or {}, claims or {}, flags or {}, clock
        self.runs, self.attempts = runs or {}, attempts if graph else ()


_DEFAULT = LogOptions()


def log_lines(session: Session, options: LogOptions = _DEFAULT, events: Sequence[Event] | None = None) -> list[str]:
    """Return the log of a session: a heading, its events (or the given ones, oldest first), and where the run
    stands.
    """
    own = own_events(session)
    listing = _Listing(session, own, own if events is None else events, options)
    return [line.rstrip(" ") for line in (listing.heading(), *listing.rows(), *listing.standing())]


def fold_autos(events: Sequence[Event], apart: Collection[str] = ()) -> list[list[Event]]:
    """Group the events: consecutive `auto` events of a line together, others alone; an event in `apart` ends
    its group.
    """
    runs: list[list[Event]] = []
    for event in events:
        if event.kind == "auto" and runs and _goes_on(runs[-1][-1], event) and event.parent not in apart:
            runs[-1].append(event)
        else:
            runs.append([event])
    return runs


def forks(session: Session, events: Sequence[Event]) -> set[str]:
    """Return commits that several events follow, or that a line ends at: folding `auto` events must not hide them."""
    once: set[str] = set()
    found = set(session.lines.values())
    for event in events:
        (found if event.parent in once else once).add(event.parent)
    return found


def _goes_on(before: Event, event: Event) -> bool:
    return before.kind == "auto" and before.line == event.line and before.commit == event.parent


def _is_final(event: Event) -> bool:
    """Return whether the agent said that everything is done: by a FINAL, or to the host that ran it."""
    if event.kind == "end" and event.subject.startswith("end: done"):
        return (event.document.get("agent") or {}).get("outcome") == "done"
    return event.kind == "final"


def _few(names: Sequence[str], most: int = 3) -> list[str]:
    return [*names[:most], *([f"{len(names) - most:,} more"] if len(names) > most else [])]


class _Listing:
    """The rows of one log."""

    def __init__(self, session: Session, own: Sequence[Event], events: Sequence[Event], options: LogOptions) -> None:
        self.session, self.options, self.style = session, options, options.style
        self.shown, self.attempts = len(events), {drawn.end.commit: drawn for drawn in options.attempts}
        self.events = events = self._with_attempts(events)
        self.total = max(len(own), session.total)
        self.foreign = self._foreign() if len(own) < len(session.events) else {}
        self.line, self.open = session.active_line, session.is_open
        self.chain = session.on_line(self.line)
        self.labels = self._labels() if options.graph else {}
        self.verdicts = self._verdicts() if options.runs else {}
        self.verdicts |= {commit: text for commit, drawn in self.attempts.items() if (text := verdict_of(drawn.row))}
        apart = (forks(session, events) if options.graph else set()) | self.verdicts.keys()
        self.runs = fold_autos(events, apart) if options.fold else [[event] for event in events]
        self.times = [options.clock(run[0].at) for run in self.runs]
        self.day = next((at[:10] for at in self.times if at), "")
        self.table = Table(events, self.style, options.columns, with_line=not options.graph, verdicts=self.verdicts)
        self.gutters = self._graph() if options.graph else self._marks()

    def heading(self) -> str:
        """Return the session, its first day, the number of events, and the line being recorded."""
        total, lines = count(self.total, "event"), len(self.session.lines)
        shown = total if self.shown == self.total else f"{self.shown:,} of {total}"
        shown += f" and {count(len(self.attempts), 'attempt')}" if self.attempts else ""
        on = f"on {lines:,} lines, current {self.line}" if lines > 1 else f"on {self.line}"
        text = "  ".join(filter(None, (f"session {self.session.id}", self.day, f"{shown} {on}")))
        return self.style.bold(self._fitted(escape(text), 0))

    def rows(self) -> Iterator[str]:
        """Yield the events, each with the files that it changed, and a row with the date whenever it changes."""
        before, below, date = None, "", self.day
        for run, at, gutter in zip(self.runs, self.times, self.gutters, strict=False):
            if at[:10] not in (date, ""):
                date = at[:10]
                yield self._margin(date) + below
            yield from (self._margin("") + above for above in gutter.above)
            yield self._row(run, at, gutter, before)
            before, below = run[0], gutter.below
            if before.commit in self.options.files:
                yield from self._changes(before, below)

    def standing(self) -> Iterator[str]:
        """Yield where recording continues, or that the run ended without FINAL."""
        if self.open and self.chain:
            gutter = self.gutters[-1]
            yield from (self._margin("") + above for above in gutter.above)
            place = escape(f"{self.line} goes on here, after {self._name(self.chain[-1])}")
            yield self._margin("") + gutter.left + " " + self._fitted(place, _MARGIN + gutter.columns + 1)
        elif self.chain and not any(_is_final(event) for event in self.chain):
            yield self.style.yellow(self._fitted("The run ended without FINAL.", 0))

    def _row(self, run: Sequence[Event], at: str, gutter: Gutter, before: Event | None) -> str:
        event, last = run[0], run[-1]
        label = self.labels.get(last.commit, "")
        used = _MARGIN + gutter.columns + 1 + self.table.columns + width(label)
        names = f"{self._margin(at[11:19])}{gutter.left} {self.table.names(event, before, last)}"
        return names + self.style.magenta(label) + self.table.tail(last, used, self._said(run), self._flag(run))

    def _said(self, run: Sequence[Event]) -> str:
        if run[-1].commit in self.attempts:
            return self.attempts[run[-1].commit].words
        if len(run) == 1:
            return words(run[0])
        last = words(run[-1])
        return f"{len(run):,} steps until {self.options.clock(run[-1].at)[11:19]}" + (f", last: {last}" if last else "")

    def _flag(self, run: Sequence[Event]) -> str:
        if not (self.options.flags or self.foreign):
            return ""
        flags = [self.options.flags[event.commit] for event in run if event.commit in self.options.flags]
        start = self.foreign.get(run[0].parent)
        return ", ".join([f"from {start.ref}", *flags] if start and start.session != self.session.id else flags)

    def _with_attempts(self, events: Sequence[Event]) -> Sequence[Event]:
        if not self.attempts:
            return events
        from gitckpt.views.attempts import merged

        return merged(events, [drawn.shown for drawn in self.options.attempts])

    def _foreign(self) -> dict[str, Event]:
        """Return the events that lines of the session were opened at but that are not drawn here."""
        drawn = {event.commit for event in self.events}
        drawn |= {event.commit for attempt in self.attempts.values() for event in attempt.events}
        return {event.commit: event for event in self.session.events if event.commit not in drawn}

    def _verdicts(self) -> dict[str, str]:
        from gitckpt.views.runs import beside

        told = {event.commit: beside(event, self.options.runs.get(event.commit, ())) for event in self.events}
        return {commit: text for commit, text in told.items() if text}

    def _name(self, event: Event) -> str:
        if event.commit in self.attempts:
            return self.attempts[event.commit].name
        return event.id or event.kind if event.session == self.session.id else event.ref

    def _changes(self, event: Event, below: str) -> Iterator[str]:
        from gitckpt.views.claims import claim_lines
        from gitckpt.views.paths import change_lines

        lines = change_lines(self.options.files[event.commit], self.style)
        if claims := self.options.claims.get(event.commit):
            lines += claim_lines(claims, self.style)
        if runs := self.options.runs.get(event.commit):
            from gitckpt.views.runs import run_lines

            lines += run_lines(runs, self.style)
        for line in lines:
            yield f"{self._margin('')}{below}   {line}"

    def _margin(self, text: str) -> str:
        return self.style.dim(escape(text)) + " " * (_MARGIN - len(text))

    def _fitted(self, text: str, used: int) -> str:
        columns = self.options.columns
        return text if columns is None else fit(text, max(columns - used, 0), self.style.ellipsis)

    def _marks(self) -> list[Gutter]:
        marks = [mark(run[0], self.style) for run in self.runs]
        return [Gutter([], text, " ", 1) for text in [*marks, self.style.bold(HERE)]]

    def _graph(self) -> list[Gutter]:
        from gitckpt.views.graph import draw

        parents = {drawn.end.commit: drawn.parent for drawn in self.options.attempts}
        nodes = [
            (run[-1].commit, parents.get(run[0].commit, run[0].parent), mark(run[0], self.style)) for run in self.runs
        ]
        if self.open:
            nodes.append((HERE, self.session.lines.get(self.line, ""), self.style.bold(HERE)))
        return draw(nodes, {HERE, *(event.commit for event in self.chain)}, self.style)

    def _labels(self) -> dict[str, str]:
        """Map commits to the names of the lines that end there; the name of an open line is shown at HERE instead."""
        tips: dict[str, list[str]] = {}
        for line, tip in self.session.lines.items():
            if not (self.open and line == self.line):
                tips.setdefault(tip, []).append(line)
        tips |= {commit: [drawn.name] for commit, drawn in self.attempts.items()}
        return {tip: escape(f"({', '.join(_few(lines))}) ") for tip, lines in tips.items()}
