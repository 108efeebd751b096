"""`gitckpt run --task T`: a recorded agent on any OpenAI-compatible endpoint that clears its context on purpose."""

from __future__ import annotations

import os
import sys

from gitckpt.cli import render
from gitckpt.errors import UsageError
from gitckpt.loop.conversation import Limits, Observer
from gitckpt.loop.endpoint import Address
from gitckpt.loop.running import STATUSES, Setting
from gitckpt.views.text import count, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitckpt.loop.endpoint import Usage
    from gitckpt.loop.running import Ran
    from gitckpt.loop.stream import Call, Reply

#: The maximum length at which the arguments or the answer of a tool are shown on a line.
SHOWN = 160


def run(
    task: str,
    *,
    model: str | None = None,
    base_url: str | None = None,
    char_limit: int | None = 24_000,
    token_limit: int | None = None,
    reply_limit: int | None = None,
    max_turns: int = 40,
    mcp: list[str] | None = None,
    quiet: bool = False,
    json: bool = False,
) -> int:
    """Run an agent on a task; return 0 if it says that everything is done, 1 if it was stuck or out of turns."""
    if not task.strip():
        raise UsageError("--task is empty", 'gitckpt run --task "what is to be done"')
    address = Address.found(model, base_url, os.environ)
    limits = Limits(max_turns, char_limit, token_limit, reply_limit)
    return carry_on(Setting(task, address, limits, tuple(mcp or ())), quiet=quiet, json=json)


def carry_on(setting: Setting, *, session: str | None = None, quiet: bool = False, json: bool = False) -> int:
    """Run to the end; if `session` is given, from its last state."""
    from gitckpt.loop.running import run as begin

    say = (lambda text: None) if quiet else _say
    observer = Observer() if quiet else Progress(setting.limits)
    ran = begin(setting, say, observer, session=session)
    if json:
        render.json(_document(ran))
    elif ran.outcome.kind == "done":
        render.out([render.shown(ran.outcome.text)])
    say(_account(ran))
    return STATUSES[ran.outcome.kind]


class Progress(Observer):
    """The progress of a run on standard error, for the user to watch."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._turn, self._in_line = limits, 0, False

    def text(self, piece: str) -> None:
        self._write(escape(piece, multiline=True))
        self._in_line = not piece.endswith("\n")

    def reply(self, reply: Reply, usage: Usage) -> None:
        self._turn += 1
        self._end_line()
        limit = f" of {self._limits.tokens:,}" if self._limits.tokens else ""
        self._line(
            f"turn {self._turn}/{self._limits.turns}: {reply.input_tokens:,} tokens in{limit}, {reply.output_tokens:,} "
            f"out; in all {usage.input_tokens:,} in, {usage.output_tokens:,} out"
        )

    def called(self, call: Call) -> None:
        self._line(f"→ {call.name} {_one_line(call.arguments)}")

    def answered(self, call: Call, text: str, ok: bool) -> None:
        self._line(f"  {_one_line(text)}" if not ok or len(text) <= SHOWN else f"  {len(text):,} characters")

    def reset(self, forced: bool) -> None:
        self._line("the context is cleared" + (" by the host, as the model did not" if forced else ""))

    def told(self, text: str) -> None:
        self._line(f"(told: {_one_line(text)})")

    def _end_line(self) -> None:
        if self._in_line:
            self._write("\n")
        self._in_line = False

    def _line(self, text: str) -> None:
        self._end_line()
        self._write(f"gitckpt: {text}\n")

    def _write(self, text: str) -> None:
        _while_watched(lambda: render.write(sys.stderr, text))


def _say(text: str) -> None:
    _while_watched(lambda: render.say(text))


def _while_watched(tell: Callable[[], None]) -> None:
    """Print it, unless standard error is closed: the run continues."""
    try:
        tell()
    except (BrokenPipeError, render.UnwritableOutput):
        # data still buffered would fail again when the interpreter exits, and change the exit status
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _one_line(text: str) -> str:
    line = escape(" ".join(text.split()))
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


def _account(ran: Ran) -> str:
    outcome, usage = ran.outcome, ran.usage
    ended = {"done": "done", "stuck": f"stuck: {outcome.text}", "turns": outcome.text}[outcome.kind]
    forced = f" ({outcome.forced} by the host)" if outcome.forced else ""
    estimated = ", estimated" if usage.estimated else ""
    return (
        f"{ended}: {count(outcome.turns, 'turn')}, {count(outcome.resets, 'reset')}{forced}, {usage.input_tokens:,} "
        f"tokens in, {usage.output_tokens:,} out{estimated}; session {ran.session.id}, gitckpt log shows it"
    )


def _document(ran: Ran) -> dict[str, Any]:
    outcome, usage = ran.outcome, ran.usage
    return {
        "schema": "gitckpt.run/1", "session": ran.session.id, "outcome": outcome.kind, "text": outcome.text,
        "turns": outcome.turns, "resets": outcome.resets, "forced": outcome.forced, "requests": usage.requests,
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "estimated": usage.estimated,
        "checkpoints": [event.id for event in ran.session.events if event.kind == "checkpoint"],
    }  # fmt: skip
