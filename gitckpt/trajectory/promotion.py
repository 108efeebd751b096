"""Which checkpoints become commits on the user's branch, and what those commits say. Pure."""

from __future__ import annotations

import re

from gitckpt.errors import Refused, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.trajectory.events import Event
    from gitckpt.trajectory.session import Session

#: The length of a subject that git tools show without cutting it.
MOST_OF_SUBJECT = 72

#: Characters that no commit message needs: control characters, and those that change the text direction.
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")


class Step:
    """One commit to make: the state at `after` as a change from that at `before`, or, if that is None, from the commit
    that the session started on. `events` are the checkpoints that it represents."""

    __slots__ = ("after", "before", "events")

    def __init__(self, before: Event | None, after: Event, events: Sequence[Event]) -> None:
        self.before, self.after, self.events = before, after, list(events)


def steps(session: Session, after: Event | None, last: Event, *, squash: bool) -> list[Step]:
    """Return one step for each checkpoint on the way to `last`, or one for all of them. `after` is where to begin; None
    means the commit that the session started on, so that uncommitted changes at that time are part of the first step.

    Raises UsageError if `after` is not on that way, and Refused if there is no checkpoint on it."""
    chain = session.chain(last.commit)
    first = -1
    if after is not None:
        places = [place for place, event in enumerate(chain) if event.commit == after.commit]
        if not places:
            raise UsageError(
                f"{after.ref} does not lead to {last.ref}: it is on another line", "gitckpt log --graph draws the lines"
            )
        first = places[0]
    found = [event for event in chain[first + 1 :] if event.kind == "checkpoint" or event is chain[-1]]
    if not any(event.kind == "checkpoint" for event in found):
        begin = after.ref if after else "the start"
        raise Refused(f"there is no checkpoint between {begin} and {last.ref}", "gitckpt log lists them")
    if squash:
        return [Step(after, chain[-1], [event for event in found if event.kind == "checkpoint"])]
    return [Step(before, event, [event]) for before, event in zip([after, *found], found, strict=False)]


def before_the_session(start: Event) -> Step:
    """Return the step for changes that were uncommitted when a session started."""
    return Step(None, start, [])


def message(step: Step, trailer: str, text: str = "") -> str:
    """Return the commit message: a subject, what was done, and a trailer for each checkpoint; `text` replaces the first
    two."""
    trailers = "".join(f"{trailer}: {event.ref}\n" for event in step.events)
    if text:
        return f"{text.strip()}\n\n{trailers}"
    if not step.events:
        return f"Work in progress before session {step.after.session}\n"
    subject, points = _said(step.events)
    body = "".join(f"- {point}\n" for point in points)
    return f"{subject}\n\n{body}\n{trailers}" if body else f"{subject}\n\n{trailers}"


def _said(events: Sequence[Event]) -> tuple[str, list[str]]:
    """Return the subject of one commit for these events, and the points below it."""
    if len(events) == 1:
        subject, *points = _done(events[0])
        # a subject that was cut is repeated in full below
        return _cut(subject), points if len(subject) <= MOST_OF_SUBJECT else [subject, *points]
    goal = next((str(event.fields["goal"]) for event in reversed(events) if event.fields.get("goal")), "")
    subject = _plain(goal) or _done(events[-1])[0]
    return _cut(subject), [_done(event)[0] for event in events]


def _done(event: Event) -> list[str]:
    """Return what an event says was done, one line each; never empty."""
    done = event.fields.get("done") or []
    points = [_plain(str(point)) for point in (done if isinstance(done, list) else [done])]
    subject = _plain(event.subject.partition(": ")[2] or event.subject)
    return [point for point in points if point] or [subject or event.ref]


def _plain(text: str) -> str:
    return " ".join(UNPRINTABLE.sub(" ", text).split()).lstrip("-*• ")


def _cut(text: str) -> str:
    if len(text) <= MOST_OF_SUBJECT:
        return text
    return text[: MOST_OF_SUBJECT - 1].rstrip() + "…"
