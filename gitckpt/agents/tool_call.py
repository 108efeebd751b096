"""What a shell hook is told about its tool call. Most hook calls need no more than this, and all of them must be fast:
this module imports next to nothing."""

from __future__ import annotations

from gitckpt.agents.lookup import at, paths, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: The events of the hooks that Claude Code, Codex, Gemini and Qwen share, under all of their names.
SHELL_EVENTS: Mapping[str, str] = {
    "SessionStart": "opened", "SessionEnd": "closed",
    "PreToolUse": "before", "BeforeTool": "before",
    "PostToolUse": "after", "PostToolUseFailure": "after", "AfterTool": "after",
    "Stop": "turn", "StopFailure": "turn", "AfterAgent": "turn", "Interrupt": "turn",
}  # fmt: skip

_FAILURES = ("PostToolUseFailure", "StopFailure", "Interrupt")


class ToolCall:
    """A tool call at the moment `kind`, "" if the event is not about one; the other attributes are as in Boundary."""

    __slots__ = ("call", "failed", "kind", "paths", "tool")

    def __init__(self, kind: str, tool: str, call: str, failed: bool, paths: tuple[str, ...]) -> None:
        self.kind, self.tool, self.call, self.failed, self.paths = kind, tool, call, failed, paths


def shell_call(payload: Mapping[str, Any], event: str) -> ToolCall:
    """Return the call that the payload of such a hook describes. Never raises, whatever the payload."""
    failed = event in _FAILURES or bool(at(payload, "tool_response", "error"))
    named = paths(payload.get("tool_input"))
    return ToolCall(SHELL_EVENTS.get(event, ""), text(payload, "tool_name"), call_id(payload), failed, named)


def call_id(payload: Mapping[str, Any]) -> str:
    """Return the client's id of the call, "" if it gives none."""
    return text(payload, "tool_call_id") or text(payload, "tool_use_id")
