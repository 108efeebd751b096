"""mini-swe-agent: text only, wrapped at 80 columns, with the prompt in it."""

from __future__ import annotations

from gitckpt.agents.agent import Agent, Mode
from gitckpt.agents.command import Arguments


def mode(arguments: Arguments, terminal: bool) -> Mode:
    """There is only one."""
    return Mode(
        loss="it wraps at 80 columns, so that a longer line of a block is recorded in pieces, and echoes its prompt, "
        "the examples of which are recorded too"
    )


MINI = Agent(
    name="mini-swe-agent",
    programs=("mini", "mini-swe-agent", "minisweagent"),
    packages=("mini-swe-agent",),
    mode=mode,
)
