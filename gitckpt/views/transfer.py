"""`gitckpt push` and `gitckpt fetch`: what is sent, what is received, and what is not."""

from __future__ import annotations

from gitckpt.views.text import count, escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def push_lines(document: Mapping[str, Any]) -> list[str]:
    """Return what `push --json` prints, as text for the user."""
    remote, sessions = escape(document["remote"]), document["sessions"]
    lines = [f"different at {remote}: {escape(clash)}" for clash in document["clashes"]]
    lines += [f"not meant for others: {_barred(row)}" for row in document["barred"]]
    lines += [
        f"{remote} has more of {escape(id)}; gitckpt fetch {remote} says how it stands" for id in document["behind"]
    ]
    if not sessions:
        return [*lines, f"nothing to send: {remote} has it all"]
    verb = "sent" if document["done"] else "would send"
    parts = (count(document["events"], "event"), count(document["lines"], "line"), count(document["tags"], "tag"))
    lines.append(f"{verb} to {remote}: {', '.join(map(escape, sessions))} ({', '.join(parts)})")
    if document["commits"]:
        lines.append(
            f"with them {_go(document)} {count(document['commits'], 'commit')} of yours that {remote} did not have"
        )
    return [*lines, *([escape(document["note"])] if document["note"] else [])]


def _barred(row: Mapping[str, Any]) -> str:
    what = f"the record of {row['checkpoint']}" if row["path"] is None else str(row["path"])
    return escape(f"{what}: {row['reason']} (since {row['checkpoint']})")


def _go(document: Mapping[str, Any]) -> str:
    return "went" if document["done"] else "would go"


def fetch_lines(document: Mapping[str, Any]) -> list[str]:
    """Return what `fetch --json` prints, as text for the user."""
    remote, rows = escape(document["remote"]), document["sessions"]
    verb = "fetched" if document["done"] else "would fetch"
    lines = [f"{verb} {_arrival(row)}" for row in rows if row["state"] in ("new", "more")]
    if not lines:
        lines = [f"nothing new at {remote}" if rows else f"{remote} has no sessions"]
    lines += [f"not taken: {escape(row['id'])}: {escape(row['reason'])}" for row in rows if row["state"] == "refused"]
    if document["strange"]:
        lines.append(f"left aside: {count(document['strange'], 'ref')} of a form that gitckpt does not make")
    return lines


def _arrival(row: Mapping[str, Any]) -> str:
    more = f", {count(row['events'], 'event')}" if row["events"] else ""
    return f"{escape(row['id'])} ({row['state']}, {count(row['lines'], 'line')}{more})"
