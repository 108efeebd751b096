"""What an agent can call: each tool does what it says, and refuses what would lose or fake something."""

from __future__ import annotations

from typing import Any

import pytest
from project import Project

from gitckpt.errors import GitckptError, Refused, UsageError
from gitckpt.repo.reader import Reader
from gitckpt.toolbox.tools import TOOLS, call_tool


@pytest.fixture(autouse=True)
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)


def state(**changes: Any) -> dict[str, Any]:
    facts = [{"text": "moment is used", "source": "src/app.py:1"}]
    return {"goal": "migrate", "facts": facts, "done": ["looked"], "todo": ["edit", "test"], **changes}


def kinds() -> list[str]:
    session = Reader().current_session()
    return [event.kind for event in session.events] if session else []


def test_a_checkpoint_holds_state_and_files(project: Project) -> None:
    project.write("src/app.py", "edited\n")
    answer = call_tool("checkpoint", state(facts=[{"text": "a guess"}], open=["why?"]))
    assert answer.splitlines() == [
        "C1 is recorded, with the work tree as it is now.",
        "Without a source, and so moved to open: a guess",
    ]
    event = Reader().find("C1").event
    assert event.fields == {
        "goal": "migrate", "done": ["looked"], "todo": ["edit", "test"], "open": ["why?", "a guess"], "next": "edit",
    }  # fmt: skip
    assert project.git("show", f"{event.commit}:src/app.py") == "edited"


def test_a_state_over_the_limit_is_cut_and_says_so() -> None:
    answer = call_tool("checkpoint", state(done=["x" * 1500, "y" * 700]))
    assert "left out of the state, and still in git: done: " + "x" * 1500 in answer
    assert Reader().find("C1").event.fields["done"] == ["y" * 700]


def test_what_a_state_leaves_out_is_on_record_whole() -> None:
    call_tool("checkpoint", state(done=["x" * 1500, "y" * 700], facts=[{"text": "a guess"}]))
    document = Reader().find("C1").event.document
    assert (document["dropped"], document["moved_to_open"]) == (["done: " + "x" * 1500], ["a guess"])


def test_a_stale_fact_is_told_with_the_next_checkpoint_and_after_a_reset(project: Project) -> None:
    told = "look again and say it anew: moment is used (source: src/app.py:1): src/app.py has changed since C1"
    assert told not in call_tool("checkpoint", state())
    project.write("src/app.py", "import dayjs\n")
    assert told in call_tool("checkpoint", state(done=["looked", "edited"]))
    assert told in call_tool("reset", {})
    assert "src/app.py has changed since C1" in call_tool("context", {})
    anew = state(facts=[{"text": "dayjs is used", "source": "src/app.py:1"}], done=["looked", "edited", "again"])
    assert "Stale" not in call_tool("checkpoint", anew)


def test_no_progress_is_told_and_three_in_a_row_are_stuck() -> None:
    answers = [call_tool("checkpoint", state()) for _ in range(4)]
    assert ["No progress" in answer for answer in answers] == [False, True, True, True]
    assert ["stuck" in answer for answer in answers] == [False, False, False, True]
    assert "No progress" not in call_tool("checkpoint", state(todo=["test"]))


def test_reset_gives_the_state_and_no_more() -> None:
    call_tool("checkpoint", state(goal="old goal", done=[]))
    call_tool("checkpoint", state())
    answer = call_tool("reset", {})
    assert "===CHECKPOINT 2===" in answer
    assert "moment is used (source: src/app.py:1)" in answer
    assert "old goal" not in answer
    assert kinds() == ["start", "checkpoint", "checkpoint", "reset"]


def test_a_reset_that_would_lose_work_or_get_nowhere_is_refused() -> None:
    with pytest.raises(Refused, match="no checkpoint yet"):
        call_tool("reset", {})
    call_tool("checkpoint", state())
    call_tool("reset", {})
    with pytest.raises(Refused, match="no checkpoint since the last reset"):
        call_tool("reset", {})
    call_tool("checkpoint", state(facts=[]))
    with pytest.raises(Refused, match="nothing more is done"):
        call_tool("reset", {})
    call_tool("checkpoint", state(done=["looked", "edited"]))
    call_tool("reset", {})
    assert kinds() == ["start", "checkpoint", "reset", "checkpoint", "checkpoint", "reset"]


