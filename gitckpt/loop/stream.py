"""Assembles the pieces of a streamed reply.

Endpoints differ: some give a tool call no index or no id, some repeat its name with each piece, some send no usage.
Only what they have in common is required here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Call(NamedTuple):
    """One tool call; `arguments` is the text that the model wrote, which may not be valid JSON."""

    id: str
    name: str
    arguments: str


class Reply(NamedTuple):
    """One reply of a model. `finish` is the endpoint's own finish reason: `stop`, `tool_calls`, `length`, …

    The token counts are the endpoint's; if it reports none, a quarter of the number of characters.
    """

    text: str
    calls: tuple[Call, ...]
    input_tokens: int
    output_tokens: int
    finish: str


class CutStream(Exception):
    """The stream ended before the reply did."""


def sound(text: str) -> str:
    """Return the text with unpaired surrogates, which JSON can hold and UTF-8 cannot, replaced by question marks."""
    return text.encode("utf-8", "replace").decode()


def _is_whole(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


class Gathering:
    """A reply while it arrives. `usage` is what the endpoint reports for it, or None."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: list[dict[str, str]] = []
        self._places: dict[int, dict[str, str]] = {}
        self._finish = ""
        self.usage: Any = None

    def take(self, chunks: Iterable[Any], on_text: Callable[[str], None]) -> None:
        """Take all chunks. Raises CutStream if the last one does not end the reply."""
        for chunk in chunks:
            self.usage = getattr(chunk, "usage", None) or self.usage
            for choice in (getattr(chunk, "choices", None) or ())[:1]:
                self._finish = choice.finish_reason or self._finish
                self._add(choice.delta, on_text)
        if not self._finish:
            raise CutStream

    def _add(self, delta: Any, on_text: Callable[[str], None]) -> None:
        text = getattr(delta, "content", None)
        if text:
            self._text.append(text)
            on_text(text)
        for piece in getattr(delta, "tool_calls", None) or ():
            self._add_call(piece)

    def _add_call(self, piece: Any) -> None:
        call = self._call_of(piece)
        call["id"] = call["id"] or piece.id or ""
        if piece.function is not None:
            call["name"] = call["name"] or piece.function.name or ""
            call["arguments"] += piece.function.arguments or ""

    def _call_of(self, piece: Any) -> dict[str, str]:
        """Return the call that a piece belongs to."""
        place = piece.index
        if place is None:
            place = len(self._calls) if self._begins(piece) else len(self._calls) - 1
        if place not in self._places:
            self._places[place] = {"id": "", "name": "", "arguments": ""}
            self._calls.append(self._places[place])
        return self._places[place]

    def _begins(self, piece: Any) -> bool:
        """Return whether a piece without an index begins a new call: it has another id, or it has a name and the last
        call is complete."""
        if not self._calls:
            return True
        last = self._calls[-1]
        is_named = piece.function is not None and piece.function.name
        return bool(piece.id and piece.id != last["id"]) or bool(is_named and _is_whole(last["arguments"]))

    @property
    def text(self) -> str:
        """What the model has said."""
        return sound("".join(self._text))

    @property
    def finish(self) -> str:
        """Why the reply ended."""
        return self._finish

    def calls(self, request: int) -> tuple[Call, ...]:
        """Return the tool calls in order. A call without an id gets one that no other request uses."""
        return tuple(
            Call(call["id"] or f"call_{request}_{place}", sound(call["name"]), sound(call["arguments"]))
            for place, call in enumerate(self._calls)
        )
