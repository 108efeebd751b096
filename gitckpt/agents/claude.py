"""Claude Code: its stream-json (Qwen Code's is the same), and the transcript of a session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gitckpt.agents.agent import ALL_EVENTS, LAST_ONLY, Agent, Mode, screen
from gitckpt.agents.command import Arguments
from gitckpt.agents.configuration import json_installation
from gitckpt.agents.hook import read_shell_hook
from gitckpt.agents.lookup import at, paths, rows, text
from gitckpt.agents.pending import PendingCalls
from gitckpt.agents.session_file import SessionFile, Whereabouts
from gitckpt.agents.signals import Boundary, Opened, Said, Signal
from gitckpt.agents.wiring import Injection, Installation, Wiring, compact, shell_hooks


class ClaudeEvents:
    """Decodes `--output-format stream-json`, with or without partial messages, and `json`. Skips a subagent's
    events."""

    def __init__(self) -> None:
        self._message = ""
        self._spoke = False
        self._calls = PendingCalls()

    def __call__(self, event: dict[str, Any]) -> Iterator[Signal]:
        if event.get("parent_tool_use_id") or event.get("isSidechain"):
            return
        match event.get("type"):
            case "system" if event.get("subtype") == "init":
                yield Opened(text(event, "session_id"), text(event, "model"), text(event, "cwd"))
            case "stream_event":
                yield from self._piece(event)
            case "assistant":
                yield from self._message_part(event)
            case "user":
                yield from self._results(event)
            case "result":
                yield from self._result(event)

    def _piece(self, event: dict[str, Any]) -> Iterator[Signal]:
        if at(event, "event", "type") == "message_start":
            self._message = text(event, "event", "message", "id")
        elif at(event, "event", "delta", "type") == "text_delta":
            part = str(at(event, "event", "index"))
            yield Said(text(event, "event", "delta", "text"), self._message, whole=False, part=part)

    def _message_part(self, event: dict[str, Any]) -> Iterator[Signal]:
        self._spoke = True
        message = text(event, "message", "id") or text(event, "uuid")
        for block in rows(event, "message", "content"):
            if block.get("type") == "text":
                yield Said(text(block, "text"), message, whole=True)
            elif block.get("type") == "tool_use":
                yield self._calls.begin(text(block, "id"), text(block, "name"), paths(block.get("input")))

    def _results(self, event: dict[str, Any]) -> Iterator[Signal]:
        for block in rows(event, "message", "content"):
            if block.get("type") == "tool_result":
                yield self._calls.end(text(block, "tool_use_id"), failed=block.get("is_error") is True)

    def _result(self, event: dict[str, Any]) -> Iterator[Signal]:
        """Yield the end of a turn. The event repeats the last message, which is new only if nothing was printed
        before."""
        if not self._spoke:
            yield Opened(text(event, "session_id"))
            yield Said(text(event, "result"), "", whole=True)
        yield Boundary("turn", failed=event.get("is_error") is True)


def transcript(event: dict[str, Any]) -> Iterator[Signal]:
    """Decode one line of `~/.claude/projects/…/SESSION.jsonl`. The user's prompts in it are skipped."""
    if event.get("isSidechain") or event.get("type") not in ("assistant", "user"):
        return
    if session := text(event, "sessionId"):
        yield Opened(session, cwd=text(event, "cwd"))
    yield from ClaudeEvents()(event)


def mode(arguments: Arguments, terminal: bool) -> Mode:
    """`-p` prints; any other call on a terminal draws on the screen."""
    if not arguments.has("-p", "--print") and terminal:
        return screen("claude -p … --output-format stream-json --verbose")
    match arguments.value("--output-format"):
        case "stream-json":
            return ALL_EVENTS
        case "json":
            return Mode(events=True, loss=LAST_ONLY, remedy="--output-format stream-json --verbose")
    return Mode(loss=LAST_ONLY, remedy="--output-format stream-json --verbose")


def _project(where: Whereabouts) -> str:
    folder = re.sub(r"[^A-Za-z0-9]", "-", where.cwd)
    return f"{where.home}/.claude/projects/{folder}/{where.session}.jsonl"


#: The events that our hook is registered for.
EVENTS: Final = ("SessionStart", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd")


def inject(wiring: Wiring) -> Injection:
    """`--mcp-config` takes all words after it as files, unless it is given its value as `--mcp-config=VALUE`."""
    settings = shell_hooks(EVENTS, wiring.hook_command(), matcher="*")
    server = compact(wiring.server(alwaysLoad=True))
    return Injection((f"--mcp-config={server}", "--settings", compact(settings)))


def install(wiring: Wiring) -> tuple[Installation, ...]:
    return (
        json_installation("home", ".claude/settings.json", shell_hooks(EVENTS, wiring.hook_command(), matcher="*")),
        json_installation("repository", ".mcp.json", wiring.server(alwaysLoad=True)),
    )


CLAUDE_CODE = Agent(
    name="claude-code",
    programs=("claude",),
    packages=("@anthropic-ai/claude-code",),
    mode=mode,
    events=ClaudeEvents,
    session=SessionFile("lines", lambda: transcript, _project),
    hook=read_shell_hook,
    inject=inject,
    install=install,
    moved=(("CLAUDE_CONFIG_DIR", ".claude"),),
)
