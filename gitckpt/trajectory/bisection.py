"""Choose the next event to try, and interpret the results. Pure."""

from __future__ import annotations

from gitckpt.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session

    #: A command run on the files of an event, and its exit status.
    Run = tuple[tuple[str, ...], int]

#: The exit status by which a command says that it cannot tell, as with `git bisect run`.
SKIP = 125

#: Exit statuses from here on mean that the command could not run, or was killed; they say nothing about the files.
BROKEN = 126


class Bisection:
    """The result of a bisection.

    `first_bad` is the event that introduced the failure, if that is certain; `suspects` are the events that may have,
    if all events between were skipped. `tried` maps commits to the result: True for good, False for bad, None for
    neither."""

    def __init__(self, tried: dict[str, bool | None], suspects: Sequence[Event]) -> None:
        self.tried, self.suspects = tried, list(suspects)

    @property
    def first_bad(self) -> Event | None:
        """The event that introduced the failure, if only one is suspect."""
        return self.suspects[0] if len(self.suspects) == 1 else None


def candidates(session: Session, good: Event, bad: Event) -> list[Event]:
    """Return the events from `good` to `bad`, both included. Raises UsageError if `good` does not lead to `bad`."""
    chain = session.chain(bad.commit)
    places = [place for place, event in enumerate(chain) if event.commit == good.commit]
    if not places or good.commit == bad.commit:
        hint = "gitckpt log --graph draws the lines; the good one comes first"
        raise UsageError(f"{good.ref} does not lead to {bad.ref}", hint)
    return chain[places[0] :]


def bisect(events: Sequence[Event], verdict: Callable[[Event], bool | None]) -> Bisection:
    """Find the event from which on `verdict` is bad: it is good at the first event and bad at the last.

    `verdict` is called for about log2 of the events in between, and for the neighbours of any that it cannot judge."""
    tried: dict[str, bool | None] = {events[0].commit: True, events[-1].commit: False}
    good, bad = 0, len(events) - 1
    while (place := _next(events, good, bad, tried)) is not None:
        said = tried[events[place].commit] = verdict(events[place])
        good, bad = (place, bad) if said else (good, place) if said is False else (good, bad)
    return Bisection(tried, events[good + 1 : bad + 1])


def _next(events: Sequence[Event], good: int, bad: int, tried: dict[str, bool | None]) -> int | None:
    """Return the untried position nearest to the middle; None if there is none."""
    middle = (good + bad) // 2
    open_places = [place for place in range(good + 1, bad) if events[place].commit not in tried]
    return min(open_places, key=lambda place: abs(place - middle), default=None)
