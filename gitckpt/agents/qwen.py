"""Qwen Code: its stream-json is Claude Code's; the chat file of a session is its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gitckpt.agents.agent import ALL_EVENTS, LAST_ONLY, Agent, Mode, screen
from gitckpt.agents.claude import EVENTS, ClaudeEvents
from gitckpt.agents.command import Arguments
from gitckpt.agents.configuration import json_installation
from gitckpt.agents.hook import read_shell_hook
from gitckpt.agents.lookup import paths, rows, text
from gitckpt.agents.session_file import SessionFile, Whereabouts
from gitckpt.agents.signals import Boundary, Opened, Said, Signal
from gitckpt.agents.wiring import Injection, Installation, Wiring, compact, shell_hooks


def chat(event: dict[str, Any]) -> Iterator[Signal]:
    """Decode one line of `~/.qwen/projects/…/chats/SESSION.jsonl`."""
    if event.get("isSidechain") or event.get("type") != "assistant":
        return
    yield Opened(text(event, "sessionId"), text(event, "model"), text(event, "cwd"))
    for part in rows(event, "message", "parts"):
        if part.get("thought") is not True and "text" in part:
            yield Said(text(part, "text"), text(event, "uuid"), whole=True)
        call = part.get("functionCall")
        if isinstance(call, dict):
            yield Boundary("before", text(call, "name"), text(call, "id"), paths=paths(call.get("args")))


def mode(arguments: Arguments, terminal: bool) -> Mode:
    """`-p` prints; its JSON document holds all messages, but comes at the end."""
    match arguments.value("-o", "--output-format"):
        case "stream-json":
            return ALL_EVENTS
        case "json":
            loss = "it prints all messages at the end only: each snapshot will hold the files as they are then"
            return Mode(events=True, loss=loss, remedy="-o stream-json")
    if arguments.has("-p", "--prompt") or not terminal:
        return Mode(loss=LAST_ONLY, remedy="-o stream-json")
    return screen("qwen -p … -o stream-json")


def _project(where: Whereabouts) -> str:
    folder = re.sub(r"[^A-Za-z0-9]", "-", where.cwd)
    return f"{where.home}/.qwen/projects/{folder}/chats/{where.session}.jsonl"


def _hooks(wiring: Wiring) -> dict[str, Any]:
    return shell_hooks(EVENTS, wiring.hook_command(), matcher="*", name="gitckpt")


def inject(wiring: Wiring) -> Injection:
    """Pass the tools with an option; for the hooks, replace the system settings for this run with a file of ours."""
    path = f"{wiring.directory}/qwen-settings.json"
    arguments = (f"--mcp-config={compact(wiring.server(trust=True))}",)
    caution = "the machine's own system settings of Qwen Code are not read in this run"
    return Injection(arguments, {"QWEN_CODE_SYSTEM_SETTINGS_PATH": path}, {path: compact(_hooks(wiring))}, caution)


def install(wiring: Wiring) -> tuple[Installation, ...]:
    return (json_installation("home", ".qwen/settings.json", _hooks(wiring) | wiring.server(trust=True)),)


QWEN = Agent(
    name="qwen",
    programs=("qwen",),
    packages=("@qwen-code/qwen-code",),
    mode=mode,
    events=ClaudeEvents,
    session=SessionFile("lines", lambda: chat, _project),
    hook=read_shell_hook,
    inject=inject,
    install=install,
    moved=(("QWEN_HOME", ".qwen"),),
)
