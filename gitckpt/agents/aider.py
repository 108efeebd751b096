"""aider: text only, and its markdown rendering and line wrapping may damage blocks."""

from __future__ import annotations

from gitckpt.agents.agent import Agent, Mode
from gitckpt.agents.command import Arguments


def mode(arguments: Arguments, terminal: bool) -> Mode:
    """In a pipe, too, it renders markdown, unless told not to, and wraps at 80 columns."""
    if arguments.has("--no-pretty"):
        return Mode(loss="it wraps at 80 columns: a longer line of a block is recorded in pieces")
    loss = "its markdown joins the lines of a block into one paragraph: blocks are NOT recorded"
    return Mode(loss=loss, remedy="--no-pretty --no-stream")


AIDER = Agent(name="aider", programs=("aider",), packages=("aider-chat",), mode=mode)
