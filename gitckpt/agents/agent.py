"""What is known of one client: a row of the table."""

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
    """What a client prints when it is called in one way.

    `events` are JSON lines on standard output; else it prints text on `streams`. `loss` says what of the agent's words
    does not come through, "" where all does; `remedy` what to write instead.
    """

    events: bool = False
    loss: str = ""
    remedy: str = ""
    streams: tuple[str, ...] = ("stdout",)


ALL_EVENTS: Final = Mode(events=True)
ALL_TEXT: Final = Mode()
LAST_ONLY: Final = "it prints its last message only, so blocks before that one are NOT recorded"


def screen(remedy: str) -> Mode:
    """A client that draws on a terminal: what stands there in lines is torn, drawn again and not its words."""
    loss = "it draws on the screen, from which no block can be read: they are NOT recorded"
    return Mode(loss=loss, remedy=remedy, streams=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One client. `programs` and `packages` are the names that it is started by.

    `mode` tells from its arguments, and from whether it has a terminal, what it will print; `events` makes a decoder of
    its JSON lines. `session` reads the file in which it keeps a session, `hook` what it tells a hook; `inject` gives
    our hooks and tools to one run of it, `install` to all of them. None where the client has no such thing. `moved` are
    the variables by which a person has its files elsewhere than in the home directory.
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
