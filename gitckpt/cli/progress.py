"""A progress bar on standard error: only on a terminal, and only for operations longer than a second."""

from __future__ import annotations

import sys
import time

from gitckpt.cli import render
from gitckpt.views.text import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    import rich.progress

#: The delay in seconds before the bar is shown.
PATIENCE = 1.0


class Progress:
    """A context manager; call it with the amount done and the total, as far as known."""

    def __init__(self, what: str) -> None:
        self._what, self._start = what, time.monotonic()
        self._bar: rich.progress.Progress | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None and time.monotonic() - self._start > PATIENCE and render.is_terminal(sys.stderr):
            self._bar = self._shown()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    def say(self, text: str) -> None:
        """Print a message, above the bar if there is one."""
        if self._bar is None:
            render.say(text)
        else:
            self._bar.console.print(f"gitckpt: {escape(text)}", markup=False, highlight=False, soft_wrap=True)

    def _shown(self) -> rich.progress.Progress:
        from rich.console import Console
        from rich.progress import Progress as Bar

        bar = Bar(console=Console(stderr=True), transient=True)
        bar.add_task(self._what)
        bar.start()
        return bar
