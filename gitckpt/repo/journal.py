"""The journal: sessions, lines and events as refs and commits. Publishing a ref publishes snapshot and record
together."""

from __future__ import annotations

import os

from gitckpt.errors import Damaged, GitFailed
from gitckpt.repo.access import refuse_closed
from gitckpt.repo.answers import is_object_id, reads, unknown_form, unreadable
from gitckpt.repo.message import decode
from gitckpt.repo.repository import CURRENT, PLACES, REFS
from gitckpt.trajectory.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.events import Event

Lines = dict[str, dict[str, str]]


class OnRecord:
    """What the refs say: `lines`, session → line → commit at its tip; `origins`, session → the remote it was fetched
    from, for those that were; `places`, the ids of this work tree in the records of what was done here."""

    __slots__ = ("lines", "origins", "places")

    def __init__(self) -> None:
        self.lines: Lines = {}
        self.origins: dict[str, str] = {}
        self.places: list[str] = []


#: The fields that git is asked for to make a Tip.
TIP = ("%(refname)", "%(objectname)", "%(parent)", "%(tree)", "%(contents)")


class Tip:
    """The event at the tip of a line, and the tree of its snapshot."""

    __slots__ = ("event", "tree")

    def __init__(self, event: Event, tree: str) -> None:
        self.event, self.tree = event, tree


