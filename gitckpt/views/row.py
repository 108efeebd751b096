"""One event on one line: its mark, its id, its phase or kind, and its words. Reads only the header of an event."""

from __future__ import annotations

from gitckpt.trajectory.events import FORMAT
from gitckpt.views.text import PLAIN, Style, cut, escape, fit, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session

#: Kind → its mark, the mark in ASCII, and its colour.
MARKS = {
    "start": ("▷", ">", "cyan"),
    "checkpoint": ("●", "*", "green"),
    "auto": ("·", ".", "dim"),
    "summary": ("◆", "#", "cyan"),
    "retry": ("✗", "x", "red"),
    "final": ("✓", "+", "green"),
    "rollback": ("↶", "<", "yellow"),
    "reset": ("↺", "~", "yellow"),
    "note": ("¶", "-", "blue"),
    "end": ("■", "=", "cyan"),
    "unreadable": ("!", "!", "red"),
}
_UNKNOWN = ("?", "?", "magenta")

#: The minimum number of columns in which the start of a text is still useful.
_LEAST = 12


def mark(event: Event, style: Style = PLAIN) -> str:
    """Return the one-column mark that distinguishes kinds."""
    unicode, ascii, colour = MARKS.get(event.kind, _UNKNOWN)
    return style.paint(colour, unicode if style.unicode else ascii)


def what(event: Event) -> str:
    """Return the phase of a checkpoint that has one, otherwise the kind; escaped."""
    return escape(event.phase if event.kind == "checkpoint" and event.phase else event.kind)


def words(event: Event) -> str:
    """Return the subject without the id, kind and phase at its start, and without the session's own name; not
    escaped.
    """
    text = _without(event.kind, _without(event.id, event.subject)).replace(f"{event.session}/", "")
    if event.kind == "checkpoint" and event.phase:
        phase, colon, rest = text.partition(": ")
        return rest if colon and " " not in phase else text
    return text


def _without(prefix: str | None, text: str) -> str:
    if prefix and text.startswith(prefix) and text[len(prefix) :][:1] in ("", " ", ":"):
        return text[len(prefix) :].lstrip(" :")
    return text


def painted(verdict: str, style: Style) -> str:
    """Return a verdict, `passed` or `failed`, in its colour."""
    return style.red(verdict) if verdict.startswith("failed") else style.green(verdict)


def own_events(session: Session) -> list[Event]:
    """Return the events of the session itself, without those of another session at which one of its lines was
    opened.
    """
    return [event for event in session.events if event.session in (session.id, "")]


class Gutter:
    """The drawing to the left of a row: lines `above` it, the mark `left` of its text, lines `below`; all of equal
    width.
    """

    __slots__ = ("above", "below", "columns", "left")

    def __init__(self, above: list[str], left: str, below: str, columns: int) -> None:
        self.above, self.left, self.below, self.columns = above, left, below, columns


class Table:
    """The columns that the events of a list share: id, line (if there are several), phase or kind, verdict (if any
    event has one in `verdicts`, by commit), words.

    `columns` is the width of everything except the words, `terminal` the width of the terminal; None means that nothing
    is cut.
    """

    __slots__ = ("_cells", "_id", "_line", "_verdict", "_verdicts", "_what", "columns", "style", "terminal")

    def __init__(
        self, events: Iterable[Event], style: Style, terminal: int | None, *, with_line: bool,
        verdicts: Mapping[str, str],
    ) -> None:  # fmt: skip
        ids, whats, lines = {"C1"}, {"implement"}, {""}
        for event in events:
            ids.add(event.id or "")
            whats.add(what(event))
            lines.add(event.line)
        self.style, self.terminal = style, terminal
        self._id, self._what = _widest(ids, 16), _widest(whats, 12)
        self._line = _widest(lines, 16) + 2 if with_line and len(lines) > 2 else 0
        self._cells: dict[str, str] = {}
        self._verdicts, self._verdict = verdicts, _widest(verdicts.values(), 16) + 2 if verdicts else 0
        self.columns = self._id + self._line + self._what + 4 + self._verdict

    def names(self, event: Event, before: Event | None, last: Event) -> str:
        """Return the id, the line if it differs from that of the previous event, the phase or kind, and the verdict on
        the `last` event of the row: `columns` wide."""
        return self._named(event, before) + self._verdict_cell(last) if self._verdict else self._named(event, before)

    def _named(self, event: Event, before: Event | None) -> str:
        named = self.style.bold(self._cell(event.id or "", self._id))
        if not self._line:
            return f"{named}  {self._what_cell(event)}  "
        changed = before is None or before.line != event.line
        lined = self.style.magenta(self._cell(event.line if changed else "", self._line - 2))
        return f"{named}  {lined}  {self._what_cell(event)}  "

    def _verdict_cell(self, event: Event) -> str:
        text = self._verdicts.get(event.commit, "")
        return painted(text, self.style) + " " * (self._verdict - len(text))

    def _what_cell(self, event: Event) -> str:
        """Return the phase or kind as a cell; cached, because few different ones occur."""
        text = what(event)
        cell = self._cells.get(text)
        if cell is None:
            cell = self._cells[text] = self._cell(text, self._what)
        return cell

    def _cell(self, text: str, columns: int) -> str:
        return pad(fit(escape(text), columns, self.style.ellipsis), columns)

    def tail(self, event: Event, used: int, said: str, flag: str = "") -> str:
        """Return the flag, what was said and what comes next, in the columns of the terminal beyond the `used` ones."""
        room = None if self.terminal is None else max(self.terminal - used, 0)
        warning = _warning(event, flag)
        if room is not None and warning:
            warning = fit(warning, room, self.style.ellipsis)
            room -= width(warning)
        return self.style.yellow(warning) + _shared(escape(said), escape(event.next), room, self.style)


def _widest(texts: Iterable[str], most: int) -> int:
    return min(max(width(escape(text)) for text in texts), most)


def _warning(event: Event, flag: str) -> str:
    newer = f"written by a newer gitckpt, format {event.format}" if event.format > FORMAT else ""
    return f"({escape(', '.join(filter(None, (flag, newer))))}) " if flag or newer else ""


def _shared(said: str, following: str, room: int | None, style: Style) -> str:
    """Return what was said, followed by what comes next in the remaining columns, or in two fifths of them if both are
    long.
    """
    lead = f"  {style.arrow} "
    if room is None:
        return said + (style.dim(lead + following) if following else "")
    said_width, next_width = width(said), width(following)
    next_room = max(room - said_width, min(next_width + len(lead), room * 2 // 5)) - len(lead)
    if not following or next_room < min(next_width, _LEAST):
        return said if said_width <= room else cut(said, room, style.ellipsis)
    said_room = room - len(lead) - min(next_room, next_width)
    said = said if said_width <= said_room else cut(said, said_room, style.ellipsis)
    following = following if next_width <= next_room else cut(following, next_room, style.ellipsis)
    return said + style.dim(lead + following)
