"""FIFOs where git, or gitckpt, looks for something to read: nobody waits for a writer who never comes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commandline import Place, checkpoint
from interruptions import unfinished
from sampling import others_slow

RULES = (
    ".gitignore",
    "src/.gitattributes",
    ".gitattributes",
    "src/.gitignore",
    ".git/info/exclude",
    ".git/info/attributes",
)


def block_way(path: Path) -> None:
    """Put a FIFO at the path, in place of what is there."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", others_slow(RULES, lambda name: name in RULES[:2]))
def test_rules_at_which_git_would_wait_are_refused_and_named(place: Place, name: str, first: bool) -> None:
    if not first:
        place.ok("save")
    block_way(place.path / name)
    place.write("a.txt", "new\n")
    answer = place.run("save")
    assert (answer.status, f"{name} is a FIFO" in answer.err, unfinished(place)) == (3, True, [])
    (place.path / name).unlink()
    place.ok("save", "-m", "again")
    assert place.ok("show", "last", "--path", "a.txt").out == "new\n"


def test_attributes_at_which_git_would_wait_are_refused_by_what_compares_checkpoints(place: Place) -> None:
    for number in (1, 2):
        place.write("src/b.txt", f"b at C{number}\n")
        place.ok("record", stdin=checkpoint(str(number)))
    block_way(place.path / "src" / ".gitattributes")
    for more in ((), ("--stat",)):
        assert place.run("diff", "C1", "C2", *more).status == 3
    assert place.ok("show", "C2", "--path", "src/b.txt").out == "b at C2\n"


@pytest.mark.parametrize("name", ["odd/.git", "src/pipe", ".gitmodules"])
def test_any_other_is_named_or_passed_over(place: Place, name: str) -> None:
    block_way(place.path / name)
    place.write("a.txt", "new\n")
    place.ok("save")
    assert place.ok("show", "last", "--path", "a.txt").out == "new\n"


def test_rules_that_are_a_device_outside_of_the_work_tree_are_nobodys_concern(place: Place) -> None:
    place.git("config", "core.excludesFile", "/dev/null")
    place.ok("save")


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_a_session_file_that_is_none_keeps_no_client_waiting(place: Place, event: str) -> None:
    file = place.path.parent / "session.jsonl"
    payload = {"session_id": "s", "transcript_path": str(file), "cwd": str(place.path), "hook_event_name": event}
    payload |= {"tool_name": "Write", "tool_use_id": "call_1", "tool_input": {}}
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": checkpoint("1")}]}}
    file.write_text(json.dumps(said) + "\n")
    place.ok("hook", "claude-code", stdin=json.dumps(payload))
    assert "C1" in place.ids()
    block_way(file)
    assert place.ok("hook", "claude-code", stdin=json.dumps(payload)).err == ""


def test_a_clients_configuration_that_is_no_file_is_refused(place: Place) -> None:
    block_way(place.path / ".mcp.json")
    answer = place.run("init", "--agent", "claude-code")
    assert (answer.status, ".mcp.json is not a file" in answer.err) == (3, True)
