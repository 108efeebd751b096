"""The user's terminal and the agent's: size, settings, and raw mode and back."""

from __future__ import annotations

import fcntl
import os
import termios
import tty

#: The size of struct winsize: rows, columns, and two pixel counts.
_NO_SIZE = b"\0" * 8


def window_size(terminal: int) -> bytes | None:
    """Return a terminal's size as a struct winsize; None if it has none."""
    try:
        size = fcntl.ioctl(terminal, termios.TIOCGWINSZ, _NO_SIZE)
    except OSError:
        return None
    return size if size[:4] != _NO_SIZE[:4] else None


def copy_size(source: int, target: int) -> None:
    """Give one terminal the size of another; the system notifies programs on it if the size changes."""
    size = window_size(source)
    if size is not None:
        fcntl.ioctl(target, termios.TIOCSWINSZ, size)


def in_background(terminal: int) -> bool:
    """Return whether this is our controlling terminal and another process group is in its foreground."""
    try:
        return os.tcgetpgrp(terminal) != os.getpgrp()
    except OSError:
        return False


class Terminal:
    """The user's terminal: in raw mode while the agent has it (`take`), otherwise as it was (`give_back`)."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.taken = descriptor, False
        self.settings = termios.tcgetattr(descriptor)

    def take(self) -> None:
        """Switch to raw mode, which passes on every key as it is typed. In the background this stops us, like any
        program that draws on a terminal; a terminal that is gone is no error."""
        try:
            if not self.taken:
                self.settings = termios.tcgetattr(self.descriptor)
            # At once, without dropping type-ahead.
            tty.setraw(self.descriptor, termios.TCSANOW)
            self.taken = True
        except termios.error:
            pass

    def give_back(self) -> None:
        """Restore the settings from before `take`, unless another job has the terminal's foreground by now."""
        if self.taken and not in_background(self.descriptor):
            self.restore()
        self.taken = False

    def restore(self) -> None:
        """Restore the settings, whichever job has the terminal; one that is gone is no error."""
        try:
            termios.tcsetattr(self.descriptor, termios.TCSANOW, self.settings)
        except termios.error:
            pass


def open_pty(like: Terminal | None, size_of: int) -> tuple[int, int]:
    """Open a terminal pair and return (ours, the agent's). It gets the settings of `like`, if given, and the size of
    the terminal `size_of`."""
    ours, theirs = os.openpty()
    if like is not None:
        termios.tcsetattr(theirs, termios.TCSANOW, like.settings)
    copy_size(size_of, ours)
    os.set_blocking(ours, False)
    return ours, theirs
