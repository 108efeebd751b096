"""Turns checkpoints into ordinary commits on a new branch. HEAD, the user's other branches, the staging area and the
files stay as they are."""

from __future__ import annotations

import os
from itertools import pairwise

from gitckpt.errors import GitFailed, Refused, UsageError
from gitckpt.repo.branch import while_noted
from gitckpt.repo.cleaning import Cleaning
from gitckpt.repo.directories import ignored_paths
from gitckpt.repo.grafting import Conflicts, Grafting, is_whole
from gitckpt.repo.private import with_rules
from gitckpt.repo.room import room
from gitckpt.repo.trailers import TRAILER
from gitckpt.repo.trees import entries, tree_of
from gitckpt.repo.writer import EMPTY_TREE
from gitckpt.trajectory.paths import data_path
from gitckpt.trajectory.promotion import Step, before_the_session, message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.repo.worktree import WorkTree
    from gitckpt.trajectory.events import Event


#: The variables that give the committer's identity if git's configuration does not; no other variable of git's is
#: honored.
IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")


class Promoted:
    """One commit that was made, or would be: its id, the step that it stands for, its message and its changed paths."""

    __slots__ = ("commit", "message", "paths", "step")

    def __init__(self, step: Step, commit: str, text: str, paths: Sequence[bytes]) -> None:
        self.step, self.commit, self.message, self.paths = step, commit, text, list(paths)


class Promotion:
    """The result of a promotion.

    `base` is the commit below, or None before the first. `left_out` holds the paths that no commit may add or remove,
    with the reason. `skipped` holds the checkpoints that changed nothing.
    """

    def __init__(self, base: str | None) -> None:
        self.base, self.branch = base, ""
        self.commits: list[Promoted] = []
        self.left_out: dict[bytes, str] = {}
        self.skipped: list[Event] = []

    @property
    def tip(self) -> str:
        """The newest of the commits."""
        return self.commits[-1].commit


