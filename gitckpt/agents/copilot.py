"""Copilot CLI: its JSON events, which its session file holds as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gitckpt.agents.agent import ALL_EVENTS, ALL_TEXT, Agent, Mode, screen
from gitckpt.agents.command import Arguments
from gitckpt.agents.configuration import file_installation, json_installation
from gitckpt.agents.hook import copilot_call_key, read_copilot_hook
from gitckpt.agents.lookup import at, paths, rows, text, word
from gitckpt.agents.pending import PendingCalls
from gitckpt.agents.session_file import SessionFile
from gitckpt.agents.signals import Boundary, Called, Closed, Opened, Said, Signal
from gitckpt.agents.wiring import Injection, Installation, Wiring, compact


class CopilotEvents:
    """Decodes `copilot --output-format json`. The session id comes last, but message ids are unique without it."""

    def __init__(self) -> None:
        self._calls = PendingCalls()

    def __call__(self, event: dict[str, Any]) -> Iterator[Signal]:
        told = event.get("data")
        if at(told, "parentToolCallId"):  # a subagent's event
            return
        match event.get("type"):
            case "session.start":
                yield Opened(text(told, "sessionId"), text(told, "selectedModel"), text(told, "context", "cwd"))
            case "assistant.message_delta":
                yield Said(text(told, "deltaContent"), text(told, "messageId"), whole=False)
            case "assistant.message":
                yield Said(text(told, "content"), text(told, "messageId"), whole=True)
            case "tool.execution_start":
                called = paths(at(told, "arguments"))
                yield self._calls.begin(text(told, "toolCallId"), text(told, "toolName"), called)
            case "tool.execution_complete":
                yield self._calls.end(text(told, "toolCallId"), failed=at(told, "success") is False)
            case "hook.start":
                yield from _called(text(told, "hookType"), at(told, "input"))
            case "result":
                yield Boundary("turn", failed=at(event, "exitCode") != 0)
                yield Closed()


def _called(event: str, told: Any) -> Iterator[Called]:
    """A hook before tools is noted once for all tool calls that run together."""
    calls = rows(told, "toolCalls")
    if calls:
        yield from (
            Called(event, copilot_call_key(call.get("name"), call.get("args")), text(call, "id")) for call in calls
        )
    else:
        yield Called(event, word(told, "timestamp"))


def mode(arguments: Arguments, terminal: bool) -> Mode:
    """`-p` prints all messages as they come."""
    if arguments.value("--output-format") == "json":
        return ALL_EVENTS
    if arguments.has("-p", "--prompt") or not terminal:
        return ALL_TEXT
    return screen("copilot -p … --output-format json")


#: The events that our hook is registered for.
EVENTS: Final = ("sessionStart", "preToolUse", "postToolUse", "postToolUseFailure", "agentStop", "sessionEnd")


def _hooks(wiring: Wiring) -> dict[str, Any]:
    commands = {event: {"type": "command", "bash": wiring.hook_command(event), "timeoutSec": 30} for event in EVENTS}
    return {"version": 1, "hooks": {event: [command] for event, command in commands.items()}}


def _server(wiring: Wiring) -> dict[str, Any]:
    return wiring.server(type="local", tools=["*"])


def inject(wiring: Wiring) -> Injection:
    """Pass the tools with an option, and the hooks in a plugin directory of ours."""
    directory = f"{wiring.directory}/copilot"
    files = {
        f"{directory}/plugin.json": compact({"name": "gitckpt", "version": "1.0.0", "hooks": "hooks.json"}),
        f"{directory}/hooks.json": compact(_hooks(wiring)),
    }
    arguments = ("--additional-mcp-config", compact(_server(wiring)), "--plugin-dir", directory)
    return Injection(arguments, files=files)


def install(wiring: Wiring) -> tuple[Installation, ...]:
    return (
        file_installation("home", ".copilot/hooks/gitckpt.json", compact(_hooks(wiring)) + "\n"),
        json_installation("home", ".copilot/mcp-config.json", _server(wiring)),
    )


COPILOT = Agent(
    name="copilot",
    programs=("copilot",),
    packages=("@github/copilot",),
    mode=mode,
    events=CopilotEvents,
    session=SessionFile(
        "lines",
        CopilotEvents,
        lambda where: f"{where.home}/.copilot/session-state/{where.session}/events.jsonl",
        lags=True,
    ),
    hook=read_copilot_hook,
    inject=inject,
    install=install,
    moved=(("COPILOT_HOME", ".copilot"),),
)
