"""Read all refs and commits on record in a repository, trusting nothing.

A command that walks history stops at damage; this continues, and reports what is intact."""

from __future__ import annotations

import os
import re

from gitckpt.errors import Damaged, GitFailed
from gitckpt.repo.access import refuse_closed
from gitckpt.repo.answers import reads
from gitckpt.repo.journal import Journal
from gitckpt.repo.message import decode
from gitckpt.repo.objects import read_objects
from gitckpt.repo.recorded import check_record
from gitckpt.repo.repository import CURRENT, REFS
from gitckpt.repo.worktrees import git_dirs, identities, identity
from gitckpt.repo.writer import root_id
from gitckpt.trajectory.events import FORMAT
from gitckpt.trajectory.record import NOT_OURS, Finding, Record
from gitckpt.trajectory.remedies import DAMAGED, IN_A_PACK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.undo import Identity

#: What git prints about a ref whose file does not contain an object id.
BROKEN = re.compile(r"^warning: ignoring (?:broken|dangling symref) ref (refs/gitckpt/\S+)", re.MULTILINE)

#: The committer of an event; other commits are the user's, and are not walked.
COMMITTER = "gitckpt <gitckpt@localhost> "


class Commit:
    """A commit as it is in its object."""

    __slots__ = ("is_ours", "message", "parents", "tree")

    def __init__(self, content: bytes) -> None:
        head, _, message = content.partition(b"\n\n")
        rows = [row.partition(" ") for row in head.decode("utf-8", "replace").split("\n")]
        self.tree = next((value for name, _, value in rows if name == "tree"), "")
        self.parents = tuple(value for name, _, value in rows if name == "parent")
        self.is_ours = any(name == "committer" and value.startswith(COMMITTER) for name, _, value in rows)
        self.message = message.decode("utf-8", "replace").rstrip("\n") + "\n"


