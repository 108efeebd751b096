"""The loop: ask the model, carry out what it calls, until it is done, stuck, or out of turns.

When the context exceeds its limit it is cleared: the model is asked to save its state and to reset. If it does not, the
host does so with the last state.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from gitckpt.loop import wording
from gitckpt.loop.actions import Finished, carry_out, named
from gitckpt.loop.endpoint import ContextOverflow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitckpt.loop.actions import Action
    from gitckpt.loop.endpoint import Endpoint, Message, Usage
    from gitckpt.loop.memory import Memory
    from gitckpt.loop.stream import Call, Reply

#: How many turns over the limit until the host clears the context itself.
PATIENCE = 2

#: After this many replies in a row without a tool call and without FINAL, a run is stuck.
SILENT = 3

#: The finish reason of a reply that exceeded the maximum length.
CUT_OFF = "length"

_FINAL = re.compile(r"^[\W_]*FINAL\b", re.MULTILINE)

#: Matches the model's reasoning, for endpoints that do not separate it from the reply.
THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


class Limits(NamedTuple):
    """The maximum number of `turns` (replies of the model); the `characters` of all messages, and the `tokens` as the
    endpoint counts them, above which the context is cleared; the maximum tokens of one `reply`. None means that we set
    no limit."""

    turns: int = 40
    characters: int | None = 24_000
    tokens: int | None = None
    reply: int | None = None


class Observer:
    """Watches a run. Each method is called as things happen, and does nothing here."""

    def text(self, piece: str) -> None:
        """Called with a piece of what the model says."""

    def reply(self, reply: Reply, usage: Usage) -> None:
        """Called with a whole reply; `usage` is that of all requests so far."""

    def called(self, call: Call) -> None:
        """A tool call is about to be carried out."""

    def answered(self, call: Call, text: str, ok: bool) -> None:
        """A tool call was carried out, or refused."""

    def reset(self, forced: bool) -> None:
        """The context was cleared."""

    def told(self, text: str) -> None:
        """The host tells the model something."""


class Outcome(NamedTuple):
    """How a run ended: `done` with the model's result, `stuck` with the reason, or out of `turns`."""

    kind: Literal["done", "stuck", "turns"]
    text: str
    turns: int
    resets: int
    forced: int


class _Stuck(Exception):
    """The run makes no headway; `str` is the reason."""


