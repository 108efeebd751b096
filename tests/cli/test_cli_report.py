"""`gitckpt report`: where the page goes, what is never written over, and that the work tree does not change."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from commandline import Place, checkpoint


def record_of(page: bytes) -> Any:
    [text] = re.findall(rb'<script type="application/json" id="record">(.*?)</script>', page, re.DOTALL)
    document = json.loads(text)
    assert document["schema"] == "gitckpt.report/1"
    return document


def names(page: bytes) -> list[list[str]]:
    """The events of each session."""
    sessions = record_of(page)["sessions"]
    return [[event["name"] for row in session["rows"] for event in row["events"]] for session in sessions]


def test_the_page_goes_where_it_changes_no_status(recorded: Place) -> None:
    before = recorded.bytes(), recorded.users(), recorded.git("for-each-ref"), recorded.git("count-objects")
    page = recorded.path / ".git" / "gitckpt" / "report.html"
    assert recorded.ok("report").out == f"{page}: open it in a browser\n"
    assert (recorded.bytes(), recorded.users(), recorded.git("for-each-ref"), recorded.git("count-objects")) == before
    assert names(page.read_bytes()) == [["start", "C1", "C2", "C3"]]
    assert recorded.ok("report").out == f"{page}: open it in a browser\n"


def test_the_task_stands_for_the_prompt_that_was_made_of_it(place: Place) -> None:
    place.ok("wrap", "--task", "greet in French", "--", "printf", "%s", "{prompt}", "now")
    place.ok("report")
    [session] = record_of((place.path / ".git" / "gitckpt" / "report.html").read_bytes())["sessions"]
    assert session["overview"]["agent"] == "printf %s {prompt} now, task: greet in French"
    told = "printf %s {prompt} now, task: greet in French"
    for command in (["log"], ["sessions"]):
        assert f" {told}\n" in place.ok(*command).out
    shown = place.ok("show", "start").out
    assert "command: printf %s {prompt} now\n" in shown and "task: greet in French\n" in shown
    assert "CHECKPOINT" not in shown and "CHECKPOINT" in place.ok("show", "start", "--json").out


def test_what_stands_in_its_place_in_the_git_directory_is_no_matter(recorded: Place, tmp_path: Path) -> None:
    page = recorded.path / ".git" / "gitckpt" / "report.html"
    os.mkfifo(page)
    recorded.ok("report")
    page.unlink()
    (tmp_path / "elsewhere").write_text("mine")
    page.symlink_to(tmp_path / "elsewhere")
    recorded.ok("report")
    assert (page.is_symlink(), (tmp_path / "elsewhere").read_text()) == (False, "mine")


def test_the_page_holds_what_each_step_changed(recorded: Place) -> None:
    page = recorded.ok("report", "-o", "-").raw
    [session] = record_of(page)["sessions"]
    [c2] = [event for row in session["rows"] for event in row["events"] if event["name"] == "C2"]
    assert [(file["status"], file["path"], file["added"], file["deleted"]) for file in c2["files"]] == [
        ("M", "a.txt", 1, 1), ("A", "new2.txt", 1, 0),
    ]  # fmt: skip
    [lines] = re.findall(rb'id="diff-%d">(.*?)</script>' % c2["diff"], page)
    assert json.loads(lines) == ["@@ -1 +1 @@\n-a at C1\n+a at C2", "@@ -0,0 +1 @@\n+new at C2"]
    assert [part["rows"] for part in c2["sections"] if part["title"] == "changed, not said"] == [["new2.txt"]]


def test_a_fact_whose_file_has_changed_since_is_told_as_such(recorded: Place) -> None:
    block = checkpoint("4", "step 4").replace(
        "===END===", "facts: [{text: it is one line, source: a.txt:1}]\n===END==="
    )
    recorded.ok("record", "--session", "run", stdin=block)

    def facts() -> list[Any]:
        about = record_of(recorded.ok("report", "-o", "-").raw)["sessions"][0]["overview"]
        return [
            (row["text"], row.get("now")) for part in about["state"] if part["title"] == "facts" for row in part["rows"]
        ]

    assert facts() == [("it is one line", None)]
    recorded.write("a.txt", "now\nit is two\n")
    assert facts() == [("it is one line", True)]


def test_one_session_or_all(recorded: Place) -> None:
    recorded.ok("record", "--session", "second", stdin=checkpoint("1", "step"))
    assert names(recorded.ok("report", "-o", "-").raw) == [["start", "C1"]]
    assert names(recorded.ok("report", "-o", "-", "--session", "run").raw) == [["start", "C1", "C2", "C3"]]
    assert names(recorded.ok("report", "-o", "-", "--all").raw) == [["start", "C1", "C2", "C3"], ["start", "C1"]]
    assert recorded.run("report", "--all", "--session", "run").status == 2
    assert recorded.run("report", "--session", "none").status == 3


def test_a_report_is_written_over_and_nothing_else(recorded: Place) -> None:
    recorded.ok("report", "-o", "page.html")
    first = (recorded.path / "page.html").read_bytes()
    (recorded.path / "page.html").chmod(0o644)
    recorded.ok("record", "--session", "run", stdin=checkpoint("4", "step 4"))
    recorded.ok("report", "-o", "page.html")
    assert (recorded.path / "page.html").read_bytes() != first
    answer = recorded.run("report", "-o", "a.txt")
    assert (answer.status, recorded.read("a.txt")) == (3, "a at C3\n")
    assert answer.err == (
        "gitckpt: 'a.txt' is there and is no report of gitckpt's; nothing was written\n"
        "gitckpt:   → gitckpt report -o FILE names another place\n"
    )


def test_a_page_that_was_closed_to_others_stays_so(recorded: Place) -> None:
    recorded.ok("report", "-o", "page.html")
    (recorded.path / "page.html").chmod(0o600)
    recorded.ok("report", "-o", "page.html")
    assert (recorded.path / "page.html").stat().st_mode & 0o777 == 0o600


def test_a_link_leads_to_the_file_and_a_device_takes_the_page(recorded: Place) -> None:
    target = recorded.path / "target.html"
    target.write_bytes(b"")
    (recorded.path / "link.html").symlink_to("target.html")
    recorded.ok("report", "-o", "link.html")
    assert names(target.read_bytes()) and (recorded.path / "link.html").is_symlink()
    recorded.ok("report", "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", ["none/page.html", "src"])
def test_where_it_cannot_be_written_nothing_is_left(recorded: Place, name: str) -> None:
    before = recorded.bytes()
    answer = recorded.run("report", "-o", name)
    assert (answer.status, answer.err.splitlines()[1]) == (4, "gitckpt:   → gitckpt report -o FILE names another place")
    assert recorded.bytes() == before


def test_nothing_on_record_and_refs_that_are_gone(recorded: Place, place: Place) -> None:
    assert place.run("report").status == 2
    recorded.ok("rollback", "C2", "--yes")
    recorded.ok("record", "--session", "run", stdin=checkpoint("4", "step 4"))
    recorded.git("update-ref", "-d", "refs/gitckpt/run/heads/main")
    answer = recorded.run("report", "-o", "-")
    assert (answer.status, "somebody deleted or moved a ref" in answer.err) == (5, True)
    assert names(answer.raw) == [["start", "C1", "C2", "C4"]]
    assert record_of(answer.raw)["sessions"][0]["overview"]["lost"] == 2
