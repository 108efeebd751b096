"""Gemini CLI: its stream-json, and the chat file of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gitckpt.agents.agent import ALL_EVENTS, ALL_TEXT, Agent, Mode, screen
from gitckpt.agents.command import Arguments
from gitckpt.agents.configuration import json_installation
from gitckpt.agents.hook import read_shell_hook
from gitckpt.agents.lookup import at, paths, rows, text, word
from gitckpt.agents.pending import PendingCalls
from gitckpt.agents.session_file import SessionFile
from gitckpt.agents.signals import Boundary, Opened, Said, Signal
from gitckpt.agents.wiring import Injection, Installation, Wiring, compact, shell_hooks


class GeminiEvents:
    """Decodes `gemini -o stream-json`. Messages come in pieces only and have no id; any other event ends a message."""

    def __init__(self) -> None:
        self._message = ""
        self._messages = 0
        self._calls = PendingCalls()

    def __call__(self, event: dict[str, Any]) -> Iterator[Signal]:
        if event.get("type") == "message" and event.get("role") == "assistant":
            yield self._said(event)
            return
        self._message = ""
        match event.get("type"):
            case "init":
                yield Opened(text(event, "session_id"), text(event, "model"))
            case "tool_use":
                called = paths(event.get("parameters"))
                yield self._calls.begin(text(event, "tool_id"), text(event, "tool_name"), called)
            case "tool_result":
                yield self._calls.end(text(event, "tool_id"), failed=event.get("status") != "success")
            case "result":
                yield Boundary("turn", failed=event.get("status") != "success")

    def _said(self, event: dict[str, Any]) -> Said:
        """A message's id is the timestamp of its first piece, which does not depend on where reading began."""
        if not self._message:
            self._messages += 1
            self._message = word(event, "timestamp") or str(self._messages)
        return Said(text(event, "content"), self._message, whole=event.get("delta") is not True)


def chat(event: dict[str, Any]) -> Iterator[Signal]:
    """Decode one line of `~/.gemini/tmp/…/chats/session-….jsonl`. A message is stored twice, before and after its
    tools."""
    if session := text(event, "sessionId"):
        yield Opened(session)
    if event.get("type") != "gemini":
        return
    words = text(event, "content") or "".join(text(part, "text") for part in rows(event, "content"))
    yield Said(words, text(event, "id"), whole=True)
    for call in rows(event, "toolCalls"):
        yield Boundary("before", text(call, "name"), text(call, "id"), paths=paths(at(call, "args")))


def mode(arguments: Arguments, terminal: bool) -> Mode:
    """`-p` prints all messages as they come."""
    output = arguments.value("-o", "--output-format")
    if output == "stream-json":
        return ALL_EVENTS
    if output == "json":
        loss = "it prints its last message only, in a JSON document: NO block is recorded"
        return Mode(loss=loss, remedy="-o stream-json", streams=())
    if arguments.has("-p", "--prompt") or not terminal:
        return ALL_TEXT
    return screen("gemini -p … -o stream-json")


#: The events that our hook is registered for.
EVENTS: Final = ("SessionStart", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd")


def _settings(wiring: Wiring) -> dict[str, Any]:
    return shell_hooks(EVENTS, wiring.hook_command(), matcher="*", name="gitckpt") | wiring.server(trust=True)


def inject(wiring: Wiring) -> Injection:
    """Replace Gemini's system settings for this run with a file of ours."""
    path = f"{wiring.directory}/gemini-settings.json"
    caution = "the machine's own system settings of Gemini are not read in this run"
    environment = {"GEMINI_CLI_SYSTEM_SETTINGS_PATH": path}
    return Injection((), environment, {path: compact(_settings(wiring))}, caution)


def install(wiring: Wiring) -> tuple[Installation, ...]:
    return (json_installation("home", ".gemini/settings.json", _settings(wiring)),)


GEMINI = Agent(
    name="gemini",
    programs=("gemini",),
    packages=("@google/gemini-cli",),
    mode=mode,
    events=GeminiEvents,
    # a chat file's name begins with a timestamp, so only the client knows it
    session=SessionFile("lines", lambda: chat),
    hook=read_shell_hook,
    inject=inject,
    install=install,
    moved=(("GEMINI_CLI_HOME", ""),),
)
