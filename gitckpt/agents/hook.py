"""What a client tells a hook, read: whose session it is, and which boundary was reached."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from gitckpt.agents.lookup import at, paths, text, word
from gitckpt.agents.signals import Boundary, Called, Closed, Opened, Said, Signal
from gitckpt.agents.tool_call import shell_call


class Hooked(NamedTuple):
    """One call of a hook. `transcript` is the path of the client's session file, "" where the payload names none;
    `stored` the id that the file goes by, if another than `session`.

    What `signals` says of the agent's words is its last message alone, and of that message no id. `subagent` says that
    a subagent's tool has called; `source` why a session was opened (`startup`, `resume`, `clear`, `compact`);
    `continued` that the agent goes on because a hook has asked for it, None where the client does not tell; `called`
    how the client may note this very call in its record of the session, None where it never does.
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
        """`before`, `after`, `turn`, `opened`, `closed`, or "" for an event that tells nothing."""
        for signal in self.signals:
            if isinstance(signal, Boundary):
                return signal.kind
        last = self.signals[-1] if self.signals else None
        return "closed" if isinstance(last, Closed) else "opened" if isinstance(last, Opened) else ""

    @property
    def boundary(self) -> Boundary | None:
        """Where in its work the client is; None where it is not at work."""
        return next((signal for signal in self.signals if isinstance(signal, Boundary)), None)


#: Payload and name of the event, where the hook was told it → the call. Never raises, whatever the payload.
ReadHook = Callable[[dict[str, Any], str], Hooked]


def read_shell_hook(payload: dict[str, Any], event: str = "") -> Hooked:
    """A hook of Claude Code, Codex, Gemini or Qwen, and Codex's `notify`."""
    if payload.get("type") == "agent-turn-complete":
        return _notified(payload)
    event = text(payload, "hook_event_name") or event
    call = shell_call(payload, event)
    session, cwd = text(payload, "session_id"), text(payload, "cwd")
    signals = _signals(
        call.kind, Opened(session, text(payload, "model"), cwd), text(payload, "reason"),
        # what a subagent said is nobody's own words
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


#: Events of Cline's hooks, as the payload names them.
_CLINE: Final = {"agent_start": "opened", "tool_call": "before", "tool_result": "after", "agent_end": "turn"}


def read_cline_hook(payload: dict[str, Any], event: str = "") -> Hooked:
    """A hook of Cline."""
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


#: Events of Copilot's hooks.
_COPILOT: Final = {
    "sessionStart": "opened", "sessionEnd": "closed", "preToolUse": "before", "postToolUse": "after",
    "postToolUseFailure": "after", "agentStop": "turn",
}  # fmt: skip


def read_copilot_hook(payload: dict[str, Any], event: str) -> Hooked:
    """A hook of Copilot, whose payload does not name its event."""
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
    """What tells a tool call of Copilot from others: its hook is given no id. Arguments come as JSON or as its text."""
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
    """The signals of an event of this kind. Each begins with the session that it belongs to."""
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
