"""Checkpoint and reset: the state that an agent continues from, and the rules that the host enforces. Shared by MCP and
function calling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gitckpt.errors import Refused
from gitckpt.protocol.state import is_progress, more_done, stale_line
from gitckpt.protocol.writer import block_text
from gitckpt.repo.evidence import stale_facts
from gitckpt.views.mended import mended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.recorder import Recorder
    from gitckpt.toolbox.arguments import CheckpointArguments
    from gitckpt.trajectory.events import Event

#: After this many checkpoints in a row without progress, a run is stuck.
STUCK = 3


class Saved(NamedTuple):
    """A recorded checkpoint, what the agent is told, and how many checkpoints in a row have brought no progress."""

    event: Event
    answer: str
    idle: int


def save_state(recorder: Recorder, before: Sequence[Event], call: CheckpointArguments) -> Saved:
    """Record a state together with the work tree as it is now; `before` is the line so far."""
    fields = {name: value for name, value in call.model_dump().items() if value}
    event = recorder.checkpoint(fields | {"next": call.todo[0] if call.todo else ""})
    idle = _idle([*_states(before), event.fields])
    return Saved(event, "\n".join([*_told(recorder, event), *_progress_words(idle)]), idle)


def _told(recorder: Recorder, event: Event) -> list[str]:
    lines = [
        f"{event.id} is recorded, with the work tree as it is now.",
        *mended(event),
        *_stale_lines(recorder, event),
    ]
    return lines + [f"Not covered: {missing['path']}: {missing['reason']}" for missing in event.missing[:20]]


def _stale_lines(recorder: Recorder, event: Event) -> list[str]:
    stale = stale_facts(recorder.tree.repository, event)
    return [f"Stale, look again and say it anew: {stale_line(fact)}" for fact in stale]


def _states(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Return the states that the agent gave, oldest first."""
    return [event.fields for event in events if _has_state(event) and not event.document.get("by_host")]


def _has_state(event: Event) -> bool:
    return event.kind == "checkpoint" and bool(event.fields.get("goal"))


def _idle(states: Sequence[dict[str, Any]]) -> int:
    """Return how many checkpoints in a row, up to the last, add no fact and finish no todo."""
    idle = 0
    for place in range(len(states) - 1, 0, -1):
        if is_progress(states[place - 1], states[place]):
            break
        idle += 1
    return idle


def _progress_words(idle: int) -> list[str]:
    if not idle:
        return []
    told = "No progress: this checkpoint adds no fact and finishes no todo."
    if idle >= STUCK:
        told += f" That is {idle} in a row: you are stuck. Go back with `retry`, or ask for help."
    return [told]


def last_state(events: Sequence[Event]) -> Event | None:
    """Return the newest checkpoint with a state to continue from."""
    return next((event for event in reversed(events) if _has_state(event)), None)


def _place_of_reset(events: Sequence[Event]) -> int:
    return max((place for place, event in enumerate(events) if event.kind == "reset"), default=-1)


def refuse_reset(events: Sequence[Event]) -> None:
    """Raise Refused if a reset would lose work or make no headway."""
    place = _place_of_reset(events)
    saved = last_state(events[place + 1 :])
    if saved is None:
        since = "since the last reset" if place >= 0 else "yet"
        raise Refused(
            f"reset is refused: no checkpoint {since}", "call checkpoint first: what it does not hold is lost"
        )
    before = (events[place].document.get("state") or {}).get("fields") if place >= 0 else None
    if not more_done(before, saved.fields):
        raise Refused("reset is refused: nothing more is done than at the last reset", "finish a todo, then checkpoint")


def clear(recorder: Recorder, events: Sequence[Event], *, forced: bool = False) -> tuple[Event, str]:
    """Record that the context is cleared. Return the event, and the text that is all the agent knows from then on.

    `events` is the line so far, and holds a checkpoint with a state. `forced` says that the host did it.
    """
    saved = last_state(events)
    assert saved is not None
    document: dict[str, Any] = {"state": {"id": saved.id, "fields": dict(saved.fields)}}
    subject = "reset: the context is cleared" + (" by the host" if forced else "")
    event = recorder.note("reset", subject, document | ({"forced": True} if forced else {}))
    return event, state_text(recorder, saved)


def state_text(recorder: Recorder, saved: Event) -> str:
    """Return a state as an agent is given it to continue from, with a note on each fact whose file has changed."""
    lines = [block_text("checkpoint", saved.id, saved.fields), *_stale_lines(recorder, saved)]
    return "\n".join([*lines, "Name the next step, then take it."])
