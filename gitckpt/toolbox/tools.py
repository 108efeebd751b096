"""The tools themselves: each takes its arguments, acts in the work tree where it is called, and answers in words that a
model can act on."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from gitckpt.errors import Refused, UsageError
from gitckpt.protocol.blocks import Block
from gitckpt.recorder import Recorder
from gitckpt.repo.given import from_here
from gitckpt.repo.reader import Reader
from gitckpt.repo.worktree import WorkTree
from gitckpt.restorer import Restorer, restore_for_retry
from gitckpt.toolbox import arguments as given
from gitckpt.toolbox.state import clear, refuse_reset, save_state
from gitckpt.wishes import Wish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitckpt.restorer import Outcome
    from gitckpt.trajectory.plan import Plan

#: The maximum number of characters of a diff that are shown; the rest is in git.
MOST_SHOWN = 20_000


class Tool(NamedTuple):
    """One tool: `description` and `arguments` are what a model reads, `run` carries out a call."""

    name: str
    description: str
    arguments: type[given.Arguments]
    run: Callable[[Any], str]
    changes_files: bool = False


@contextmanager
def _open_tree() -> Iterator[tuple[WorkTree, list[str]]]:
    """Yield the work tree, which is closed at the end, and a list that collects its notes."""
    notes: list[str] = []
    tree = WorkTree(Reader().repository, notes.append, lenient=True)
    try:
        yield tree, notes
    finally:
        tree.close()


def checkpoint(call: given.CheckpointArguments) -> str:
    """Save the state and the work tree. Problems with the state are reported, and corrected where possible."""
    before = Reader().own_line()
    with _open_tree() as (tree, notes):
        saved = save_state(Recorder(tree), before, call)
    return "\n".join([saved.answer, *notes])


def reset(call: given.NoArguments) -> str:
    """Return the state to continue from, if something new is on record since the last reset."""
    events = Reader().own_line()
    refuse_reset(events)
    with _open_tree() as (tree, _):
        event, text = clear(Recorder(tree), events)
    return f"The context is cleared ({event.ref}). All that you know now is this state:\n\n{text}"


def summary(call: given.SummaryArguments) -> str:
    """Record a SUMMARY."""
    with _open_tree() as (tree, _):
        fields = {"text": call.text, "covers": call.covers}
        event = Recorder(tree).record(Block("summary", None, "", {k: v for k, v in fields.items() if v}))
    return f"{event.id} is recorded. A context built from now on begins with it."


def retry(call: given.RetryArguments) -> str:
    """Fork at a checkpoint, and restore the work tree to it."""
    target = Reader().find(call.source).event
    with _open_tree() as (tree, _):
        fields = {"from": target.id or target.commit, "reason": call.reason, "new_strategy": call.strategy}
        recorder = Recorder(tree, restore=restore_for_retry)
        event = recorder.record(Block("retry", None, call.source, fields), target=target)
    where = target.id or target.commit[:12]
    return (
        f"{event.id}: the work tree is as it was at {where}, verified, and history forks there (line "
        f"{(event.opens or {}).get('line')}). What the failed attempt left is kept in {event.ref}."
    )


def rollback(call: given.RollbackArguments) -> str:
    """Show the plan of a rollback; given its hash, carry it out."""
    reader = Reader()
    found = reader.find(call.to)
    paths = from_here(reader.repository, call.paths)
    with _open_tree() as (tree, _):
        restorer = Restorer(tree)
        with tree.lock:
            prepared = restorer.prepare(Wish(found.event, call.scope, paths))
            plan = prepared.plan
            if call.apply is None:
                restorer.release()
                return _plan_text(plan)
            if call.apply != plan.hash:
                restorer.release()
                raise Refused(
                    f"nothing was changed: the plan is {plan.hash} now, not {call.apply}",
                    "call rollback without `apply` to see the plan as it is now",
                )
            return _outcome_text(restorer.apply(prepared), call.to)


def _plan_text(plan: Plan) -> str:
    from gitckpt.views.plan import plan_document, plan_lines

    lines = plan_lines(plan_document(plan))
    return "\n".join([*lines, f"Nothing was changed yet. To do this, call rollback again with apply: {plan.hash}"])


def _outcome_text(outcome: Outcome, to: str) -> str:
    left = [f"Left as it is: {os.fsdecode(path)}" for path in outcome.left[:20]]
    done = f"Rolled back to {to}, {outcome.changed} paths, verified. The state before is kept in {outcome.event.ref}."
    return "\n".join([done, *left, *outcome.notes])


def log(call: given.LogArguments) -> str:
    """Return the last events of the session."""
    from gitckpt.views.log import log_lines

    session = Reader().current_session()
    if session is None:
        return "Nothing is on record yet."
    return "\n".join(log_lines(session, events=session.events[-call.count :]))


def diff(call: given.DiffArguments) -> str:
    """Return what differs between two checkpoints, or between one and the work tree."""
    from gitckpt.repo.trees import numstat, patch
    from gitckpt.views.diff import stat_lines

    reader = Reader()
    before = reader.find(call.before).event.commit
    after = reader.find(call.after).event.commit if call.after else _present_tree()
    paths = list(from_here(reader.repository, call.paths))
    if call.stat:
        return "\n".join(stat_lines(numstat(reader.git, before, after, paths)))
    text = patch(reader.git, before, after, paths, colour=False).decode("utf-8", "replace")
    if len(text) > MOST_SHOWN:
        return text[:MOST_SHOWN] + f"\n… {len(text) - MOST_SHOWN:,} characters more: name `paths`, or ask for `stat`."
    return text or "No difference."


def _present_tree() -> str:
    with _open_tree() as (tree, _), tree.lock:
        return tree.snapshotter.take().tree


def context(call: given.ContextArguments) -> str:
    """Return what the agent has to know to continue."""
    from gitckpt.trajectory.context import build_context

    return build_context(Reader().entries(own=True), call.budget) or "Nothing is on record yet: begin, then checkpoint."


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "checkpoint",
            "Save your progress: the state to go on from, and a snapshot of every file in the work tree. Call it after "
            "each finished step, and before anything risky. At most 2,000 characters of state.",
            given.CheckpointArguments, checkpoint,
        ),
        Tool(
            "reset",
            "Clear your context and go on from the last checkpoint's state alone. Refused unless there is a checkpoint "
            "since the last reset with something more done. Files are not touched.",
            given.NoArguments, reset,
        ),
        Tool(
            "summary",
            "Record a summary of finished checkpoints in three sentences; later contexts begin with it.",
            given.SummaryArguments, summary,
        ),
        Tool(
            "retry",
            "An attempt failed: put every file back to a checkpoint and fork history there, with the reason and what "
            "you will do differently. The failed attempt is kept.",
            given.RetryArguments, retry, True,
        ),
        Tool(
            "rollback",
            "Make files what they were at a checkpoint. The first call changes nothing and shows the plan with its "
            "hash; call again with `apply` set to that hash to do it. Can be undone.",
            given.RollbackArguments, rollback, True,
        ),
        Tool("log", "The history: checkpoints, retries, rollbacks, in order.", given.LogArguments, log),
        Tool(
            "diff",
            "What differs between two checkpoints, or between one and the files as they are now.",
            given.DiffArguments, diff,
        ),
        Tool(
            "context",
            "What has been done so far and the state to go on from; call it when you start or have lost the thread.",
            given.ContextArguments, context,
        ),
    )
}  # fmt: skip


def call_tool(name: str, arguments: object) -> str:
    """Carry out one call and return the answer. Raises GitckptError if it was not done, UsageError for an invalid
    call."""
    if name not in TOOLS:
        raise UsageError(f"there is no tool {name!r}", f"the tools are {', '.join(TOOLS)}")
    tool = TOOLS[name]
    return tool.run(given.validated(name, tool.arguments, arguments))
