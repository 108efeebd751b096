"""Sessions that are not of this work tree, told where somebody looks for one and finds none."""

from __future__ import annotations

from gitckpt.views.text import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.reader import Reader


def sessions_elsewhere(reader: Reader, command: str = "log") -> list[str]:
    """How many sessions there are of other work trees and remotes, what lists them, and what shows one, a line each;
    nothing where there are none. For a work tree that has no session of its own."""
    ids = sorted(reader.journal.lines())
    if not ids:
        return []
    there = f"there {'is' if len(ids) == 1 else 'are'} {count(len(ids), 'session')} of other work trees and remotes"
    return [there, "gitckpt sessions --all lists them", f"gitckpt {command} --session {ids[-1]} shows the newest"]
