"""`gitckpt resume [-- CMD…]`: start the agent again, from what git holds."""

from __future__ import annotations

import os
import shlex
import sys

from gitckpt.cli import render
from gitckpt.cli.wrap import PLACE, filled_in
from gitckpt.errors import Refused, UsageError
from gitckpt.repo.reader import Reader
from gitckpt.repo.started import is_running, was_started_here
from gitckpt.trajectory.events import CLOSING_KINDS
from gitckpt.views.text import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitckpt.protocol.prompt import Language
    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session

    Say = Callable[[str], None]

#: How many of the paths left by a crash are listed.
SHOWN = 10


def resume(
    command: list[str], *, task: str | None = None, default_language: Language = "zh", quiet: bool = False
) -> int:
    """Record what a crash left in the work tree, then start the agent in the same session with its context.

    `default_language` is the language of the prompt if the session has none."""
    from gitckpt.trajectory.context import build_context
    from gitckpt.wrapping import Wrapping

    say: Say = (lambda text: None) if quiet else render.say
    reader = Reader()
    session, events = reader.current_session(), reader.line()
    if session is None or not events:
        raise Refused("there is nothing to resume: nothing is on record in this work tree", "gitckpt wrap -- CMD")
    begun = _last_begun(events)
    agent: dict[str, Any] = begun.document["agent"] if begun else {}
    own = begun is not None and was_started_here(reader.repository, begun.commit)
    if own:
        _refuse_a_living_one(session)
    if not command and agent.get("run"):
        return _run_again(agent, session, events, own=own, task=task, say=say, quiet=quiet)
    template = command or _recorded_command(agent, session.id)
    if not command and not own:
        _ask_about(template, session.id)
    _record_what_is_left(session, events, say)
    context = build_context(Reader().entries())
    task = task if task is not None else str(agent.get("task") or "")
    language: Language = agent["language"] if agent.get("language") in ("zh", "en") else default_language
    if any(PLACE in word for word in template):
        filled = filled_in(template, task, context, language)
        if not task:
            say("no task is on record, so the agent is told none; --task TEXT tells it")
    else:
        filled = template
        say("the command has no {prompt}, so the agent is not told what was done; `gitckpt prompt --resume` prints it")
    origin = {"task": task, "template": template, "language": language}
    return Wrapping(
        filled, say, session=session.id, origin=origin, resumed=True, summarize=render.is_terminal(sys.stderr)
    ).run()


def _run_again(
    agent: dict[str, Any], session: Session, events: list[Event], *, own: bool, task: str | None, say: Say, quiet: bool
) -> int:
    """Continue a `gitckpt run` from its last state, with the model and the limits that it was called with."""
    from gitckpt.cli.run import carry_on
    from gitckpt.loop.running import Setting

    setting = Setting.recorded(agent, str(agent.get("task") or "") if task is None else task, os.environ)
    if not own:
        _ask_about(_recorded_command(agent, session.id), session.id)
    _record_what_is_left(session, events, say)
    return carry_on(setting, session=session.id, quiet=quiet)


def _last_begun(events: list[Event]) -> Event | None:
    """Return the event with the record of the most recently started agent."""
    for event in reversed(events):
        agent = event.document.get("agent") if event.kind in ("start", "note") else None
        if isinstance(agent, dict) and agent.get("command"):
            return event
    return None


def _recorded_command(agent: dict[str, Any], session: str) -> list[str]:
    """Return the command on record, with its prompt placeholder. Raises UsageError if there is none."""
    words = agent.get("template") or agent.get("command")
    if not words or not isinstance(words, list):
        raise UsageError(
            f"session {session} was not begun by an agent, so there is no command to start again",
            "gitckpt resume -- my-agent {prompt}",
        )
    return [str(word) for word in words]


def _ask_about(template: list[str], session: str) -> None:
    """Ask before running a command that came with fetched refs, or whose origin is unknown. Raises Refused if the user
    cannot be asked, or answers no."""
    shown = escape(shlex.join(template))
    told = f"the command of session {session} was not started from this work tree"
    if not render.is_asked():
        raise Refused(f"{told}: {shown}", "gitckpt resume -- CMD, if that is what you want to run")
    render.out([f"{told}:", f"  {shown}"])
    if not render.agrees("run it? [y/N] "):
        raise Refused("nothing was run", "gitckpt resume -- CMD runs another command")


def _refuse_a_living_one(session: Session) -> None:
    started = session.unended
    pid = started.document["agent"].get("pid") if started else None
    if isinstance(pid, int) and is_running(pid):
        raise Refused(
            f"the agent of session {session.id} is still running, under process {pid}",
            f"wait for it, or end it: kill {pid}",
        )


def _record_what_is_left(session: Session, events: list[Event], say: Say) -> None:
    """Record unreported changes since the last event as a separate event, so that the next block does not claim
    them."""
    from gitckpt.recorder import Recorder
    from gitckpt.repo.repository import discover
    from gitckpt.repo.trees import changes
    from gitckpt.repo.worktree import WorkTree

    last, died = _words(events[-1]), session.unended is not None
    tree = WorkTree(discover(), say)
    try:
        with tree.lock:
            snapshot = tree.snapshotter.take()
            found = changes(tree.raw, events[-1].commit, snapshot.tree)
            if died:
                say(f"session {session.id} has no end: the agent, or what ran it, died after {last}")
            if not found:
                return
            count = "1 path" if len(found) == 1 else f"{len(found)} paths"
            subject = f"{'left by a run that died' if died else f'changed since {last}'}: {count}"
            recorder = Recorder(tree, name=session.id)
            event = recorder.note("auto", subject, {"left": {"paths": len(found), "after": events[-1].ref}})
            say(f"{subject}; on record as {event.ref}")
            for change in found[:SHOWN]:
                say(f"  {change.status} {os.fsdecode(change.path)}")
    finally:
        tree.close()


def _words(event: Event) -> str:
    """Return the name of an event within a sentence: C6, the start, the end."""
    return "the end" if event.kind in CLOSING_KINDS else event.id or f"the {event.kind}"
