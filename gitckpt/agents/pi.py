"""pi: the events of `pi --mode json`, and the file of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitckpt.agents.agent import ALL_EVENTS, LAST_ONLY, Agent, Mode, screen
from gitckpt.agents.command import Arguments
from gitckpt.agents.configuration import file_installation
from gitckpt.agents.lookup import at, paths, rows, text, word
from gitckpt.agents.pending import PendingCalls
from gitckpt.agents.plugins import pi_extension, read_plugin_hook
from gitckpt.agents.session_file import SessionFile
from gitckpt.agents.signals import Boundary, Opened, Said, Signal
from gitckpt.agents.wiring import Injection, Installation, Wiring


class PiEvents:
    """Decodes `pi --mode json`. A message's id is the time of its beginning; each update repeats the message so far."""

    def __init__(self) -> None:
        self._calls = PendingCalls()

    def __call__(self, event: dict[str, Any]) -> Iterator[Signal]:
        match event.get("type"):
            case "session":
                yield Opened(text(event, "id"), cwd=text(event, "cwd"))
            case "message_update" if at(event, "assistantMessageEvent", "type") == "text_delta":
                piece = event["assistantMessageEvent"]
                message = word(event, "message", "timestamp")
                yield Said(text(piece, "delta"), message, whole=False, part=word(piece, "contentIndex"))
            case "message_end":
                yield from _texts(event.get("message"))
            case "tool_execution_start":
                yield self._calls.begin(text(event, "toolCallId"), text(event, "toolName"), paths(event.get("args")))
            case "tool_execution_end":
                yield self._calls.end(text(event, "toolCallId"), failed=event.get("isError") is True)
            case "agent_end":
                yield Boundary("turn")


def _texts(message: Any) -> Iterator[Signal]:
    if at(message, "role") == "assistant":
        for part in rows(message, "content"):
            if part.get("type") == "text":
                yield Said(text(part, "text"), word(message, "timestamp"), whole=True)


def session(event: dict[str, Any]) -> Iterator[Signal]:
    """Decode one line of `~/.pi/agent/sessions/…/….jsonl`."""
    if event.get("type") == "session":
        yield Opened(text(event, "id"), cwd=text(event, "cwd"))
    elif event.get("type") == "message":
        message = event.get("message")
        yield from _texts(message)
        for part in rows(message, "content"):
            if part.get("type") == "toolCall":
                yield Boundary("before", text(part, "name"), text(part, "id"), paths=paths(part.get("arguments")))


def mode(arguments: Arguments, terminal: bool) -> Mode:
    """`-p` prints, and so does `--mode`."""
    if arguments.value("--mode") == "json":
        return ALL_EVENTS
    if arguments.has("-p", "--print", "--mode") or not terminal:
        return Mode(loss=LAST_ONLY, remedy="--mode json")
    return screen("pi --mode json")


def inject(wiring: Wiring) -> Injection:
    """Pass the hooks in an extension. pi has no MCP."""
    path = f"{wiring.directory}/gitckpt.ts"
    return Injection(("-e", path), files={path: pi_extension(wiring)})


def install(wiring: Wiring) -> tuple[Installation, ...]:
    return (file_installation("home", ".pi/agent/extensions/gitckpt.ts", pi_extension(wiring)),)


PI = Agent(
    name="pi",
    programs=("pi",),
    packages=("@mariozechner/pi-coding-agent",),
    mode=mode,
    events=PiEvents,
    # a session file's name begins with a timestamp, so only the client knows it
    session=SessionFile("lines", lambda: session),
    hook=read_plugin_hook,
    inject=inject,
    install=install,
    moved=(("PI_CODING_AGENT_DIR", ".pi/agent"),),
)
