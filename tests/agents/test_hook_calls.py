"""Hooks of clients as processes: each block once, with the files as they were before the next tool ran; and whatever goes
wrong, the agent goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from captured import NINE
from commandline import HANG, Answer, Place, checkpoint
from hooked import CLIENTS, Client
from shim import install
from stored import TEXTS

from gitckpt.protocol.reader import read_text

#: Blocks by the turn in which they are said.
BLOCKS = [[block.id or block.kind for block in read_text(text)[0]] for text in TEXTS]


def names(events: list[dict[str, Any]]) -> list[str]:
    return [e["id"] if e["kind"] == "checkpoint" else e["id"] or e["kind"] for e in events]


def blocks(client: Client) -> list[str]:
    found = [e for e in client.log if e["kind"] in ("checkpoint", "retry", "summary", "final")]
    return ["retry" if e["kind"] == "retry" else "final" if e["kind"] == "final" else e["id"] for e in found]


@pytest.fixture
def claude(place: Place) -> Client:
    return Client("claude-code", place)


@pytest.mark.parametrize("name", CLIENTS)
def test_every_block_is_recorded_once_with_the_files_before_the_next_tool(name: str, place: Place) -> None:
    client = Client(name, place)
    if client.has("opened"):
        client.hook("opened")
    for number in range(8):
        client.work(number)
    client.write_turn(8)
    for kind in ("turn", "closed"):
        if client.has(kind):
            client.hook(kind)
    assert blocks(client) == NINE
    assert client.faults == []
    for event in client.log:
        turn = next((n for n, said in enumerate(BLOCKS) if event["id"] in said), None)
        if turn is not None:
            assert client.content(event) == f"tool {turn - 1}", event
            assert client.is_late(event) == (name == "copilot")


def test_a_client_that_writes_its_words_behind_its_hooks_loses_none_and_they_are_marked(place: Place) -> None:
    client = Client("copilot", place)
    for number in range(8):
        client.hook("before", number)
        place.write("a.txt", f"tool {number}\n")
        client.hook("after", number)
        if number > 1:
            client.write_turn(number - 2)
    for number in (6, 7, 8):
        client.write_turn(number)
    client.hook("turn")
    client.hook("closed")
    assert blocks(client) == NINE
    assert all(client.is_late(event) for event in client.log if event["id"] in NINE)
    assert client.faults == []


class Behind:
    """Copilot, which writes down what it said a moment after it has called a hook, and notes the call there."""

    def __init__(self, place: Place) -> None:
        self.client = Client("copilot", place)
        self.client.note("opened")

    def call(self, kind: str, said: int | None, *numbers: int) -> Answer:
        """What the hook answers; by the time that it is called, nothing is written."""

        def write() -> None:
            if said is not None:
                self.client.write_turn(said)
            self.client.note(kind, *numbers)

        writer = threading.Timer(0.5, write)
        writer.start()
        answer = self.client.hook(kind, *numbers[:1])
        writer.join()
        return answer

    def work(self, number: int) -> None:
        self.call("before", number, number)
        self.client.place.write("a.txt", f"tool {number}\n")
        self.client.hook("after", number)
        self.client.finish_turn(number)


@pytest.fixture
def behind(place: Place) -> Behind:
    return Behind(place)


def test_what_a_client_writes_behind_its_hooks_is_waited_for_where_it_notes_them(behind: Behind) -> None:
    client = behind.client
    client.file.unlink()  # it is made with the first words
    client.hook("opened")
    for number in range(8):
        behind.work(number)
    behind.call("turn", 8)
    behind.call("closed", None)
    assert blocks(client) == NINE and client.faults == []
    for event in client.log:
        turn = next((n for n, said in enumerate(BLOCKS) if event["id"] in said), None)
        if turn is not None:
            assert client.content(event) == f"tool {turn - 1}" and not client.is_late(event), event


def test_the_last_words_of_a_turn_that_are_written_behind_it_are_no_block_that_is_owed(behind: Behind) -> None:
    behind.work(0)
    assert behind.call("turn", 1).out == ""
    assert blocks(behind.client) == ["C1"]
    assert behind.client.faults == []


def test_where_the_last_words_do_not_come_no_block_is_asked_for(behind: Behind) -> None:
    behind.work(0)
    assert behind.client.hook("turn").out == ""
    [fault] = behind.client.faults
    assert "copilot had not written down all that it said in time" in fault


def test_a_block_in_the_last_words_of_a_session_is_recorded(behind: Behind) -> None:
    behind.work(0)
    behind.call("closed", 1)
    assert blocks(behind.client) == ["C1"]
    assert behind.client.log[-1]["kind"] == "end" and behind.client.faults == []


def test_tools_that_run_side_by_side_are_waited_for_once(behind: Behind) -> None:
    behind.work(0)
    behind.call("before", 1, 1, 2)
    behind.client.hook("before", 2)
    assert blocks(behind.client) == ["C1"] and behind.client.faults == []


def test_the_same_call_once_more_is_another(behind: Behind) -> None:
    """Its arguments are all that tells a call from another where the hook is given no id."""
    client = behind.client
    behind.work(0)
    same = {"toolName": "bash", "toolArgs": {"command": "make"}}
    client.calls = [(event, payload | same if "toolArgs" in payload else payload) for event, payload in client.calls]
    for number in (1, 2, 3):
        behind.work(number)
    assert blocks(client) == ["C1", "C2"]
    assert not any(client.is_late(event) for event in client.log)
    assert client.faults == []


def test_a_client_that_has_written_nothing_when_its_turn_ends_is_told_of(place: Place) -> None:
    client = Client("copilot", place)
    client.hook("before")
    client.hook("after")
    assert client.faults == []
    client.hook("turn")
    assert len(client.faults) == 1 and "could not be read: the session file" in client.faults[0]


def test_the_words_of_a_client_that_lags_are_waited_for(claude: Client) -> None:
    claude.work(0)
    writer = threading.Timer(0.25, claude.write_turn, [1])
    writer.start()
    claude.hook("before", 1)
    writer.join()
    [event] = [e for e in claude.log if e["id"] == "C1"]
    assert claude.content(event) == "tool 0" and not claude.is_late(event)
    assert claude.faults == []


def test_words_that_do_not_come_are_waited_for_a_second_and_read_later(claude: Client) -> None:
    claude.work(0)
    claude.hook("before", 1)
    assert "had not written down call" in claude.faults[0]
    claude.place.write("a.txt", "tool 1\n")
    claude.write_turn(1)
    claude.hook("after", 1)
    [event] = [e for e in claude.log if e["id"] == "C1"]
    assert claude.is_late(event)


def test_no_call_of_a_subagent_is_waited_for_and_its_words_are_nobodys(claude: Client) -> None:
    claude.work(0)
    claude.hook("before", 1, agent_id="sub", tool_use_id="toolu_of_the_subagent")
    claude.place.write("a.txt", "by the subagent\n")
    claude.hook("turn", agent_id="sub", last_assistant_message=checkpoint("77"))
    assert blocks(claude) == [] and claude.faults == []
    assert claude.content(claude.log[-1]) == "by the subagent"


def test_what_is_said_again_is_recorded_once(claude: Client) -> None:
    for number in range(3):
        claude.work(number)
    before = claude.log
    for kind in ("before", "after", "before"):
        claude.hook(kind, 2)
    assert claude.log == before


def test_a_session_file_that_was_compacted_is_read_anew_and_nothing_of_it_recorded_twice(claude: Client) -> None:
    for number in range(3):
        claude.work(number)
    claude.file.write_bytes(b"".join(claude.lines(0)))
    claude.write_turn(3)
    with claude.file.open("ab") as file:
        file.write(b'{"type": "summary", "of": "%s"}\n' % (b"x" * 99_000))
    claude.hook("before", 3)
    assert blocks(claude) == [id for ids in BLOCKS[:4] for id in ids] == ["C1", "C2"]
    assert claude.content(claude.log[-1]) == "tool 2" and claude.faults == []


def test_hooks_that_run_at_once_record_each_block_once_in_one_session(claude: Client) -> None:
    claude.write_turn(0)
    claude.write_turn(1)
    payload = json.dumps(claude.payload("before", 1)).encode()
    command = [sys.executable, "-m", "gitckpt", "hook", "claude-code"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = [
        subprocess.Popen(command, cwd=claude.place.path, env=claude.place.env, **pipes) for _ in range(4)
    ]  # fmt: skip
    assert [process.communicate(payload, timeout=HANG) for process in running] == [(b"", b"")] * 4
    assert [e["kind"] for e in claude.log] == ["start", "checkpoint"]


def test_two_client_sessions_have_a_session_each_and_work_trees_have_their_own(claude: Client, tmp_path: Path) -> None:
    claude.work(0)
    other = tmp_path / "other"
    claude.place.git("worktree", "add", "-q", "--detach", str(other))
    claude.hook("before", 0, cwd=str(other), tool_use_id="")
    claude.hook("before", 0, session_id="another", tool_use_id="")
    sessions = [s["id"] for s in claude.place.json("sessions", "--all")["sessions"]]
    assert len(sessions) == 3 and f"claude-code-{claude.session}" in sessions and "claude-code-another" in sessions
    assert claude.faults == []


# -- what changed


def test_a_tool_that_changes_files_leaves_an_auto_checkpoint_that_names_it_and_them(claude: Client) -> None:
    claude.write_turn(0)
    claude.hook("before", 0)
    claude.hook("after", 0)
    assert [e["kind"] for e in claude.log] == ["start"]
    claude.place.write("b.txt", "new\n")
    claude.hook("after", 0, tool_name="Write")
    [start, auto] = claude.log
    assert (start["kind"], auto["kind"], claude.subject(auto)) == ("start", "auto", "auto: after Write b.txt")
    text = claude.place.ok("show", auto["commit"][:12], "--yaml").out
    assert "tool: Write" in text and "- b.txt" in text


@pytest.mark.parametrize(("auto", "kinds"), [("tool", ["start", "auto"]), ("turn", ["start"]), ("off", ["start"])])
def test_auto_is_as_configured(claude: Client, auto: str, kinds: list[str]) -> None:
    claude.place.write(".gitckpt.yaml", f"auto: {auto}\n")
    claude.work(0)
    assert [e["kind"] for e in claude.log] == kinds
    claude.hook("turn", last_assistant_message="done")
    assert [e["kind"] for e in claude.log] == (["start"] if auto == "off" else ["start", "auto"])


def test_a_session_without_tools_leaves_nothing(claude: Client) -> None:
    claude.hook("opened")
    claude.hook("turn", last_assistant_message="Hello!")
    claude.hook("closed")
    assert claude.place.git("for-each-ref", "refs/gitckpt") == ""


def test_the_end_is_recorded_once_with_its_reason(claude: Client) -> None:
    claude.work(0)
    claude.hook("closed", reason="prompt_input_exit")
    claude.hook("closed")
    assert [claude.subject(e) for e in claude.log if e["kind"] == "end"] == ["end: prompt_input_exit"]


# -- what the agent is told


def said(answer: str) -> Any:
    return json.loads(answer) if answer else {}


def test_an_agent_that_stops_and_owes_a_block_is_told_once(claude: Client) -> None:
    claude.work(0)
    first = said(claude.hook("turn", last_assistant_message="All done.").out)
    assert first["decision"] == "block" and "CHECKPOINT" in first["reason"]
    assert claude.hook("turn", last_assistant_message="All done.", stop_hook_active=True).out == ""
    claude.hook("turn", last_assistant_message=checkpoint("1"), stop_hook_active=True)
    assert blocks(claude) == ["C1"]
    assert claude.hook("turn", last_assistant_message="Anything else?").out == ""


def test_an_agent_that_said_what_it_did_or_did_nothing_may_stop(claude: Client) -> None:
    claude.write_turn(0)
    claude.hook("before", 0)
    claude.hook("after", 0)
    claude.place.write("a.txt", "by the user, between the turns\n")
    assert claude.hook("turn", last_assistant_message="I looked.", stop_hook_active=True).out == ""
    claude.write_turn(1)
    claude.hook("before", 1)
    claude.place.write("a.txt", "by a tool\n")
    claude.hook("after", 1)
    assert claude.hook("turn", last_assistant_message=checkpoint("7")).out == ""


def test_what_tells_the_agent_to_go_on_reads_as_no_block(claude: Client) -> None:
    claude.work(0)
    for lang in ("zh", "en"):
        data = json.dumps(claude.payload("turn") | {"last_assistant_message": "Done."}).encode()
        reason = said(claude.place.ok("hook", "claude-code", "--lang", lang, stdin=data).out)["reason"]
        assert read_text(reason) == ([], []) and ("检查点" in reason) == (lang == "zh")


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "qwen", "copilot"])
def test_a_session_begins_with_the_protocol_in_the_clients_own_form(name: str, place: Place) -> None:
    client = Client(name, place)
    answer = said(client.hook("opened").out)
    told = answer["additionalContext"] if name == "copilot" else answer["hookSpecificOutput"]["additionalContext"]
    assert set(answer) == {"additionalContext" if name == "copilot" else "hookSpecificOutput"}
    assert "CHECKPOINT" in told and "{{task}}" not in told and "{{prior_context}}" not in told
    assert read_text(told) == ([], [])


def test_after_compaction_or_a_crash_the_agent_is_told_what_it_did_and_after_an_end_not(claude: Client) -> None:
    def told(source: str) -> str:
        text: str = said(claude.hook("opened", source=source).out)["hookSpecificOutput"]["additionalContext"]
        return text

    for number in range(3):
        claude.work(number)
    assert all("扫描项目" in told(source) for source in ("compact", "clear", "resume", "startup"))
    claude.hook("closed")
    assert "扫描项目" not in told("startup") and "扫描项目" in told("resume")


# -- what goes wrong


def test_outside_of_a_repository_nothing_is_said_and_made(claude: Client, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    data = json.dumps(claude.payload("before") | {"cwd": str(elsewhere)}).encode()
    answer = claude.place.run("hook", "claude-code", stdin=data, cwd=elsewhere)
    assert answer == (0, b"", "") and list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"null", b'{"session_id": 7}', b"[" * 100_000, b"\xff\xfe"])
def test_a_payload_that_nobody_understands_is_no_fault_of_the_agents(claude: Client, data: bytes) -> None:
    assert claude.tell(data).out == ""
    assert claude.place.git("for-each-ref", "refs/gitckpt") == ""


def test_a_block_that_cannot_be_recorded_is_logged_told_by_doctor_and_recorded_the_next_time(claude: Client) -> None:
    claude.work(0)
    claude.write_turn(1)
    broken = claude.place.before_git('case "$*" in *update-ref*) exit 1;; esac')
    payload = json.dumps(claude.payload("before", 1)).encode()
    answer = claude.place.run("hook", "claude-code", stdin=payload, env=broken)
    assert answer == (0, b"", "")
    assert "NOT recorded" in claude.faults[-1]
    assert "NOT recorded" in claude.place.run("doctor").out
    claude.hook("before", 1)
    assert blocks(claude) == ["C1"]


def test_bad_settings_stop_no_agent(claude: Client) -> None:
    claude.place.write(".gitckpt.yaml", "max_file_size: many\n")
    claude.work(0)
    assert ".gitckpt.yaml:1" in claude.faults[-1]


def test_the_log_of_faults_does_not_grow_without_end(claude: Client) -> None:
    claude.work(0)
    log = claude.place.path / ".git/gitckpt/hooks.log"
    log.write_bytes(b"2026-01-01T00:00:00Z old\n" * 4000)
    claude.place.write(".gitckpt.yaml", "auto: always\n")
    claude.place.write("a.txt", "more\n")
    claude.hook("after", 0)
    assert log.stat().st_size < 40_000
    assert "auto" in claude.faults[-1]


def test_a_person_who_calls_it_is_told_what_it_is_for(place: Place) -> None:
    answer = place.typed("hook", "claude-code")
    assert answer.status == 2 and "gitckpt init --agent claude-code" in answer.out
    assert "claude-code" in place.run("hook", "nobody").err


def test_calls_of_one_message_are_not_waited_for_once_its_block_is_recorded(claude: Client) -> None:
    claude.work(0)
    claude.write_turn(1)
    second = dict(claude.payload("before", 1), tool_use_id="toolu_beside")
    line = claude.lines(1)[2].replace(claude.call_id(1).encode(), b"toolu_beside")
    with claude.file.open("ab") as file:
        file.write(line)
    claude.hook("before", 1)
    started = len(claude.log)
    claude.tell(second)
    assert claude.faults == [] and len(claude.log) == started


@pytest.mark.parametrize("name", ["opencode", "pi"])
def test_a_plugin_brings_the_words_itself(name: str, place: Place) -> None:
    def tell(event: str, number: int, *said: str) -> None:
        payload = {
            "hook_event_name": event, "session_id": "ses_1", "cwd": str(place.path), "tool_name": "bash",
            "tool_use_id": f"call_{number}", "said": [{"message": f"m{number}", "text": text} for text in said],
        }  # fmt: skip
        assert place.run("hook", name, stdin=json.dumps(payload).encode()) == (0, b"", "")

    for number in range(8):
        tell("PreToolUse", number, TEXTS[number])
        place.write("a.txt", f"tool {number}\n")
        tell("PostToolUse", number)
    tell("Stop", 8, TEXTS[8])
    tell("Stop", 8, TEXTS[8])
    found = {e["id"] or e["kind"]: e for e in place.json("log", "--all")["events"]}
    assert set(found) >= {*NINE} - {"retry"}
    for turn, ids in enumerate(BLOCKS):
        for id in set(ids) & set(found):
            assert place.git("show", f"{found[id]['commit']}:a.txt") == f"tool {turn - 1}"
    assert len([e for e in place.json("log", "--all")["events"] if e["kind"] == "checkpoint"]) == 6


def test_a_session_file_is_looked_for_where_the_client_was_told_to_keep_it(place: Place, tmp_path: Path) -> None:
    """Cline does not say where that is."""
    client = Client("cline", place)
    client.work(0)
    client.write_turn(1)
    moved = tmp_path / "elsewhere" / client.file.parent.name / client.file.name
    moved.parent.mkdir(parents=True)
    client.file.rename(moved)
    place.env["CLINE_SESSION_DATA_DIR"] = str(tmp_path / "elsewhere")
    client.hook("before", 1)
    assert blocks(client) == ["C1"] and client.faults == []


# -- what it costs


@pytest.mark.parametrize(("kind", "edit"), [("before", ""), ("after", ""), ("after", "by the tool\n")])
def test_a_call_at_which_nothing_was_said_imports_nothing_dear(
    claude: Client, tmp_path: Path, kind: str, edit: str
) -> None:
    """Each of these costs more than most of such a call."""
    claude.write_turn(0)
    claude.hook("before", 0)
    if edit:
        claude.place.write("a.txt", edit)
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os, sys\n"
        f"dear = '{'' if edit else 'hashlib '}yaml typing dataclasses inspect datetime typer'.split()\n"
        "dear += ['gitckpt.protocol.ids', 'gitckpt.agents.hook']\n"
        "atexit.register(lambda: os.write(2, repr([name for name in dear if name in sys.modules]).encode()))\n"
    )
    payload = json.dumps(claude.payload(kind, 0)).encode()
    done = subprocess.run(
        [sys.executable, "-m", "gitckpt", "hook", "claude-code"], cwd=claude.place.path, input=payload,
        env=claude.place.env | {"PYTHONPATH": str(tmp_path)}, capture_output=True, timeout=HANG,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"[]")
    assert [event["kind"] for event in claude.log] == ["start", *(["auto"] if edit else [])]
    assert not edit or claude.content(claude.log[-1]) == edit.strip()
    assert claude.faults == []


def calls_after_a_tool(client: Client, directory: Path) -> list[str]:
    """The names of the git commands that are run when a tool has ended."""
    told = directory / "calls"
    with pytest.MonkeyPatch.context() as patch:
        install(directory / "bin", patch, f'echo "$*" >> {told}\nexec "$GIT" "$@"')
        client.place.env["PATH"], before = os.environ["PATH"], client.place.env["PATH"]
        client.hook("after", 0)
        client.place.env["PATH"] = before
    (directory / "bin").rename(directory / f"bin{time.monotonic_ns()}")
    lines = told.read_text().splitlines()
    told.unlink()
    return [line.split("protocol.allow=never ")[1].split()[0] for line in lines]


def test_a_call_at_which_nothing_has_changed_asks_git_what_it_must(claude: Client, tmp_path: Path) -> None:
    """Which repository this is, the settings, the last event, and which files have changed."""
    for name in claude.place.git("ls-files").split():
        os.utime(claude.place.path / name)  # a time that was put back is a reason to read a file again
    claude.write_turn(0)
    claude.hook("before", 0)
    for path in (claude.place.path / ".git/refs/heads").iterdir():
        os.utime(path, (1, 1))  # not written a moment ago
    claude.hook("after", 0)
    assert calls_after_a_tool(claude, tmp_path) == ["rev-parse", "config", "for-each-ref", "diff-files"]
    claude.place.write("a.txt", "by the tool\n")
    assert "write-tree" in calls_after_a_tool(claude, tmp_path)
    assert claude.content(claude.log[-1]) == "by the tool" and claude.faults == []


def test_where_head_was_is_not_taken_for_where_it_is(claude: Client) -> None:
    """One call keeps it for the next."""
    claude.write_turn(0)
    claude.hook("before", 0)
    for content in ("one\n", "two\n"):
        claude.place.write("b.txt", content)
        claude.place.git("add", "b.txt")
        claude.place.git("commit", "-qm", content)
        claude.hook("after", 0)
        assert claude.log[-1]["head"] == claude.place.git("rev-parse", "HEAD")
    claude.place.git("switch", "-qc", "elsewhere", "HEAD~1")
    claude.hook("after", 0)
    assert claude.log[-1]["branch"] == "elsewhere"
    assert claude.log[-1]["head"] == claude.place.git("rev-parse", "HEAD") and claude.faults == []


def test_a_tree_that_was_pruned_since_is_made_anew(claude: Client) -> None:
    """One call keeps which tree it was, for the next one to which nothing has changed."""
    claude.write_turn(0)
    claude.hook("before", 0)
    claude.place.write("a.txt", "by the tool\n")
    claude.hook("after", 0)
    claude.hook("after", 0)
    claude.place.write("a.txt", "by a person\n")
    claude.place.ok("save", "--session", "other")
    claude.place.ok("prune", "--session", claude.log[0]["session"], "--yes")
    claude.place.git("gc", "--prune=now", "-q")
    claude.place.write("a.txt", "by the tool\n")
    claude.write_turn(1)
    claude.hook("before", 1)
    claude.hook("after", 1)
    claude.place.ok("save")
    assert claude.place.json("verify")["whole"] and claude.faults == []
    assert claude.content(claude.place.json("log", "--all")["events"][-1]) == "by the tool"


def test_an_auto_checkpoint_goes_on_where_a_rollback_has_led(claude: Client) -> None:
    """The session is not read whole for it: the tips of its lines have to do."""
    for number in range(3):
        claude.work(number)
    claude.place.ok("rollback", "C1", "--yes")
    claude.hook("before", 2)
    for content in ("after the rollback", "and again"):
        claude.place.write("a.txt", content + "\n")
        claude.hook("after", 2)
    auto, again = claude.log[-2:]
    assert [e["kind"] for e in (auto, again)] == ["auto", "auto"] and auto["line"] == again["line"] == "rollback-2"
    assert (claude.content(auto), claude.content(again)) == ("after the rollback", "and again")
    assert [event["seq"] for event in claude.log] == list(range(1, len(claude.log) + 1))
    assert claude.place.json("verify")["whole"] and claude.faults == []
