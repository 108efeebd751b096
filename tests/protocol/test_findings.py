"""Findings as text, JSON, GitHub annotations and SARIF, compared whole."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from gitckpt import __version__
from gitckpt.protocol.findings import FORMATS, as_github, as_json, as_sarif, as_text, visible
from gitckpt.protocol.rules import RULES, Finding

PLAIN = Finding("run.md", 3, 1, "P001", "error", "CHECKPOINT C7 has no `next`; write `next: […]`")
ODD = Finding("a:b,c 100%\n.md", 12, 5, "P013", "warning", "skips `\x1b[2J\u202e`: 5%\r\nC8")


def test_text_has_a_line_for_each() -> None:
    assert as_text([PLAIN, ODD]) == (
        "run.md:3:1: P001 CHECKPOINT C7 has no `next`; write `next: […]`\n"
        "a:b,c 100%\\n.md:12:5: P013 skips `\\x1b[2J\\u202e`: 5%\\r\\nC8\n"
    )


def test_github_escapes_what_would_end_a_property_or_the_command() -> None:
    assert as_github([PLAIN, ODD]) == (
        "::error file=run.md,line=3,col=1,title=P001::CHECKPOINT C7 has no `next`; write `next: […]`\n"
        "::warning file=a%3Ab%2Cc 100%25\\n.md,line=12,col=5,title=P013::skips `\\x1b[2J\\u202e`: 5%25\\r\\nC8\n"
    )


def test_json_is_one_object() -> None:
    assert json.loads(as_json([PLAIN])) == {
        "schema": "gitckpt.findings/1",
        "findings": [
            {
                "file": "run.md",
                "line": 3,
                "column": 1,
                "code": "P001",
                "level": "error",
                "message": "CHECKPOINT C7 has no `next`; write `next: […]`",
            }
        ],
    }


def test_sarif_names_the_rules_and_points_at_the_place() -> None:
    log = json.loads(as_sarif([ODD]))
    run = log["runs"][0]
    assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    assert (run["tool"]["driver"]["name"], run["tool"]["driver"]["version"]) == ("gitckpt", __version__)
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [f"P{number:03}" for number in range(1, 19)]
    assert run["tool"]["driver"]["rules"][8] == {
        "id": "P009",
        "shortDescription": {"text": "a SUMMARY is not three sentences"},
        "helpUri": "https://github.com/gitckpt/gitckpt/blob/main/docs/protocol.md#p009",
        "defaultConfiguration": {"level": "warning"},
    }
    assert run["results"] == [
        {
            "ruleId": "P013",
            "ruleIndex": 12,
            "level": "warning",
            "message": {"text": "skips `\\x1b[2J\\u202e`: 5%\\r\\nC8"},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": "a%3Ab%2Cc%20100%25%0A.md"},
                        "region": {"startLine": 12, "startColumn": 5},
                    }
                }
            ],
        }
    ]


def test_nothing_found_is_nothing_or_an_empty_list() -> None:
    assert (as_text([]), as_github([])) == ("", "")
    assert json.loads(as_json([])) == {"schema": "gitckpt.findings/1", "findings": []}
    assert json.loads(as_sarif([]))["runs"][0]["results"] == []


@given(st.text(), st.text(), st.sampled_from(RULES), st.sampled_from(sorted(FORMATS)))
def test_no_format_lets_a_control_character_through(file: str, message: str, rule: object, form: str) -> None:
    written = FORMATS[form]([Finding(file, 1, 1, getattr(rule, "code"), getattr(rule, "level"), message)])  # noqa: B009
    written.encode()
    assert visible(written.replace("\n", "")) == written.replace("\n", "")
    assert written.count("\n") == (1 if form in ("text", "github") else written.count("\n"))
