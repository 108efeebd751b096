"""Runs an agent on pipes or on a terminal of its own: passes its bytes through untouched, and handles signals, stops
and its end.

    run          the one call: `run_agent` → `AgentExit`
    command      which program a command means, and the errors if it cannot run
    streams      the agent's standard input, output and error
    monitor      the process between us and the agent
    launch       turns a forked process into the agent
    attendance   the agent from its start to its end: signals, stops, leftover processes
    relay        bytes from one descriptor to another
    freeze       stops the whole tree for a moment
    standstill   how a tree is stopped, and signalled
    tree         the process table
    together     parallel commands, each with its output in a file
    kept         one shell command; keeper: the process above it, which lets no process outlive it
    offspring    ends everything that we have started when we end
    children     notices ended children, and adopts orphans
    foreground   a command on the user's own terminal, waited for
    signals, terminal, descriptors    system-level details

Nothing here knows about git or the protocol.
"""

from __future__ import annotations

from gitckpt.process.attendance import RunningAgent
from gitckpt.process.command import AgentNotStarted
from gitckpt.process.freeze import Freeze
from gitckpt.process.run import AgentExit, Leftover, run_agent

__all__ = ["AgentExit", "AgentNotStarted", "Freeze", "Leftover", "RunningAgent", "run_agent"]
