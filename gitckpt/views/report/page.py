"""The page itself: one file of HTML that asks nothing of anybody.

Agents wrote most of what it shows. So their words are data and never markup: they stand in blocks of JSON, in which
neither a tag nor the end of one can stand, and the page's script puts them into the document as text alone. Should
that fail, the policy of the page lets nothing run, load or be sent but this very script and style, known by their
hashes.
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

#: How every report begins: by this one is told from any other file.
BEGINNING = '<!doctype html>\n<html lang="en">\n<meta name="generator" content="gitckpt">\n'

#: The parts of the page as files of the package, in the order in which their text is joined.
TEMPLATE = "page.html"
STYLES = ("style.css", "step.css", "print.css")
SCRIPTS = ("elements.js", "timeline.js", "diff.js", "step.js", "overview.js", "search.js", "keys.js")


def report_page(sessions: Sequence[Contents], template: str, style: str, script: str) -> str:
    """The page of these sessions, oldest first; `template`, `style` and `script` are the texts of its parts."""
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
    """The lines of each event's files, which the page reads when they are asked for; the event has their number."""
    number = 0
    for document in documents:
        for event in (event for row in document["rows"] for event in row["events"]):
            lines = [file.pop("lines") for file in event["files"]]
            event["diff"] = number if any(lines) else None
            if any(lines):
                yield lines
                number += 1


def _data(document: Any) -> str:
    """JSON inside a script element, which `</script` and `<!--` would end or confuse."""
    return json_text(document).replace("<", "\\u003c")


def _markup(text: str) -> str:
    return escape(text).replace("&", "&amp;").replace("<", "&lt;")


def _policy(style: str, script: str) -> str:
    """What the browser lets the page do."""
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
