"""The description of one client: a row of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from gitckpt.agents.command import Arguments
    from gitckpt.agents.homes import Moved
    from gitckpt.agents.hook import ReadHook
    from gitckpt.agents.session_file import SessionFile
    from gitckpt.agents.stream import Decode
    from gitckpt.agents.wiring import Inject, Install


class Mode(NamedTuple):
    """What a client prints when it is called in a certain way.

    With `events` it prints JSON lines on standard output; otherwise it prints text on `streams`. `loss` says which of
    the agent's words do not come through, "" if all do; `remedy` is what to type instead.
    """

    events: bool = False
    loss: str = ""
    remedy: str = ""
    streams: tuple[str, ...] = ("stdout",)


ALL_EVENTS: Final = Mode(events=True)
ALL_TEXT: Final = Mode()
LAST_ONLY: Final = "it prints its last message only, so blocks before that one are NOT recorded"


def screen(remedy: str) -> Mode:
    """Return the mode of a client that draws on a terminal: its lines there are torn and redrawn, and hold no readable
    words."""
    loss = "it draws on the screen, from which no block can be read: they are NOT recorded"
    return Mode(loss=loss, remedy=remedy, streams=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One client. `programs` and `packages` are the names that it is started by.

    `mode` determines what it will print, from its arguments and from whether it has a terminal. `events` creates a
    decoder for its JSON lines. `session` reads its session files, `hook` reads what it passes to a hook. `inject` gives
    one run of it our hooks and tools; `install` does so for all runs. Each is None if the client has no such thing.
    `moved` lists the environment variables that move its files out of the home directory.
    """

    name: str
    programs: tuple[str, ...]
    packages: tuple[str, ...] = ()
    mode: Callable[[Arguments, bool], Mode]
    events: Callable[[], Decode] | None = None
    session: SessionFile | None = None
    hook: ReadHook | None = None
    inject: Inject | None = None
    install: Install | None = None
    moved: Moved = ()
