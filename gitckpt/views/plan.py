"""A rollback plan as text: what will be done to which paths, and what the user must do by hand."""

from __future__ import annotations

from gitckpt.trajectory.paths import path_data
from gitckpt.views.paths import and_more, path_text
from gitckpt.views.text import PLAIN, Style, count, escape, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, TypedDict

    from gitckpt.trajectory.plan import Place, Plan, Step
    from gitckpt.views.paths import Path

    class PlanStep(TypedDict):
        """What will be done to one path, and why."""

        action: Literal["restore", "delete", "mode", "leave"]
        path: Path
        reason: str
        changed_since_last_event: bool

    class PlacePart(TypedDict):
        """A branch, or a detached commit."""

        branch: Path | None
        commit: str | None

    class HeadPart(TypedDict):
        """Where HEAD goes."""

        before: PlacePart
        after: PlacePart

    class MovePart(TypedDict):
        """A branch that moves."""

        branch: Path
        before: str | None
        after: str | None

    class PlanDocument(TypedDict):
        """What `rollback --dry-run --json` prints."""

        schema: str
        target: str
        scope: str
        hash: str
        steps: Sequence[PlanStep]
        by_hand: Sequence[str]
        head: HeadPart | None
        moves: Sequence[MovePart]
        staging: bool
        staging_note: str | None


#: Action → its heading, its colour, and its name in the summary ("" if nothing changes).
_ACTIONS = {
    "restore": ("Restore", "green", "to restore"),
    "delete": ("Delete", "red", "to delete"),
    "mode": ("Change the mode", "yellow", "to change in mode"),
    "leave": ("Leave as it is", "dim", ""),
}

#: Precedes a path that was changed since the last recorded event.
_CHANGED = "!"


def plan_document(plan: Plan) -> PlanDocument:
    """Return the plan as `rollback --dry-run --json` prints it."""
    return {
        "schema": "gitckpt.plan/1",
        "target": plan.target,
        "scope": plan.scope,
        "hash": plan.hash,
        "steps": [_step_document(step) for step in plan.steps],
        "by_hand": list(plan.by_hand),
        "head": {"before": _place(plan.head[0]), "after": _place(plan.head[1])} if plan.head else None,
        "moves": [{"branch": _branch(m.branch), "before": m.before, "after": m.after} for m in plan.moves],
        "staging": plan.staging,
        "staging_note": plan.staging_note or None,
    }


def _place(place: Place) -> PlacePart:
    return {"branch": None if place.branch is None else _branch(place.branch), "commit": place.commit}


def _branch(name: str) -> Path:
    return path_data(name.encode("utf-8", "surrogateescape"))


def _step_document(step: Step) -> PlanStep:
    return {
        "action": step.action,
        "path": path_data(step.path),
        "reason": step.reason,
        "changed_since_last_event": step.changed_since_last_event,
    }


def plan_lines(plan: PlanDocument, style: Style = PLAIN, limit: int = 20) -> list[str]:
    """Return the plan, grouped by action, at most `limit` paths per group, those changed since the last event first."""
    groups = {action: [step for step in plan["steps"] if step["action"] == action] for action in _ACTIONS}
    target = style.bold(escape(f"Roll back to {plan['target']}"))
    nothing = "no path to change" if changes_anything(plan) else "nothing to change"
    lines = [f"{target}, scope {escape(plan['scope'])}: {_summary(groups) or nothing}"]
    for action, steps in groups.items():
        lines += _group(action, steps, style, limit)
    if any(step["changed_since_last_event"] for step in plan["steps"]):
        lines.append(
            style.yellow(f"{_CHANGED} changed since the last recorded event; what is there now is saved first")
        )
    return lines + _besides(plan) + _by_hand(plan["by_hand"], style, limit)


def changes_anything(plan: PlanDocument) -> bool:
    """Return whether the plan changes a path, the staging area, HEAD or a branch."""
    steps = any(step["action"] != "leave" for step in plan["steps"])
    return bool(steps or plan["staging"] or plan["head"] or plan["moves"])


def _besides(plan: PlanDocument) -> list[str]:
    """Return what happens to the staging area, HEAD and branches."""
    lines = ["Staging area: as at the target"] if plan["staging"] else []
    lines += [escape(plan["staging_note"])] if plan["staging_note"] else []
    if plan["head"]:
        lines.append(f"HEAD: {_place_text(plan['head']['before'])} → {_place_text(plan['head']['after'])}")
    for move in plan["moves"]:
        before, after = (oid[:10] if oid else "none" for oid in (move["before"], move["after"]))
        lines.append(f"Branch {path_text(move['branch'])}: {before} → {after}")
    return lines


def _place_text(place: PlacePart) -> str:
    if place["branch"] is not None:
        return path_text(place["branch"])
    return f"{place['commit'][:10]}, on no branch" if place["commit"] else "none"


def _summary(groups: Mapping[str, Sequence[PlanStep]]) -> str:
    numbers = [(len(groups[action]), verb) for action, (_, _, verb) in _ACTIONS.items() if verb]
    return ", ".join(f"{count(number, 'path')} {verb}" for number, verb in numbers if number)


def _group(action: str, steps: Sequence[PlanStep], style: Style, limit: int) -> list[str]:
    if not steps:
        return []
    heading, colour, _ = _ACTIONS[action]
    first = sorted(steps, key=lambda step: not step["changed_since_last_event"])[:limit]
    column = max(width(path_text(step["path"])) for step in first) + 2
    more = [f"  {line}" for line in and_more(len(steps) - len(first), style)]
    return [
        style.paint(colour, f"{heading} ({len(steps):,})"),
        *(_step(step, min(column, 50), style) for step in first),
        *more,
    ]


def _step(step: PlanStep, column: int, style: Style) -> str:
    lead = style.yellow(_CHANGED) if step["changed_since_last_event"] else " "
    return f"{lead} {pad(path_text(step['path']), column)}{style.dim(escape(step['reason']))}".rstrip(" ")


def _by_hand(commands: Sequence[str], style: Style, limit: int) -> list[str]:
    if not commands:
        return []
    shown = [f"  {escape(command)}" for command in commands[:limit]]
    more = [f"  {line}" for line in and_more(len(commands) - len(shown), style)]
    return [style.bold("By hand (gitckpt runs no commands)"), *shown, *more]