class Promoter:
    """Makes commits from the checkpoints of one work tree, under the user's own configuration: filters, identity and
    signature apply. The user's hooks do not run."""

    def __init__(self, tree: WorkTree) -> None:
        self._tree, self._repository = tree, tree.repository
        told = {name: os.environ[name] for name in IDENTITY if name in os.environ}
        self._user = tree.repository.user_git().view("i18n.commitEncoding=UTF-8", cwd=None, **told)

    def base(self, revision: str) -> str | None:
        """Return the commit that `revision` names; None for HEAD before the first commit. Raises UsageError."""
        call = self._user.start(
            "rev-parse", "-q", "--verify", "--end-of-options", f"{revision}^{{commit}}", ok=(0, 1, 128)
        )
        answer = call.wait().decode().strip()
        if call.status == 0:
            return answer
        if revision == "HEAD" and call.status == 128:
            raise GitFailed(f"git does not say where HEAD is: {call.complaint}")
        if revision == "HEAD" and self._user.start("symbolic-ref", "-q", "HEAD", ok=(0, 1)).wait():
            return None
        raise UsageError(f"{revision!r} is no commit", "give a branch, a tag or a commit id")

    def check_branch(self, name: str) -> None:
        """Check that a new branch can have this name, and that git will not read the name as something else.

        Raises UsageError if it is not a valid name, Refused if something is in the way.
        """
        if not self._is_name(name):
            raise UsageError(f"{name!r} is no name for a branch", "git check-ref-format says what one looks like")
        if (taken := self._in_the_way(name)) is not None:
            raise Refused(f"there is a branch {taken} already", "--branch NAME gives the new one another name")
        if os.fsencode(f"branch refs/heads/{name}") in self._user.run("worktree", "list", "--porcelain").splitlines():
            raise Refused(f"you are on {name}, which has no commit yet", "--branch NAME gives the new one another name")
        if self._user.succeeds("rev-parse", "-q", "--verify", "--end-of-options", name):
            raise Refused(f"git takes {name!r} for something else already", "--branch NAME gives it another name")

    def _is_name(self, name: str) -> bool:
        """Return whether `git branch` accepts the name: not HEAD, and no shorthand for another name."""
        call = self._user.start("check-ref-format", "--branch", name, ok=(0, 1, 128))
        answer = os.fsdecode(call.wait()).rstrip("\n")
        if call.status and "not a valid branch name" not in call.complaint:
            raise GitFailed(f"git does not say whether {name!r} is a name for a branch: {call.complaint}")
        return answer == name and call.status == 0

    def _in_the_way(self, name: str) -> str | None:
        """Return a branch of this name, or one whose ref is its parent or child directory: git cannot hold both."""
        first = name.partition("/")[0]
        listed = self._user.run("for-each-ref", "--format=%(refname)", f"refs/heads/{first}")
        for branch in (os.fsdecode(row).removeprefix("refs/heads/") for row in listed.splitlines()):
            if branch == name or branch.startswith(f"{name}/") or name.startswith(f"{branch}/"):
                return branch
        return None

    def make(self, steps: Sequence[Step], start: Event, base: str | None, text: str = "") -> Promotion:
        """Make the commits; no ref points to them yet. `start` is the first event of the session, `text` the message to
        use if there is a single commit.

        Raises Refused if a change cannot be applied to `base`.
        """
        promotion = Promotion(base)
        steps, trees = self._stored(steps, start)
        below = tree_of(self._user, base) if base else EMPTY_TREE[self._repository.object_format]
        promotion.left_out = self._ignored(trees, below) | _uncovered([step.after for step in steps])
        with room("promote") as directory:
            grafting = Grafting(self._repository, self._user, directory, below)
            for step, pair in zip(steps, pairwise(trees), strict=True):
                try:
                    self._add(promotion, grafting, step, pair, text)
                except Conflicts as error:
                    raise _refusal(step, steps, base, error) from error
        if not promotion.commits:
            raise Refused("there is nothing to promote: your commit has all of these changes already")
        return promotion

    def _stored(self, steps: Sequence[Step], start: Event) -> tuple[list[Step], list[str]]:
        """Return the steps, and the trees around them as git stores them, one more than the steps. If the session
        started with uncommitted changes and the first checkpoint changed more than those, they become a step of their
        own."""
        first = steps[0].before
        raw = [tree_of(self._tree.raw, event.commit) for event in (first or start, *(step.after for step in steps))]
        head = start.git.get("head")
        empty = EMPTY_TREE[self._repository.object_format]
        below = None if first else tree_of(self._user, str(head)) if head else empty
        with Cleaning(self._repository, self._tree.raw, raw, below) as cleaning:
            trees = cleaning.trees()
        if first:
            return list(steps), trees
        if len(steps[0].events) > 1 or trees[1] in (trees[0], trees[2]):
            return list(steps), [trees[0], *trees[2:]]
        return [before_the_session(start), *steps], trees

    def _ignored(self, trees: Sequence[str], below: str) -> dict[bytes, str]:
        """Return the paths that the user's rules ignore and the base lacks: they are recorded for rollback, not for
        sharing."""
        paths = {path for tree in trees for path in entries(self._user, tree)} - set(entries(self._user, below))
        rules = with_rules(self._tree.raw, self._tree.settings)
        return dict.fromkeys(sorted(ignored_paths(rules, paths)) if paths else (), "ignored, and not in your commit")

    def _add(self, promotion: Promotion, grafting: Grafting, step: Step, trees: tuple[str, str], text: str) -> None:
        paths = grafting.add(*trees, promotion.left_out)
        if not paths:
            promotion.skipped += step.events
            return
        words = message(step, TRAILER, text)
        parent = promotion.tip if promotion.commits else promotion.base
        commit = self._commit(grafting.tree, parent, words, step.after)
        promotion.commits.append(Promoted(step, commit, words, paths))

    def _commit(self, tree: str, parent: str | None, text: str, event: Event) -> str:
        """Make a commit: authored by whoever recorded the event, at that time, and committed by the user now."""
        name, email, date = self._author(event)
        git = self._user.view(GIT_AUTHOR_DATE=date)
        if name != "gitckpt":
            git = git.view(GIT_AUTHOR_NAME=name, GIT_AUTHOR_EMAIL=email)
        sign = ["-S"] if self._signs() else []
        try:
            return git.object_id(
                "commit-tree", *sign, *(["-p", parent] if parent else []), tree, data=text.encode("utf-8", "replace")
            )
        except GitFailed as error:
            if "identity" in str(error) or "ident name" in str(error):
                raise Refused(
                    "git does not know who you are", 'git config user.name "…" and git config user.email "…" tell it'
                ) from error
            raise

    def _author(self, event: Event) -> tuple[str, str, str]:
        git = self._tree.raw
        answer = git.run("log", "--no-walk", "-z", "--format=%an%x00%ae%x00%ad", "--date=raw", event.commit)
        name, email, date = answer.decode("utf-8", "replace").rstrip("\0").split("\0")
        return name, email, date

    def _signs(self) -> bool:
        command = ("config", "--type=bool", "--get", "commit.gpgSign")
        return self._user.start(*command, ok=(0, 1)).wait().strip() == b"true"

    def publish(self, promotion: Promotion, branch: str) -> None:
        """Create a new branch at the commits. Raises Refused or GitFailed, and then there is no branch."""
        self.check_branch(branch)
        ref, tip = f"refs/heads/{branch}", promotion.tip
        git = self._user.view("core.logAllRefUpdates=true")
        reason = f"gitckpt promote: {promotion.commits[-1].step.after.ref}"
        command = ("update-ref", "--no-deref", "-m", reason, ref, tip, self._repository.null_oid)
        with self._tree.lock:
            while_noted(self._repository, lambda: git.run(*command), ref)
        if not is_whole(self._user, tip, promotion.base, partial=self._tree.settings.partial_clone):
            git.run("update-ref", "--no-deref", "-d", ref, tip)
            raise GitFailed("a garbage collection has taken objects of the new commits", "run the command again")
        promotion.branch = branch


def _uncovered(events: Sequence[Event]) -> dict[bytes, str]:
    """Return the paths that the snapshots could not hold, so that they are not taken for deleted."""
    found = [missing for event in events for missing in event.missing]
    return {data_path(missing["path"]): f"not covered: {missing.get('reason')}" for missing in found}


def _refusal(step: Step, steps: Sequence[Step], base: str | None, conflicts: Conflicts) -> Refused:
    lines = [f"  {os.fsdecode(path)!r}: {why}" for path, why in sorted(conflicts.paths.items())]
    shown = lines if len(lines) <= 10 else [*lines[:10], f"  and {len(lines) - 10} more"]
    where = f"commit {base[:12]}" if base else "an empty history"
    return Refused(
        "\n".join([f"what {step.after.ref} changed cannot be put on {where}; nothing was made", *shown]),
        f"{_whole_line(steps)}--onto REVISION puts it on another commit; gitckpt diff shows the change",
    )


def _whole_line(steps: Sequence[Step]) -> str:
    """Return the command that helps if the steps build on checkpoints that are not among them."""
    before, last = steps[0].before, steps[-1].after.ref
    if before is None:
        return ""
    return f"gitckpt promote {last} takes along what was done up to {before.id or 'there'}, on which this builds; "
