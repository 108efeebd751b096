"""What an agent is told when its session begins, or after it lost its context: the protocol, and the work so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gitckpt.protocol.prompt import protocol_prompt
from gitckpt.repo.reader import Reader
from gitckpt.trajectory.context import build_context

if TYPE_CHECKING:
    from gitckpt.protocol.prompt import Language
    from gitckpt.repo.repository import Repository
    from gitckpt.trajectory.events import Event

#: The maximum number of characters of context that an agent is given.
BUDGET: Final = 12_000

#: The reasons for opening a session with which the agent continues earlier work.
_GOES_ON: Final = ("resume", "clear", "compact")

_TASK: Final[dict[Language, str]] = {
    "zh": "用户在本次会话中提出的要求。",
    "en": "What the user asks for in this session.",
}

_OWED: Final[dict[Language, str]] = {
    "zh": "自上一个检查点以来文件已有改动，却没有块说明。请按协议输出一个 CHECKPOINT 块（编号 {id}），再结束。",
    "en": "Files have changed since the last checkpoint, and no block tells of it. Print a CHECKPOINT block by the "
    "protocol (number {id}), then stop.",
}


def briefing(repository: Repository, source: str, *, wrapped: bool, lang: Language) -> str:
    """Return the protocol prompt with the context to go on from; "" if `wrap` has told the agent already.

    `source` is why the session was opened, in the client's own terms. The work of an earlier run is left out if that
    run has ended.
    """
    reader = Reader(repository)
    events = reader.own_line()
    if wrapped and source not in _GOES_ON and _was_told(events):
        return ""
    goes_on = source in _GOES_ON or (bool(events) and events[-1].kind not in ("end", "final"))
    context = build_context(reader.entries(events if goes_on else []), BUDGET)
    return protocol_prompt(_TASK[lang], context, lang=lang)


def owed(repository: Repository, lang: Language) -> str:
    """Return what to tell an agent that is about to stop without having reported its changes."""
    numbers = [e.id[1:] for e in Reader(repository).own_line() if e.kind == "checkpoint" and e.id]
    number = max((int(n) for n in numbers if n.isascii() and n.isdigit() and len(n) < 9), default=0) + 1
    return _OWED[lang].format(id=number)


def _was_told(events: list[Event]) -> bool:
    agent = events[0].document.get("agent") if events else None
    return isinstance(agent, dict) and bool(agent.get("task"))
