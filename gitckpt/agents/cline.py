"""Cline: the events of `cline --json`, and the message file of a session."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any, Final

from gitckpt.agents.agent import ALL_EVENTS, ALL_TEXT, Agent, Mode, screen
from gitckpt.agents.command import Arguments
from gitckpt.agents.configuration import file_installation, json_installation
from gitckpt.agents.hook import read_cline_hook
from gitckpt.agents.lookup import at, paths, rows, text, word
from gitckpt.agents.pending import PendingCalls
from gitckpt.agents.session_file import SessionFile
from gitckpt.agents.signals import Boundary, Closed, Opened, Said, Signal
from gitckpt.agents.wiring import Installation, Wiring


class ClineEvents:
    """Decodes `cline --json`. Its texts have no id, so they are numbered within their iteration."""

    def __init__(self) -> None:
        self._iteration = ""
        self._texts = 0
        self._calls = PendingCalls()

    def __call__(self, event: dict[str, Any]) -> Iterator[Signal]:
        if event.get("parentAgentId"):
            return
        match event.get("type"):
            case "hook_event" if event.get("hookEventName") == "agent_start":
                yield Opened(text(event, "taskId"))
            case "agent_event":
                yield from self._told(event.get("event"))
            case "run_result":
                yield Closed(text(event, "finishReason"))

    def _told(self, event: Any) -> Iterator[Signal]:
        match text(event, "type"), text(event, "contentType"):
            case "iteration_start", _:
                self._iteration, self._texts = word(event, "iteration"), 0
            case "content_start", "text":
                yield self._said(event, whole=False)
            case "content_end", "text":
                yield self._said(event, whole=True)
                self._texts += 1
            case "content_start", "tool":
                called = paths(at(event, "input"))
                yield self._calls.begin(text(event, "toolCallId"), text(event, "toolName"), called)
            case "content_end", "tool":
                yield self._calls.end(text(event, "toolCallId"), text(event, "toolName"), failed=_failed(event))
            case "done", _:
                yield Boundary("turn", failed=at(event, "reason") != "completed")

    def _said(self, event: Any, *, whole: bool) -> Said:
        return Said(text(event, "text"), f"{self._iteration}.{self._texts}", whole)


def _failed(event: Any) -> bool:
    return bool(at(event, "error")) or any(row.get("success") is False for row in rows(event, "output"))


def messages(document: dict[str, Any]) -> Iterator[Signal]:
    """Decode all of `~/.cline/data/sessions/ID/ID.messages.json`, which Cline rewrites each time."""
    for message in rows(document, "messages"):
        if message.get("role") != "assistant":
            continue
        for part in rows(message, "content"):
            if part.get("type") == "text":
                yield Said(text(part, "text"), _id(message, text(part, "text")), whole=True)
            elif part.get("type") == "tool_use":
                yield Boundary("before", text(part, "name"), text(part, "id"), paths=paths(part.get("input")))


def _id(message: dict[str, Any], words: str) -> str:
    """Return the message's id. Without one, use a hash of its words, which does not change when earlier messages are
    dropped."""
    return word(message, "id") or hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]


def mode(arguments: Arguments, terminal: bool) -> Mode:
    """With a prompt on the command line, it prints."""
    if arguments.has("--json"):
        return ALL_EVENTS
    if terminal and (arguments.has("-i", "--interactive") or not arguments.words):
        return screen("cline --json …")
    return ALL_TEXT


#: The events that our hook is registered for.
EVENTS: Final = ("TaskStart", "TaskComplete", "PreToolUse", "PostToolUse")


#: Matches a hook that holds our command and nothing else; a user's own hook may well call gitckpt.
OURS: Final = re.compile(r"\A#!/bin/sh\nexec [^\n;&|]*gitckpt['\"]? hook cline [^\n;&|]*\n\Z")


def install(wiring: Wiring) -> tuple[Installation, ...]:
    """A hook is a program named after its event. Cline takes no hooks or tools for a single run."""
    hooks = [
        file_installation(
            "home",
            f".cline/hooks/{event}",
            f"#!/bin/sh\nexec {wiring.hook_command(event)}\n",
            known=OURS,
            executable=True,
        )
        for event in EVENTS
    ]
    # in seconds; without it, Cline waits three seconds for the server and then runs without its tools
    server = wiring.server(disabled=False, timeout=600, autoApprove=["checkpoint", "reset"])
    return (*hooks, json_installation("home", ".cline/data/settings/cline_mcp_settings.json", server))


CLINE = Agent(
    name="cline",
    programs=("cline",),
    packages=("cline",),
    mode=mode,
    events=ClineEvents,
    session=SessionFile(
        "document", lambda: messages,
        lambda where: f"{where.home}/.cline/data/sessions/{where.session}/{where.session}.messages.json",
    ),
    hook=read_cline_hook,
    install=install,
    moved=(
        ("CLINE_SESSION_DATA_DIR", ".cline/data/sessions"), ("CLINE_DATA_DIR", ".cline/data"), ("CLINE_DIR", ".cline"),
    ),
)  # fmt: skip
