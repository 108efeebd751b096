"""The agent's standard input, output and error, and our ends of them."""

from __future__ import annotations

import os

from gitckpt.process.descriptors import close_all, widen, without_blocking
from gitckpt.process.relay import Source
from gitckpt.process.terminal import Terminal, open_pty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Literal

    from gitckpt.process.relay import Stream

    Mode = Literal["auto", "pipe", "pty"]

    #: Where the agent runs: on a terminal of its own; in our process group, sharing our terminal; or, if there is no
    #: terminal, in a group and session that no signal to our group reaches.
    Placement = Literal["terminal", "shared", "own"]


class Streams:
    """`stdio` are the agent's ends, `sources` ours. `screen` is our side of the agent's terminal, `tty` its side; -1 if
    none.

    Standard input is passed to the agent as is: no byte of it goes through us, and none is lost or echoed. We read it
    only if it is a terminal and the agent has one of its own. `plugged` lists those of 0, 1, 2 that were closed.
    """

    def __init__(self, plugged: Collection[int], mode: Mode) -> None:
        self.tty = self.screen = -1
        self.terminal: Terminal | None = None
        self.sources: list[Source] = []
        stdin = None if 0 in plugged else 0
        if mode == "pty" or (mode == "auto" and os.isatty(0) and os.isatty(1)):
            self.stdio = self._on_terminal(stdin)
        else:
            self.stdio = (stdin, self._pipe(1, "stdout"), self._pipe(2, "stderr"))
        self.placement: Placement = "terminal" if self.tty >= 0 else "shared" if _has_controlling_terminal() else "own"

    def _on_terminal(self, stdin: int | None) -> tuple[int | None, int, int]:
        self.terminal = Terminal(0) if os.isatty(0) else None
        self.screen, self.tty = open_pty(self.terminal, size_of=1 if os.isatty(1) else 0)
        self.sources.append(Source(self.screen, without_blocking(1), "stdout"))
        errors = self.tty if os.isatty(2) else self._pipe(2, "stderr")
        return (self.tty if self.terminal else stdin), self.tty, errors

    def _pipe(self, descriptor: int, stream: Stream) -> int:
        ours, theirs = os.pipe()
        widen(theirs)
        self.sources.append(Source(ours, without_blocking(descriptor), stream))
        return theirs

    def close_agents_ends(self) -> None:
        """Close the agent's ends in our process, so that each of our ends reaches end of file with the last writer."""
        close_all({end for end in (*self.stdio, self.tty) if end is not None and end > 2})

    def close(self) -> None:
        """Close our ends."""
        for source in self.sources:
            source.close()


def _has_controlling_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
