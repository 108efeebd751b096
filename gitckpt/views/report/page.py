"""The page itself: one HTML file that loads nothing else.

Agents wrote most of its contents, so these are treated as data and never as markup: they are stored in JSON blocks,
which cannot contain a tag or the end of one, and the page's script inserts them into the document only as text. Should
that fail, the page's content security policy allows nothing to run, load or be sent except this script and style,
identified by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
from string import Template

from gitckpt.views.event_json import json_text
from gitckpt.views.report.session import session_document
from gitckpt.views.text import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from gitckpt.views.report.contents import Contents

#: How every report begins, which distinguishes it from any other file.
BEGINNING = '<!doctype html>\n<html lang="en">\n<meta name="generator" content="gitckpt">\n'

#: The parts of the page as package files, in the order in which their text is joined.
TEMPLATE = "page.html"
STYLES = ("style.css", "step.css", "print.css")
SCRIPTS = ("elements.js", "timeline.js", "diff.js", "step.js", "overview.js", "search.js", "keys.js")


def report_page(sessions: Sequence[Contents], template: str, style: str, script: str) -> str:
    """Return the page of these sessions, oldest first; `template`, `style` and `script` are the texts of its parts."""
    documents = [session_document(contents) for contents in sessions]
    diffs = list(_taken_apart(documents))
    title = " ".join(document["session"] for document in documents[-1:]) + " · gitckpt"
    return BEGINNING + Template(template).substitute(
        title=_markup(title),
        policy=_policy(style, script),
        style=style,
        script=script,
        record=_data({"schema": "gitckpt.report/1", "sessions": documents}),
        diffs="\n".join(
            f'<script type="application/json" id="diff-{n}">{_data(d)}</script>' for n, d in enumerate(diffs)
        ),
    )


def _taken_apart(documents: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    """Remove and yield the lines of each event's files, which the page reads on demand; the event keeps their
    number.
    """
    number = 0
    for document in documents:
        for event in (event for row in document["rows"] for event in row["events"]):
            lines = [file.pop("lines") for file in event["files"]]
            event["diff"] = number if any(lines) else None
            if any(lines):
                yield lines
                number += 1


def _data(document: Any) -> str:
    """Return JSON for a script element, in which `</script` and `<!--` must not occur."""
    return json_text(document).replace("<", "\\u003c")


def _markup(text: str) -> str:
    return escape(text).replace("&", "&amp;").replace("<", "&lt;")


def _policy(style: str, script: str) -> str:
    """Return the content security policy of the page."""
    return "; ".join((
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        f"script-src '{_hash(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ))  # fmt: skip


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