class Conversation:
    """One run. `system` is the text before everything else, to which the task is added. After a reset the model sees
    that text, the state, and nothing else. Without a `memory` nothing is ever cleared."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        system: str,
        task: str,
        actions: Sequence[Action],
        memory: Memory | None = None,
        limits: Limits | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.endpoint, self.memory = endpoint, memory
        self.limits, self.observer = limits or Limits(), observer or Observer()
        self._actions = named([*(memory.actions() if memory else ()), *actions])
        self._system: Message = {"role": "system", "content": wording.with_task(system, task)}
        self.messages: list[Message] = []
        self._begin(wording.BEGIN)
        self._turns = self._silent = 0
        #: Turns over the limit since the model was asked or has saved; the checkpoints before that; whether it has
        #: saved since.
        self._over, self._before, self._has_saved = 0, 0, False

    def _begin(self, text: str) -> None:
        self.messages = [self._system, {"role": "user", "content": text}]

    def go_on(self) -> None:
        """Begin from the state on record, as after a reset, if there is one."""
        state = self.memory.going_on() if self.memory else ""
        if state:
            self._begin(state)

    def run(self) -> Outcome:
        """Run to the end. Raises EndpointFailed if the endpoint was given up; what is on record stays."""
        try:
            while self._turns < self.limits.turns:
                self._turns += 1
                self._turn()
        except Finished as finished:
            return self._outcome("done", str(finished))
        except _Stuck as stuck:
            return self._outcome("stuck", str(stuck))
        return self._outcome("turns", f"{self.limits.turns} turns were not enough")

    def _outcome(self, kind: Literal["done", "stuck", "turns"], text: str) -> Outcome:
        resets, forced = (self.memory.resets, self.memory.forced) if self.memory else (0, 0)
        return Outcome(kind, text, self._turns, resets, forced)

    def _turn(self) -> None:
        checkpoints = self.memory.checkpoints if self.memory else 0
        reply = self._asked()
        self.observer.reply(reply, self.endpoint.usage)
        self.messages.append(_as_message(reply))
        if reply.calls:
            self._silent = 0
            if self._carry_out(reply):
                return
        else:
            self._hear(reply)
        if self.memory and self._is_over(reply):
            self._mind_limits(self.memory, checkpoints)

    def _asked(self) -> Reply:
        try:
            return self.request(self.messages)
        except ContextOverflow:
            if self.memory is None or len(self.messages) <= 2:  # already cleared, and still too long
                raise
        self._clear(self.memory.clear_by_force(behind=True), forced=True)
        return self.request(self.messages)

    def request(self, messages: Sequence[Message]) -> Reply:
        """Ask the endpoint for one reply."""
        functions = [action.function() for action in self._actions.values()]
        return self.endpoint.ask(messages, functions, self.observer.text)

    def _carry_out(self, reply: Reply) -> bool:
        """Carry out the calls in order. Return whether the context was cleared; the remaining calls are then
        dropped."""
        for call in reply.calls:
            self.observer.called(call)
            answer, ok = carry_out(call, self._actions)
            if not ok and reply.finish == CUT_OFF:
                answer += wording.CALL_CUT_OFF
            self.observer.answered(call, answer, ok)
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})
            if self.memory and self.memory.is_stuck:
                raise _Stuck("checkpoints in a row that add no fact and finish no todo")
            cleared = self.memory.cleared() if self.memory else ""
            if cleared:
                self._clear(cleared, forced=False)
                return True
        return False

    def _hear(self, reply: Reply) -> None:
        """Handle a reply without a tool call: either the run is finished, or the model must be asked to go on."""
        said = THOUGHT.sub("", reply.text).strip()
        if _FINAL.search(said):
            raise Finished(said)
        self._silent += 1
        if self._silent == SILENT:
            raise _Stuck("replies in a row that call no tool and do not say FINAL")
        self._tell(wording.CUT_OFF if reply.finish == CUT_OFF else wording.GO_ON)

    def _tell(self, text: str) -> None:
        self.observer.told(text)
        self.messages.append({"role": "user", "content": text})

    def _mind_limits(self, memory: Memory, checkpoints: int) -> None:
        """Ask for a checkpoint, then for a reset; after two turns without either, the host does it. `checkpoints` is
        their number before this turn."""
        self._before = self._before if self._over else checkpoints
        self._over += 1
        if memory.checkpoints > self._before and not self._has_saved:
            self._has_saved, self._over = True, 1
        if self._over > PATIENCE:
            self._clear(memory.clear_by_force(behind=not self._has_saved), forced=True)
        else:
            self._tell(wording.NOW_RESET if self._has_saved else wording.CHECKPOINT_THEN_RESET)

    def _is_over(self, reply: Reply) -> bool:
        limits = self.limits
        return (limits.characters is not None and characters(self.messages) > limits.characters) or (
            limits.tokens is not None and reply.input_tokens + reply.output_tokens > limits.tokens
        )

    def _clear(self, text: str, *, forced: bool) -> None:
        self._over, self._has_saved = 0, False
        self._begin(text)
        self.observer.reset(forced)


def characters(messages: Sequence[Message]) -> int:
    """Return the number of characters in the messages: text, calls and answers."""
    called = (call["function"] for message in messages for call in message.get("tool_calls") or ())
    return sum(len(str(message.get("content") or "")) for message in messages) + sum(
        len(function["name"]) + len(function["arguments"]) for function in called
    )


def _as_message(reply: Reply) -> Message:
    """Return the reply as a message of the conversation."""
    message: Message = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _as_json(call.arguments)}}
            for call in reply.calls
        ]
    return message


def _as_json(arguments: str) -> str:
    """Return the arguments as the model wrote them if they are a JSON object; otherwise wrapped as text in one. Many
    endpoints refuse a conversation that holds anything else."""
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"unreadable": arguments[:1000]}, ensure_ascii=False) if arguments.strip() else "{}"
