"""Finds what is new in a client's session file when a hook calls."""

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

#: How many seconds a client has to write down what precedes the hook: twice the longest time seen.
PATIENCE: Final = 1.0
_PAUSE: Final = 0.02


class Overheard(NamedTuple):
    """The blocks said since `place`, in order, and the place to go on from. `missed` says that what the hook waited for
    was not written in time; `lost` says what could not be read."""

    blocks: tuple[Told, ...]
    place: str
    missed: bool = False
    lost: tuple[str, ...] = ()


def session_path(agent: Agent, call: Hooked, environ: Mapping[str, str]) -> str:
    """Return the path of the client's session file, "" if unknown."""
    if call.transcript or agent.session is None:
        return call.transcript
    home = environ.get("HOME", "")
    path = agent.session.path(Whereabouts(home, call.cwd, call.stored or call.session))
    return placed(path.removeprefix(f"{home}/"), home, agent.moved, environ) if path else ""


def overhear(agent: Agent, call: Hooked, path: str, place: str) -> Overheard:
    """Read on from `place`, and append the words that come with the call itself."""
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
    """`missed` is as in Overheard; `caught_up` says that the file holds everything said before the hook call."""

    reading: Reading
    missed: bool = False
    caught_up: bool = False


def _read(agent: Agent, call: Hooked, path: str, place: str) -> _Read:
    """Read the file, waiting until it holds what precedes the hook call."""
    if not path or agent.session is None or agent.session.form == "database":
        return _Read(Reading((), place))
    noting = None
    if call.called:  # few clients have this
        from gitckpt.agents.noting import Noting

        noting = Noting(agent.session, call, path, place)
    begin, before = place, tuple[Signal, ...]()
    deadline = time.monotonic() + PATIENCE
    while True:
        reading = read_session(agent.session, path, call.session, place)
        # a document is read in full each time
        signals = reading.signals if agent.session.form == "document" else before + reading.signals
        # a file that does not exist yet is not a loss
        before, place = (before if reading.place == place else signals), reading.place
        if not (noting.is_due(signals) if noting else _is_due(call, path, begin, signals)):
            return _Read(Reading(signals, place), caught_up=noting is not None and noting.came(signals))
        if time.monotonic() > deadline or (noting is None and not os.path.exists(path)):
            return _Read(Reading(signals, place), missed=os.path.lexists(path) or noting is None)
        time.sleep(_PAUSE)


def _is_due(call: Hooked, path: str, begin: str, signals: Sequence[Signal]) -> bool:
    """Return whether the client has yet to write down the call that it is about to make."""
    boundary = call.boundary
    awaited = boundary.call if boundary and boundary.kind == "before" and not call.subagent else ""
    return bool(awaited) and not (_has_begun(signals, awaited) or _was_read(path, begin, awaited))


def _has_begun(signals: Sequence[Signal], call: str) -> bool:
    return any(isinstance(s, Boundary) and s.kind == "before" and s.call == call for s in signals)


def _was_read(path: str, place: str, call: str) -> bool:
    """Return whether the call was in what was read before: calls of one message may run in parallel."""
    if not (end := offset_of(place)):
        return False
    try:
        with open_regular(path) as file:
            file.seek(max(end - LOOKED_BACK, 0))
            return call.encode("utf-8", "replace") in file.read(min(end, LOOKED_BACK))
    except OSError:
        return False


def _timed(told: Told, signals: Sequence[Signal], at: int, call: Hooked, lags: bool) -> Told:
    """Mark a block as late if a tool may have run since it was said: a tool has ended, the agent has said more after
    calling one, or the session file lags behind the tools."""
    after = signals[at + 1 : -len(call.signals) or None]
    kinds = [s.kind if isinstance(s, Boundary) else "said" if isinstance(s, Said) else "" for s in after]
    went_on = "before" in kinds and "said" in kinds[kinds.index("before") :]
    ended = "after" in kinds
    behind = lags and (call.kind == "before" or "before" in kinds)
    return told._replace(late=went_on or ended or behind or call.kind == "after")