class Survey:
    """What refs and commits say, read without trusting anything: the `record`, and what is `strange` among the refs.

    `commits` are all commits that were read, by id; `faults` maps the others to why they could not be."""

    def __init__(self, repository: Repository, session: str | None = None) -> None:
        self._repository, self._git, self._session = repository, repository.git, session
        self._root = root_id(repository.object_format)
        self.commits: dict[str, Commit] = {}
        self.faults: dict[str, str] = {}
        self.strange: list[Finding] = []
        self._broken: list[str] = []
        self._fetched: set[str] = set()
        self.record = self._read()

    # -- refs

    def _read(self) -> Record:
        lines, tags = self._refs()
        tips = [tip for refs in (*lines.values(), *tags.values()) for tip in refs.values()]
        self._walk(tips)
        events = self._events(tips)
        unread = {event.commit: why for event in events.values() if (why := _why_unread(event))}
        return Record(
            self._root, lines, tags, events, self.faults, unread, self._broken, self._current(), self._fetched,
            self._worktrees(),
        )  # fmt: skip

    def _refs(self) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
        """Return lines and tags by session; anything else below our refs is reported. Raise GitFailed if we may not
        read them, which is not damage."""
        call = self._git.start("for-each-ref", "--format=%(objectname) %(refname) %(symref)", REFS)
        found: dict[str, dict[str, dict[str, str]]] = {"heads": {}, "tags": {}}
        for oid, name, symref in _rows(call.wait()):
            session, kind, *names = [*name.removeprefix(REFS).split("/")[:4], ""]
            if not self._is_asked_for(session):
                continue
            if kind == "from" and names[0] and not symref:
                self._fetched.add(session)
            elif symref or kind not in found or len(names) != 2:
                self.strange.append(_strange(name, f"points to {symref}" if symref else "is none of gitckpt's"))
            else:
                found[kind].setdefault(session, {})[names[0]] = oid
        refuse_closed(self._repository.common_dir, REFS)
        broken = BROKEN.findall(call.stderr.decode("utf-8", "surrogateescape"))
        self._broken = [name for name in broken if self._is_asked_for(name.removeprefix(REFS).split("/")[0])]
        return found["heads"], found["tags"]

    def _is_asked_for(self, session: str) -> bool:
        return self._session in (None, session)

    def _current(self) -> dict[str, tuple[str, str] | str]:
        """Return what each work tree records on."""
        found: dict[str, tuple[str, str] | str] = {}
        for worktree in git_dirs(self._repository):
            ref = f"worktrees/{worktree}/{CURRENT}" if worktree else f"main-worktree/{CURRENT}"
            call = self._git.start("symbolic-ref", "-q", ref, ok=(0, 1, 128))
            name = call.wait().decode("utf-8", "surrogateescape").rstrip("\n")
            parts = name.removeprefix(REFS).split("/")
            if name.startswith(REFS) and len(parts) == 3 and parts[1] == "heads":
                found[worktree] = (parts[0], parts[2])
            elif name or self._git.succeeds("rev-parse", "-q", "--verify", ref):
                found[worktree] = name
        return {w: c for w, c in found.items() if self._session is None or c[0] == self._session}

    def _worktrees(self) -> dict[str, Identity]:
        """Return the existing work trees; only our own if another cannot be read."""
        try:
            return identities(self._repository)
        except GitFailed:
            return {self._repository.name: identity(Journal(self._repository))}

    # -- commits

    def _walk(self, tips: Iterable[str]) -> None:
        """Read the commits along first parents from the tips to the root. Git's own walk lists them; where it stops at
        damage, continue behind it."""
        pending = set(tips)
        while pending:
            listed = self._git.run(
                "rev-list", "--first-parent", "--stdin", data="\n".join(sorted(pending)).encode() + b"\n", ok=(0, 128)
            )
            fresh = dict.fromkeys([*listed.decode().split(), *sorted(pending)])
            self.take(oid for oid in fresh if oid not in self.commits and oid not in self.faults)
            parents = {parent for oid in fresh if (commit := self.commits.get(oid)) for parent in commit.parents[:1]}
            pending = parents - set(self.commits) - set(self.faults)

    def take(self, oids: Iterable[str]) -> None:
        """Read these commits into `commits`, or note in `faults` why that is not possible."""
        for found in read_objects(self._git, self._repository.object_format, [oid.encode() for oid in oids]):
            oid = found.oid.decode()
            if found.fault or found.kind != b"commit":
                self.faults[oid] = exact_fault(self._repository, oid, found.fault) if found.fault else "no commit"
            else:
                self.commits[oid] = Commit(bytes(found.content))

    def _events(self, tips: Iterable[str]) -> dict[str, Event]:
        """Return the events reachable from the tips through commits that are intact and ours."""
        events: dict[str, Event] = {}
        for tip in tips:
            here = tip
            while here not in events and here != self._root and (commit := self.commits.get(here)):
                event = decode(here, commit.parents, commit.message) if commit.is_ours else None
                if event is None:
                    self.faults[here] = NOT_OURS
                    break
                events[here] = event
                here = event.parent
        return events


def exact_fault(repository: Repository, oid: str, fault: str) -> str:
    """Return the exact fault of an object: git also reports one as missing if its file exists but cannot be
    unpacked."""
    path = os.path.join(repository.objects_dir, os.fsencode(f"{oid[:2]}/{oid[2:]}"))
    if os.path.lexists(path):
        return DAMAGED
    return IN_A_PACK if fault == DAMAGED else fault


def _strange(name: str, why: str) -> Finding:
    return Finding("ref", "notice", f"{name} {why}", f"git update-ref --no-deref -d {name} removes it")


def _why_unread(event: Event) -> str:
    """Return why the document of an event cannot be used; "" if it can, or if only a newer version can judge it."""
    if event.kind == "unreadable" or event.format > FORMAT:
        return ""
    try:
        check_record(event)
    except Damaged as error:
        return str(error)
    return ""


@reads("for-each-ref")
def _rows(output: bytes) -> list[tuple[str, str, str]]:
    """Return object id, name, and the target of the ref if it is symbolic."""
    rows = (row.split(" ", 2) for row in output.decode("utf-8", "surrogateescape").splitlines())
    return [(oid, name, symref) for oid, name, symref in rows]
