"""`gitckpt replay FILE`: the state at any step of a saved transcript. Needs no git."""

from __future__ import annotations

import sys

from gitckpt.cli import render
from gitckpt.cli.inputs import unreadable
from gitckpt.errors import UnknownId


def replay(file: str, *, to: str | None = None, rollback_target: str | None = None, json: bool = False) -> int:
    """Print the steps of a transcript, the state at one of them, or the step that a failed one goes back to."""
    from gitckpt.protocol.replay import find_rollback_target, parse_trajectory, replay_to, trajectory_json

    raw = _text(file)
    if json and rollback_target is None:
        render.json(trajectory_json(raw, to))
        return 0
    steps = parse_trajectory(raw)
    wanted = rollback_target or to
    known = ", ".join(step.step_id for step in steps[-8:]) or "none"
    if wanted is not None and replay_to(steps, wanted) is None:
        raise UnknownId(
            f"{file} has no checkpoint {wanted!r}; the last are {known}", "gitckpt replay FILE lists them all"
        )
    if rollback_target is not None:
        target = find_rollback_target(steps, rollback_target)
        if target is None:
            raise UnknownId(f"{rollback_target} names nothing to go back to, and is the first step")
        if json:
            render.json({"schema": "gitckpt.rollback-target/1", "failed": rollback_target, "target": target.step_id})
        else:
            render.out([target.step_id])
        return 0
    shown = [step for step in [replay_to(steps, to)] if step] if to is not None else steps
    from gitckpt.views.replay import step_lines

    render.out(step_lines(shown, whole=to is not None, style=render.style()))
    return 0


def _text(file: str) -> str:
    try:
        if file == "-":
            return sys.stdin.buffer.read().decode("utf-8", "replace")
        with open(file, "rb") as source:
            return source.read().decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise unreadable(file, error, "replay") from error
