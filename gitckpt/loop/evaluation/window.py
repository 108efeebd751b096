"""A conversation with a model whose context window is known: the oldest turns that do not fit are dropped.

Some endpoints do this themselves. Others refuse a conversation that is too long, which ends a run that never clears its
context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gitckpt.loop.conversation import Conversation, characters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.loop.endpoint import Message
    from gitckpt.loop.stream import Reply

#: Characters per token, until the endpoint has counted some. Low, because it is better to send too little than too
#: much.
CHARACTERS_OF_A_TOKEN: Final = 3.0


class WindowedConversation(Conversation):
    """A conversation that sends only what fits into `window` tokens; None sends everything. `fallen_out` is the largest
    number of messages that a request lacked."""

    def __init__(self, *arguments: Any, window: int | None, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._window, self._rate = window, CHARACTERS_OF_A_TOKEN
        self.fallen_out = 0

    def request(self, messages: Sequence[Message]) -> Reply:
        """Ask the endpoint with the messages that fit."""
        sent = list(messages) if self._window is None else fitting(messages, int(self._window * self._rate))
        self.fallen_out = max(self.fallen_out, len(messages) - len(sent))
        reply = super().request(sent)
        self._rate = characters(sent) / max(reply.input_tokens, 1)
        return reply


def fitting(messages: Sequence[Message], most: int) -> list[Message]:
    """Return the messages without the oldest turns, so that they have at most `most` characters.

    The system text with the task, the first message after it and the last turn always stay. A call and its answers go
    together: no endpoint accepts one without the other.
    """
    head, turns = list(messages[:2]), _turns(messages[2:])
    while len(turns) > 1 and characters([*head, *(message for turn in turns for message in turn)]) > most:
        turns.pop(0)
    return [*head, *(message for turn in turns for message in turn)]


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if message["role"] == "assistant" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns
