"""Format findings: for people, for programs, as GitHub annotations, as SARIF.

Messages and file names contain agent text; none of it reaches a terminal or a log as a control character.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import quote

from gitckpt import __version__
from gitckpt.protocol.rules import RULES, Finding, Rule

_HOME: Final = "https://github.com/gitckpt/gitckpt"
_JOINERS: Final = "\u200c\u200d"


def visible(text: str) -> str:
    """Escape control characters, line ends, invisible and reordering characters."""
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _JOINERS:
        return character.encode("unicode_escape").decode("ascii")
    return character


def as_text(findings: Iterable[Finding]) -> str:
    """Return one line per finding: `file:line:col: CODE message`."""
    return "".join(
        f"{visible(found.file)}:{found.line}:{found.column}: {found.code} {visible(found.message)}\n"
        for found in findings
    )


def as_json(findings: Iterable[Finding]) -> str:
    """Return a JSON object: `{"schema": "gitckpt.findings/1", "findings": [{file, line, column, code, level,
    message}…]}`.
    """
    rows = [
        {
            "file": visible(found.file),
            "line": found.line,
            "column": found.column,
            "code": found.code,
            "level": found.level,
            "message": visible(found.message),
        }
        for found in findings
    ]
    return _dumped({"schema": "gitckpt.findings/1", "findings": rows})


def as_github(findings: Iterable[Finding]) -> str:
    """Return workflow commands, which GitHub shows next to the lines of a change."""
    return "".join(_annotation(found) for found in findings)


def _annotation(found: Finding) -> str:
    place = f"file={_property(found.file)},line={found.line},col={found.column},title={_property(found.code)}"
    return f"::{found.level} {place}::{_escaped(found.message)}\n"


def _escaped(text: str) -> str:
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def as_sarif(findings: Iterable[Finding]) -> str:
    """Return a SARIF 2.1.0 log with the rules and their levels."""
    driver = {
        "name": "gitckpt",
        "version": __version__,
        "informationUri": _HOME,
        "rules": [_rule(row) for row in RULES],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(found) for found in findings],
    }
    return _dumped({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]})


def _rule(row: Rule) -> dict[str, Any]:
    return {
        "id": row.code,
        "shortDescription": {"text": row.title},
        "helpUri": f"{_HOME}/blob/main/docs/protocol.md#{row.code.lower()}",
        "defaultConfiguration": {"level": row.level},
    }


def _result(found: Finding) -> dict[str, Any]:
    return {
        "ruleId": found.code,
        "ruleIndex": [row.code for row in RULES].index(found.code),
        "level": found.level,
        "message": {"text": visible(found.message)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(found.file, errors="replace")},
                    "region": {"startLine": found.line, "startColumn": found.column},
                }
            }
        ],
    }


def _dumped(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


#: Formatters by the name that `gitckpt validate --format` takes.
FORMATS: Final[dict[str, Callable[[Iterable[Finding]], str]]] = {
    "text": as_text,
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
}
