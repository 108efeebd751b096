"""Running an agent under pipes or on a terminal of its own: its bytes untouched, its signals, its stops, its end.

    run          the one call: `run_agent` → `AgentExit`
    command      which program a command means, and the errors for when it cannot run
    streams      what the agent gets as standard input, output and error
    monitor      the process between us and the agent
    launch       from a forked process to the agent
    attendance   the agent from its start to its end: signals, stops, what it leaves
    relay        bytes from one descriptor to the other
    freeze       the whole tree stopped for a moment
    standstill   how it is stopped, and signalled
    tree         the process table
    together     commands side by side, each with its output in a file
    kept         one shell command; keeper: the process above it, which lets nobody outlive it
    offspring    all that we have started, ended with us
    children     hearing of the end of children, and of orphans
    foreground   a command on the person's own terminal, waited for
    signals, terminal, descriptors    what the system has to be told

Nothing here knows of git or of the protocol.
"""

from __future__ import annotations

from gitckpt.process.attendance import RunningAgent
from gitckpt.process.command import AgentNotStarted
from gitckpt.process.freeze import Freeze
from gitckpt.process.run import AgentExit, Leftover, run_agent

__all__ = ["AgentExit", "AgentNotStarted", "Freeze", "Leftover", "RunningAgent", "run_agent"]
