"""One client by its name, without the others: a hook has no time for all of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.agents.agent import Agent

#: The clients that a hook of ours can be called by: the module of each, and its name in there.
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
    """The client, one of HOOKED."""
    from importlib import import_module

    module, variable = HOOKED[name]
    agent: Agent = getattr(import_module(f"gitckpt.agents.{module}"), variable)
    return agent
