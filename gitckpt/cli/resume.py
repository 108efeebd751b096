"""`gitckpt resume [-- CMD…]`: the agent again, from git alone."""

from __future__ import annotations

import os
import sys

from gitckpt.cli import render
from gitckpt.cli.wrap import PLACE, filled_in
from gitckpt.errors import Refused, UsageError
from gitckpt.repo.reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitckpt.protocol.prompt import Language
    from gitckpt.trajectory.events import Event

    Say = Callable[[str], None]

#: How many of the paths that a crash left are named.
SHOWN = 10


def resume(command: list[str], *, task: str | None = None, quiet: bool = False) -> int:
    """Put on record what a crash left in the work tree, then start the agent in the same session with its context."""
    from gitckpt.trajectory.context import build_context
    from gitckpt.wrapping import Wrapping

    say: Say = (lambda text: None) if quiet else render.say
    reader = Reader()
    events = reader.line()
    if not events:
        raise Refused("there is nothing to resume: nothing is on record in this work tree", "gitckpt wrap -- CMD")
    agent = _last_agent(events)
    _refuse_a_living_one(agent, events)
    template = command or [str(word) for word in agent.get("template") or agent.get("command") or ()]
    if not template:
        raise UsageError(
            f"session {events[0].session} was not begun by an agent, so there is no command to start again",
            "gitckpt resume -- my-agent {prompt}",
        )
    _record_what_is_left(events, say)
    context = build_context(Reader().entries())
    task = task if task is not None else str(agent.get("task") or "")
    language: Language = "en" if agent.get("language") == "en" else "zh"
    if any(PLACE in word for word in template):
        filled = filled_in(template, task, context, language)
    else:
        filled = template
        say("the command has no {prompt}, so the agent is not told what was done; `gitckpt prompt --resume` prints it")
    origin = {"task": task, "template": template, "language": language}
    return Wrapping(
        filled, say, session=events[0].session, origin=origin, resumed=True, summarize=render.is_terminal(sys.stderr)
    ).run()


def _last_agent(events: list[Event]) -> dict[str, Any]:
    """What is on record of the agent that was started last."""
    for event in reversed(events):
        agent = event.document.get("agent") if event.kind in ("start", "note") else None
        if isinstance(agent, dict) and agent.get("command"):
            return agent
    return {}


def _refuse_a_living_one(agent: dict[str, Any], events: list[Event]) -> None:
    pid = agent.get("pid")
    if events[-1].kind != "end" and isinstance(pid, int) and _is_gitckpt(pid):
        raise Refused(
            f"the agent of session {events[0].session} is still running, under process {pid}",
            f"wait for it, or end it: kill {pid}",
        )


def _is_gitckpt(pid: int) -> bool:
    """Whether a process of this number is alive and is one of ours: numbers are used again."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"gitckpt" in file.read()
    except FileNotFoundError:
        return not os.path.isdir("/proc/self")
    except OSError:
        return False


def _record_what_is_left(events: list[Event], say: Say) -> None:
    """What has changed since the last event, which nobody has told of: an event of its own, and closed to what is
    said next."""
    from gitckpt.recorder import Recorder
    from gitckpt.repo.repository import discover
    from gitckpt.repo.trees import changes
    from gitckpt.repo.worktree import WorkTree

    ended = events[-1].kind in ("end", "final")
    tree = WorkTree(discover(), say)
    try:
        with tree.lock:
            snapshot = tree.snapshotter.take()
            found = changes(tree.raw, events[-1].commit, snapshot.tree)
            if not ended:
                last = events[-1].id or events[-1].kind
                say(f"session {events[0].session} has no end: the agent, or what ran it, died after {last}")
            if not found:
                return
            count = "1 path" if len(found) == 1 else f"{len(found)} paths"
            subject = f"{'changed since the end' if ended else 'left by a run that died'}: {count}"
            recorder = Recorder(tree, name=events[0].session)
            event = recorder.note("auto", subject, {"left": {"paths": len(found), "after": events[-1].ref}})
            say(f"{subject}; on record as {event.ref}")
            for change in found[:SHOWN]:
                say(f"  {change.status} {os.fsdecode(change.path)}")
    finally:
        tree.close()
