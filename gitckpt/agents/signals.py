"""What a channel tells: the agent's own words, where its tools begin and end, when a client's session opens and
closes, which hooks it has called, and what could not be read.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Said(NamedTuple):
    """Own words of the agent: a whole text, or a piece of one.

    `message` is the client's id of the message, "" where it gives none. `part` tells apart the texts of one message
    that come in pieces; pieces of a part are in order. A whole text may repeat what its pieces have said.
    """

    text: str
    message: str
    whole: bool
    part: str = ""


class Boundary(NamedTuple):
    """The moment `before` or `after` a tool runs, or the end of a `turn`: of all that the agent did for one prompt.

    `tool` and `call` are the client's name and id of the tool call, "" where it gives none; `paths` the files that the
    call names, as the client writes them.
    """

    kind: Literal["before", "after", "turn"]
    tool: str = ""
    call: str = ""
    failed: bool = False
    paths: tuple[str, ...] = ()


class Opened(NamedTuple):
    """The client has opened, or gone on with, a session of its own."""

    session: str
    model: str = ""
    cwd: str = ""


class Closed(NamedTuple):
    """The client has closed its session; `reason` in its own words."""

    reason: str = ""


class Lost(NamedTuple):
    """Something of the stream could not be read: a block in it is not known."""

    reason: str


class Called(NamedTuple):
    """The client has called a hook for `event`, as its own record of the session tells: all that came before is written
    down there then. `key` tells the call from others of the event; `tool_call` is the client's id of the tool call that
    it is about, "" where it is about none."""

    event: str
    key: str
    tool_call: str = ""

    def is_of(self, other: Called | None) -> bool:
        """Whether both are of one call of a hook; the hook itself may not have been told the tool call."""
        return other is not None and (self.event, self.key) == (other.event, other.key)


Signal = Said | Boundary | Opened | Closed | Called | Lost
