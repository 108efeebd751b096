"""What a hook answers, in each client's own form; "" where there is nothing to say, which all of them take for yes."""

from __future__ import annotations

from typing import Any, Final

from gitckpt.agents.wiring import compact

#: Clients with the answers of Claude Code's hooks.
_SHELL: Final = ("claude-code", "codex", "gemini", "qwen")


def context_answer(client: str, event: str, context: str) -> str:
    """An answer that puts `context` before the model; "" for a client that cannot be told anything so."""
    if client in _SHELL:
        return compact({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})
    return compact({"additionalContext": context}) if client == "copilot" else ""


def go_on_answer(client: str, reason: str) -> str:
    """An answer that lets the agent go on, with what it still has to do; "" for a client that cannot be told."""
    if client not in (*_SHELL, "copilot"):
        return ""
    answer: dict[str, Any] = {"decision": "deny" if client == "gemini" else "block", "reason": reason}
    return compact(answer)
