"""The calls of hooks at which nothing was said: all but a few. They are answered with next to nothing imported.

It is always right to leave a call to `hooking`, which looks at it in full."""

from __future__ import annotations

import os

from gitckpt.repo.claim import claim
from gitckpt.repo.live import is_attended
from gitckpt.repo.repository import REFS
from gitckpt.trajectory.naming import SESSION_VARIABLE, is_plain, session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitckpt.aftermath import Aftermath
    from gitckpt.repo.repository import Repository
    from gitckpt.repo.worktree import WorkTree

#: Clients whose hooks have one shape, and who add lines to the session file that they name.
CLIENTS = ("claude-code", "codex", "gemini", "qwen")

#: Events of theirs that may have nothing to record.
EVENTS = {
    "PreToolUse": "before", "BeforeTool": "before", "PostToolUse": "after", "PostToolUseFailure": "after",
    "AfterTool": "after",
}  # fmt: skip

#: Without one of these no text holds a block, in JSON either.
SIGNS = (b"===", "＝".encode(), b"\\uff1d", b"\\uFF1D", b"\\u003d", b"\\u003D")

#: Bytes that are looked through, and of what was read before, in which a call may stand.
MOST = 8 * 1024 * 1024
BEFORE = 256 * 1024


def settle(
    client: str, payload: Mapping[str, Any], repository: Repository, *, auto: str, environ: Mapping[str, str]
) -> bool:
    """Whether the call is done with: nothing was said since the last event on record, and what a tool has changed is on
    record too. Raises GitckptError where it could not be recorded."""
    kind = EVENTS.get(_text(payload, "hook_event_name"))
    session, path = _text(payload, "session_id"), _text(payload, "transcript_path")
    if client not in CLIENTS or not (kind and session and path):
        return False
    given = environ.get(SESSION_VARIABLE, "")
    wrapped = is_plain(given) and is_attended(repository.private_dir, given)
    if wrapped and not claim(repository, given, "hooks"):
        return True
    name = given if wrapped else session_name(client, session, repository.name)
    heard = _heard(repository, name)
    place = _place(heard, f"{client} {session} ")
    if place is None or not _nothing_said(path, place, _awaited(payload) if kind == "before" else b""):
        return False
    return kind == "before" or _record_changes(repository, payload, name, heard, auto)


def _text(payload: Mapping[str, Any], key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _awaited(payload: Mapping[str, Any]) -> bytes:
    """The call that must be in the session file by now."""
    if payload.get("agent_id"):
        return b""
    return (_text(payload, "tool_call_id") or _text(payload, "tool_use_id")).encode("utf-8", "replace")


def _heard(repository: Repository, name: str) -> str:
    """How far the session file had been read at the newest event that tells it."""
    output = repository.git.run(
        "log", "-n1", "--first-parent", "-E", '--grep=^heard: "', "--no-notes", "--no-show-signature", "--format=%B",
        f"--glob={REFS}{name}/heads/*",
    )  # fmt: skip
    lines = output.decode("utf-8", "replace").split("\n")
    return next((line[8:-1] for line in lines if line.startswith('heard: "') and "\\" not in line), "")


def _place(heard: str, head: str) -> int | None:
    digits = heard[len(head) :] if heard.startswith(head) else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None


def _nothing_said(path: str, place: int, awaited: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size < place:
                return False
            # calls of one message may run side by side: the hook of another one may have read this one too
            file.seek(max(place - BEFORE, 0))
            old, new = file.read(min(place, BEFORE)), file.read(MOST + 1)
    except OSError:
        return False
    return len(new) <= MOST and (awaited in new or awaited in old) and not any(sign in new for sign in SIGNS)


def _record_changes(repository: Repository, payload: Mapping[str, Any], name: str, heard: str, auto: str) -> bool:
    """Whether what the tool changed, if anything, is on record now."""
    from gitckpt.aftermath import Aftermath
    from gitckpt.repo.worktree import WorkTree
    from gitckpt.trajectory.session import line_number

    tree = WorkTree(repository)
    if (auto or tree.settings.auto or "tool") != "tool":
        return True
    aftermath = Aftermath(tree)
    with tree.lock:
        lines = tree.journal.lines(name).get(name, {})
        if lines and aftermath.differs(lines[max(lines, key=line_number)]):
            _record(tree, aftermath, payload, name, heard)
    tree.close()
    return bool(lines)


def _record(tree: WorkTree, aftermath: Aftermath, payload: Mapping[str, Any], name: str, heard: str) -> None:
    from gitckpt.agents.hook import read_shell_hook
    from gitckpt.recorder import Recorder

    recorder = Recorder(tree, name=name, around=aftermath.around)
    recorder.heard = heard
    boundary = read_shell_hook(dict(payload)).boundary
    assert boundary is not None
    aftermath.record(recorder, boundary)
