"""Fast path for the hook calls at which nothing was said, which is most of them. It imports next to nothing.

It is always correct to leave a call to `hooking`, which examines it fully.
"""

from __future__ import annotations

import os

from gitckpt.agents.line_place import follows, offset_of
from gitckpt.agents.lookup import text
from gitckpt.agents.regular import open_regular
from gitckpt.agents.tool_call import SHELL_EVENTS, call_id, shell_call
from gitckpt.repo.claim import claim
from gitckpt.repo.live import is_attended
from gitckpt.repo.repository import REFS
from gitckpt.trajectory.naming import given_session, session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitckpt.repo.journal import Tip
    from gitckpt.repo.repository import Repository
    from gitckpt.repo.worktree import WorkTree

#: Clients that share one hook format, and append to the session file that the hook names.
CLIENTS = ("claude-code", "codex", "gemini", "qwen")

#: A text without any of these holds no block, not even in JSON.
SIGNS = (b"===", "＝".encode(), b"\\uff1d", b"\\uFF1D", b"\\u003d", b"\\u003D")

#: The maximum number of new bytes to search, and of bytes before those in which the awaited call may be.
MOST = 8 * 1024 * 1024
BEFORE = 256 * 1024


def settle(
    client: str, payload: Mapping[str, Any], repository: Repository, *, auto: str, environ: Mapping[str, str]
) -> bool:
    """Return whether the call is settled: nothing was said since the last event on record, and what a tool has changed
    is on record too, or else `wrap` records the session. Raises GitckptError if it could not be recorded."""
    kind = SHELL_EVENTS.get(text(payload, "hook_event_name"), "")
    session, path = text(payload, "session_id"), text(payload, "transcript_path")
    if client not in CLIENTS or kind not in ("before", "after") or not (session and path):
        return False
    given = given_session(client, environ)
    wrapped = bool(given) and is_attended(repository.private_dir, given)
    if wrapped and not claim(repository, given, "hooks"):
        return True
    name, head = given if wrapped else session_name(client, session, repository.name), f"{client} {session} "
    if kind == "before":
        return _nothing_said(path, _place(_heard(repository, name), head), _awaited(payload))
    return _record_changes(repository, payload, name, head, auto)


def _awaited(payload: Mapping[str, Any]) -> bytes:
    """Return the id of the call that must be in the session file by now, b"" for a call of a subagent."""
    if payload.get("agent_id"):
        return b""
    return call_id(payload).encode("utf-8", "replace")


def _heard(repository: Repository, name: str) -> str:
    """Return how far the session file had been read, according to the newest event that says so."""
    output = repository.git.run(
        "log", "-n1", "--first-parent", "-E", '--grep=^heard: "', "--no-notes", "--no-show-signature", "--format=%B",
        f"--glob={REFS}{name}/heads/*",
    )  # fmt: skip
    lines = output.decode("utf-8", "replace").split("\n")
    return next((line[8:-1] for line in lines if line.startswith('heard: "') and "\\" not in line), "")


def _place(heard: str, head: str) -> str:
    return heard[len(head) :] if heard.startswith(head) else ""


def _nothing_said(path: str, place: str, awaited: bytes = b"") -> bool:
    end = offset_of(place)
    if end is None:
        return False
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size < end:
                return False
            # calls of one message may run in parallel: the hook of another call may already have read past this one
            file.seek(max(end - BEFORE, 0))
            old, new = file.read(min(end, BEFORE)), file.read(MOST + 1)
    except OSError:
        return False
    if not follows(place, old) or len(new) > MOST:
        return False
    return (awaited in new or awaited in old) and not any(sign in new for sign in SIGNS)


def _record_changes(repository: Repository, payload: Mapping[str, Any], name: str, head: str, auto: str) -> bool:
    """Return whether nothing was said. If so, what the tool changed, if anything, is on record now."""
    from gitckpt.repo.worktree import WorkTree

    tree = WorkTree(repository)
    with tree.lock:
        tips = tree.journal.tips(name)
        heard = max((tip.event for tip in tips.values()), key=lambda event: event.seq).heard if tips else ""
        if not _nothing_said(text(payload, "transcript_path"), _place(heard, head)):
            return False
        if any(tip.event.worktree != repository.name for tip in tips.values()):
            return False
        if (auto or tree.settings.auto or "tool") == "tool":
            _compare(tree, tips, payload, name)
    tree.close()
    return True


def _compare(tree: WorkTree, tips: Mapping[str, Tip], payload: Mapping[str, Any], name: str) -> None:
    """Record how the work tree differs from the newest event, if it does."""
    from gitckpt.aftermath import Aftermath
    from gitckpt.trajectory.session import Session

    session = Session(
        name, [tip.event for tip in tips.values()], {line: tip.event.commit for line, tip in tips.items()}
    )
    tip, aftermath = tips[session.active_line], Aftermath(tree)
    if aftermath.differs(tip.event.commit, tip.tree):
        from gitckpt.recorder import Recorder

        recorder = Recorder(tree, name=name, around=aftermath.around)
        recorder.heard = session.events[-1].heard
        recorder.go_on(session)
        aftermath.record(recorder, shell_call(payload, text(payload, "hook_event_name")))
