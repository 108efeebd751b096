"""`gitckpt hook CLIENT`: called by the hooks of agent clients. Whatever happens here, the agent continues.

On a fault of ours, a repository that cannot be recorded, or a payload that is not understood, the exit status is 0, the
answer is empty, and one line in our log gives the reason (`gitckpt doctor` shows it)."""

from __future__ import annotations

import gc
import os
import signal

from gitckpt.errors import GitckptError, Refused, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitckpt.protocol.prompt import Language
    from gitckpt.repo.repository import Repository

#: The time in seconds that a hook may take. Every client waits longer than that.
LIMIT = 25.0

#: The maximum size of a payload in bytes; it includes the result of a tool call.
LARGEST = 64 * 1024 * 1024

#: Clients that tell their hooks the project directory, whatever directory the agent has changed to.
_NAMES_PROJECT = ("claude-code", "gemini", "qwen")


class _OutOfTime(BaseException):
    """A BaseException, so that no code on the way mistakes it for an error of its own."""


def agent_hook(client: str, words: Sequence[str], *, auto: str = "", lang: Language = "zh") -> int:
    """Answer the hook of a client; always returns 0."""
    if os.isatty(0):
        raise UsageError(f"{client} gives its hook a payload on standard input", f"gitckpt init --agent {client}")
    gc.disable()  # imported modules are not garbage, and the process ends soon
    signal.signal(signal.SIGALRM, _raise_out_of_time)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        _print(_answered(client, words, auto, lang))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return 0


def _raise_out_of_time(*_: object) -> None:
    raise _OutOfTime


def _print(answer: str) -> None:
    """Print the answer; ignore a client that no longer reads it."""
    try:
        os.write(1, answer.encode("utf-8", "replace") + b"\n" if answer else b"")
    except OSError:
        pass


def _answered(client: str, words: Sequence[str], auto: str, lang: Language) -> str:
    from gitckpt.quiet import settle

    repository = None
    try:
        payload = _payload(words)
        repository = _repository(client, _directory(payload))
        if repository is None or settle(client, payload, repository, auto=auto, environ=os.environ):
            return ""
        event = words[0] if words and not words[0].startswith("{") else ""
        return _reaction(client, payload, event, repository, auto, lang)
    except (Exception, _OutOfTime) as error:
        _log(repository, f"{client}: {_told(error)}")
        return ""


def _told(error: BaseException) -> str:
    if isinstance(error, _OutOfTime):
        return f"stopped after {LIMIT:.0f} s; what was said will be read the next time"
    if isinstance(error, GitckptError | OSError):
        return str(error)
    from gitckpt.cli.fault import fault

    return str(fault(error, ["hook"])) if isinstance(error, Exception) else repr(error)


def _log(repository: Repository | None, text: str) -> None:
    from gitckpt.repo.hook_log import log_fault

    if repository is not None:
        log_fault(repository, text)


def _payload(words: Sequence[str]) -> dict[str, Any]:
    """Return the client's payload, from standard input, or from the last argument if the client passes it there."""
    import json

    given = words[-1].encode("utf-8", "surrogateescape") if words and words[-1].startswith("{") else _standard_input()
    try:
        payload = json.loads(given.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise UsageError("the payload is no JSON") from error
    return payload if isinstance(payload, dict) else {}


def _standard_input() -> bytes:
    pieces, size = [], 0
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST:
            raise UsageError(f"the payload is larger than {LARGEST // 1024**2} MiB")
    return b"".join(pieces)


def _directory(payload: dict[str, Any]) -> str:
    """Return the directory in which the client says it works."""
    about = payload.get("workspaceInfo")
    given = payload.get("cwd") or (about.get("rootPath") if isinstance(about, dict) else None)
    return given if isinstance(given, str) else ""


def _repository(client: str, directory: str) -> Repository | None:
    """Return the repository in which the client works; None if gitckpt does not record there."""
    from gitckpt.repo.repository import discover

    named = os.environ.get("CLAUDE_PROJECT_DIR", "") if client in _NAMES_PROJECT else ""
    found = next((d for d in (named, directory) if os.path.isabs(d) and os.path.isdir(d)), None)
    try:
        return discover(os.fsencode(found) if found else None)
    except Refused:
        return None


def _reaction(
    client: str, payload: dict[str, Any], event: str, repository: Repository, auto: str, lang: Language
) -> str:
    from gitckpt.agents.answers import context_answer, go_on_answer
    from gitckpt.agents.named import hooked_agent
    from gitckpt.hooking import Hooking

    agent = hooked_agent(client)
    assert agent.hook is not None
    call = agent.hook(payload, event)
    if not call.session or not call.kind:
        return ""
    hooking = Hooking(agent, call, repository, lambda text: _log(repository, text), auto=auto, environ=os.environ)
    if call.kind == "opened":
        from gitckpt.briefing import briefing

        text = briefing(repository, call.source, wrapped=hooking.wrapped, lang=lang)
        return context_answer(client, call.event, text) if text else ""
    if not hooking.record():
        return ""
    from gitckpt.briefing import owed

    return go_on_answer(client, owed(repository, lang))
