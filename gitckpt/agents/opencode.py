"""opencode: the events of `opencode run --format json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from gitckpt.agents.agent import ALL_EVENTS, ALL_TEXT, Agent, Mode, screen
from gitckpt.agents.command import Arguments
from gitckpt.agents.configuration import file_installation, json_installation
from gitckpt.agents.lookup import at, paths, text
from gitckpt.agents.plugins import opencode_plugin, read_plugin_hook
from gitckpt.agents.session_file import SessionFile
from gitckpt.agents.signals import Boundary, Opened, Said, Signal
from gitckpt.agents.wiring import Injection, Installation, Wiring, compact


class OpencodeEvents:
    """Decodes `opencode run --format json`. The first session that speaks is the agent's own; subagents have others."""

    def __init__(self) -> None:
        self._session = ""

    def __call__(self, event: dict[str, Any]) -> Iterator[Signal]:
        session = text(event, "sessionID")
        if not self._session and session:
            self._session = session
            yield Opened(session)
        if session == self._session:
            yield from part_signals(event.get("type"), event.get("part"))
            if event.get("type") == "error":
                yield Boundary("turn", failed=True)


def part_signals(kind: Any, part: Any) -> Iterator[Signal]:
    """Yield the signals of one part of a message. A tool's part comes when the tool has ended."""
    if kind == "text" and at(part, "synthetic") is not True:
        yield Said(text(part, "text"), text(part, "messageID") or text(part, "id"), whole=True)
    elif kind in ("tool_use", "tool") and at(part, "state", "status") in ("completed", "error"):
        failed = at(part, "state", "status") == "error"
        called = paths(at(part, "state", "input"))
        yield Boundary("after", text(part, "tool"), text(part, "callID"), failed, called)
    elif kind in ("step_finish", "step-finish") and at(part, "reason") == "stop":
        yield Boundary("turn")


def _stored(event: dict[str, Any]) -> Iterator[Signal]:
    return part_signals(event.get("type"), event.get("part"))


def mode(arguments: Arguments, terminal: bool) -> Mode:
    """`opencode run` prints each text when it is complete."""
    if "run" not in arguments.words:
        return screen("opencode run --format json")
    return ALL_EVENTS if arguments.value("--format") == "json" else ALL_TEXT


def _server(wiring: Wiring) -> dict[str, Any]:
    # milliseconds for a request; the default is 5000
    server = {"type": "local", "command": list(wiring.mcp), "enabled": True, "timeout": 600_000}
    return {"mcp": {"gitckpt": server}}


def inject(wiring: Wiring) -> Injection:
    """Pass the configuration in the environment, and the hooks in a plugin."""
    path = f"{wiring.directory}/gitckpt.js"
    config = _server(wiring) | {"plugin": [f"file://{quote(path)}"]}
    return Injection((), {"OPENCODE_CONFIG_CONTENT": compact(config)}, {path: opencode_plugin(wiring)})


def install(wiring: Wiring) -> tuple[Installation, ...]:
    return (
        json_installation("home", ".config/opencode/opencode.json", _server(wiring)),
        file_installation("home", ".config/opencode/plugin/gitckpt.js", opencode_plugin(wiring)),
    )


OPENCODE = Agent(
    name="opencode",
    programs=("opencode",),
    packages=("opencode-ai",),
    mode=mode,
    events=OpencodeEvents,
    session=SessionFile("database", lambda: _stored, lambda where: f"{where.home}/.local/share/opencode/opencode.db"),
    hook=read_plugin_hook,
    inject=inject,
    install=install,
    moved=(("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share")),
)
