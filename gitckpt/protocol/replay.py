"""Replay a saved transcript: its steps, the state at any of them, and where a failed one goes back to. Needs no git.

    >>> steps = parse_trajectory(open("agent.log").read())
    >>> replay_to(steps, "6").next
    >>> find_rollback_target(steps, "CHECKPOINT 8").step_id

A RETRY forks the trajectory: the steps after it follow the checkpoint that it goes back to, and a repeated id means the
later step.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitckpt.errors import UnknownId
from gitckpt.protocol.blocks import STATE_FIELDS, Block, Diagnostic
from gitckpt.protocol.hints import parse_hint
from gitckpt.protocol.ids import canonical
from gitckpt.protocol.reader import read_text
from gitckpt.protocol.transcript import retried


@dataclass(slots=True)
class Checkpoint:
    """One step of a trajectory.

    `step_id` is canonical (`C7`), or the text as written if that is not a valid id. `phase` is one of explore,
    implement, verify, finish; "" if the block has none. `done` is a list of strings, `state_ref` a dict or a list.
    `state` holds those of `goal`, `facts`, `todo` and `open` that the step gave. `parent` is the step before it on its
    line of history; `answers_to` names steps that failed before they could report and were retried from here.
    """

    step_id: str
    phase: str
    done: list[str]
    next: str
    state_ref: Any
    rollback_hint: str
    state: dict[str, Any] = field(default_factory=dict)
    written: str = ""
    line: int = 0
    parent: Checkpoint | None = field(default=None, repr=False, compare=False)
    answers_to: list[str] = field(default_factory=list)

    def history(self) -> Iterator[Checkpoint]:
        """Yield this step and those before it on its line of history, newest first."""
        step: Checkpoint | None = self
        while step is not None:
            yield step
            step = step.parent


def parse_trajectory(raw: str) -> list[Checkpoint]:
    """Return the checkpoints of a transcript in the order written, each linked to the one it follows."""
    return _steps(read_text(raw)[0])


def replay_to(checkpoints: Sequence[Checkpoint], target_id: str) -> Checkpoint | None:
    """Return the newest step that `target_id` means: `CHECKPOINT 6`, `C6` and `6` are the same. None if there is none.

    The id of a step that failed before it could report, and was retried, means the step that the retry went back to.
    """
    id = canonical(target_id) or target_id
    exact = (step for step in reversed(checkpoints) if step.step_id == id)
    standing_for_it = (step for step in reversed(checkpoints) if id in step.answers_to)
    return next(exact, None) or next(standing_for_it, None)


def find_rollback_target(checkpoints: Sequence[Checkpoint], failed_id: str) -> Checkpoint | None:
    """Return where the hint of a failed step goes back to on that step's line of history; without a target, the step
    before.

    None if there is no such step, if it is the first, or if its hint names a step that does not exist.
    """
    failed = replay_to(checkpoints, failed_id)
    if failed is None:
        return None
    target = parse_hint(failed.rollback_hint, exists=lambda path: False).target
    if target is None:
        return failed.parent
    return replay_to(list(failed.history())[::-1], target)


def trajectory_json(raw: str, to: str | None = None) -> dict[str, Any]:
    """Return the whole transcript as plain data, with the state at the step `to` (the last one if None).

    `{"schema": "gitckpt.replay/1", "blocks", "summaries", "retries", "phases", "final", "state", "diagnostics"}`.
    `phases` is a list of `{"phase", "from", "to"}` in order; `state` is None if there is no checkpoint.

    Raises UnknownId if no step matches `to`; the hint lists the nearest ids.
    """
    blocks, diagnostics = read_text(raw)
    steps = _steps(blocks)
    return {
        "schema": "gitckpt.replay/1",
        "blocks": [_block(block) for block in blocks],
        "summaries": [{"id": block.id, **block.fields} for block in blocks if block.kind == "summary"],
        "retries": [{"id": f"R{place}", **block.fields} for place, block in enumerate(_retries(blocks), 1)],
        "phases": _phases(steps),
        "final": next((block.fields for block in reversed(blocks) if block.kind == "final"), None),
        "state": _state(steps, to),
        "diagnostics": [_diagnostic(found) for found in diagnostics],
    }


def _steps(blocks: Iterable[Block]) -> list[Checkpoint]:
    steps: list[Checkpoint] = []
    latest: Checkpoint | None = None
    for block in blocks:
        if block.kind == "retry":
            latest = _forked_at(steps, block) or latest
        elif block.kind == "checkpoint":
            latest = _step(block, latest)
            steps.append(latest)
    return steps


def _forked_at(steps: list[Checkpoint], retry: Block) -> Checkpoint | None:
    """Return the step that a RETRY goes back to. A target that never reported becomes another name of the last step
    before it.
    """
    for id in retried(retry):
        if (step := replay_to(steps, id)) is None and steps:
            steps[-1].answers_to.append(id)
            return steps[-1]
        return step
    return None


def _step(block: Block, parent: Checkpoint | None) -> Checkpoint:
    fields = block.fields
    return Checkpoint(
        step_id=block.id or block.written,
        phase=str(fields.get("phase") or ""),
        done=list(fields.get("done") or ()),
        next=str(fields.get("next") or ""),
        state_ref=fields.get("state_ref") or {},
        rollback_hint=str(fields.get("rollback_hint") or ""),
        state={name: fields[name] for name in STATE_FIELDS if name in fields},
        written=block.written,
        line=block.line,
        parent=parent,
    )


def _retries(blocks: Iterable[Block]) -> list[Block]:
    return [block for block in blocks if block.kind == "retry"]


def _phases(steps: list[Checkpoint]) -> list[dict[str, str]]:
    phases: list[dict[str, str]] = []
    for step in steps:
        if phases and phases[-1]["phase"] == step.phase:
            phases[-1]["to"] = step.step_id
        else:
            phases.append({"phase": step.phase, "from": step.step_id, "to": step.step_id})
    return phases


def _state(steps: list[Checkpoint], to: str | None) -> dict[str, Any] | None:
    step = replay_to(steps, to) if to is not None else (steps[-1] if steps else None)
    if to is not None and step is None:
        raise UnknownId(f"the transcript has no checkpoint {to!r}", hint=_nearest(steps, to))
    return None if step is None else _state_at(steps, step)


def _state_at(steps: list[Checkpoint], step: Checkpoint) -> dict[str, Any]:
    """Return what is known at a step: its own fields, and the newest of each state field on its line of history."""
    history = list(step.history())[::-1]
    state = {name: earlier.state[name] for earlier in history for name in STATE_FIELDS if name in earlier.state}
    target = find_rollback_target(steps, step.step_id)
    return {
        "id": step.step_id,
        "answers_to": step.answers_to,
        "phase": step.phase,
        "done": step.done,
        "next": step.next,
        "state_ref": step.state_ref,
        "rollback_hint": step.rollback_hint,
        **state,
        "history": [earlier.step_id for earlier in history],
        "rollback_target": target.step_id if target else None,
    }


def _nearest(steps: list[Checkpoint], to: str) -> str:
    ids = list(dict.fromkeys(step.step_id for step in steps))
    near = difflib.get_close_matches(canonical(to) or to, ids, n=3, cutoff=0.3) or ids[-3:]
    return f"it has {', '.join(near)}" if near else "it has no checkpoint at all"


def _block(block: Block) -> dict[str, Any]:
    return {
        "kind": block.kind,
        "id": block.id,
        "written": block.written,
        "line": block.line,
        "end_line": block.end_line,
        "terminated": block.terminated,
        "fields": block.fields,
    }


def _diagnostic(found: Diagnostic) -> dict[str, Any]:
    return {"line": found.line, "column": found.column, "code": found.code, "message": found.message}
