"""Whether a call of a hook has anything to record. Most have not: then nothing is imported that would be needed else.

The answer no is always right to give: the call is then looked at in full."""

from __future__ import annotations

import os

from gitckpt.errors import GitckptError
from gitckpt.repo.claim import claim
from gitckpt.repo.live import is_attended
from gitckpt.repo.repository import REFS
from gitckpt.trajectory.naming import SESSION_VARIABLE, is_plain, session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitckpt.repo.repository import Repository

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


def is_quiet(
    client: str, payload: Mapping[str, Any], repository: Repository, *, auto: str, environ: Mapping[str, str]
) -> bool:
    """Whether nothing was said since the last event on record and, after a tool, nothing has changed."""
    kind = EVENTS.get(_text(payload, "hook_event_name"))
    session, path = _text(payload, "session_id"), _text(payload, "transcript_path")
    if client not in CLIENTS or not (kind and session and path):
        return False
    given = environ.get(SESSION_VARIABLE, "")
    wrapped = is_plain(given) and is_attended(repository.private_dir, given)
    if wrapped and not claim(repository, given, "hooks"):
        return True
    name = given if wrapped else session_name(client, session, repository.name)
    place = _place(repository, name, f"{client} {session} ")
    if place is None or not _nothing_said(path, place, _awaited(payload) if kind == "before" else b""):
        return False
    return kind == "before" or _nothing_changed(repository, name, auto)


def _text(payload: Mapping[str, Any], key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _awaited(payload: Mapping[str, Any]) -> bytes:
    """The call that must be in the session file by now."""
    if payload.get("agent_id"):
        return b""
    return (_text(payload, "tool_call_id") or _text(payload, "tool_use_id")).encode("utf-8", "replace")


def _place(repository: Repository, name: str, head: str) -> int | None:
    """How far the session file had been read at the newest event that tells it."""
    output = repository.git.run(
        "log", "-n1", "--first-parent", "-E", '--grep=^heard: "', "--no-notes", "--no-show-signature", "--format=%B",
        f"--glob={REFS}{name}/heads/*",
    )  # fmt: skip
    for line in output.decode("utf-8", "replace").split("\n"):
        if line.startswith(f'heard: "{head}'):
            digits = line[len(f'heard: "{head}') : -1]
            return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None
    return None


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


def _nothing_changed(repository: Repository, name: str, auto: str) -> bool:
    from gitckpt.repo.trees import changes
    from gitckpt.repo.worktree import WorkTree
    from gitckpt.trajectory.session import line_number

    tree = WorkTree(repository)
    if (auto or tree.settings.auto or "tool") != "tool":
        return True
    with tree.lock:
        lines = tree.journal.lines(name).get(name, {})
        taken = tree.snapshotter.take()
    try:
        return bool(lines) and not changes(tree.raw, lines[max(lines, key=line_number)], taken.tree)
    except GitckptError:
        return False
    finally:
        tree.close()
