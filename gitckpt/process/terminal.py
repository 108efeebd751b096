"""The user's terminal and the agent's: the size, the settings, raw mode and the way back."""

from __future__ import annotations

import fcntl
import os
import termios
import tty

#: As large as struct winsize: rows, columns, and two counts of pixels.
_NO_SIZE = b"\0" * 8


def window_size(terminal: int) -> bytes | None:
    """The size of a terminal as the system keeps it; None if it has none."""
    try:
        size = fcntl.ioctl(terminal, termios.TIOCGWINSZ, _NO_SIZE)
    except OSError:
        return None
    return size if size[:4] != _NO_SIZE[:4] else None


def copy_size(source: int, target: int) -> None:
    """Give one terminal the size of another; the system tells the programs on it if that is a change."""
    size = window_size(source)
    if size is not None:
        fcntl.ioctl(target, termios.TIOCSWINSZ, size)


def in_background(terminal: int) -> bool:
    """Whether this is our controlling terminal and somebody else is in its foreground."""
    try:
        return os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:
        return False


class Terminal:
    """The user's terminal, in raw mode while the agent has it (`take`), else as it was (`give_back`)."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.taken = descriptor, False
        self.settings = termios.tcgetattr(descriptor)

    def take(self) -> None:
        """Pass on every key as it is typed. In the background this stops us, as it does any program that draws on a
        terminal; a terminal that is gone is no error."""
        try:
            if not self.taken:
                self.settings = termios.tcgetattr(self.descriptor)
            # At once and without dropping what was typed ahead.
            tty.setraw(self.descriptor, termios.TCSANOW)
            self.taken = True
        except termios.error:
            pass

    def give_back(self) -> None:
        """Put the settings back as they were when it was taken; the terminal of a job that has the foreground now is
        left alone.
        """
        if self.taken and not in_background(self.descriptor):
            self.restore()
        self.taken = False

    def restore(self) -> None:
        """Put the settings back, whoever has the terminal; one that is gone is no error."""
        try:
            termios.tcsetattr(self.descriptor, termios.TCSANOW, self.settings)
        except termios.error:
            pass


def open_pty(like: Terminal | None, size_of: int) -> tuple[int, int]:
    """A new terminal pair (ours, the agent's): settings of `like`, where there is one, and the size of the terminal
    `size_of`.
    """
    ours, theirs = os.openpty()
    if like is not None:
        termios.tcsetattr(theirs, termios.TCSANOW, like.settings)
    copy_size(size_of, ours)
    os.set_blocking(ours, False)
    return ours, theirs
