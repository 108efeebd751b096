"""Codex: the events of `codex exec --json`, and the rollout file of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gitckpt.agents.agent import ALL_EVENTS, LAST_ONLY, Agent, Mode, screen
from gitckpt.agents.command import Arguments
from gitckpt.agents.configuration import json_installation, toml, toml_installation
from gitckpt.agents.hook import read_shell_hook
from gitckpt.agents.lookup import at, rows, shortened, text, word
from gitckpt.agents.pending import PendingCalls
from gitckpt.agents.session_file import SessionFile
from gitckpt.agents.signals import Boundary, Opened, Said, Signal
from gitckpt.agents.wiring import Injection, Installation, Wiring, shell_hooks

#: The item types that are tool calls.
_TOOLS: Final = ("command_execution", "file_change", "mcp_tool_call", "web_search")


class CodexEvents:
    """Decodes `codex exec --json`."""

    def __init__(self) -> None:
        self._calls = PendingCalls()

    def __call__(self, event: dict[str, Any]) -> Iterator[Signal]:
        match event.get("type"):
            case "thread.started":
                yield Opened(text(event, "thread_id"))
            case "item.started" if at(event, "item", "type") in _TOOLS:
                item = event["item"]
                yield self._calls.begin(text(item, "id"), _tool(item), _changed(item))
            case "item.completed":
                yield from self._completed(event.get("item"))
            case "turn.completed":
                yield Boundary("turn")
            case "turn.failed":
                yield Boundary("turn", failed=True)

    def _completed(self, item: Any) -> Iterator[Signal]:
        if at(item, "type") == "agent_message":
            yield Said(text(item, "text"), text(item, "id"), whole=True)
        elif at(item, "type") in _TOOLS:
            failed = at(item, "status") == "failed" or at(item, "exit_code") not in (None, 0)
            yield self._calls.end(text(item, "id"), _tool(item), failed=failed, paths=_changed(item))


def _tool(item: Any) -> str:
    named = [text(item, "server"), text(item, "tool")]
    return ".".join(filter(None, named)) or text(item, "type")


def _changed(item: Any) -> tuple[str, ...]:
    return shortened(text(change, "path") for change in rows(item, "changes"))


class CodexRollout:
    """Decodes lines of `~/.codex/sessions/…/rollout-….jsonl`."""

    def __init__(self) -> None:
        self._calls = PendingCalls()

    def __call__(self, event: dict[str, Any]) -> Iterator[Signal]:
        payload = event.get("payload")
        if event.get("type") == "session_meta":
            yield Opened(text(payload, "id"), cwd=text(payload, "cwd"))
        if event.get("type") != "response_item":
            return
        kind, call = text(payload, "type"), text(payload, "call_id")
        if kind == "message" and at(payload, "role") == "assistant":
            message = text(payload, "id") or word(event, "timestamp")
            for content in rows(payload, "content"):
                yield Said(text(content, "text"), message, whole=True)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            yield self._calls.begin(call, text(payload, "name") or kind)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield self._calls.end(call)


_AMONG: Final = "on a terminal its prompt and what tools print stand among its words: blocks in them are recorded too"


def mode(arguments: Arguments, terminal: bool) -> Mode:
    """`codex exec` prints. Its standard error, with the prompt and the output of tools, is not read."""
    if not set(arguments.words) & {"exec", "e"}:
        return screen("codex exec --json")
    if arguments.has("--json", "--experimental-json"):
        return ALL_EVENTS
    return Mode(loss=_AMONG if terminal else LAST_ONLY, remedy="codex exec --json")


#: The events that our hook is registered for.
EVENTS: Final = ("SessionStart", "PreToolUse", "PostToolUse", "Stop", "Interrupt", "SessionEnd")

_TRUST: Final = "Codex runs new hooks only when they have been trusted once, on its screen; `codex exec` skips them"


#: Timeouts in seconds for the start of the tool server and for a call: the snapshot of a large work tree takes time.
_TIMES: Final = {"startup_timeout_sec": 60, "tool_timeout_sec": 600}


def _server(wiring: Wiring) -> dict[str, Any]:
    return {"command": wiring.mcp[0], "args": wiring.mcp[1:], **_TIMES}


def inject(wiring: Wiring) -> Injection:
    """Pass settings with `-c`, each as a piece of TOML."""
    settings = {f"hooks.{event}": hooks for event, hooks in shell_hooks(EVENTS, wiring.hook_command())["hooks"].items()}
    settings |= {f"mcp_servers.gitckpt.{key}": value for key, value in _server(wiring).items()}
    words = [word for key, value in settings.items() for word in ("-c", f"{key}={toml(value)}")]
    return Injection(tuple(words), caution=_TRUST)


def install(wiring: Wiring) -> tuple[Installation, ...]:
    return (
        json_installation("home", ".codex/hooks.json", shell_hooks(EVENTS, wiring.hook_command()))._replace(
            caution=_TRUST
        ),
        toml_installation("home", ".codex/config.toml", "mcp_servers.gitckpt", _server(wiring)),
    )


CODEX = Agent(
    name="codex",
    programs=("codex",),
    packages=("@openai/codex",),
    mode=mode,
    events=CodexEvents,
    # a rollout file's name begins with a timestamp, so only the client knows it
    session=SessionFile("lines", CodexRollout),
    hook=read_shell_hook,
    inject=inject,
    install=install,
    moved=(("CODEX_HOME", ".codex"),),
)
