"""The tools over the Model Context Protocol, on standard input and output.

Some clients give a server one second to list its tools, and do without them after that. So the first requests are
answered at once (`greeting`), and the official SDK, which takes most of that second to load, handles the rest
(`server`).
"""

from __future__ import annotations

import os

INSTRUCTIONS = """gitckpt records your work step by step, so that nothing is lost and every step can be undone.
- Start with `context`: it tells what was done before you, if anything.
- Call `checkpoint` after each finished step and before anything risky. State the goal, the facts you will need again
  (each with its source: a URL, or path:line), what is done, and what is left. It also snapshots every file.
- When your context grows long, call `checkpoint`, then `reset`, and go on from the state that `reset` returns alone.
- When an attempt has failed, call `retry` with the checkpoint to go back to: the files are put back for you.
- `rollback` shows a plan first; apply it by its hash."""


def serve() -> None:
    """Answer requests until standard input ends."""
    from gitckpt.mcp.greeting import greet

    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _divert()
    greeted = greet(requests, answers)
    if greeted is not None:
        from gitckpt.mcp.server import go_on

        go_on(greeted, requests, answers)


def _divert() -> None:
    """Keep child processes and stray prints off the protocol streams: standard input becomes empty, standard output
    goes to standard error."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
