"""Reads what a client passes to a hook: which session it belongs to, and which boundary was reached."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from gitckpt.agents.lookup import at, paths, text, word
from gitckpt.agents.signals import Boundary, Called, Closed, Opened, Said, Signal
from gitckpt.agents.tool_call import shell_call


class Hooked(NamedTuple):
    """One call of a hook. `transcript` is the path of the client's session file, "" if the payload names none. `stored`
    is the id in the file's name, if it is not `session`.

    Of the agent's words, `signals` holds the last message only, without its id. `subagent` says that the call comes
    from a subagent's tool. `source` is why a session was opened (`startup`, `resume`, `clear`, `compact`). `continued`
    says that the agent is going on because a hook asked for it, None if the client does not say. `called` is how the
    client may note this call in its session file, None if it never does.
    """

    event: str
    session: str
    cwd: str
    transcript: str
    signals: tuple[Signal, ...]
    stored: str = ""
    subagent: bool = False
    source: str = ""
    continued: bool | None = None
    called: Called | None = None

    @property
    def kind(self) -> str:
        """`before`, `after`, `turn`, `opened`, `closed`, or "" for an event without meaning here."""
        for signal in self.signals:
            if isinstance(signal, Boundary):
                return signal.kind
        last = self.signals[-1] if self.signals else None
        return "closed" if isinstance(last, Closed) else "opened" if isinstance(last, Opened) else ""

    @property
    def boundary(self) -> Boundary | None:
        """The boundary that the client has reached, None if the call is not about one."""
        return next((signal for signal in self.signals if isinstance(signal, Boundary)), None)


#: Takes the payload, and the event's name if the hook was given it. Never raises, whatever the payload.
ReadHook = Callable[[dict[str, Any], str], Hooked]


def read_shell_hook(payload: dict[str, Any], event: str = "") -> Hooked:
    """Read a hook call of Claude Code, Codex, Gemini or Qwen, or Codex's `notify`."""
    if payload.get("type") == "agent-turn-complete":
        return _notified(payload)
    event = text(payload, "hook_event_name") or event
    call = shell_call(payload, event)
    session, cwd = text(payload, "session_id"), text(payload, "cwd")
    signals = _signals(
        call.kind, Opened(session, text(payload, "model"), cwd), text(payload, "reason"),
        # the words of a subagent are not the agent's own
        "" if payload.get("agent_id") else text(payload, "last_assistant_message"),
        (call.tool, call.call, call.failed, call.paths),
    )  # fmt: skip
    told = Hooked(event, session, cwd, text(payload, "transcript_path"), signals, source=text(payload, "source"))
    return told._replace(subagent=bool(payload.get("agent_id")), continued=_continued(payload))


def _continued(payload: dict[str, Any]) -> bool | None:
    active = payload.get("stop_hook_active")
    return active if isinstance(active, bool) else None


def _notified(payload: dict[str, Any]) -> Hooked:
    session, cwd = text(payload, "thread-id"), text(payload, "cwd")
    signals = _signals("turn", Opened(session), "", text(payload, "last-assistant-message"), ("", "", False, ()))
    return Hooked("notify", session, cwd, "", signals)


#: The events of Cline's hooks, as the payload names them.
_CLINE: Final = {"agent_start": "opened", "tool_call": "before", "tool_result": "after", "agent_end": "turn"}


def read_cline_hook(payload: dict[str, Any], event: str = "") -> Hooked:
    """Read a hook call of Cline."""
    name = text(payload, "hookName")
    told = payload.get("tool_call") or payload.get("tool_result")
    failed = at(payload, "postToolUse", "success") is False
    session, cwd = text(payload, "taskId"), text(payload, "workspaceInfo", "rootPath")
    signals = _signals(
        "" if payload.get("parent_agent_id") else _CLINE.get(name, ""), Opened(session, cwd=cwd), "",
        text(payload, "turn", "outputText"),
        (text(told, "name"), text(told, "id"), failed, paths(at(told, "input"))),
    )  # fmt: skip
    told = Hooked(event or name, session, cwd, "", signals, text(payload, "sessionContext", "rootSessionId"))
    return told._replace(subagent=bool(payload.get("parent_agent_id")))


#: The events of Copilot's hooks.
_COPILOT: Final = {
    "sessionStart": "opened", "sessionEnd": "closed", "preToolUse": "before", "postToolUse": "after",
    "postToolUseFailure": "after", "agentStop": "turn",
}  # fmt: skip


def read_copilot_hook(payload: dict[str, Any], event: str) -> Hooked:
    """Read a hook call of Copilot, whose payload does not name its event."""
    result = text(payload, "toolResult", "resultType")
    failed = event == "postToolUseFailure" or result not in ("", "success")
    session, cwd = text(payload, "sessionId"), text(payload, "cwd")
    signals = _signals(
        _COPILOT.get(event, ""), Opened(session, cwd=cwd), text(payload, "reason"), "",
        (text(payload, "toolName"), "", failed, paths(payload.get("toolArgs"))),
    )  # fmt: skip
    told = Hooked(event, session, cwd, text(payload, "transcriptPath"), signals, source=text(payload, "source"))
    key = copilot_call_key(payload.get("toolName"), payload.get("toolArgs")) if told.kind == "before" else ""
    key = key or word(payload, "timestamp")
    return told._replace(continued=_continued(payload), called=Called(event, key) if key else None)


def copilot_call_key(tool: Any, arguments: Any) -> str:
    """Return a key for a tool call of Copilot, whose hook is given no id. The arguments are an object, or JSON text."""
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    try:
        return json.dumps([tool, arguments], sort_keys=True)
    except (ValueError, RecursionError):
        return ""


def _signals(
    kind: str, opened: Opened, reason: str, last: str, call: tuple[str, str, bool, tuple[str, ...]]
) -> tuple[Signal, ...]:
    """Return the signals of an event of this kind. The first one names the session that it belongs to."""
    tool, id, failed, files = call
    match kind:
        case "opened":
            return (opened,)
        case "closed":
            return (opened, Closed(reason))
        case "before" | "after":
            return (opened, Boundary("before" if kind == "before" else "after", tool, id, failed, files))
        case "turn":
            said = (Said(last, "", whole=True),) if last else ()
            return (opened, *said, Boundary("turn", failed=failed))
    return ()
