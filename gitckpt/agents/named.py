"""Loads one client by name without importing the others, which would slow down a hook."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.agents.agent import Agent

#: The clients that can call our hook → the module of each, and its name there.
HOOKED = {
    "claude-code": ("claude", "CLAUDE_CODE"),
    "codex": ("codex", "CODEX"),
    "gemini": ("gemini", "GEMINI"),
    "qwen": ("qwen", "QWEN"),
    "opencode": ("opencode", "OPENCODE"),
    "cline": ("cline", "CLINE"),
    "copilot": ("copilot", "COPILOT"),
    "pi": ("pi", "PI"),
}


def hooked_agent(name: str) -> Agent:
    """Return the client of this name, a key of HOOKED."""
    from importlib import import_module

    module, variable = HOOKED[name]
    agent: Agent = getattr(import_module(f"gitckpt.agents.{module}"), variable)
    return agent
