"""All known clients, and which of them a command runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gitckpt.agents.agent import Agent, Mode
from gitckpt.agents.aider import AIDER
from gitckpt.agents.claude import CLAUDE_CODE
from gitckpt.agents.cline import CLINE
from gitckpt.agents.codex import CODEX
from gitckpt.agents.command import Arguments, Program, program_of, runs
from gitckpt.agents.copilot import COPILOT
from gitckpt.agents.gemini import GEMINI
from gitckpt.agents.mini import MINI
from gitckpt.agents.opencode import OPENCODE
from gitckpt.agents.pi import PI
from gitckpt.agents.qwen import QWEN
from gitckpt.agents.stream import EventStream, Stream, TextStream
from gitckpt.errors import UsageError

#: One row per client. Adding one takes a file and a row.
AGENTS: Final = (CLAUDE_CODE, CODEX, GEMINI, QWEN, OPENCODE, CLINE, COPILOT, PI, AIDER, MINI)

#: The channel of an unknown program: everything on both of its output streams is taken as the agent's words.
PLAIN: Final = "plain"
_ANYTHING: Final = Mode(streams=("stdout", "stderr"))


class Choice(NamedTuple):
    """How to read the output of a command: by which client's rules, None for the text of an unknown program, and in
    which mode. `program` is where the command names the client."""

    agent: Agent | None
    mode: Mode
    program: Program = Program("", 0)

    @property
    def channel(self) -> str:
        """The name of the channel."""
        return self.agent.name if self.agent and self.mode.events else PLAIN

    def stream(self, name: str) -> Stream | None:
        """Return a reader for the stream `stdout` or `stderr`; None if none of the agent's words are on it."""
        if name not in self.mode.streams:
            return None
        if self.agent and self.agent.events and self.mode.events:
            return EventStream(self.agent.name, self.agent.events())
        return TextStream()


def channel_for(argv: Sequence[str], *, terminal: bool = True) -> Choice:
    """Return the channel that the command and its flags select. `terminal` says whether the client has a terminal."""
    program = program_of(argv)
    for agent in AGENTS:
        if runs(program.word, agent.programs, agent.packages):
            arguments = Arguments(argv[program.arguments_at :])
            return Choice(agent, agent.mode(arguments, terminal), program)
    return Choice(None, _ANYTHING)


def channel_named(name: str) -> Choice:
    """Return the channel of this name: `plain`, or the JSON lines of a client. Raises UsageError if there is none."""
    for agent in AGENTS:
        if agent.name == name and agent.events:
            return Choice(agent, Mode(events=True))
    if name != PLAIN:
        raise UsageError(f"{name!r} is no channel that gitckpt can read", f"--channel is one of {', '.join(CHANNELS)}")
    return Choice(None, _ANYTHING)


#: The names that `--channel` accepts.
CHANNELS: Final = (PLAIN, *(agent.name for agent in AGENTS if agent.events))
