"""Sends sessions to a remote: compares them with what it has, searches them for content that should not leave, then
updates lines and new tags, all or none if the server can do that. Tags that move follow separately, because a server
may refuse them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from gitckpt.errors import GitFailed, Refused
from gitckpt.repo.arrived import ancestry
from gitckpt.repo.leaks import Leak, leaks
from gitckpt.repo.listed import sessions_in
from gitckpt.repo.outgoing import Outgoing, outgoing
from gitckpt.repo.repository import line_ref, tag_ref
from gitckpt.trajectory.paths import is_at_or_below

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from gitckpt.repo.remote import Remote, Update
    from gitckpt.repo.transport import Tell
    from gitckpt.repo.worktree import WorkTree

#: How many of the barred items an error lists.
SHOWN = 40


class Allowed(NamedTuple):
    """What may be sent although it looks as if it should not: `paths`, relative to the root of the work tree, with
    everything below them; the `records` of events, by name (`run/C6`); or `all`."""

    paths: Collection[bytes] = ()
    records: Collection[str] = ()
    all: bool = False

    def holds(self, path: bytes) -> bool:
        """Return whether the path is one of `paths`, or below one."""
        return is_at_or_below(path, self.paths)


class Barred(NamedTuple):
    """A file that must not be sent, or the record of an event if `path` is b"": the first checkpoint or commit that has
    it, and why."""

    path: bytes
    where: str
    reason: str

    @property
    def shown(self) -> str:
        """Its name for the user."""
        return os.fsdecode(self.path) if self.path else f"the record of {self.where}"


@dataclass(slots=True)
class Pushing:
    """What a push would do at the remote.

    `lines` and `tags` are the refs that it would update. `moved_tags` are the tags that point elsewhere there; a server
    may refuse to move them. `sessions` have something to send; of those in `behind`, the remote has more than this
    repository. `clashes` are lines that diverge from the remote's; `barred` is what should not leave.
    """

    remote: str
    lines: list[Update] = field(default_factory=list)
    tags: list[Update] = field(default_factory=list)
    moved_tags: list[Update] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    clashes: list[str] = field(default_factory=list)
    barred: list[Barred] = field(default_factory=list)
    content: Outgoing = field(default_factory=Outgoing)

    @property
    def is_barred(self) -> bool:
        """Whether something prevents the push."""
        return bool(self.clashes or self.barred)


class Pusher:
    """Pushes from one repository. `tell` is told the progress of the search for leaks."""

    def __init__(self, tree: WorkTree, remote: Remote, tell: Tell) -> None:
        self.tree, self._remote, self._tell = tree, remote, tell
        self._git, self._journal = tree.repository.git, tree.journal

    def plan(self, names: Collection[str], *, allowed: Allowed) -> Pushing:
        """Return what a push of these sessions would do."""
        refs = self._remote.refs()
        there, _ = sessions_in(refs)
        found = Pushing(self._remote.name)
        for id in sorted(self._with_needed(names)):
            self._compare(found, id, there.get(id, {}), refs)
        tips = [tip for _, tip, _ in (*found.lines, *found.tags, *found.moved_tags)]
        if tips:
            partial = self.tree.settings.partial_clone
            found.content = outgoing(self.tree.repository, tips, set(refs.values()), partial=partial)
        if tips and not allowed.all:
            at = [tip for _, tip, _ in found.lines]
            found.barred = self._named(found.content, leaks(self.tree, found.content, at, self._tell), allowed)
        return found

    def _with_needed(self, names: Collection[str]) -> set[str]:
        """Return these sessions and the ones that their lines run through: the remote needs both to have them whole."""
        lines, found, waiting = self._journal.lines(), set[str](), list(names)
        while waiting:
            id = waiting.pop()
            if id in lines and id not in found:
                found.add(id)
                waiting += {event.session for event in self._journal.events(lines[id].values())}
        return found

    def _compare(self, found: Pushing, id: str, there: Mapping[str, str], refs: Mapping[str, str]) -> None:
        before = len(found.lines), len(found.tags), len(found.moved_tags)
        for line, tip in self._journal.lines(id).get(id, {}).items():
            held = there.get(line, "")
            if held == tip:
                continue
            if not held or ancestry(self._git, [held], [tip]):
                found.lines.append((line_ref(id, line), tip, held))
            elif ancestry(self._git, [tip], [held]):
                found.behind.append(id)
            else:
                found.clashes.append(f"{id}, line {line}")
        for tag, commit in self._journal.tags(id).items():
            name = tag_ref(id, tag)
            held = refs.get(name, "")
            if not held:
                found.tags.append((name, commit, held))
            elif held != commit and self._is_newer(commit, held):
                found.moved_tags.append((name, commit, held))
        if before != (len(found.lines), len(found.tags), len(found.moved_tags)):
            found.sessions.append(id)

    def _is_newer(self, commit: str, held: str) -> bool:
        """Return whether our checkpoint is newer than the one that the remote's tag points to; False if we do not have
        that one."""
        if not self._git.succeeds("cat-file", "-e", held):
            return False
        seen = {event.commit: event.seq for event in self._journal.at([commit, held])}
        return seen.get(commit, 0) > seen.get(held, 0)

    def _named(self, content: Outgoing, found: Sequence[Leak], allowed: Allowed) -> list[Barred]:
        """Return the leaks that are not allowed."""
        barred = [leak for leak in found if not leak.path or not allowed.holds(leak.path)]
        events = {e.commit: e for e in self._journal.at({leak.commit for leak in barred}.intersection(content.events))}
        named = []
        for leak in barred:
            event = events.get(leak.commit)
            where = event.ref if event else f"commit {leak.commit[:12]}"
            if leak.path or where not in allowed.records:
                named.append(Barred(leak.path, where, leak.reason))
        return named

    def carry_out(self, pushing: Pushing) -> str:
        """Update the refs at the remote. Return why tags of reused ids were not moved, or "". Raises Refused if
        anything prevents the push; then nothing was sent."""
        _refuse(pushing)
        self._remote.push([*pushing.lines, *pushing.tags])
        try:
            self._remote.push(pushing.moved_tags)
        except (GitFailed, Refused) as error:
            return f"tags of ids that were used again are where they were ({error}); gitckpt fetch needs none of them"
        return ""


def _refuse(pushing: Pushing) -> None:
    if pushing.clashes:
        raise Refused(
            f"nothing was sent: {pushing.remote} holds other events under the same name ({'; '.join(pushing.clashes)})",
            "another machine records a session of that name; a session that is given no name has one of its own",
        )
    if pushing.barred:
        rows = [f"  {barred.shown}: {barred.reason} (since {barred.where})" for barred in pushing.barred[:SHOWN]]
        more = [f"  and {len(pushing.barred) - SHOWN} more"] if len(pushing.barred) > SHOWN else []
        raise Refused(
            "nothing was sent: this is not meant for others\n" + "\n".join([*rows, *more]),
            "--allow PATH sends one all the same, --allow-all all of them; what was sent once is out of your hands",
        )
