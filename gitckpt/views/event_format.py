"""`gitckpt log --format`: each event in a format that the user chooses, such as `{id} {phase:10} {done}`."""

from __future__ import annotations

import re

from gitckpt.errors import UsageError
from gitckpt.views.paths import path_text
from gitckpt.views.runs import verdict
from gitckpt.views.text import escape, fit, pad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitckpt.trajectory.bisection import Run
    from gitckpt.trajectory.events import Event
    from gitckpt.views.paths import Change

    #: Returns the text that replaces a placeholder.
    Value = Callable[[Event, Sequence[Change], Sequence[Run]], str]

#: A placeholder with its width in columns; a literal brace; an escape.
TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>[a-z_]*)(?::(?P<columns>\d{1,3}))?\}|\\[nt\\]|[{}]")

ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\", "{{": "{", "}}": "}"}


def _field(name: str) -> Value:
    return lambda event, *_: _joined(event.fields.get(name))


def _joined(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)


#: Placeholder → the function that returns its text.
VALUES: dict[str, Value] = {
    "id": lambda event, *_: event.id or event.kind,
    "ref": lambda event, *_: event.ref,
    "session": lambda event, *_: event.session,
    "line": lambda event, *_: event.line,
    "seq": lambda event, *_: str(event.seq),
    "kind": lambda event, *_: event.kind,
    "phase": lambda event, *_: event.phase,
    "at": lambda event, *_: event.at,
    "subject": lambda event, *_: event.subject,
    "next": lambda event, *_: event.next,
    "commit": lambda event, *_: event.commit,
    "parent": lambda event, *_: event.parent,
    "flag": lambda event, *_: event.flag,
    "head": lambda event, *_: str(event.git.get("head") or ""),
    "branch": lambda event, *_: str(event.git.get("branch") or ""),
    "done": _field("done"),
    "goal": _field("goal"),
    "reason": _field("reason"),
    "state_ref": _field("state_ref"),
    "rollback_hint": _field("rollback_hint"),
    "files": lambda _, files, __: str(len(files)),
    "paths": lambda _, files, __: " ".join(path_text(path) for _, path, _ in files),
    "tests": lambda _, __, runs: verdict(runs),
}


class EventFormat:
    """A parsed format. Raises UsageError for an unknown placeholder.

    `needs_files` says whether it shows what an event changed."""

    def __init__(self, text: str) -> None:
        self._parts: list[str | tuple[Value, int]] = []
        self.needs_files = False
        place = 0
        for token in TOKEN.finditer(text):
            self._parts += [text[place : token.start()], self._part(token)]
            place = token.end()
        self._parts.append(text[place:])

    def _part(self, token: re.Match[str]) -> str | tuple[Value, int]:
        if token[0] in ESCAPES:
            return ESCAPES[token[0]]
        name = token["name"]
        if name not in VALUES:
            known = ", ".join(VALUES)
            raise UsageError(f"--format: {token[0]!r} stands for nothing", f"write {{id}}; there are {known}")
        self.needs_files = self.needs_files or name in ("files", "paths")
        return VALUES[name], int(token["columns"] or 0)

    def line(self, event: Event, files: Sequence[Change] = (), runs: Sequence[Run] = ()) -> str:
        """Format one event; `files` is what it changed, `runs` the results of commands run on its files. Control
        characters in agent text are escaped."""
        return "".join(part if isinstance(part, str) else _shown(*part, event, files, runs) for part in self._parts)


def _shown(value: Value, columns: int, event: Event, files: Sequence[Change], runs: Sequence[Run]) -> str:
    text = escape(value(event, files, runs))
    return pad(fit(text, columns), columns) if columns else text
