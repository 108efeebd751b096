"""Verify everything on record: what refs, commits and messages say, and every object that they need."""

from __future__ import annotations

import os

from gitckpt.repo.contents import Contents
from gitckpt.repo.promised import not_promised
from gitckpt.repo.survey import Survey, exact_fault
from gitckpt.trajectory.events import FORMAT
from gitckpt.trajectory.integrity import findings
from gitckpt.trajectory.record import Finding, called
from gitckpt.trajectory.remedies import bring_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitckpt.repo.contents import Progress
    from gitckpt.repo.repository import Repository
    from gitckpt.repo.survey import Commit
    from gitckpt.trajectory.events import Event

    #: What an event holds: trees, each with a label that says what it is.
    Trees = list[tuple[str, str]]

#: Messages of the commits that hold a staging area, and the suffix for a path in their trees.
STAGING = {"gitckpt: staging area": " in the staging area", "gitckpt: unmerged stages": " in the unmerged stages"}


class Verification:
    """The `findings` about a repository, damage first, and the `record` that they are about.

    `newer` are the events whose format this version cannot judge; `objects` is how many objects were read and checked
    against their ids. With `session`, only that session is checked."""

    def __init__(
        self, repository: Repository, session: str | None = None, progress: Progress = lambda done, total: None
    ) -> None:
        self._repository = repository
        self._survey = survey = Survey(repository, session)
        self._contents = Contents(repository.git, repository.object_format, progress)
        self.record = survey.record
        found = [*survey.strange, *findings(self.record), *self._losses()]
        self.findings = sorted(found, key=lambda finding: finding.level != "damage")
        self.newer = [event for event in self.record.ordered if event.format > FORMAT]
        self.objects = len(survey.commits) + self._contents.read

    def _losses(self) -> Iterator[Finding]:
        """Yield what the events need and is not intact: files of snapshots, staging areas, the commits that HEAD was
        at."""
        events = self.record.ordered
        self._take({parent for event in events for parent in event.parents[1:]})
        trees = {event.commit: self._trees(event) for event in events}
        roots = [tree.encode() for rows in trees.values() for tree, _ in rows]
        self._contents.check(roots)
        lost = self._contents.losses(roots)
        missed = not_promised(self._repository, lost)
        yield from self._lost_commits(events)
        holders: dict[bytes, list[tuple[Event, str]]] = {}
        for event in events:
            for tree, label in trees[event.commit]:
                for oid, path in lost.get(tree.encode(), {}).items():
                    holders.setdefault(oid, []).append((event, os.fsdecode(path or b".") + label))
        yield from (self._lost_object(oid.decode(), rows) for oid, rows in holders.items() if oid in missed)

    def _take(self, commits: set[str]) -> None:
        """Read these commits and, below a staging area, the commit that holds its unmerged stages."""
        survey = self._survey
        while fresh := sorted(commits - set(survey.commits) - set(survey.faults)):
            survey.take(fresh)
            staging = [commit for oid in fresh if (commit := survey.commits.get(oid)) and _label(commit)]
            commits = {parent for commit in staging for parent in commit.parents}

    def _trees(self, event: Event) -> Trees:
        """Return the trees of an event's snapshot, its staging area, and the unmerged stages of that."""
        found, pending = [(self._survey.commits[event.commit].tree, "")], list(event.parents[1:])
        while pending:
            further = self._survey.commits.get(pending.pop())
            if further is not None and (label := _label(further)):
                found.append((further.tree, label))
                pending += further.parents
        return found

    def _lost_commits(self, events: list[Event]) -> Iterator[Finding]:
        holders: dict[str, list[Event]] = {}
        for event in events:
            for parent in event.parents[1:]:
                if parent not in self._survey.commits:
                    holders.setdefault(parent, []).append(event)
        for oid, holding in holders.items():
            fault = self._survey.faults[oid]
            what = f"commit {oid[:12]} is {fault}: HEAD or the staging area was at it at {_listed(holding)}"
            yield _loss(oid, "commit", fault, what, holding)

    def _lost_object(self, oid: str, holders: list[tuple[Event, str]]) -> Finding:
        fault = exact_fault(self._repository, oid, self._contents.faults[oid.encode()])
        kind, holding = self._contents.kinds[oid.encode()], [event for event, _ in holders]
        what = f"the {'directory' if kind == 'tree' else 'content of'} {holders[0][1]}"
        return _loss(oid, kind, fault, f"object {oid} is {fault}: {what} at {_listed(holding)}", holding)


def _loss(oid: str, kind: str, fault: str, message: str, holding: list[Event]) -> Finding:
    affected = tuple(dict.fromkeys(event.commit for event in holding))
    return Finding("object", "damage", message, bring_back(oid, kind, fault), affected)


def _label(commit: Commit) -> str:
    return STAGING.get(commit.message.rstrip("\n"), "") if commit.is_ours else ""


def _listed(events: list[Event]) -> str:
    refs = list(dict.fromkeys(called(event) for event in events))
    return ", ".join(refs[:3]) + (f" and {len(refs) - 3} more" if len(refs) > 3 else "")
