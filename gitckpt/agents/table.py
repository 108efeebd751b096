"""All clients that are known, and which of them a command runs."""

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

#: One row a client. Adding one is a file and a row.
AGENTS: Final = (CLAUDE_CODE, CODEX, GEMINI, QWEN, OPENCODE, CLINE, COPILOT, PI, AIDER, MINI)

#: The channel of a program that nobody knows: whatever it prints, on both of its streams, is taken for words.
PLAIN: Final = "plain"
_ANYTHING: Final = Mode(streams=("stdout", "stderr"))


class Choice(NamedTuple):
    """How the output of a command is read: by which client's rules, None for text of nobody known, and in which of its
    modes. `program` is where the command names the client."""

    agent: Agent | None
    mode: Mode
    program: Program = Program("", 0)

    @property
    def channel(self) -> str:
        """The name of the channel."""
        return self.agent.name if self.agent and self.mode.events else PLAIN

    def stream(self, name: str) -> Stream | None:
        """What reads the stream `stdout` or `stderr`; None where no words of the agent's are on it."""
        if name not in self.mode.streams:
            return None
        if self.agent and self.agent.events and self.mode.events:
            return EventStream(self.agent.name, self.agent.events())
        return TextStream()


def channel_for(argv: Sequence[str], *, terminal: bool = True) -> Choice:
    """The channel that the command and its flags select. `terminal` tells whether the client has one to draw on."""
    program = program_of(argv)
    for agent in AGENTS:
        if runs(program.word, agent.programs, agent.packages):
            arguments = Arguments(argv[program.arguments_at :])
            return Choice(agent, agent.mode(arguments, terminal), program)
    return Choice(None, _ANYTHING)


def channel_named(name: str) -> Choice:
    """The channel of this name: `plain`, or the JSON lines of a client. Raises UsageError where there is none."""
    for agent in AGENTS:
        if agent.name == name and agent.events:
            return Choice(agent, Mode(events=True))
    if name != PLAIN:
        raise UsageError(f"{name!r} is no channel that gitckpt can read", f"--channel is one of {', '.join(CHANNELS)}")
    return Choice(None, _ANYTHING)


#: The names that `--channel` knows.
CHANNELS: Final = (PLAIN, *(agent.name for agent in AGENTS if agent.events))
