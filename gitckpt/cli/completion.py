"""Shell completion for `gitckpt rollback <TAB>`: names of events and sessions of this work tree.

The user is in the middle of typing: on any error, nothing is offered and nothing is printed.
"""

from __future__ import annotations

from gitckpt.errors import GitckptError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitckpt.repo.reader import Reader
    from gitckpt.trajectory.events import Event

#: A completion and its description. (typer reads the annotations at run time.)
Offer = tuple[str, str]

#: The maximum length of the description next to an id.
LONGEST = 60


def ids(incomplete: str) -> list[Offer]:
    """Return ids of the current session, newest first; if the typed text contains a `/`, those of all sessions, by
    session.
    """
    return _offered(lambda reader: _ids(reader, incomplete), incomplete)


def sessions(incomplete: str) -> list[Offer]:
    """Return the ids of the sessions of this work tree, newest first."""
    return _offered(lambda reader: [(session.id, "") for session in reversed(reader.sessions())], incomplete)


def attempts(incomplete: str) -> list[Offer]:
    """Return the sessions of the attempts on record, newest first."""
    from gitckpt.trajectory.attempts import tried

    return _offered(
        lambda reader: [(a.session, a.newest.subject) for a in reversed(tried(reader.sessions(everywhere=True)))],
        incomplete,
    )


def remotes(incomplete: str) -> list[Offer]:
    """Return the names of the repository's remotes."""
    from gitckpt.repo.remote import remotes as known

    return _offered(lambda reader: [(name, "") for name in known(reader.repository)], incomplete)


def _offered(find: Callable[[Reader], list[Offer]], incomplete: str) -> list[Offer]:
    from gitckpt.repo.reader import Reader

    try:
        found = find(Reader())
    except (GitckptError, OSError):
        return []
    newest: dict[str, str] = {}
    for name, told in found:
        newest.setdefault(name, told)
    return [offer for offer in newest.items() if offer[0].startswith(incomplete)]


def _ids(reader: Reader, incomplete: str) -> list[Offer]:
    if "/" in incomplete:
        events = [event for session in reversed(reader.sessions()) for event in reversed(session.events)]
        return [(event.ref, _told(event)) for event in events if event.id]
    session = reader.current_session()
    if session is None:
        return []
    named = [(event.id, _told(event)) for event in reversed(session.events) if event.id]
    return [*named, ("last", "the newest state"), ("start", "before the first step")]


def _told(event: Event) -> str:
    from gitckpt.views.text import escape, fit

    return fit(escape(event.subject.partition(": ")[2] or event.subject), LONGEST)
