"""Events, logs and errors as JSON documents in which all keys are always present; see `gitckpt.views.schemas`."""

from __future__ import annotations

import json
import re

from gitckpt.views.claims import claims_json
from gitckpt.views.paths import changes_json
from gitckpt.views.runs import runs_json
from gitckpt.views.text import HARMFUL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gitckpt.errors import GitckptError
    from gitckpt.trajectory.bisection import Run
    from gitckpt.trajectory.claims import Claims
    from gitckpt.trajectory.events import Event
    from gitckpt.views.attempts import AttemptRow
    from gitckpt.views.paths import Change

_HARMFUL = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in HARMFUL) + "]")


def event_json(
    event: Event,
    *,
    parent: Event | None = None,
    files: Sequence[Change] = (),
    claims: Claims | None = None,
    runs: Sequence[Run] = (),
) -> dict[str, Any]:
    """Return one event: `parent` is the previous event on its line, `files` what it changed since then, `claims` how
    its text compares with that, or None if that was not checked, `runs` the results of commands run on its files.

    Raises Damaged if the event's document cannot be read.
    """
    missing = event.missing
    return {
        "kind": event.kind,
        "id": event.id,
        "written": event.written or None,
        "ref": event.ref,
        "session": event.session,
        "line": event.line,
        "seq": event.seq,
        "commit": event.commit,
        "parent": parent.commit if parent else None,
        "parent_id": parent.id if parent else None,
        "at": event.at,
        "head": event.git.get("head"),
        "branch": event.git.get("branch"),
        "fields": event.fields,
        "unterminated": bool(event.document.get("unterminated")),
        "answers_to": event.answers_to,
        "opens": event.opens,
        "rollback": event.document.get("rollback"),
        "agent": event.document.get("agent"),
        "coverage": {
            "complete": not missing,
            "missing": [{"path": m["path"], "reason": m.get("reason", "")} for m in missing],
        },
        "files": changes_json(files),
        "claims": claims_json(claims),
        "tests": runs_json(runs),
    }


def log_document(
    events: Sequence[Mapping[str, Any]], session: str | None, attempts: Sequence[AttemptRow] = ()
) -> dict[str, Any]:
    """Return a log of events in the form of `event_json`, oldest first, and the attempts that began at them; `session`
    is None if the events are from all sessions."""
    return {"schema": "gitckpt.log/1", "session": session, "events": list(events), "attempts": list(attempts)}


def error_document(error: GitckptError) -> dict[str, Any]:
    """Return an error as printed under `--json`."""
    return {"schema": "gitckpt.error/1", "error": str(error), "hint": error.hint or None, "exit": error.exit_status}


def json_text(document: Mapping[str, Any]) -> str:
    """Return the document as one line of JSON with non-ASCII letters unescaped; characters unsafe for a terminal are
    written as `\\u009b`.
    """
    return _HARMFUL.sub(lambda match: json.dumps(match[0])[1:-1], json.dumps(document, ensure_ascii=False))
