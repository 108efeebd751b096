"""Point to the sessions of other work trees if this one has none to show."""

from __future__ import annotations

from gitckpt.views.text import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitckpt.repo.reader import Reader


def sessions_elsewhere(reader: Reader, command: str = "log") -> list[str]:
    """Return how many sessions other work trees and remotes have, and the commands that list them and show one, one
    line each; empty if there are none. For a work tree without a session of its own."""
    ids = sorted(reader.journal.lines())
    if not ids:
        return []
    there = f"there {'is' if len(ids) == 1 else 'are'} {count(len(ids), 'session')} of other work trees and remotes"
    return [there, "gitckpt sessions --all lists them", f"gitckpt {command} --session {ids[-1]} shows the newest"]