def test_a_checkpoint_by_hand_is_no_state_to_reset_to(project: Project) -> None:
    project.checkpoint("C1")
    with pytest.raises(Refused, match="no checkpoint yet"):
        call_tool("reset", {})


def test_a_rollback_is_planned_then_applied_by_its_hash(project: Project) -> None:
    call_tool("checkpoint", state())
    before = project.disk()
    project.write("src/app.py", "wrong\n")
    project.write("new", "wrong\n")
    plan = call_tool("rollback", {"to": "C1"})
    assert project.read("src/app.py") == b"wrong\n"
    hash = plan.rpartition("apply: ")[2]
    project.write("another", "since\n")
    with pytest.raises(Refused, match="nothing was changed: the plan is"):
        call_tool("rollback", {"to": "C1", "apply": hash})
    assert project.read("src/app.py") == b"wrong\n"
    hash = call_tool("rollback", {"to": "C1"}).rpartition("apply: ")[2]
    assert "3 paths, verified" in call_tool("rollback", {"to": "C1", "apply": hash})
    assert project.disk() == before


def test_a_retry_puts_the_files_back_and_forks(project: Project) -> None:
    call_tool("checkpoint", state())
    before = project.disk()
    project.write("src/app.py", "wrong\n")
    answer = call_tool("retry", {"from": "C1", "reason": "it broke", "strategy": "a plugin"})
    assert "as it was at C1, verified" in answer
    assert project.disk() == before
    assert kinds() == ["start", "checkpoint", "retry"]


def test_log_context_and_diff_answer_before_and_after_a_checkpoint(project: Project) -> None:
    assert call_tool("log", {}) == "Nothing is on record yet."
    assert call_tool("context", {}).startswith("Nothing is on record yet")
    call_tool("checkpoint", state())
    project.write("README.md", "new\n")
    assert "README.md" in call_tool("diff", {"stat": True})
    assert "+new" in call_tool("diff", {"before": "start"})
    assert call_tool("diff", {"before": "start", "after": "C1"}) == "No difference."
    project.write("README.md", "long line of text\n" * 5000)
    assert "characters more" in call_tool("diff", {})
    call_tool("summary", {"text": "One. Two. Three.", "covers": ["C1"]})
    assert "===SUMMARY S1 (covers C1)===" in call_tool("context", {})
    assert [line for line in call_tool("log", {"count": 1}).splitlines() if "C1" in line and "migrate" in line] == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("no-such-tool", {}),
        ("checkpoint", {}),
        ("checkpoint", None),
        ("checkpoint", "x"),
        ("checkpoint", {"goal": 1, "facts": "x", "done": {}, "todo": None}),
        ("checkpoint", {**state(), "extra": 1}),
        ("checkpoint", {**state(), "goal": ""}),
        ("rollback", {"to": "C9"}),
        ("rollback", {"to": "--help"}),
        ("rollback", {"to": "start", "paths": ["../outside"]}),
        ("rollback", {"to": "start", "paths": [".git/config"]}),
        ("retry", {"from": "C9", "reason": "r", "strategy": "s"}),
        ("diff", {"before": "C9"}),
    ],
)
def test_a_wrong_call_records_nothing_and_says_why(project: Project, name: str, arguments: object) -> None:
    call_tool("checkpoint", state())
    disk = project.disk()
    with pytest.raises(GitckptError) as error:
        call_tool(name, arguments)
    assert str(error.value)
    assert error.value.hint
    assert (kinds(), project.disk()) == (["start", "checkpoint"], disk)


def test_outside_of_a_repository(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in TOOLS:
        with pytest.raises((Refused, UsageError)):
            call_tool(name, {"to": "C1"} if name == "rollback" else state() if name == "checkpoint" else {"x": 1})
