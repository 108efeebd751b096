"""One run of the loop in a work tree: a session of its own, recorded from its start to its end.

The record of the start holds everything that `resume` needs; the endpoint's key is never recorded.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from gitckpt.errors import GitckptError, UsageError
from gitckpt.loop.actions import Action
from gitckpt.loop.conversation import Conversation, Limits, Observer, Outcome
from gitckpt.loop.endpoint import Address, Endpoint, Usage
from gitckpt.loop.files import Files
from gitckpt.loop.memory import Memory
from gitckpt.loop.shell import shell_action
from gitckpt.loop.wording import rules, with_task
from gitckpt.protocol.reader import said_at_end
from gitckpt.protocol.state import MAX_STATE
from gitckpt.recorder import Recorder, agent_record
from gitckpt.repo.repository import discover
from gitckpt.repo.started import note_started
from gitckpt.repo.worktree import WorkTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gitckpt.trajectory.session import Session

#: Exit statuses of a run that ended by itself.
STATUSES = {"done": 0, "stuck": 1, "turns": 1}


class Setting(NamedTuple):
    """How a run was called. `mcp` holds the commands of MCP servers."""

    task: str
    address: Address
    limits: Limits
    mcp: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the setting for the record of a session: without the key, and without a password in the address."""
        return {
            "model": self.address.model, "base_url": _without_password(self.address.base_url),
            "limits": self.limits._asdict(), "mcp": list(self.mcp),
        }  # fmt: skip

    @classmethod
    def recorded(cls, agent: Mapping[str, Any], task: str, environ: Mapping[str, str]) -> Setting:
        """Return the setting of a recorded run; the key comes from the environment. Raises UsageError for a malformed
        record."""
        run = agent.get("run")
        try:
            limits = Limits(**{name: _number(value) for name, value in run["limits"].items()})  # type: ignore[index]
            model, url, mcp = str(run["model"]), str(run["base_url"]), tuple(map(str, run["mcp"]))  # type: ignore[index]
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise UsageError("the record of the run cannot be read", "gitckpt run --task T begins anew") from error
        return cls(task, Address.found(model, url or None, environ), limits, mcp)


def _number(value: object) -> Any:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise ValueError(value)


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


class Ran(NamedTuple):
    """The result of a run: its outcome, its session, and the usage of its requests."""

    outcome: Outcome
    session: Session
    usage: Usage


def run(
    setting: Setting, say: Callable[[str], None], observer: Observer | None = None, *, session: str | None = None
) -> Ran:
    """Run to the end and record it; with `session`, continue that session from its last state.

    Raises UsageError if the run cannot begin, EndpointFailed if the endpoint was given up, GitckptError if nothing can
    be recorded: without a record there is no run.
    """
    address = setting.address
    endpoint = Endpoint(
        address.model, base_url=address.base_url or None, api_key=address.api_key, longest_reply=setting.limits.reply,
        say=say,
    )  # fmt: skip
    tree = WorkTree(discover(), say)
    with ExitStack() as open:
        open.callback(tree.close)
        actions = [*Files(tree.repository).actions(), shell_action(tree.repository), *_remote(setting, tree, open)]
        recorder = Recorder(tree, name=session, alone=True, agent=_agent(setting))
        memory = Memory(recorder, setting.task)
        conversation = Conversation(
            endpoint, system=rules(), task=setting.task, actions=_recorded(actions, recorder), memory=memory,
            limits=setting.limits, observer=observer,
        )  # fmt: skip
        _tell_narrowness(setting, say)
        _record_start(recorder, setting, resumed=session is not None)
        if session is not None:
            conversation.go_on()
        with _end_on_record(recorder, conversation):
            outcome = conversation.run()
            _record_end(recorder, conversation, outcome.kind, STATUSES[outcome.kind], outcome.text)
        return Ran(outcome, recorder.open(), endpoint.usage)


def _tell_narrowness(setting: Setting, say: Callable[[str], None]) -> None:
    limit, least = setting.limits.characters, len(with_task(rules(), setting.task)) + MAX_STATE
    if limit is not None and limit < least:
        say(f"the task and a full state alone have {least:,} characters: --char-limit {limit} leaves no room for work")


def _remote(setting: Setting, tree: WorkTree, open: ExitStack) -> list[Action]:
    if not setting.mcp:
        return []
    from gitckpt.loop.remote import remote_actions

    directory = os.fsdecode(tree.repository.work_tree)
    return [action for command in setting.mcp for action in open.enter_context(remote_actions(command, directory))]


def _recorded(actions: Sequence[Action], recorder: Recorder) -> list[Action]:
    """Return the actions, with an `auto` checkpoint after each one that may change files if the settings ask for it."""
    if recorder.tree.settings.auto not in ("tool", "turn"):
        return list(actions)
    return [_auto(action, recorder) if action.changes_files else action for action in actions]


def _auto(action: Action, recorder: Recorder) -> Action:
    def run(given: dict[str, Any]) -> str:
        try:
            return action.run(given)
        finally:
            recorder.auto(f"auto: after {action.name}", {"boundary": {"kind": "after", "tool": action.name}})

    return action._replace(run=run)


def _agent(setting: Setting) -> dict[str, Any]:
    command = ["gitckpt", "run", "--task", setting.task, "--model", setting.address.model]
    command += ["--base-url", _without_password(setting.address.base_url)] if setting.address.base_url else []
    command += [word for server in setting.mcp for word in ("--mcp", server)]
    return agent_record(command) | {"task": setting.task, "run": setting.record()}


def _record_start(recorder: Recorder, setting: Setting, *, resumed: bool) -> None:
    """Record the run, and note that it was started here: only then does `resume` start it again without asking."""
    session = recorder.open()
    event = session.events[0]
    if resumed:
        event = recorder.note("note", "resumed: gitckpt run", {"agent": _agent(setting)})
    note_started(recorder.tree.repository, event.commit)


@contextmanager
def _end_on_record(recorder: Recorder, conversation: Conversation) -> Iterator[None]:
    """Record the end of a run that fails or is interrupted."""
    try:
        yield
    except GitckptError as error:
        _try_to_end(recorder, conversation, "failed", error.exit_status, str(error))
        raise
    except KeyboardInterrupt:
        _try_to_end(recorder, conversation, "interrupted", 130, "interrupted")
        raise


def _try_to_end(recorder: Recorder, conversation: Conversation, kind: str, status: int, text: str) -> None:
    try:
        _record_end(recorder, conversation, kind, status, text)
    except GitckptError:
        pass  # report the error that ended the run instead; `resume` finds a session without an end


def _record_end(recorder: Recorder, conversation: Conversation, kind: str, status: int, text: str) -> None:
    usage, memory = conversation.endpoint.usage, conversation.memory
    account = {
        "requests": usage.requests, "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
        "resets": memory.resets if memory else 0, "forced": memory.forced if memory else 0,
    }  # fmt: skip
    document = {"agent": {"exit": status, "outcome": kind, "text": text, **account}}
    said = said_at_end(text)
    first = next(iter(text.strip().splitlines()), "") if said == text else said
    recorder.note("end", f"end: {kind}: {first}" if first else f"end: {kind}", document)
