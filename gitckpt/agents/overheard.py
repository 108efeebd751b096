"""What is new in a client's own record of its session, as a hook finds it."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from gitckpt.agents.homes import placed
from gitckpt.agents.line_place import LOOKED_BACK, offset_of
from gitckpt.agents.regular import open_regular
from gitckpt.agents.session_file import Reading, Whereabouts, read_session
from gitckpt.agents.signals import Boundary, Lost, Opened, Said, Signal
from gitckpt.agents.spoken import Spoken, Told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gitckpt.agents.agent import Agent
    from gitckpt.agents.hook import Hooked

#: Seconds that a client is given to write down what the hook stands behind: twice what any has needed.
PATIENCE: Final = 1.0
_PAUSE: Final = 0.02


class Overheard(NamedTuple):
    """The blocks that were said since `place`, in order, and where to go on; `missed` says that what the hook waits for
    did not come in time, `lost` what could not be read."""

    blocks: tuple[Told, ...]
    place: str
    missed: bool = False
    lost: tuple[str, ...] = ()


def session_path(agent: Agent, call: Hooked, environ: Mapping[str, str]) -> str:
    """Where the client keeps the session, "" where nobody knows."""
    if call.transcript or agent.session is None:
        return call.transcript
    home = environ.get("HOME", "")
    path = agent.session.path(Whereabouts(home, call.cwd, call.stored or call.session))
    return placed(path.removeprefix(f"{home}/"), home, agent.moved, environ) if path else ""


def overhear(agent: Agent, call: Hooked, path: str, place: str) -> Overheard:
    """Read on from `place`, and take the words that the call itself brings for the last ones."""
    reading, missed, caught_up = _read(agent, call, path, place)
    spoken = Spoken(agent.name)
    spoken.hear(Opened(call.session))
    signals = (*reading.signals, *call.signals)
    lags = agent.session is not None and agent.session.lags and not caught_up
    told = [_timed(t, signals, at, call, lags) for at, signal in enumerate(signals) for t in spoken.hear(signal)]
    is_to_come = lags and not place and call.kind in ("before", "after") and not os.path.lexists(path)
    lost = () if is_to_come else tuple(signal.reason for signal in reading.signals if isinstance(signal, Lost))
    return Overheard(tuple(told), reading.place, missed, lost)


class _Read(NamedTuple):
    """`missed` as of Overheard; `caught_up` says that all is there that was said before the hook was called."""

    reading: Reading
    missed: bool = False
    caught_up: bool = False


def _read(agent: Agent, call: Hooked, path: str, place: str) -> _Read:
    """What the file holds, once that which the hook stands behind is written down in it."""
    if not path or agent.session is None or agent.session.form == "database":
        return _Read(Reading((), place))
    noting = None
    if call.called:  # of few clients
        from gitckpt.agents.noting import Noting

        noting = Noting(agent.session, call, path, place)
    begin, before = place, tuple[Signal, ...]()
    deadline = time.monotonic() + PATIENCE
    while True:
        reading = read_session(agent.session, path, call.session, place)
        # of a document all is read each time
        signals = reading.signals if agent.session.form == "document" else before + reading.signals
        # a file that is not there yet is no loss
        before, place = (before if reading.place == place else signals), reading.place
        if not (noting.is_due(signals) if noting else _is_due(call, path, begin, signals)):
            return _Read(Reading(signals, place), caught_up=noting is not None and noting.came(signals))
        if time.monotonic() > deadline or (noting is None and not os.path.exists(path)):
            return _Read(Reading(signals, place), missed=os.path.lexists(path) or noting is None)
        time.sleep(_PAUSE)


def _is_due(call: Hooked, path: str, begin: str, signals: Sequence[Signal]) -> bool:
    """Whether the client has yet to write down the call that it is about to make."""
    boundary = call.boundary
    awaited = boundary.call if boundary and boundary.kind == "before" and not call.subagent else ""
    return bool(awaited) and not (_has_begun(signals, awaited) or _was_read(path, begin, awaited))


def _has_begun(signals: Sequence[Signal], call: str) -> bool:
    return any(isinstance(s, Boundary) and s.kind == "before" and s.call == call for s in signals)


def _was_read(path: str, place: str, call: str) -> bool:
    """Whether the call stands in what was read before: calls of one message may run side by side."""
    if not (end := offset_of(place)):
        return False
    try:
        with open_regular(path) as file:
            file.seek(max(end - LOOKED_BACK, 0))
            return call.encode("utf-8", "replace") in file.read(min(end, LOOKED_BACK))
    except OSError:
        return False


def _timed(told: Told, signals: Sequence[Signal], at: int, call: Hooked, lags: bool) -> Told:
    """A block is late where a tool may have run since it was said: one has ended, or the agent has said more after
    calling one."""
    after = signals[at + 1 : -len(call.signals) or None]
    kinds = [s.kind if isinstance(s, Boundary) else "said" if isinstance(s, Said) else "" for s in after]
    went_on = "before" in kinds and "said" in kinds[kinds.index("before") :]
    ended = "after" in kinds
    behind = lags and (call.kind == "before" or "before" in kinds)
    return told._replace(late=went_on or ended or behind or call.kind == "after")
