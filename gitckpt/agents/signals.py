"""What a channel yields: the agent's own words, where its tools begin and end, when a client's session opens and
closes, which hooks it has called, and what could not be read."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Said(NamedTuple):
    """The agent's own words: a whole text, or a piece of one.

    `message` is the client's id of the message, "" if it gives none. `part` distinguishes the texts of one message that
    come in pieces; the pieces of a part are in order. A whole text may repeat what its pieces have said.
    """

    text: str
    message: str
    whole: bool
    part: str = ""


class Boundary(NamedTuple):
    """The moment `before` or `after` a tool runs, or the end of a `turn`: of everything that the agent did for one
    prompt.

    `tool` and `call` are the client's name and id of the tool call, "" if it gives none. `paths` are the files that the
    call names, as the client writes them.
    """

    kind: Literal["before", "after", "turn"]
    tool: str = ""
    call: str = ""
    failed: bool = False
    paths: tuple[str, ...] = ()


class Opened(NamedTuple):
    """The client has opened or resumed a session of its own."""

    session: str
    model: str = ""
    cwd: str = ""


class Closed(NamedTuple):
    """The client has closed its session; `reason` is in its own words."""

    reason: str = ""


class Lost(NamedTuple):
    """Part of the stream could not be read; a block in it is lost."""

    reason: str


class Called(NamedTuple):
    """The client has called a hook for `event`, according to its own session file; everything before the call is then
    in that file. `key` identifies the call among those for the event. `tool_call` is the client's id of the tool call
    that it is about, "" if none."""

    event: str
    key: str
    tool_call: str = ""

    def is_of(self, other: Called | None) -> bool:
        """Return whether both are the same hook call. The tool call is not compared: the hook itself may not have been
        told it."""
        return other is not None and (self.event, self.key) == (other.event, other.key)


Signal = Said | Boundary | Opened | Closed | Called | Lost
