"""The plan of a rollback: what will be done to each path, made before anything is changed. Pure.

Every path that differs between the work tree and the target gets one step. What may be deleted is decided here, once,
under the ignore rules in force before the first write."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

from gitckpt.trajectory.paths import at_or_above

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

Action = Literal["restore", "delete", "mode", "leave"]

#: What each scope moves: only the work tree; also the staging area; also HEAD and the branch.
SCOPES: Final = ("files", "staged", "all")


class Difference(Protocol):
    """A path that differs between the current work tree and the target (`gitckpt.repo.trees.Change`)."""

    status: str
    path: bytes

    @property
    def content_changed(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Step:
    """What is done to one path. `blocked` means that the path prevents the rollback, which refuses, or leaves it with
    `--keep`."""

    action: Action
    path: bytes
    reason: str = ""
    changed_since_last_event: bool = False
    blocked: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """What the plan depends on, besides the differences.

    `blocked` maps paths that the safety snapshot cannot hold, and that therefore must not be overwritten, to the
    reason. `ignored` are paths that the target's own rules ignore; `unheld` maps paths that its snapshot did not hold
    to the reason. `touched` are paths changed since the last recorded event. `uncovered` maps paths that the safety
    snapshot does not hold and no step touches to the reason. Modes are permission bits by path; a directory ends in
    `/`."""

    blocked: Mapping[bytes, str] = field(default_factory=dict)
    ignored: Collection[bytes] = ()
    unheld: Mapping[bytes, str] = field(default_factory=dict)
    touched: Collection[bytes] = ()
    uncovered: Mapping[bytes, str] = field(default_factory=dict)
    modes_now: Mapping[bytes, int] = field(default_factory=dict)
    modes_then: Mapping[bytes, int] = field(default_factory=dict)
    empty_now: Collection[bytes] = ()
    empty_then: Collection[bytes] = ()


class Place(NamedTuple):
    """Where HEAD is: on a branch, or detached at a commit. Before the first commit there is no commit."""

    branch: str | None
    commit: str | None


class Move(NamedTuple):
    """A branch that moves from one commit to another; None if the branch does not exist before or after."""

    branch: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of one rollback, by path, and what happens to the rest.

    `head` is where HEAD moves from and to, None if it stays; `moves` are the branches that move; `staging` says whether
    the staging area is written, and `staging_note` why it is not although it should be."""

    target: str
    scope: str
    steps: tuple[Step, ...]
    by_hand: tuple[str, ...] = ()
    head: tuple[Place, Place] | None = None
    moves: tuple[Move, ...] = ()
    staging: bool = False
    staging_note: str = ""

    @property
    def blocked(self) -> tuple[Step, ...]:
        """Steps that cannot be taken without losing something."""
        return tuple(step for step in self.steps if step.blocked)

    @property
    def changing(self) -> tuple[Step, ...]:
        """Steps that change something."""
        return tuple(step for step in self.steps if step.action != "leave")

    @property
    def hash(self) -> str:
        """Identifies this plan: the same target, scope, steps and moves give the same hash."""
        digest = hashlib.sha256(f"{self.target}\0{self.scope}\0".encode())
        for step in self.steps:
            digest.update(step.action.encode() + b"\0" + step.path + b"\0")
        for move in (*self.head, *self.moves) if self.head else self.moves:
            digest.update(repr(tuple(move)).encode("utf-8", "surrogateescape"))
        return digest.hexdigest()[:16]


def make_plan(
    target: str, scope: str, differences: Sequence[Difference], situation: Situation, by_hand: Sequence[str] = ()
) -> Plan:
    """Return the plan that makes the work tree match the target."""
    gives_way = giving_way(differences, situation.blocked)
    steps = {difference.path: _step(difference, situation, gives_way) for difference in differences}
    for path, reason in situation.uncovered.items():
        steps.setdefault(path, Step("leave", path, reason))
    for path in sorted(set(situation.empty_then) - set(situation.empty_now)):
        _add(steps, situation, Step("restore", path + b"/", "an empty directory"))
    for path in sorted(_newer_directories(situation)):
        _add(steps, situation, Step("delete", path + b"/", "an empty directory that is newer"))
    # last, because a directory that is created or removed needs more than its permission bits
    for path in sorted(changed_modes(situation) - _would_close(differences, situation)):
        _add(steps, situation, Step("mode", path, _mode_text(situation, path), path in situation.touched))
    return Plan(target, scope, tuple(steps[path] for path in sorted(steps)), tuple(by_hand))


def _add(steps: dict[bytes, Step], situation: Situation, step: Step) -> None:
    """Add a step for a path that has none; if the path is blocked, the step leaves it."""
    why = situation.blocked.get(step.path)
    if why is not None:
        step = Step("leave", step.path, why, step.changed_since_last_event, blocked=True)
    steps.setdefault(step.path, step)


def giving_way(differences: Sequence[Difference], blocked: Collection[bytes]) -> set[bytes]:
    """Return the paths that must go because the target has something above or below them, whatever else applies to
    them.
    """
    going = {difference.path for difference in differences if difference.status == "D"}
    placed = {d.path for d in differences if d.status != "D" and d.path not in blocked} if going else set()
    above = {prefix for path in placed for prefix in _above(path)}
    return {path for path in going if path in above or not placed.isdisjoint(_above(path))}


def _above(path: bytes) -> list[bytes]:
    """Return the directories that contain a path."""
    parts = path.split(b"/")
    return [b"/".join(parts[:count]) for count in range(1, len(parts))]


def _step(difference: Difference, situation: Situation, gives_way: Collection[bytes]) -> Step:
    path, touched = difference.path, difference.path in situation.touched
    if path in situation.blocked:
        return Step("leave", path, situation.blocked[path], touched, blocked=True)
    if difference.status == "D":
        why = _why_left(path, situation)
        if why and path not in gives_way:
            return Step("leave", path, why, touched)
        return Step("delete", path, "in the way of the target's" if why else "newer than the target", touched)
    if difference.status == "A":
        return Step("restore", path, "missing now", touched)
    if not difference.content_changed:
        return Step("mode", path, "the executable bit", touched)
    return Step("restore", path, "of another kind now" if difference.status == "T" else "changed since", touched)


def _why_left(path: bytes, situation: Situation) -> str:
    """Return why a path missing from the target may still have existed then; "" if it is newer."""
    if path in situation.ignored:
        return "ignored by the rules of the target: it may have been there all along"
    above = at_or_above(path, situation.unheld)
    return "" if above is None else f"the target did not hold what was there: {situation.unheld[above]}"


def _newer_directories(situation: Situation) -> set[bytes]:
    """Return empty directories that the target lacks, as far as it could look."""
    newer = set(situation.empty_now) - set(situation.empty_then)
    return {path for path in newer if at_or_above(path, situation.unheld) is None}


def changed_modes(situation: Situation) -> set[bytes]:
    """Return paths whose permission bits differ between now and then."""
    now, then = situation.modes_now, situation.modes_then
    return {path for path in set(now) | set(then) if now.get(path) != then.get(path)}


def _would_close(differences: Sequence[Difference], situation: Situation) -> set[bytes]:
    """Return directories that the target could not look into: closing them again would make their current contents
    unreachable.
    """
    closed = {path + b"/" for path in situation.unheld if path + b"/" in situation.modes_then}
    above = {prefix + b"/" for difference in differences for prefix in _above(difference.path)} if closed else set()
    return closed & above


def _mode_text(situation: Situation, path: bytes) -> str:
    mode = situation.modes_then.get(path)
    return "permission bits as git gives them" if mode is None else f"permission bits {mode:o}"
