"""What a hook answers, in each client's own form; "" if there is nothing to say, which every client takes for
approval."""

from __future__ import annotations

from typing import Any, Final

from gitckpt.agents.wiring import compact

#: Clients that take answers in the format of Claude Code's hooks.
_SHELL: Final = ("claude-code", "codex", "gemini", "qwen")


def context_answer(client: str, event: str, context: str) -> str:
    """Return an answer that gives `context` to the model; "" if the client has no such answer."""
    if client in _SHELL:
        return compact({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})
    return compact({"additionalContext": context}) if client == "copilot" else ""


def go_on_answer(client: str, reason: str) -> str:
    """Return an answer that makes the agent continue, with what is left to do; "" if the client has no such answer."""
    if client not in (*_SHELL, "copilot"):
        return ""
    answer: dict[str, Any] = {"decision": "deny" if client == "gemini" else "block", "reason": reason}
    return compact(answer)
