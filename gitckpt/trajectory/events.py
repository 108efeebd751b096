"""An event: one thing that happened, one commit.

An event has a short header, which is enough for a list, and a YAML document with the rest, which is read only on
demand: reading ten thousand documents costs fifty times as much as listing the events."""

from __future__ import annotations

from gitckpt.errors import Damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

#: The message format version that this program writes, and the newest that it reads.
FORMAT = 1

#: Kinds that carry a protocol block.
BLOCK_KINDS = ("checkpoint", "summary", "retry", "final")

#: Kinds with an id by which the user can name a state of the work tree.
NAMED_KINDS = ("checkpoint", "summary", "retry")

#: Kinds that end a session, unless a rollback opens another line in it.
CLOSING_KINDS = ("final", "end")

KINDS = ("start", "checkpoint", "auto", "summary", "retry", "final", "rollback", "reset", "note", "end")


class Event:
    """One event of a session.

    `commit` and `parents` are object ids (hexadecimal); `parents[0]` is the previous event on its line, or the constant
    root commit for the first. `tree` is the tree of its snapshot, "" if it was not read along. `kind` is one of KINDS,
    or any text if the message has a newer format. `id` is canonical (`C6`, `S2`, `R1`) or None; `written` is the id as
    the agent wrote it. `seq` counts the events of the session from 1. `at` is an RFC 3339 time in UTC. `subject` is the
    first line of the commit message. `next` is the text of the field `next`, or "". `source` is where the block was
    said, in the format of `trajectory.sources`, or "" if unknown; `heard` is how far the client's own record had been
    read by then, in the format of `trajectory.sources`, or "". `flag` is a short warning for a list (`unterminated`, `2
    paths not covered`), or "". `document` is the whole record as plain data."""

    __slots__ = (
        "_document", "_load", "at", "commit", "flag", "format", "heard", "id", "kind", "line", "next", "parents",
        "phase", "seq", "session", "source", "subject", "text", "tree", "worktree", "written",
    )  # fmt: skip

    def __init__(
        self,
        *,
        kind: str,
        session: str,
        line: str,
        seq: int,
        at: str,
        id: str | None = None,
        written: str = "",
        worktree: str = "",
        subject: str = "",
        phase: str = "",
        next: str = "",
        flag: str = "",
        source: str = "",
        heard: str = "",
        commit: str = "",
        parents: Sequence[str] = (),
        tree: str = "",
        format: int = FORMAT,
        text: str = "",
        load: Callable[[str], dict[str, Any]] | None = None,
        document: dict[str, Any] | None = None,
    ) -> None:
        self.kind, self.session, self.line, self.seq, self.at = kind, session, line, seq, at
        self.id, self.written, self.worktree, self.subject = id, written, worktree, subject
        self.phase, self.next, self.commit, self.parents, self.format = phase, next, commit, tuple(parents), format
        self.flag, self.source, self.heard, self.text, self.tree = flag, source, heard, text, tree
        self._load, self._document = load, document

    def __repr__(self) -> str:
        return f"<Event {self.ref} {self.kind} on {self.line} {self.commit[:10]}>"

    @property
    def document(self) -> dict[str, Any]:
        """The whole record as plain data: `fields`, `git`, `coverage`, `agent`, `opens`, …; read on first use."""
        if self._document is None:
            self._document = self._load(self.text) if self._load else {}
        return self._document

    @property
    def fields(self) -> dict[str, Any]:
        """The block's fields as parsed; empty for a kind without a block."""
        return self.document.get("fields") or {}

    @property
    def git(self) -> dict[str, Any]:
        """`head`, `branch`, `operation` and `staging` of the user's repository at the time."""
        return self.document.get("git") or {}

    @property
    def missing(self) -> list[dict[str, Any]]:
        """What the snapshot does not hold, as `{"path", "reason"}` each. Empty if it is complete."""
        return (self.document.get("coverage") or {}).get("missing") or []

    @property
    def parent(self) -> str:
        """The commit of the previous event on its line, or the root commit for the first."""
        return self.parents[0] if self.parents else ""

    @property
    def ref(self) -> str:
        """A unique name: `<session>/C6`, or for an event without an id the start of its commit id."""
        return f"{self.session}/{self.id or self.commit[:12]}"

    @property
    def opens(self) -> dict[str, Any] | None:
        """The line that a retry or a rollback opened: `{"session", "line", "at"}`, where `at` is a commit; otherwise
        None."""
        opened: dict[str, Any] | None = self.document.get("opens")
        return opened

    @property
    def answers_to(self) -> list[str]:
        """Further ids of this event: a RETRY stands in for the checkpoint that never reported."""
        return self.document.get("answers_to") or []


def is_readable(event: Event) -> bool:
    """Return whether the event's document can be read: it is not damaged, and not in a newer format."""
    try:
        return event.kind != "unreadable" and event.format <= FORMAT and isinstance(event.document, dict)
    except Damaged:
        return False