class Journal:
    """Reads what is on record in a repository. Reading creates and changes nothing."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._git = repository.git

    def lines(self, session: str | None = None) -> Lines:
        """Return session → line → commit at its tip, for all sessions or for one."""
        return self._refs(f"{REFS}{session}/heads" if session else REFS).lines

    def origins(self) -> dict[str, str]:
        """Return the sessions that were fetched, and the remote that each came from. They are read-only here."""
        return self._refs(f"{REFS}*/from/**").origins

    def on_record(self) -> OnRecord:
        """Return all of it, with one call of git."""
        return self._refs(REFS, PLACES)

    def _refs(self, *prefixes: str) -> OnRecord:
        """Return what the refs at or below these say. Raise GitFailed if we may not read them."""
        found = OnRecord()
        for row in self._git.text("for-each-ref", "--format=%(objectname) %(refname)", *prefixes).split("\n"):
            if not row:
                continue
            oid, _, name = row.partition(" ")
            if name.startswith(PLACES):
                found.places.append(name.removeprefix(PLACES))
                continue
            if not name.startswith(REFS):
                raise unknown_form("for-each-ref")
            parts = name.removeprefix(REFS).split("/")
            if len(parts) == 3 and parts[1] == "heads":
                found.lines.setdefault(parts[0], {})[parts[2]] = oid
            elif parts[1:2] == ["from"]:
                found.origins[parts[0]] = "/".join(parts[2:])
        if REFS in prefixes or not found.lines:
            refuse_closed(self.repository.common_dir, REFS)
        return found

    def numbered(self) -> Lines:
        """Return the lines of the sessions that are named like attempts: an id from `new_session_id`, then a number."""
        lines = self._refs(f"{REFS}*-*-*-*/heads/*").lines
        return {id: tips for id, tips in lines.items() if _is_numbered(*id.split("-"))}

    def tips(self, session: str) -> dict[str, Tip]:
        """Return line → its Tip, with one call of git. Raise Damaged if a commit is missing."""
        command = ("for-each-ref", f"--format={'%00'.join(TIP)}%00", f"{REFS}{session}/heads")
        try:
            found = _tips(self._git.run(*command))
        except GitFailed as error:
            raise unreadable("the history of a session", error) from error
        if not found:
            refuse_closed(self.repository.common_dir, REFS)
        return found

    def tags(self, session: str) -> dict[str, str]:
        """Return the tags of a session: id → commit."""
        output = self._git.text("for-each-ref", "--format=%(objectname) %(refname)", f"{REFS}{session}/tags")
        rows = (row.partition(" ") for row in output.split("\n") if row)
        return {name.rpartition("/")[2]: oid for oid, _, name in rows}

    def current(self) -> tuple[str, str] | None:
        """Return the session and line that this work tree records on, or None."""
        name = self._current_ref()
        parts = name.removeprefix(REFS).split("/")
        return (parts[0], parts[2]) if len(parts) == 3 and parts[1] == "heads" else None

    def _current_ref(self) -> str:
        """Return the target of the symbolic ref, read from its file if refs are files: this saves a call on every
        log."""
        try:
            with open(os.path.join(self.repository.git_dir, os.fsencode(CURRENT)), "rb") as file:
                content = file.read(4096).decode("utf-8", "surrogateescape")
            if content.startswith("ref: "):
                return content[5:].rstrip("\n")
        except FileNotFoundError:
            if not os.path.isdir(os.path.join(self.repository.common_dir, b"reftable")):
                return ""
        except OSError:
            refuse_closed(self.repository.git_dir, "refs/worktree")
        call = self._git.start("symbolic-ref", "-q", CURRENT, ok=(0, 1))
        return call.wait().decode("utf-8", "surrogateescape").rstrip("\n")

    def events(self, tips: Iterable[str], count: int | None = None) -> list[Event]:
        """Return the events from these commits back to the first, newest first; at most `count`. Raise Damaged if one
        is missing."""
        return self._log(["--first-parent", *([f"-n{count}"] if count is not None else [])], sorted(set(tips)))

    def at(self, commits: Iterable[str]) -> list[Event]:
        """Return the events at exactly these commits. Raise Damaged if one is missing."""
        return self._log(["--no-walk=unsorted"], sorted(set(commits)))

    def event(self, commit: str) -> Event:
        """Return the event at this commit. Raise Damaged if it is missing or not an event."""
        found = self.at([commit])
        if not found:
            raise Damaged(f"commit {commit[:12]} is no event of a session", "gitckpt log shows those that are")
        return found[0]

    def places(self) -> list[str]:
        """Return the ids of this work tree in the records of what was done here; [] before the first. Never fetched."""
        rows = self._git.text("for-each-ref", "--format=%(refname)", PLACES).split("\n")
        return [name.removeprefix(PLACES) for name in rows if name]

    def operations(self, known: OnRecord | None = None) -> list[Event]:
        """Return the rollbacks and retries of work trees with this one's name, here and elsewhere, in no particular
        order, without those of fetched sessions. Raise Damaged if an event is missing."""
        known = known or self._refs(REFS)
        origins = known.origins
        tips = sorted({tip for id, held in known.lines.items() if id not in origins for tip in held.values()})
        # git filters out the rest: reading a long history here would cost more than the rollback itself
        found = self._log(["--first-parent", "-E", '--grep=^kind: "(rollback|retry)"$'], tips)
        return [e for e in found if e.worktree == self.repository.name and e.session not in origins]

    def heard(self, tips: Iterable[str]) -> str:
        """Return how far a client's transcript had been read, from the newest event on these lines that says so; "" if
        none does. Raise Damaged if an event is missing."""
        found = self._log(["-n1", "--first-parent", "-E", '--grep=^heard: "'], sorted(set(tips)))
        return found[0].heard if found else ""

    def _log(self, options: Sequence[str], commits: Sequence[str]) -> list[Event]:
        if not commits:
            return []
        command = ("log", "-z", "--no-notes", "--no-show-signature", "--format=%H %T %P%n%B", *options, "--stdin")
        try:
            output = self._git.run(*command, data="\n".join(commits).encode() + b"\n")
        except GitFailed as error:
            raise unreadable("the history of a session", error) from error
        return _events(output)

    def session(self, id: str, lines: Mapping[str, str] | None = None) -> Session:
        """Return a complete session, read from its refs alone."""
        tips = self.lines(id).get(id, {}) if lines is None else lines
        return Session(id, self.events(tips.values()), tips)

    def sessions(self, *, everywhere: bool = False) -> list[Session]:
        """Return all sessions of this work tree, or of all work trees and those that were fetched, oldest first."""
        known = self._refs(REFS)
        events: dict[str, Event] = {
            e.commit: e for e in self.events(t for tips in known.lines.values() for t in tips.values())
        }
        found = [session_of(id, tips, events) for id, tips in known.lines.items()]
        here, fetched = self.repository.name, known.origins
        mine = [s for s in found if everywhere or (s.worktree == here and s.id not in fetched)]
        return sorted(mine, key=lambda session: (session.events[0].at if session.events else "", session.id))


@reads("log")
def _events(output: bytes) -> list[Event]:
    events = []
    for record in filter(None, output.decode("utf-8", "replace").split("\0")):
        head, _, message = record.partition("\n")
        commit, tree, *parents = head.split()
        if not is_object_id(commit):
            raise ValueError(commit)
        event = decode(commit, parents, message.rstrip("\n") + "\n", tree)
        if event is not None:
            events.append(event)
    return events


@reads("for-each-ref")
def _tips(output: bytes) -> dict[str, Tip]:
    fields = output.decode("utf-8", "replace").split("\0")[:-1]
    found = {}
    for name, commit, parents, tree, message in zip(*(fields[n :: len(TIP)] for n in range(len(TIP))), strict=True):
        if not (is_object_id(commit) and is_object_id(tree)):
            raise ValueError(name)
        event = decode(commit, parents.split(), message.rstrip("\n") + "\n")
        if event is not None:
            found[name.rpartition("/")[2]] = Tip(event, tree)
    return found


def _is_numbered(date: str, time: str, chance: str, number: str = "", *more: str) -> bool:
    return date.isdecimal() and time.isdecimal() and number.isdecimal() and not more


def session_of(id: str, tips: Mapping[str, str], events: Mapping[str, Event]) -> Session:
    """Build a session from the events reachable from its tips, including those of a session that it was opened in."""
    own: dict[str, Event] = {}
    for tip in tips.values():
        event = events.get(tip)
        while event is not None and event.commit not in own:
            own[event.commit] = event
            event = events.get(event.parent)
    return Session(id, own.values(), tips)
